// Edits: the items of a kind, in the order of the module's text, and what is
// done to those that were chosen. See edit.h.
//
// Never here: a module that is not valid. What an edit makes is verified, and
// this run ends where it is not.
#include "edit.h"
#include "crash.h"
#include "memory.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include <functional>
#include <vector>

using namespace llvm;

namespace optsleuth {
namespace {
// Counts the items and keeps what to do with the chosen ones. Everything is
// counted before anything is changed.
class Items {
public:
  explicit Items(const IndexSet &chosen) : chosen(chosen) {}
  // `change` says whether it changed anything.
  void add(std::function<bool()> change) {
    if (chosen.has(count++))
      changes.push_back(std::move(change));
  }
  uint32_t size() const { return count; }
  // Blocks that are to go; all together, when all of them are known.
  SmallSetVector<BasicBlock *, 16> dropped;
  bool make_changes() {
    bool any = false;
    for (auto &change : changes)
      any |= change();
    return any;
  }

private:
  const IndexSet &chosen;
  uint32_t count = 0;
  std::vector<std::function<bool()>> changes;
};

bool has_zero(Type *type) {
  if (auto *structure = dyn_cast<StructType>(type)) {
    for (Type *element : structure->elements())
      if (!has_zero(element))
        return false;
    return !structure->isOpaque();
  }
  if (auto *array = dyn_cast<ArrayType>(type))
    return has_zero(array->getElementType());
  return type->isIntOrIntVectorTy() || type->isFPOrFPVectorTy() ||
         type->isPtrOrPtrVectorTy();
}

// A value for code that is never meant to say anything.
Value *some_value(Type *type) {
  if (type->isVoidTy())
    return nullptr;
  return has_zero(type) ? Constant::getNullValue(type)
                        : static_cast<Constant *>(UndefValue::get(type));
}

template <typename Visit> void each_instruction(Module &module, Visit visit) {
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        visit(instruction);
}

// Operands that can be any value of their type.
template <typename Visit> void each_operand(Module &module, Visit visit) {
  each_instruction(module, [&](Instruction &instruction) {
    for (Use &use : instruction.operands()) {
      Value *value = use.get();
      if (!value || isa<BasicBlock>(value) || isa<MetadataAsValue>(value) ||
          isa<InlineAsm>(value))
        continue;
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (call->isCallee(&use) || isa<DbgInfoIntrinsic>(call))
          continue;
      if (isa<SwitchInst>(instruction) && use.getOperandNo() != 0)
        continue; // A case, not a value.
      visit(instruction, use);
    }
  });
}

void replace_terminator(Instruction *old, Instruction *with) {
  if (!old->use_empty())
    old->replaceAllUsesWith(some_value(old->getType()));
  ReplaceInstWithInst(old, with);
}

// The block's only successor is `to`; null: the function returns there.
void leave_for(BasicBlock *block, BasicBlock *to) {
  Instruction *terminator = block->getTerminator();
  SmallSetVector<BasicBlock *, 8> others;
  for (unsigned i = 0; i < terminator->getNumSuccessors(); ++i)
    others.insert(terminator->getSuccessor(i));
  // One entry of a PHI goes with every edge; one edge to `to` stays.
  bool kept = false;
  for (unsigned i = 0; i < terminator->getNumSuccessors(); ++i) {
    BasicBlock *successor = terminator->getSuccessor(i);
    if (successor == to && !kept)
      kept = true;
    else
      successor->removePredecessor(block, true);
  }
  if (to) {
    replace_terminator(terminator, BranchInst::Create(to));
    return;
  }
  Type *result = block->getParent()->getReturnType();
  replace_terminator(terminator,
                     ReturnInst::Create(block->getContext(), some_value(result)));
}

void drop_unreachable(Module &module) {
  for (Function &function : module)
    if (!function.isDeclaration())
      EliminateUnreachableBlocks(function);
}

void function_bodies(Module &module, Items &items) {
  for (Function &function : module)
    if (!function.isDeclaration())
      items.add([&function] {
        function.deleteBody();
        function.setComdat(nullptr);
        return true;
      });
}

void drop_global(GlobalValue &global) {
  if (!global.use_empty())
    global.replaceAllUsesWith(Constant::getNullValue(global.getType()));
  global.eraseFromParent();
}

void globals(Module &module, Items &items) {
  auto add = [&](GlobalValue &global) {
    items.add([&global] {
      drop_global(global);
      return true;
    });
  };
  for (GlobalVariable &variable : module.globals())
    add(variable);
  for (GlobalAlias &alias : module.aliases())
    add(alias);
  for (Function &function : module)
    if (function.isDeclaration())
      add(function);
}

void initializers(Module &module, Items &items) {
  for (GlobalVariable &variable : module.globals())
    if (variable.hasInitializer() && !variable.getInitializer()->isNullValue() &&
        variable.getName().substr(0, 5) != "llvm." &&
        has_zero(variable.getValueType()))
      items.add([&variable] {
        variable.setInitializer(Constant::getNullValue(variable.getValueType()));
        return true;
      });
}

void blocks(Module &module, Items &items) {
  for (Function &function : module)
    for (BasicBlock &block : function)
      if (&block != &function.front() && !function.isDeclaration())
        items.add([&block, &items] {
          items.dropped.insert(&block);
          return true;
        });
}

// Nothing leads to the dropped blocks any more: a branch takes another way if
// it has one, and the function returns where it has none.
void close_ways_to(const SmallSetVector<BasicBlock *, 16> &dropped) {
  SmallSetVector<BasicBlock *, 16> sources;
  for (BasicBlock *block : dropped)
    for (BasicBlock *source : predecessors(block))
      if (!dropped.contains(source))
        sources.insert(source);
  for (BasicBlock *source : sources) {
    Instruction *terminator = source->getTerminator();
    if (auto *choice = dyn_cast<SwitchInst>(terminator)) {
      if (!dropped.contains(choice->getDefaultDest())) {
        for (auto at = choice->case_begin(); at != choice->case_end();) {
          BasicBlock *successor = at->getCaseSuccessor();
          if (!dropped.contains(successor)) {
            ++at;
            continue;
          }
          successor->removePredecessor(source, true);
          at = choice->removeCase(at);
        }
        continue;
      }
    }
    BasicBlock *other = nullptr;
    bool may_choose = isa<BranchInst>(terminator) || isa<SwitchInst>(terminator) ||
                      isa<InvokeInst>(terminator);
    for (unsigned i = 0; may_choose && i < terminator->getNumSuccessors(); ++i) {
      BasicBlock *successor = terminator->getSuccessor(i);
      if (!dropped.contains(successor) && !successor->isEHPad()) {
        other = successor;
        break;
      }
    }
    leave_for(source, other);
  }
}

void branches(Module &module, Items &items) {
  for (Function &function : module)
    for (BasicBlock &block : function) {
      Instruction *terminator = block.getTerminator();
      if (!isa<BranchInst>(terminator) && !isa<SwitchInst>(terminator))
        continue;
      SmallSetVector<BasicBlock *, 8> ways;
      for (unsigned i = 0; i < terminator->getNumSuccessors(); ++i)
        ways.insert(terminator->getSuccessor(i));
      if (terminator->getNumSuccessors() < 2)
        continue;
      for (BasicBlock *way : ways)
        items.add([&block, way] {
          // Several ways of one branch may be chosen: the first is taken.
          if (block.getTerminator()->getNumSuccessors() < 2)
            return false;
          leave_for(&block, way);
          return true;
        });
    }
}

void instructions(Module &module, Items &items) {
  each_instruction(module, [&](Instruction &instruction) {
    if (instruction.isTerminator() || instruction.isEHPad())
      return;
    Type *type = instruction.getType();
    if (!type->isVoidTy() && !has_zero(type))
      return;
    items.add([&instruction, type] {
      if (!type->isVoidTy())
        instruction.replaceAllUsesWith(Constant::getNullValue(type));
      instruction.eraseFromParent();
      return true;
    });
  });
}

void bypasses(Module &module, Items &items) {
  each_instruction(module, [&](Instruction &instruction) {
    if (instruction.isTerminator() || instruction.isEHPad())
      return;
    auto takes_place = [&](Value *value) {
      return value != &instruction && !isa<BasicBlock>(value) &&
             value->getType() == instruction.getType();
    };
    if (find_if(instruction.operand_values(), takes_place) ==
        instruction.value_op_end())
      return;
    items.add([&instruction, takes_place] {
      // Looked up now: an operand may have been bypassed as well.
      auto found = find_if(instruction.operand_values(), takes_place);
      if (found == instruction.value_op_end())
        return false;
      instruction.replaceAllUsesWith(*found);
      instruction.eraseFromParent();
      return true;
    });
  });
}

void operands_to_zero(Module &module, Items &items) {
  each_operand(module, [&](Instruction &instruction, Use &use) {
    auto *constant = dyn_cast<Constant>(use.get());
    if (!has_zero(use->getType()) || (constant && constant->isNullValue()))
      return;
    if (isa<AllocaInst>(instruction))
      return; // Memory of no size, and everything in it out of bounds.
    items.add([&use] {
      use.set(Constant::getNullValue(use->getType()));
      return true;
    });
  });
}

Constant *one(Type *type) {
  return type->isFPOrFPVectorTy() ? ConstantFP::get(type, 1.0)
                                  : ConstantInt::get(type, 1);
}

void operands_to_one(Module &module, Items &items) {
  each_operand(module, [&](Instruction &instruction, Use &use) {
    Type *type = use->getType();
    bool is_number = type->isIntOrIntVectorTy() || type->isFPOrFPVectorTy();
    // A zero or a one is as simple as it gets.
    auto *constant = dyn_cast<Constant>(use.get());
    if (!is_number || isa<GetElementPtrInst>(instruction) ||
        (constant && (constant->isNullValue() || constant == one(type))))
      return;
    items.add([&use, type] {
      use.set(one(type));
      return true;
    });
  });
}

template <typename Owner> void attributes_of(Owner &owner, Items &items) {
  AttributeList list = owner.getAttributes();
  for (unsigned index : list.indexes())
    for (Attribute attribute : list.getAttributes(index))
      items.add([&owner, index, attribute] {
        if (attribute.isStringAttribute())
          owner.removeAttributeAtIndex(index, attribute.getKindAsString());
        else
          owner.removeAttributeAtIndex(index, attribute.getKindAsEnum());
        return true;
      });
}

void attributes(Module &module, Items &items) {
  for (Function &function : module)
    if (!function.isIntrinsic()) // Theirs come back by themselves.
      attributes_of(function, items);
  each_instruction(module, [&](Instruction &instruction) {
    if (auto *call = dyn_cast<CallBase>(&instruction))
      attributes_of(*call, items);
  });
}

void metadata(Module &module, Items &items) {
  for (NamedMDNode &node : module.named_metadata())
    items.add([&module, &node] {
      module.eraseNamedMetadata(&node);
      return true;
    });
  auto add = [&](auto &owner) {
    SmallVector<std::pair<unsigned, MDNode *>, 8> all;
    owner.getAllMetadata(all);
    for (auto &entry : all) {
      unsigned kind = entry.first;
      items.add([&owner, kind] {
        owner.setMetadata(kind, nullptr);
        return true;
      });
    }
  };
  for (GlobalVariable &variable : module.globals())
    add(variable);
  for (Function &function : module)
    add(function);
  each_instruction(module, add);
}

void flags(Module &module, Items &items) {
  each_instruction(module, [&](Instruction &instruction) {
    if (isa<OverflowingBinaryOperator>(instruction)) {
      if (instruction.hasNoSignedWrap())
        items.add([&instruction] {
          instruction.setHasNoSignedWrap(false);
          return true;
        });
      if (instruction.hasNoUnsignedWrap())
        items.add([&instruction] {
          instruction.setHasNoUnsignedWrap(false);
          return true;
        });
    } else if (cast<Operator>(instruction).hasPoisonGeneratingFlags()) {
      items.add([&instruction] {
        instruction.dropPoisonGeneratingFlags();
        return true;
      });
    }
    if (isa<FPMathOperator>(instruction) &&
        instruction.getFastMathFlags().any())
      items.add([&instruction] {
        instruction.setFastMathFlags(FastMathFlags());
        return true;
      });
    if (auto *load = dyn_cast<LoadInst>(&instruction))
      if (load->isVolatile())
        items.add([load] {
          load->setVolatile(false);
          return true;
        });
    if (auto *store = dyn_cast<StoreInst>(&instruction))
      if (store->isVolatile())
        items.add([store] {
          store->setVolatile(false);
          return true;
        });
    if (auto *call = dyn_cast<CallInst>(&instruction))
      if (call->getTailCallKind() != CallInst::TCK_None)
        items.add([call] {
          call->setTailCallKind(CallInst::TCK_None);
          return true;
        });
  });
}

void increments(Module &module, Items &items) {
  each_operand(module, [&](Instruction &, Use &use) {
    if (auto *number = dyn_cast<ConstantInt>(use.get()))
      items.add([&use, number] {
        use.set(ConstantInt::get(number->getContext(), number->getValue() + 1));
        return true;
      });
    else if (auto *real = dyn_cast<ConstantFP>(use.get()))
      items.add([&use, real] {
        APFloat one(real->getValueAPF().getSemantics(), 1);
        use.set(ConstantFP::get(real->getType(), real->getValueAPF() + one));
        return true;
      });
  });
}

void negations(Module &module, Items &items) {
  each_operand(module, [&](Instruction &, Use &use) {
    auto *number = dyn_cast<ConstantInt>(use.get());
    if (!number || number->isZero() || -number->getValue() == number->getValue())
      return;
    items.add([&use, number] {
      use.set(ConstantInt::get(number->getContext(), -number->getValue()));
      return true;
    });
  });
}

void inversions(Module &module, Items &items) {
  each_instruction(module, [&](Instruction &instruction) {
    if (auto *compare = dyn_cast<CmpInst>(&instruction))
      items.add([compare] {
        compare->setPredicate(compare->getInversePredicate());
        return true;
      });
  });
}

void signs(Module &module, Items &items) {
  each_instruction(module, [&](Instruction &instruction) {
    auto *compare = dyn_cast<ICmpInst>(&instruction);
    if (compare && !compare->isEquality())
      items.add([compare] {
        compare->setPredicate(compare->isSigned()
                                  ? compare->getUnsignedPredicate()
                                  : compare->getSignedPredicate());
        return true;
      });
    // The same for an extension.
    if (isa<SExtInst>(instruction) || isa<ZExtInst>(instruction))
      items.add([&instruction] {
        auto other = isa<SExtInst>(instruction) ? Instruction::ZExt
                                                : Instruction::SExt;
        ReplaceInstWithInst(&instruction,
                            CastInst::Create(other, instruction.getOperand(0),
                                             instruction.getType()));
        return true;
      });
  });
}

void swaps(Module &module, Items &items) {
  each_instruction(module, [&](Instruction &instruction) {
    unsigned first = isa<SelectInst>(instruction) ? 1 : 0;
    bool has_two = isa<SelectInst>(instruction) || isa<CmpInst>(instruction) ||
                   (isa<BinaryOperator>(instruction) &&
                    !instruction.isCommutative());
    if (!has_two)
      return;
    items.add([&instruction, first] {
      Value *left = instruction.getOperand(first);
      instruction.setOperand(first, instruction.getOperand(first + 1));
      instruction.setOperand(first + 1, left);
      return true;
    });
  });
}

// Another operation on the same types that is about as common.
Instruction::BinaryOps other_operation(Instruction::BinaryOps operation) {
  switch (operation) {
  case Instruction::Add:
    return Instruction::Sub;
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    return Instruction::Add;
  case Instruction::Shl:
    return Instruction::LShr;
  case Instruction::LShr:
    return Instruction::AShr;
  case Instruction::AShr:
    return Instruction::LShr;
  case Instruction::And:
    return Instruction::Or;
  case Instruction::Or:
    return Instruction::Xor;
  case Instruction::Xor:
    return Instruction::And;
  case Instruction::FAdd:
    return Instruction::FSub;
  default:
    return Instruction::FAdd;
  }
}

void opcodes(Module &module, Items &items) {
  each_instruction(module, [&](Instruction &instruction) {
    auto *operation = dyn_cast<BinaryOperator>(&instruction);
    if (!operation)
      return;
    items.add([operation] {
      ReplaceInstWithInst(
          operation,
          BinaryOperator::Create(other_operation(operation->getOpcode()),
                                 operation->getOperand(0),
                                 operation->getOperand(1)));
      return true;
    });
  });
}

void collect(EditKind kind, Module &module, Items &items) {
  switch (kind) {
  case EditKind::FunctionBodies:
    return function_bodies(module, items);
  case EditKind::Globals:
    return globals(module, items);
  case EditKind::Initializers:
    return initializers(module, items);
  case EditKind::Blocks:
    return blocks(module, items);
  case EditKind::Branches:
    return branches(module, items);
  case EditKind::Instructions:
    return instructions(module, items);
  case EditKind::Bypasses:
    return bypasses(module, items);
  case EditKind::OperandsToZero:
    return operands_to_zero(module, items);
  case EditKind::OperandsToOne:
    return operands_to_one(module, items);
  case EditKind::Attributes:
    return attributes(module, items);
  case EditKind::Metadata:
    return metadata(module, items);
  case EditKind::Flags:
    return flags(module, items);
  case EditKind::Increments:
    return increments(module, items);
  case EditKind::Negations:
    return negations(module, items);
  case EditKind::Inversions:
    return inversions(module, items);
  case EditKind::Signs:
    return signs(module, items);
  case EditKind::Swaps:
    return swaps(module, items);
  case EditKind::Opcodes:
    return opcodes(module, items);
  }
  crash::finish(Verdict::Trouble, "unknown kind of edit");
}
} // namespace

namespace edit {
void apply(Module &module, EditKind kind, const IndexSet &chosen) {
  Items items(chosen);
  collect(kind, module, items);
  memory::report().edit_items = items.size();
  if (chosen.empty())
    return;
  if (!items.make_changes())
    crash::finish(Verdict::BadEdit, "there is nothing to change");
  if (!items.dropped.empty())
    close_ways_to(items.dropped);
  drop_unreachable(module);
  std::string broken;
  raw_string_ostream stream(broken);
  if (verifyModule(module, &stream))
    crash::finish(Verdict::BadEdit, stream.str().c_str());
}
} // namespace edit
} // namespace optsleuth

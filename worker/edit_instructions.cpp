// Edits of instructions, of their operands, and of what is attached to them and
// to functions. See edit_items.h.
//
// Never here: a change of blocks or of the ways between them.
#include "edit_items.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace optsleuth {
namespace edit {
namespace {
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

Constant *one(Type *type) {
  return type->isFPOrFPVectorTy() ? ConstantFP::get(type, 1.0)
                                  : ConstantInt::get(type, 1);
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
} // namespace

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
} // namespace edit
} // namespace optsleuth

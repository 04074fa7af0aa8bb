// Edits of what a module consists of: functions, globals, blocks and the ways
// between them. See edit_items.h.
//
// Never here: a block without a terminator, or a PHI with an entry for a way
// that is gone.
#include "edit_items.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace optsleuth {
namespace edit {
namespace {
// A value for code that is never meant to say anything.
Value *some_value(Type *type) {
  if (type->isVoidTy())
    return nullptr;
  return has_zero(type) ? Constant::getNullValue(type)
                        : static_cast<Constant *>(UndefValue::get(type));
}

void replace_terminator(Instruction *old, Instruction *with) {
  if (!old->use_empty())
    old->replaceAllUsesWith(some_value(old->getType()));
  ReplaceInstWithInst(old, with);
}

// The block's only successor is `to`; null: the function returns there.
void leave_for(BasicBlock *block, BasicBlock *to) {
  Instruction *terminator = block->getTerminator();
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

void drop_global(GlobalValue &global) {
  if (!global.use_empty())
    global.replaceAllUsesWith(Constant::getNullValue(global.getType()));
  global.eraseFromParent();
}
} // namespace

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

void function_bodies(Module &module, Items &items) {
  for (Function &function : module)
    if (!function.isDeclaration())
      items.add([&function] {
        function.deleteBody();
        function.setComdat(nullptr);
        return true;
      });
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

void drop_unreachable(Module &module) {
  for (Function &function : module)
    if (!function.isDeclaration())
      EliminateUnreachableBlocks(function);
}
} // namespace edit
} // namespace optsleuth

// A stand-in for LLVM's file of this name, small and with a bug: a function that
// returns becomes noreturn where an option says so. Tests of zoom compile it
// into a worker and have its lines, its inlined function and its assertion named.
#include "llvm/Transforms/IPO/ForceFunctionAttrs.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include <cassert>

using namespace llvm;

static cl::list<std::string> Forced("force-attribute", cl::Hidden);

static bool returns(const Function &F) {
  for (const BasicBlock &Block : F)
    if (isa<ReturnInst>(Block.getTerminator()))
      return true;
  return false;
}

static bool mayHave(const Function &F, Attribute::AttrKind Kind) {
  return Kind != Attribute::NoReturn || !returns(F);
}

static bool isMeant(const Function &F, StringRef Name) {
  return !F.isDeclaration() && F.getName() == Name;
}

PreservedAnalyses ForceFunctionAttrsPass::run(Module &M,
                                              ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    for (StringRef Option : Forced) {
      auto [Name, Text] = Option.split(':');
      if (!isMeant(F, Name))
        continue;
      auto Kind = Attribute::getAttrKindFromName(Text);
      assert(mayHave(F, Kind) && "a function that returns is noreturn");
      F.addFnAttr(Kind);
      Changed = true;
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

// A small optimizer for the comparison scripts: driver FILE.ll PASSES [HITS]
// Prints the optimized module; with a third argument it also writes the marks there and ends at once.
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <sys/personality.h>
#include <unistd.h>
using namespace llvm;
extern "C" unsigned char __start___objcov[] __attribute__((weak)), __stop___objcov[] __attribute__((weak));
int main(int argc, char **argv) {
  if (argc < 3) return 64;
  // Addresses decide the order of LLVM's pointer-keyed tables: they must not vary.
  if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
    personality(ADDR_NO_RANDOMIZE);
    execv("/proc/self/exe", argv);
  }
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  LLVMContext context;
  SMDiagnostic diagnostic;
  auto module = parseIRFile(argv[1], diagnostic, context);
  if (!module) {
    diagnostic.print("driver", errs());
    return 1;
  }
  PassBuilder builder;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ModulePassManager passes;
  if (auto error = builder.parsePassPipeline(passes, argv[2])) {
    errs() << toString(std::move(error)) << "\n";
    return 2;
  }
  passes.run(*module, modules);
  module->print(outs(), nullptr);
  outs().flush();
  if (verifyModule(*module, &errs())) return 3;
  if (argc > 3) {
    FILE *out = fopen(argv[3], "wb");
    fwrite(__start___objcov, 1, __stop___objcov - __start___objcov, out);
    fclose(out);
    _exit(0);
  }
  return 0;
}

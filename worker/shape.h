// The shape of a module as text: control flow, regions and calls. Read by
// crates/compiler/src/llvm/shape.rs, which also has the grammar.
#pragma once
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/raw_ostream.h"

namespace optsleuth {
namespace shape {
// Loops and regions are those of LLVM's own analyses.
void print(llvm::Module &module, llvm::FunctionAnalysisManager &analyses,
           llvm::raw_ostream &out);
} // namespace shape
} // namespace optsleuth

// What a session holds: one module and what `opt` derives from it before any
// pass runs.
#pragma once
#include "compat.h"
#include <memory>
#include <string>

namespace optsleuth {
struct Session {
  std::unique_ptr<llvm::Module> module;
  llvm::Triple triple;
  // Null for a module without a triple, as in `opt`.
  std::unique_ptr<llvm::TargetMachine> machine;
  // The same for unoptimized, position-independent code, ready for use.
  std::unique_ptr<llvm::TargetMachine> generator;
  std::unique_ptr<llvm::TargetLibraryInfoImpl> library;
  std::string alias_pipeline;
};
// The one session of this process. Valid after llvm_side::load.
Session &session();

// A target machine for the triple under the options in force; null and an
// error where its target is not linked in.
std::unique_ptr<llvm::TargetMachine>
make_target_machine(const llvm::Triple &triple, compat::CodeGenLevel level,
                    bool position_independent, std::string &error);

// Errors that LLVM reports through its context end up here: the first one is
// kept, and a pass that reports one has failed as it would have in `opt`.
void fail_on_diagnostics(llvm::LLVMContext &context);
} // namespace optsleuth

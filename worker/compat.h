// What differs between LLVM 14 and 22, in one place.
//
// Never here: behaviour. Each difference is a matter of spelling.
#pragma once
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"
#if LLVM_VERSION_MAJOR >= 17
#include "llvm/TargetParser/Triple.h"
#else
#include "llvm/ADT/Triple.h"
#endif
#if LLVM_VERSION_MAJOR >= 16
#include "llvm/IRPrinter/IRPrintingPasses.h"
#else
#include "llvm/IR/IRPrintingPasses.h"
#endif

namespace compat {
#if LLVM_VERSION_MAJOR >= 18
using CodeGenLevel = llvm::CodeGenOptLevel;
constexpr auto kObjectFile = llvm::CodeGenFileType::ObjectFile;
#else
using CodeGenLevel = llvm::CodeGenOpt::Level;
constexpr auto kObjectFile = llvm::CGFT_ObjectFile;
#endif

inline llvm::Triple triple(const llvm::Module &module) {
  return llvm::Triple(module.getTargetTriple());
}
inline void set_triple(llvm::Module &module, const llvm::Triple &triple) {
#if LLVM_VERSION_MAJOR >= 21
  module.setTargetTriple(triple);
#else
  module.setTargetTriple(triple.str());
#endif
}
template <typename... Rest>
llvm::TargetMachine *create_target_machine(const llvm::Target &target,
                                           const llvm::Triple &triple,
                                           Rest &&...rest) {
#if LLVM_VERSION_MAJOR >= 21
  return target.createTargetMachine(triple, std::forward<Rest>(rest)...);
#else
  return target.createTargetMachine(triple.str(), std::forward<Rest>(rest)...);
#endif
}
} // namespace compat

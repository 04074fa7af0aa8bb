// What differs between LLVM 14 and 22, in one place: everything else is written
// once, for all of them. `cargo xtask tidy` looks for LLVM_VERSION_MAJOR
// elsewhere.
//
// What belongs to a part of LLVM that only one file uses is a template, so that
// the other files need not include that part.
//
// Never here: a decision of ours. A difference is one of spelling, or it is what
// `opt` of that version does.
#pragma once
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/CodeGen/CommandFlags.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>
#if LLVM_VERSION_MAJOR >= 17
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#else
#include "llvm/ADT/Triple.h"
#include "llvm/Support/Host.h"
#endif
#if LLVM_VERSION_MAJOR >= 16
#include "llvm/IRPrinter/IRPrintingPasses.h"
#include "llvm/Support/ModRef.h"
#include <optional>
#else
#include "llvm/ADT/Optional.h"
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

// The library functions of a target. -vector-library belongs to the code
// generator's options since LLVM 22, and to this class before.
inline std::unique_ptr<llvm::TargetLibraryInfoImpl>
library_info(const llvm::Triple &triple) {
#if LLVM_VERSION_MAJOR >= 22
  return std::make_unique<llvm::TargetLibraryInfoImpl>(
      triple, llvm::codegen::getVectorLibrary());
#else
  return std::make_unique<llvm::TargetLibraryInfoImpl>(triple);
#endif
}

// Parsing. A layout is asked for by the module's triple, and since LLVM 16 also
// by the layout that the module states.
#if LLVM_VERSION_MAJOR >= 16
using MaybeLayout = std::optional<std::string>;
#else
using MaybeLayout = llvm::Optional<std::string>;
#endif
using LayoutFor = MaybeLayout (*)(llvm::StringRef triple,
                                  llvm::StringRef layout);
// Whether `opt` infers a missing layout from the triple.
constexpr bool kInfersLayout = LLVM_VERSION_MAJOR >= 18;
template <LayoutFor layout_for>
std::unique_ptr<llvm::Module> parse_ir(llvm::MemoryBufferRef buffer,
                                       llvm::SMDiagnostic &error,
                                       llvm::LLVMContext &context) {
#if LLVM_VERSION_MAJOR >= 16
  return llvm::parseIR(buffer, error, context,
                       llvm::ParserCallbacks(layout_for));
#else
  return llvm::parseIR(buffer, error, context, [](llvm::StringRef triple) {
    return layout_for(triple, "");
  });
#endif
}

// Asks `Numbered` whether a pass that can be left out is to run.
template <typename Numbered> class PassGate : public llvm::OptPassGate {
public:
  explicit PassGate(Numbered &numbered) : numbered(numbered) {}
  bool isEnabled() const override { return true; }
#if LLVM_VERSION_MAJOR >= 22
  bool shouldRunPass(llvm::StringRef, llvm::StringRef) const override {
    return numbered.should_run();
  }
#elif LLVM_VERSION_MAJOR >= 15
  bool shouldRunPass(llvm::StringRef, llvm::StringRef) override {
    return numbered.should_run();
  }
#else
  bool shouldRunPass(const llvm::Pass *, llvm::StringRef) override {
    return numbered.should_run();
  }
#endif

private:
  Numbered &numbered;
};

// llvm::StandardInstrumentations.
template <typename Standard>
Standard standard_instrumentations(llvm::LLVMContext &context) {
#if LLVM_VERSION_MAJOR >= 16
  return Standard(context, false);
#else
  (void)context;
  return Standard(false);
#endif
}
template <typename Standard, typename Callbacks, typename Functions,
          typename Modules>
void register_callbacks(Standard &standard, Callbacks &callbacks,
                        Functions &functions, Modules &modules) {
#if LLVM_VERSION_MAJOR >= 17
  (void)functions;
  standard.registerCallbacks(callbacks, &modules);
#else
  (void)modules;
  standard.registerCallbacks(callbacks, &functions);
#endif
}

// Promises that IR can make since LLVM 18: `zext nneg` and `or disjoint`.
inline bool is_not_negative_zext(const llvm::Instruction &instruction) {
#if LLVM_VERSION_MAJOR >= 18
  return llvm::isa<llvm::ZExtInst>(instruction) && instruction.hasNonNeg();
#else
  (void)instruction;
  return false;
#endif
}
inline bool is_disjoint_or(const llvm::Instruction &instruction) {
#if LLVM_VERSION_MAJOR >= 18
  auto *disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
  return disjoint && disjoint->isDisjoint();
#else
  (void)instruction;
  return false;
#endif
}

// Later promises: `trunc nuw nsw` and `uitofp nneg` and `getelementptr nusw nuw`
// since LLVM 19, `icmp samesign` since 20.
inline bool is_not_negative(const llvm::Instruction &instruction) {
#if LLVM_VERSION_MAJOR >= 18
  return llvm::isa<llvm::PossiblyNonNegInst>(instruction) &&
         instruction.hasNonNeg();
#else
  (void)instruction;
  return false;
#endif
}
inline bool trunc_has_wrap(const llvm::Instruction &trunc, bool is_signed) {
#if LLVM_VERSION_MAJOR >= 19
  return is_signed ? trunc.hasNoSignedWrap() : trunc.hasNoUnsignedWrap();
#else
  (void)trunc, (void)is_signed;
  return false;
#endif
}
inline bool has_same_sign(const llvm::Instruction &compare) {
#if LLVM_VERSION_MAJOR >= 20
  return llvm::cast<llvm::ICmpInst>(compare).hasSameSign();
#else
  (void)compare;
  return false;
#endif
}
template <typename Gep> bool gep_has_nusw(const Gep &gep) {
#if LLVM_VERSION_MAJOR >= 19
  return gep.hasNoUnsignedSignedWrap();
#else
  return gep.isInBounds();
#endif
}
template <typename Gep> bool gep_has_nuw(const Gep &gep) {
#if LLVM_VERSION_MAJOR >= 19
  return gep.hasNoUnsignedWrap();
#else
  (void)gep;
  return false;
#endif
}

// Counts of bits; LLVM 17 gave them the names of the C++ library.
inline unsigned trailing_zeros(const llvm::APInt &value) {
#if LLVM_VERSION_MAJOR >= 17
  return value.countr_zero();
#else
  return value.countTrailingZeros();
#endif
}
inline unsigned leading_zeros(const llvm::APInt &value) {
#if LLVM_VERSION_MAJOR >= 17
  return value.countl_zero();
#else
  return value.countLeadingZeros();
#endif
}
inline unsigned population(const llvm::APInt &value) {
#if LLVM_VERSION_MAJOR >= 17
  return value.popcount();
#else
  return value.countPopulation();
#endif
}

// What a function or a call may do to memory: `memory(...)` since LLVM 16,
// several attributes before.
struct Effects {
  bool argument_read = true, argument_write = true;
  bool inaccessible_read = true, inaccessible_write = true;
  bool other_read = true, other_write = true;
  bool all() const {
    return argument_read && argument_write && inaccessible_read &&
           inaccessible_write && other_read && other_write;
  }
};
template <typename Callable> Effects effects_of(const Callable &callable) {
  Effects effects;
#if LLVM_VERSION_MAJOR >= 16
  auto memory = callable.getMemoryEffects();
  using Location = typename decltype(memory)::Location;
  auto look = [&](Location location, bool &reads, bool &writes) {
    reads = llvm::isRefSet(memory.getModRef(location));
    writes = llvm::isModSet(memory.getModRef(location));
  };
  look(Location::ArgMem, effects.argument_read, effects.argument_write);
  look(Location::InaccessibleMem, effects.inaccessible_read,
       effects.inaccessible_write);
  look(Location::Other, effects.other_read, effects.other_write);
#else
  bool reads = !callable.onlyWritesMemory();
  bool writes = !callable.onlyReadsMemory();
  bool arguments = !callable.onlyAccessesInaccessibleMemory();
  bool inaccessible = !callable.onlyAccessesArgMemory();
  bool other = arguments && inaccessible &&
               !callable.onlyAccessesInaccessibleMemOrArgMem();
  if (callable.doesNotAccessMemory())
    reads = writes = false;
  effects.argument_read = reads && arguments;
  effects.argument_write = writes && arguments;
  effects.inaccessible_read = reads && inaccessible;
  effects.inaccessible_write = writes && inaccessible;
  effects.other_read = reads && other;
  effects.other_write = writes && other;
#endif
  return effects;
}

// Attributes of values: `range` since LLVM 19, `nofpclass` since 17.
inline bool range_of(const llvm::AttributeSet &attributes, llvm::APInt &lower,
                     llvm::APInt &upper) {
#if LLVM_VERSION_MAJOR >= 19
  llvm::Attribute range = attributes.getAttribute(llvm::Attribute::Range);
  if (!range.isValid())
    return false;
  lower = range.getRange().getLower();
  upper = range.getRange().getUpper();
  return true;
#else
  (void)attributes, (void)lower, (void)upper;
  return false;
#endif
}
inline unsigned no_classes_of(const llvm::AttributeSet &attributes) {
#if LLVM_VERSION_MAJOR >= 17
  return unsigned(attributes.getNoFPClass());
#else
  (void)attributes;
  return 0;
#endif
}

// A pointer's address without its provenance: since LLVM 22.
inline bool is_ptr_to_addr(const llvm::Instruction &instruction) {
#if LLVM_VERSION_MAJOR >= 22
  return instruction.getOpcode() == llvm::Instruction::PtrToAddr;
#else
  (void)instruction;
  return false;
#endif
}
} // namespace compat

// clang's own differences, for the one file that is compiled with its headers.
#ifdef OPTSLEUTH_FRONT_END
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#if LLVM_VERSION_MAJOR >= 22
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

namespace compat {
// Who owns diagnostic options: whoever makes them, since LLVM 21.
#if LLVM_VERSION_MAJOR >= 21
inline clang::DiagnosticOptions &as_taken(clang::DiagnosticOptions &options) {
  return options;
}
#else
inline clang::DiagnosticOptions *as_taken(clang::DiagnosticOptions &options) {
  return &options;
}
#endif

// A compiler with its diagnostics; since LLVM 20 those need a file system.
inline std::unique_ptr<clang::CompilerInstance>
make_compiler(std::shared_ptr<clang::CompilerInvocation> invocation,
              clang::DiagnosticConsumer *printer) {
#if LLVM_VERSION_MAJOR >= 21
  auto compiler =
      std::make_unique<clang::CompilerInstance>(std::move(invocation));
#else
  auto compiler = std::make_unique<clang::CompilerInstance>();
  compiler->setInvocation(std::move(invocation));
#endif
#if LLVM_VERSION_MAJOR >= 22
  compiler->createVirtualFileSystem(llvm::vfs::getRealFileSystem(), printer);
  compiler->createDiagnostics(printer, false);
#elif LLVM_VERSION_MAJOR >= 20
  compiler->createDiagnostics(*llvm::vfs::getRealFileSystem(), printer, false);
#else
  compiler->createDiagnostics(printer, false);
#endif
  return compiler;
}
} // namespace compat
#endif

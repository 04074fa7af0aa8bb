// Options and module -> session. Follows `opt`, step by step, so that what a
// pass sees is what it would see there.
//
// Never here: a pass.
#include "session.h"
#include "crash.h"
#include "llvm_side.h"
#include "memory.h"
#include "llvm/CodeGen/CommandFlags.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/InitializePasses.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include <new>
#include <vector>

using namespace llvm;

namespace optsleuth {
// -mcpu, -mattr and the rest of the code generator's options.
static codegen::RegisterCodeGenFlags code_generator_options;
// Options that belong to the `opt` tool rather than to a library.
static cl::opt<std::string> target_triple("mtriple");
static cl::opt<std::string> data_layout("data-layout");
static cl::opt<std::string> alias_pipeline("aa-pipeline", cl::init("default"));
static cl::opt<bool> disable_library_calls("disable-simplify-libcalls");

namespace {
// A layout to use instead of the module's own.
compat::MaybeLayout layout_for(StringRef module_triple,
                               StringRef module_layout) {
  if (!data_layout.empty())
    return std::string(data_layout);
  if (!compat::kInfersLayout || !module_layout.empty())
    return {};
  std::string text = target_triple.empty() ? module_triple.str()
                                           : Triple::normalize(target_triple);
  if (text.empty())
    return {};
  std::string error;
  auto machine = make_target_machine(Triple(text), compat::CodeGenLevel::None,
                                     false, error);
  if (machine)
    return machine->createDataLayout().getStringRepresentation();
  return {};
}

class FailOnError : public DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() != DS_Error)
      return true; // Warnings and remarks say nothing about the outcome.
    std::string text;
    raw_string_ostream stream(text);
    DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    stream.flush();
    bool generating = memory::report().phase >= uint32_t(Phase::Codegen);
    crash::finish(generating ? Verdict::CodegenFailure : Verdict::ErrorExit,
                  text.c_str());
  }
};

void on_fatal_error(void *, const char *reason, bool wants_crash_dump) {
  Report &report = memory::report();
  if (report.phase == uint32_t(Phase::Link))
    crash::finish(Verdict::NeedsProcess, reason);
  if (report.phase == uint32_t(Phase::Codegen))
    crash::finish(Verdict::CodegenFailure, reason);
  crash::finish(wants_crash_dump ? Verdict::FatalError : Verdict::ErrorExit,
                reason);
}

void on_out_of_memory(void *, const char *reason, bool) {
  crash::finish(Verdict::OutOfMemory, reason);
}

bool fail(Verdict verdict, const std::string &message) {
  memory::report().verdict = uint32_t(verdict);
  memory::set_message(message);
  return false;
}

bool apply_options(const std::vector<std::string> &options) {
  std::vector<const char *> arguments = {"opt"};
  for (const std::string &option : options)
    arguments.push_back(option.c_str());
  std::string text;
  raw_string_ostream errors(text);
  if (cl::ParseCommandLineOptions(int(arguments.size()), arguments.data(), "",
                                  &errors))
    return true;
  return fail(Verdict::BadOptions, errors.str());
}
} // namespace

Session &session() {
  static Session the_session;
  return the_session;
}

void fail_on_diagnostics(LLVMContext &context) {
  context.setDiagnosticHandler(std::make_unique<FailOnError>());
}

std::unique_ptr<TargetMachine>
make_target_machine(const Triple &triple, compat::CodeGenLevel level,
                    bool position_independent, std::string &error) {
  Triple lookup = triple;
  const Target *target =
      TargetRegistry::lookupTarget(codegen::getMArch(), lookup, error);
  if (!target)
    return nullptr;
  auto relocation = codegen::getExplicitRelocModel();
  if (position_independent)
    relocation = Reloc::PIC_;
  return std::unique_ptr<TargetMachine>(compat::create_target_machine(
      *target, lookup, codegen::getCPUStr(), codegen::getFeaturesStr(),
      codegen::InitTargetOptionsFromCodeGenFlags(lookup), relocation,
      codegen::getExplicitCodeModel(), level));
}

namespace llvm_side {
void initialize() {
#ifdef OPTSLEUTH_ALL_TARGETS
  InitializeAllTargets();
  InitializeAllTargetMCs();
  InitializeAllAsmPrinters();
  InitializeAllAsmParsers();
#else
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  InitializeNativeTargetAsmParser();
#endif
  PassRegistry &registry = *PassRegistry::getPassRegistry();
  initializeCore(registry);
  initializeCodeGen(registry);
  install_fatal_error_handler(on_fatal_error);
  install_bad_alloc_error_handler(on_out_of_memory);
  std::set_new_handler([] { on_out_of_memory(nullptr, "new failed", true); });
}

const char *version() { return LLVM_VERSION_STRING; }

bool load(Payload request) {
  std::vector<std::string> options;
  for (uint32_t left = request.number(); request.ok && left; --left)
    options.emplace_back(request.text());
  std::string name(request.text());
  std::string_view bytes = request.text();
  if (!request.ok)
    return fail(Verdict::Trouble, "malformed Load request");
  if (!apply_options(options))
    return false;

  memory::report().phase = uint32_t(Phase::Parse);
  // The context outlives everything; a process that ends needs no clean-up.
  LLVMContext &context = *new LLVMContext;
  context.enableDebugTypeODRUniquing();
  SMDiagnostic error;
  auto buffer = MemoryBuffer::getMemBufferCopy(
      StringRef(bytes.data(), bytes.size()), name);
  Session &session = optsleuth::session();
  session.module = compat::parse_ir<layout_for>(buffer->getMemBufferRef(),
                                                error, context);
  if (!session.module) {
    std::string text;
    raw_string_ostream stream(text);
    error.print(nullptr, stream, false);
    return fail(Verdict::BadModule, stream.str());
  }
  Module &module = *session.module;
  if (!target_triple.empty())
    compat::set_triple(module, Triple(Triple::normalize(target_triple)));
  std::string broken;
  raw_string_ostream broken_stream(broken);
  if (verifyModule(module, &broken_stream))
    return fail(Verdict::BadModule,
                "the input is not valid IR: " + broken_stream.str());

  session.triple = compat::triple(module);
  if (session.triple.getArch() != Triple::UnknownArch) {
    std::string missing;
    session.machine = make_target_machine(
        session.triple, compat::CodeGenLevel::None, false, missing);
    if (!session.machine)
      return fail(Verdict::BadModule, "no code generator for target `" +
                                          session.triple.str() +
                                          "` in this worker: " + missing);
    session.generator = make_target_machine(
        session.triple, compat::CodeGenLevel::None, true, missing);
    codegen::setFunctionAttributes(codegen::getCPUStr(),
                                   codegen::getFeaturesStr(), module);
  }
  session.library = compat::library_info(session.triple);
  if (disable_library_calls)
    session.library->disableAllFunctions();
  session.alias_pipeline = alias_pipeline;
  fail_on_diagnostics(context);
  return true;
}
} // namespace llvm_side
} // namespace optsleuth

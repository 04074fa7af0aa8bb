// One run: pipeline text -> passes over the session's module, numbered, some
// skipped -> verified, emitted, perhaps executed.
//
// Never here: a result kept for the next run. This process ends with the run.
#include "authors.h"
#include "clock.h"
#include "codegen.h"
#include "coverage.h"
#include "crash.h"
#include "detour.h"
#include "edit.h"
#include "guard.h"
#include "llvm_side.h"
#include "machine_passes.h"
#include "memory.h"
#include "referee/referee.h"
#include "session.h"
#include "shape.h"
#include "llvm/ADT/Any.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LazyCallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Bitcode/BitcodeWriterPass.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include <unistd.h>

using namespace llvm;

namespace optsleuth {
namespace {
void enter(Phase phase) { memory::report().phase = uint32_t(phase); }

[[noreturn]] void reject(Verdict verdict, Error error) {
  crash::finish(verdict, toString(std::move(error)).c_str());
}

// Containers of passes, which are not invocations of their own.
bool is_container(StringRef pass) {
  static const char *const kContainers[] = {
      "PassManager",          "PassAdaptor",          "AnalysisManagerProxy",
      "DevirtSCCRepeatedPass", "ModuleInlinerWrapperPass", "RepeatedPass",
      "CoroConditionalWrapper"};
  StringRef base = pass.substr(0, pass.find('<'));
  for (StringRef container : kContainers)
    if (base.size() >= container.size() &&
        base.substr(base.size() - container.size()) == container)
      return true;
  return false;
}

void name_unit(raw_ostream &out, const Any &unit) {
  if (any_cast<const Module *>(&unit)) {
    out << "module";
  } else if (auto *function = any_cast<const Function *>(&unit)) {
    out << "function " << (*function)->getName();
  } else if (auto *scc = any_cast<const LazyCallGraph::SCC *>(&unit)) {
    out << "scc " << (*scc)->getName();
  } else if (auto *loop = any_cast<const Loop *>(&unit)) {
    const BasicBlock *header = (*loop)->getHeader();
    out << "loop " << header->getName() << " in "
        << header->getParent()->getName();
  } else {
    out << "unit";
  }
}

// Numbers invocations in the order in which the pass manager comes to them,
// logs them, and skips the chosen ones. Required passes get a number, too, but
// LLVM does not ask whether to run them.
class Invocations {
public:
  Invocations(PassInstrumentationCallbacks &callbacks) : callbacks(callbacks) {
    callbacks.registerShouldRunOptionalPassCallback(
        [this](StringRef pass, Any unit) { return should_run(pass, unit); });
    callbacks.registerBeforeSkippedPassCallback(
        [this](StringRef pass, Any) { skipped(pass); });
    callbacks.registerBeforeNonSkippedPassCallback(
        [this](StringRef pass, Any unit) { before(pass, unit); });
    callbacks.registerAfterPassCallback(
        [this](StringRef pass, Any unit, const PreservedAnalyses &) {
          if (watch_changes && !is_container(pass)) {
            coverage::pause(); // Nor is the printer.
            if (fingerprint(unit) != before_pass)
              note_change();
            coverage::resume();
          }
          if (verify_each && !is_container(pass)) {
            coverage::pause(); // The verifier is not the compiler at work.
            verify(unit);
            coverage::resume();
          }
          after(pass);
        });
    callbacks.registerAfterPassInvalidatedCallback(
        [this](StringRef pass, const PreservedAnalyses &) {
          if (watch_changes && !is_container(pass))
            note_change(); // Its unit is gone.
          if (verify_each && !is_container(pass)) {
            coverage::pause();
            verify(Any()); // The unit is gone; the module is not.
            coverage::resume();
          }
          after(pass);
        });
  }
  // What this run is about.
  IndexSet skips;
  bool verify_each = false;
  bool watch_changes = false;
  // Invocations whose coverage is wanted by itself; half-open.
  uint32_t window_first = 0, window_end = 0;

private:
  // Adds to the log without touching the heap.
  uint32_t begin(StringRef pass, const Any &unit) {
    Report &report = memory::report();
    StringRef short_name = callbacks.getPassNameForClassName(pass);
    SmallString<512> unit_name;
    raw_svector_ostream stream(unit_name);
    name_unit(stream, unit);
    StringRef name = short_name.empty() ? pass : short_name;
    flags = memory::log_invocation(name.data(), name.size(), unit_name.data(),
                                   unit_name.size());
    return report.invocations++;
  }
  bool should_run(StringRef pass, const Any &unit) {
    if (is_container(pass))
      return true;
    numbered = begin(pass, unit);
    is_numbered = true;
    return !skips.has(numbered);
  }
  void skipped(StringRef pass) {
    if (is_container(pass))
      return;
    is_numbered = false;
    if (flags)
      *flags |= kSkipped;
    leave_window();
  }
  void before(StringRef pass, const Any &unit) {
    if (is_container(pass))
      return;
    if (!is_numbered) {
      numbered = begin(pass, unit);
      if (flags)
        *flags |= kRequired;
    }
    is_numbered = false;
    Report &report = memory::report();
    report.current_invocation = numbered;
    if (watch_changes) {
      coverage::pause();
      before_pass = fingerprint(unit);
      coverage::resume();
    }
    if (report.window == uint32_t(Window::None) && numbered >= window_first &&
        numbered < window_end) {
      authors::open();
      coverage::open_window();
    }
  }
  void after(StringRef pass) {
    if (is_container(pass))
      return;
    Report &report = memory::report();
    report.current_invocation = kNoInvocation;
    leave_window();
  }
  // The last invocation of the window has ended, or was skipped.
  void leave_window() {
    Report &report = memory::report();
    if (report.window == uint32_t(Window::Open) &&
        report.invocations >= window_end) {
      coverage::close_window();
      authors::close();
    }
  }
  void note_change() {
    if (flags)
      *flags |= kChanged;
  }
  // Two states of a unit with different texts have different numbers, nearly
  // always.
  static size_t fingerprint(const Any &unit) {
    std::string text;
    raw_string_ostream stream(text);
    if (auto *function = any_cast<const Function *>(&unit))
      (*function)->print(stream);
    else if (auto *loop = any_cast<const Loop *>(&unit))
      (*loop)->getHeader()->getParent()->print(stream);
    else
      session().module->print(stream, nullptr);
    return std::hash<std::string>()(stream.str());
  }
  static void verify(const Any &unit) {
    std::string text;
    raw_string_ostream stream(text);
    bool broken = false;
    if (auto *function = any_cast<const Function *>(&unit))
      broken = verifyFunction(**function, &stream);
    else if (auto *loop = any_cast<const Loop *>(&unit))
      broken = verifyFunction(*(*loop)->getHeader()->getParent(), &stream);
    else
      broken = verifyModule(*session().module, &stream);
    if (broken) {
      coverage::resume();
      crash::finish(Verdict::InvalidIr, stream.str().c_str());
    }
  }

  PassInstrumentationCallbacks &callbacks;
  uint32_t numbered = 0;
  uint32_t *flags = nullptr;
  bool is_numbered = false;
  size_t before_pass = 0;
};

// The pass manager and its analyses. Made once per session, because making it
// costs more than many a pass; each child uses its own copy.
struct Workbench {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassInstrumentationCallbacks callbacks;
  StandardInstrumentations standard =
      compat::standard_instrumentations<StandardInstrumentations>(
          session().module->getContext());
  Invocations invocations{callbacks};
  bool covers_codegen = false;
  PassBuilder builder{session().machine.get(), PipelineTuningOptions(), {},
                      &callbacks};
};
Workbench *workbench = nullptr;

void run_passes(Session &session, std::string_view pipeline, Emit emit,
                Detours &detours) {
  Module &module = *session.module;
  PassBuilder &builder = workbench->builder;
  ModuleAnalysisManager &modules = workbench->modules;
  ModulePassManager passes;
  StringRef text(pipeline.data(), pipeline.size());
  if (!text.empty())
    if (Error error = builder.parsePassPipeline(passes, text))
      reject(Verdict::BadPipeline, std::move(error));

  enter(Phase::Pipeline);
  coverage::clear(); // Reading the pipeline's text is not the compiler at work.
  uint64_t started = now_ns();
  detours.begin();
  passes.run(module, modules);
  detours.end();
  memory::report().pipeline_ns = now_ns() - started;
  coverage::freeze();
  authors::close();
  if (workbench->covers_codegen)
    coverage::pause(); // Neither verifying nor printing is generating code.

  enter(Phase::Verify);
  memory::report().current_invocation = kNoInvocation;
  std::string broken;
  raw_string_ostream broken_stream(broken);
  bool bad_debug_info = false;
  if (verifyModule(module, &broken_stream, &bad_debug_info) || bad_debug_info)
    crash::finish(Verdict::InvalidIr, broken_stream.str().c_str());

  enter(Phase::Emit);
  SmallVector<char, 0> bytes;
  raw_svector_ostream out(bytes);
  if (emit == Emit::Text)
    PrintModulePass(out).run(module, modules);
  else if (emit == Emit::Bitcode)
    BitcodeWriterPass(out).run(module, modules);
  else if (emit == Emit::Shape)
    shape::print(module, workbench->functions, out);
  if (!memory::write_response(bytes.data(), bytes.size()))
    crash::finish(Verdict::Trouble, "the module is too large to send");
}
} // namespace

namespace llvm_side {
std::string pass_names() {
  std::string text;
  raw_string_ostream stream(text);
  PassBuilder builder;
  builder.printPassNames(stream);
  return stream.str();
}

bool prepare() {
  Session &session = optsleuth::session();
  workbench = new Workbench;
  Workbench &bench = *workbench;
  compat::register_callbacks(bench.standard, bench.callbacks, bench.functions,
                             bench.modules);
  AAManager alias;
  if (Error error = bench.builder.parseAAPipeline(alias, session.alias_pipeline)) {
    memory::report().verdict = uint32_t(Verdict::BadOptions);
    memory::set_message(toString(std::move(error)));
    return false;
  }
  bench.functions.registerPass([&] { return std::move(alias); });
  bench.functions.registerPass(
      [&] { return TargetLibraryAnalysis(*session.library); });
  bench.builder.registerModuleAnalyses(bench.modules);
  bench.builder.registerCGSCCAnalyses(bench.sccs);
  bench.builder.registerFunctionAnalyses(bench.functions);
  bench.builder.registerLoopAnalyses(bench.loops);
  bench.builder.crossRegisterProxies(bench.loops, bench.functions, bench.sccs,
                                     bench.modules);
  // The names of all passes are collected when the first one is asked for.
  bench.callbacks.getPassNameForClassName("");
  // A subtarget is made when a function first asks for it, and kept.
  for (Function &function : *session.module) {
    if (session.machine)
      session.machine->getSubtargetImpl(function);
    if (session.generator)
      session.generator->getSubtargetImpl(function);
  }
  return true;
}

void run(Payload request) {
  auto options = request.fixed<RunOptions>();
  std::string_view pipeline = request.text();
  IndexSet edit_items(request);
  IndexSet skips(request);
  Detours detours(request);
  if (options.authors)
    authors::request(request, options.narrow_first, options.narrow_end);
  InterpretOptions interpret{};
  if (options.interpret)
    interpret = request.fixed<InterpretOptions>();
  if (!request.ok)
    crash::finish(Verdict::Trouble, "malformed Run request");
  Invocations &invocations = workbench->invocations;
  invocations.skips = skips;
  invocations.watch_changes = options.watch_changes != 0;
  invocations.verify_each = options.verify_each != 0;
  invocations.window_first = options.window_first;
  invocations.window_end = options.window_end;
  workbench->covers_codegen = options.cover_codegen != 0;
  Emit emit = Emit(options.emit);
  Session &session = optsleuth::session();
  if (options.edit_kind != kNoEdit)
    edit::apply(*session.module, EditKind(options.edit_kind), edit_items);
  if (options.guarded)
    guard::apply(*session.module);
  run_passes(session, pipeline, emit, detours);
  if (options.interpret)
    referee::judge(*session.module, interpret, request);
  Report &report = memory::report();
  if (emit == Emit::Object || options.execute) {
    enter(Phase::Codegen);
    if (workbench->covers_codegen)
      coverage::thaw();
    MachinePasses numbered(skips, options.window_first, options.window_end);
    if (workbench->covers_codegen)
      detours.begin();
    codegen_step::Object object = codegen_step::generate(
        session, CodegenLevel(options.codegen_level),
        options.machine_passes ? &numbered : nullptr);
    if (workbench->covers_codegen)
      detours.end();
    report.current_invocation = kNoInvocation;
    coverage::freeze();
    if (emit == Emit::Object &&
        !memory::write_response(object.data(), object.size()))
      crash::finish(Verdict::Trouble, "the object is too large to send");
    if (options.execute) {
      enter(Phase::Link);
      codegen_step::execute(session, object, options.fill);
    }
  }
  report.verdict = uint32_t(Verdict::Ok);
  enter(Phase::Done);
  _exit(0);
}
} // namespace llvm_side
} // namespace optsleuth

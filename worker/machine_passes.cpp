// Passes of the code generator as invocations. See machine_passes.h.
#include "machine_passes.h"
#include "compat.h"
#include "coverage.h"
#include "memory.h"
#include "protocol.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/Function.h"
#include "llvm/Pass.h"
#include "llvm/PassInfo.h"

using namespace llvm;

namespace optsleuth {
namespace {
char mark_of_function, mark_of_module;

// Says that the pass behind it begins.
class FunctionMark : public FunctionPass {
public:
  FunctionMark(MachinePasses &numbered, std::string next)
      : FunctionPass(mark_of_function), numbered(numbered), next(next) {}
  bool runOnFunction(Function &function) override {
    numbered.begin(next, "function ", function.getName());
    return false;
  }
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
  }

private:
  MachinePasses &numbered;
  std::string next;
};

class ModuleMark : public ModulePass {
public:
  ModuleMark(MachinePasses &numbered, std::string next)
      : ModulePass(mark_of_module), numbered(numbered), next(next) {}
  bool runOnModule(Module &) override {
    numbered.begin(next, "module", "");
    return false;
  }
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
  }

private:
  MachinePasses &numbered;
  std::string next;
};

// What llc calls a pass, as in -stop-after; in words where it has no such name.
std::string name_of(const Pass &pass) {
  const PassInfo *info = Pass::lookupPassInfo(pass.getPassID());
  if (info && !info->getPassArgument().empty())
    return info->getPassArgument().str();
  return pass.getPassName().str();
}
} // namespace

MachinePasses::MachinePasses(const IndexSet &skips, uint32_t window_first,
                             uint32_t window_end)
    : skips(skips), window_first(window_first), window_end(window_end) {}

void MachinePasses::watch(legacy::PassManager &list, LLVMContext &context) {
  passes = &list;
  static compat::PassGate<MachinePasses> gate(*this);
  context.setOptPassGate(gate);
}

void MachinePasses::add(Pass *pass) {
  bool is_stored = pass->getAsImmutablePass() != nullptr;
  if (!is_stored && pass->getPassKind() == PT_Module)
    passes->add(new ModuleMark(*this, name_of(*pass)));
  else if (!is_stored && (pass->getPassKind() == PT_Function ||
                          pass->getPassKind() == PT_Loop))
    passes->add(new FunctionMark(*this, name_of(*pass)));
  passes->add(pass);
}

void MachinePasses::begin(StringRef pass, StringRef unit_kind, StringRef unit) {
  Report &report = memory::report();
  if (report.window == uint32_t(Window::Open) &&
      report.invocations >= window_end)
    coverage::close_window();
  SmallString<512> name(unit_kind);
  name += unit;
  flags = memory::log_invocation(pass.data(), pass.size(), name.data(),
                                 name.size());
  if (flags)
    *flags |= kRequired; // Unless it asks.
  report.current_invocation = report.invocations++;
  if (report.window == uint32_t(Window::None) &&
      report.current_invocation >= window_first &&
      report.current_invocation < window_end)
    coverage::open_window();
}

void MachinePasses::end() {
  Report &report = memory::report();
  report.current_invocation = kNoInvocation;
  if (report.window == uint32_t(Window::Open))
    coverage::close_window();
}

bool MachinePasses::should_run() {
  bool runs = !skips.has(memory::report().current_invocation);
  if (flags) {
    *flags &= ~kRequired;
    if (!runs)
      *flags |= kSkipped;
  }
  return runs;
}
} // namespace optsleuth

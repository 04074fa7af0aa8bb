// Passes of the code generator as invocations: numbered, logged, left out where LLVM
// lets them be, and with a window of the coverage.
//
// Never here: another order of passes than LLVM's own. What is put between them
// preserves everything and changes nothing.
#pragma once
#include "payload.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/OptBisect.h"

namespace optsleuth {
// Takes the code generator's passes one by one, and hands them on with a mark
// before each.
class MachinePasses : public llvm::legacy::PassManagerBase {
public:
  MachinePasses(const IndexSet &skips, uint32_t window_first,
                uint32_t window_end);
  // Once, before the passes are added.
  void watch(llvm::legacy::PassManager &passes, llvm::LLVMContext &context);
  void add(llvm::Pass *pass) override;
  // A pass begins, with the unit that it is applied to.
  void begin(llvm::StringRef pass, llvm::StringRef unit_kind,
             llvm::StringRef unit);
  // The last one has ended.
  void end();
  // Whether the pass that has begun is to run, which it asks itself.
  bool should_run();

private:
  IndexSet skips;
  uint32_t window_first, window_end;
  uint32_t *flags = nullptr;
  llvm::legacy::PassManager *passes = nullptr;
};
} // namespace optsleuth

// Code generation: module -> object bytes, and the fast way to execute them.
#pragma once
#include "machine_passes.h"
#include "protocol.h"
#include "session.h"
#include "llvm/ADT/SmallVector.h"

namespace optsleuth {
namespace codegen_step {
using Object = llvm::SmallVector<char, 0>;
// The same object whether it is executed here or linked into a program file, and
// whether its passes are numbered or not.
Object generate(Session &session, CodegenLevel level, MachinePasses *numbered);
// Loads the object into this process, which is fenced in, and calls main. Ends
// the process; with Verdict::NeedsProcess if that cannot be done faithfully here.
// `fill` is kFilled with the byte that unused memory holds, or 0.
[[noreturn]] void execute(Session &session, const Object &object, uint32_t fill);
} // namespace codegen_step
} // namespace optsleuth

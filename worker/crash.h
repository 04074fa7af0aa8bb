// Turns the end of LLVM, however it comes, into a report.
//
// Never here: symbol names. Frames are addresses; the host has the symbols.
#pragma once
#include "protocol.h"

namespace optsleuth {
namespace crash {
// Remembers where the stack begins; warms up the unwinder. Once, in the zygote.
void prepare();
// Catches fatal signals on a stack of its own. In a child, before LLVM works.
void arm();
// Undoes `arm`, so that an executed program meets the default signals.
void disarm();
// Says how the child ends, with the frames of the caller, and ends it.
[[noreturn]] void finish(Verdict verdict, const char *message);
} // namespace crash
} // namespace optsleuth

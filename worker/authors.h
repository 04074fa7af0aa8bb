// Which functions of LLVM wrote, changed or erased the IR: while the coverage
// window is open, calls of a few functions of lib/IR are recorded with the object
// that they are about and their stack.
//
//   int3 over the probe at a function's entry --> SIGTRAP --> event --> go on
//
// Only in a covered worker: the trap takes the place of a probe, sets its mark,
// and goes on behind it, so that no instruction of LLVM is moved or emulated.
//
// Never here: a judgement about who the author is, or a name of a function; and
// no allocation, because that would change what LLVM does. Everything lies in the
// shared memory, so a crash loses nothing.
#pragma once
#include "payload.h"

namespace optsleuth {
namespace authors {
// Reads which functions are to be trapped. Without it, the rest does nothing.
// If `narrow_end` is not 0, the coverage window becomes what is executed behind
// event `narrow_first - 1` and before event `narrow_end`.
void request(Payload &payload, uint32_t narrow_first, uint32_t narrow_end);
// Around the window's invocations. Only the first `close` counts.
void open();
void close();
} // namespace authors
} // namespace optsleuth

// The referee: executes a module by LLVM's language reference instead of by
// machine code, and says whether its behaviour is defined.
//
// It stands at the end of a run, in its child, where code would otherwise be
// generated. docs/referee.md says what it knows and what it does not check.
#pragma once
#include "../payload.h"
#include "../protocol.h"
#include "llvm/IR/Module.h"

namespace optsleuth {
namespace referee {
// Reads the rest of a Run's payload, interprets, writes the verdict as the
// response, and ends this process.
[[noreturn]] void judge(const llvm::Module &module, const InterpretOptions &options,
                        Payload &request);
// Compares the referee's integers with LLVM's constant folder; the response is
// a text, and this process ends.
[[noreturn]] void self_test(uint32_t width);
} // namespace referee
} // namespace optsleuth

// Makes a program stop where it does what IR leaves undefined, as far as that
// can be seen by looking at integers.
#pragma once
#include "llvm/IR/Module.h"

namespace optsleuth {
namespace guard {
// Puts checks behind everything that may give poison or must not be reached.
void apply(llvm::Module &module);
} // namespace guard
} // namespace optsleuth

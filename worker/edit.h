// Changes to the session's module before the passes run: to make a program
// smaller, or to vary it a little.
#pragma once
#include "payload.h"
#include "protocol.h"
#include "llvm/IR/Module.h"

namespace optsleuth {
namespace edit {
// Edits the items of this kind and says in the report how many there are. An
// empty set only counts. Ends the process where nothing is left to be edited
// or the result is not valid.
void apply(llvm::Module &module, EditKind kind, const IndexSet &items);
} // namespace edit
} // namespace optsleuth

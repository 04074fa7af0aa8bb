// Edits of a module: which items are changed, and whether what came of it is
// valid. See edit.h; edit_items.h has the kinds.
//
// Never here: a module that is not valid. What an edit makes is verified, and
// this run ends where it is not.
#include "edit.h"
#include "crash.h"
#include "edit_items.h"
#include "memory.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace optsleuth {
namespace edit {
namespace {
void add_items(EditKind kind, Module &module, Items &items) {
  switch (kind) {
  case EditKind::FunctionBodies:
    return function_bodies(module, items);
  case EditKind::Globals:
    return globals(module, items);
  case EditKind::Initializers:
    return initializers(module, items);
  case EditKind::Blocks:
    return blocks(module, items);
  case EditKind::Branches:
    return branches(module, items);
  case EditKind::Instructions:
    return instructions(module, items);
  case EditKind::Bypasses:
    return bypasses(module, items);
  case EditKind::OperandsToZero:
    return operands_to_zero(module, items);
  case EditKind::OperandsToOne:
    return operands_to_one(module, items);
  case EditKind::Attributes:
    return attributes(module, items);
  case EditKind::Metadata:
    return metadata(module, items);
  case EditKind::Flags:
    return flags(module, items);
  case EditKind::Increments:
    return increments(module, items);
  case EditKind::Negations:
    return negations(module, items);
  case EditKind::Inversions:
    return inversions(module, items);
  case EditKind::Signs:
    return signs(module, items);
  case EditKind::Swaps:
    return swaps(module, items);
  case EditKind::Opcodes:
    return opcodes(module, items);
  }
  crash::finish(Verdict::Trouble, "unknown kind of edit");
}
} // namespace

void apply(Module &module, EditKind kind, const IndexSet &chosen) {
  Items items(chosen);
  add_items(kind, module, items);
  memory::report().edit_items = items.size();
  if (chosen.empty())
    return;
  if (!items.make_changes())
    crash::finish(Verdict::BadEdit, "there is nothing to change");
  if (!items.dropped.empty())
    close_ways_to(items.dropped);
  drop_unreachable(module);
  std::string broken;
  raw_string_ostream stream(broken);
  if (verifyModule(module, &stream))
    crash::finish(Verdict::BadEdit, stream.str().c_str());
}
} // namespace edit
} // namespace optsleuth

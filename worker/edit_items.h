// The items that edits are about: a function per kind of edit, which adds them in
// the order of the module's text, each with what is done to it if it is chosen.
//
//   edit.cpp --> one of these --> Items --> edit.cpp changes the chosen ones
//
// Never here: a change while items are still being added. It would shift the
// numbers of those behind it.
#pragma once
#include "payload.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Module.h"
#include <functional>
#include <vector>

namespace optsleuth {
namespace edit {
// Counts the items and keeps what to do with the chosen ones. Everything is
// counted before anything is changed.
class Items {
public:
  explicit Items(const IndexSet &chosen) : chosen(chosen) {}
  // `change` says whether it changed anything.
  void add(std::function<bool()> change) {
    if (chosen.has(count++))
      changes.push_back(std::move(change));
  }
  uint32_t size() const { return count; }
  // Blocks that are to go; all together, when all of them are known.
  llvm::SmallSetVector<llvm::BasicBlock *, 16> dropped;
  bool make_changes() {
    bool any = false;
    for (auto &change : changes)
      any |= change();
    return any;
  }

private:
  const IndexSet &chosen;
  uint32_t count = 0;
  std::vector<std::function<bool()>> changes;
};

// edit_structure.cpp
void function_bodies(llvm::Module &module, Items &items);
void globals(llvm::Module &module, Items &items);
void initializers(llvm::Module &module, Items &items);
void blocks(llvm::Module &module, Items &items);
void branches(llvm::Module &module, Items &items);
// Nothing leads to these blocks any more: a branch takes another way if it has
// one, and the function returns where it has none.
void close_ways_to(const llvm::SmallSetVector<llvm::BasicBlock *, 16> &dropped);
void drop_unreachable(llvm::Module &module);

// edit_instructions.cpp
void instructions(llvm::Module &module, Items &items);
void bypasses(llvm::Module &module, Items &items);
void operands_to_zero(llvm::Module &module, Items &items);
void operands_to_one(llvm::Module &module, Items &items);
void attributes(llvm::Module &module, Items &items);
void metadata(llvm::Module &module, Items &items);
void flags(llvm::Module &module, Items &items);
void increments(llvm::Module &module, Items &items);
void negations(llvm::Module &module, Items &items);
void inversions(llvm::Module &module, Items &items);
void signs(llvm::Module &module, Items &items);
void swaps(llvm::Module &module, Items &items);
void opcodes(llvm::Module &module, Items &items);

// Whether a type has a value that is zero.
bool has_zero(llvm::Type *type);
} // namespace edit
} // namespace optsleuth

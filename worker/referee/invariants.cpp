// Memory that a load promised never to change (!invariant.load): neither after the
// load, nor before it, since its object was made. LLVM takes such a load for one of
// an object's first value, and so a variable on the stack that is written before
// is wrong, too.
//
// Not looked for: bytes that were changed and changed back, and what was written to
// the heap before, where front ends may use it for objects that are complete.
#include "machine.h"
#include "llvm/IR/GlobalVariable.h"
#include <algorithm>

using namespace llvm;

namespace optsleuth {
namespace referee {
// Whether some of these bytes are others than the object had at first.
bool Machine::was_changed(const Object &object, uint64_t offset,
                          uint64_t size) {
  const uint8_t *unspecified = object.bytes.unspecified + offset;
  if (object.storage == Storage::Stack)
    return std::any_of(unspecified, unspecified + size,
                       [](uint8_t bits) { return bits != 0xff; });
  auto *variable = dyn_cast_or_null<GlobalVariable>(object.source);
  if (object.storage != Storage::Global || !variable ||
      !variable->hasInitializer() || object.constant)
    return false;
  uint32_t id = object.id; // Objects move when one is made.
  Object &first = new_object(Storage::Global, object.size, object.align, variable);
  initialize(first, 0, variable->getInitializer());
  bool same = !memcmp(first.bytes.data + offset,
                      memory.get(id)->bytes.data + offset, size);
  memory.destroy(first);
  return !same;
}

void Machine::promise_invariant(uint32_t id, uint64_t offset, uint64_t size) {
  std::vector<bool> &bytes = invariants[id];
  bytes.resize(memory.get(id)->size);
  if (std::all_of(bytes.begin() + int64_t(offset),
                  bytes.begin() + int64_t(offset + size),
                  [](bool promised) { return promised; }))
    return;
  if (was_changed(*memory.get(id), offset, size))
    undefined("a load with !invariant.load reads offset " +
              std::to_string(offset) + " of " + name_of(*memory.get(id)) +
              ", which was changed before");
  std::fill(bytes.begin() + int64_t(offset),
            bytes.begin() + int64_t(offset + size), true);
  watched = true; // From now on, every write comes by.
}

void Machine::expect_change(const Object &object, uint64_t offset,
                            uint64_t size) {
  auto found = invariants.find(object.id);
  if (found == invariants.end())
    return;
  const std::vector<bool> &bytes = found->second;
  for (uint64_t i = offset; i < offset + size; ++i)
    if (bytes[i])
      changing.push_back({object.id, i, object.bytes.data[i]});
}

void Machine::check_changes() {
  for (const ChangingByte &byte : changing) {
    const Object *object = memory.get(byte.object);
    if (object && object->bytes.data[byte.offset] != byte.before)
      undefined("a write changes offset " + std::to_string(byte.offset) +
                " of " + name_of(*object) +
                ", which was read by a load with !invariant.load");
  }
  changing.clear();
}
} // namespace referee
} // namespace optsleuth

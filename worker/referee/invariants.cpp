// Memory that a load promised never to change (!invariant.load).
//
// Sound, not complete: what changes it after such a load is undefined; what
// changed it before is not looked for, because an object's first value is a change
// of its undef bytes, too.
#include "machine.h"
#include <algorithm>

namespace optsleuth {
namespace referee {
void Machine::promise_invariant(const Object &object, uint64_t offset,
                                uint64_t size) {
  std::vector<bool> &bytes = invariants[object.id];
  bytes.resize(object.size);
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

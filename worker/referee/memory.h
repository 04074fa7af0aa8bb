// The objects of an interpreted program, with everything that is known of each
// byte: its value, which of its bits are specified, whether it is poison, and
// to which object it belongs if it is part of a pointer.
//
// Addresses are the same in every run. An address is never used twice and two
// objects never touch, so an address says which object it belongs to. An object
// is aligned as it asks for and no better, so that misalignment shows.
//
// Never here: a judgement. Callers say what is undefined about an access.
#pragma once
#include "value.h"
#include "llvm/IR/Value.h"
#include <unordered_map>

namespace optsleuth {
namespace referee {
// Bytes, wherever they lie. Where there is no `provenance`, none has any.
struct Bytes {
  uint8_t *data = nullptr, *unspecified = nullptr, *state = nullptr;
  uint32_t *provenance = nullptr;
};

enum class Storage : uint8_t { Global, Stack, Heap, Function, External, File };
enum class Life : uint8_t { Alive, Dead, Gone };

struct Object {
  Bytes bytes;
  uint64_t base = 0, size = 0, align = 1;
  uint64_t serial = 0; // Objects in the order in which they were made.
  uint32_t id = 0;
  Storage storage = Storage::Global;
  Life life = Life::Alive;
  bool constant = false;
  const llvm::Value *source = nullptr; // A variable, an alloca, a call.
};

// Provenance that an attribute of a parameter narrows: a pointer that is based
// on the argument of one call.
enum Ban : uint8_t { kNoRead = 1, kNoWrite = 2 };
struct Tag {
  uint32_t parent; // An object's id, or another tag's.
  uint8_t bans;
  bool active; // As long as the call.
  const llvm::Value *argument;
};

class Memory {
public:
  explicit Memory(uint64_t limit);
  // Null if that is more than the limit. Its bytes are undef.
  Object *create(Storage storage, uint64_t size, uint64_t align,
                 const llvm::Value *source);
  void destroy(Object &object);
  // The provenance of an argument; its parent's where there are too many.
  uint32_t add_tag(uint32_t parent, uint8_t bans, const llvm::Value *argument);
  static bool is_tag(uint32_t id) { return id & kTag; }
  Tag &tag(uint32_t id) { return tags[id & ~kTag]; }
  size_t n_tags() const { return tags.size(); }
  void end_tags(size_t first, size_t end) {
    for (size_t i = first; i < end; ++i)
      tags[i].active = false;
  }
  // The object's own id.
  uint32_t root(uint32_t id) const {
    while (id & kTag)
      id = tags[id & ~kTag].parent;
    return id;
  }
  // Null for no object, and for one that is gone for long.
  Object *get(uint32_t id) {
    if (id & kTag)
      id = root(id);
    Object &object = objects[id & kIndexMask];
    return object.id == id && id ? &object : nullptr;
  }
  // The object that an address lies in or at the end of.
  Object *at_address(uint64_t address);
  void fill_undef(Object &object);
  void make_provenance(Object &object);
  uint64_t next_serial() const { return serials; }

  void read(const Bytes &from, uint64_t at, const Leaf &leaf, Cell *cells);
  void write(const Bytes &to, uint64_t at, const Leaf &leaf, const Cell *cells);
  // Whole values. Writing needs provenance where a cell has any.
  void read(const Bytes &from, uint64_t at, const Shape &shape, Cell *cells);
  void write(Object &to, uint64_t at, const Shape &shape, const Cell *cells);
  void write(const Bytes &to, uint64_t at, const Shape &shape,
             const Cell *cells);
  void copy(Object &to, uint64_t to_at, const Object &from, uint64_t from_at,
            uint64_t bytes);
  void set(Object &to, uint64_t at, uint64_t bytes, const Cell &value);

private:
  // An id: an index, how often it was used before, and one bit for tags.
  static constexpr uint32_t kIndexBits = 23, kIndexMask = (1u << kIndexBits) - 1;
  static constexpr uint32_t kTag = 1u << 31;
  static constexpr size_t kMaxTags = 1 << 22;
  static constexpr size_t kQuarantine = 1 << 18;
  void note_origin(const uint8_t *data, uint64_t bytes, uint32_t origin);
  uint32_t origin_at(const uint8_t *data, uint64_t bytes) const;

  std::vector<Object> objects;
  std::vector<Tag> tags;
  std::vector<uint32_t> gone; // Places that are free again, oldest first.
  size_t next_gone = 0;
  uint64_t limit, used = 0, serials = 1, next_address = 0x100000;
  uint32_t last_found = 0;
  // Where poison in memory came from.
  std::unordered_map<const uint8_t *, uint32_t> origins;
};

// A value -> its bytes -> a value of another type of the same size.
void reinterpret(Memory &memory, const Shape &from, const Cell *cells,
                 const Shape &to, Cell *result);
} // namespace referee
} // namespace optsleuth

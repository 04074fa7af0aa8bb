// Objects and their bytes. See memory.h.
#include "memory.h"
#include <cstdlib>
#include <cstring>

using namespace llvm;

namespace optsleuth {
namespace referee {
namespace {
constexpr uint8_t kUndefByte = kUnspecified | kUndef | kFree;
// Between two objects, and before the first.
constexpr uint64_t kGap = 64;

// A scalar's bytes as it is stored: whole ones, the lowest first.
uint64_t bytes_of(const Leaf &leaf) { return (leaf.width + 7) / 8; }

bool any(const uint8_t *bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    if (bytes[i])
      return true;
  return false;
}
} // namespace

Memory::Memory(uint64_t limit) : objects(1), limit(limit) {}

Object *Memory::create(Storage storage, uint64_t size, uint64_t align,
                       const Value *source) {
  if (size > limit || used + size > limit)
    return nullptr;
  uint32_t index;
  if (gone.size() - next_gone > kQuarantine) {
    index = gone[next_gone++];
    if (next_gone > kQuarantine) {
      gone.erase(gone.begin(), gone.begin() + long(next_gone));
      next_gone = 0;
    }
  } else {
    index = uint32_t(objects.size());
    if (index > kIndexMask)
      return nullptr;
    objects.emplace_back();
  }
  Object &object = objects[index];
  uint32_t generation = (object.id >> kIndexBits) + 1;
  object = Object();
  object.id = (index | generation << kIndexBits) & ~kTag;
  object.storage = storage;
  object.source = source;
  object.size = size;
  object.align = align;
  object.serial = serials++;
  // A multiple of the alignment and of no greater power of two.
  uint64_t start = (next_address + kGap + 2 * align - 1) & ~(2 * align - 1);
  object.base = start + align;
  next_address = object.base + size;
  used += size;
  // One allocation holds all three rows.
  uint8_t *rows = static_cast<uint8_t *>(malloc(3 * size + 1));
  if (!rows)
    return nullptr;
  object.bytes.data = rows;
  object.bytes.unspecified = rows + size;
  object.bytes.state = rows + 2 * size;
  memset(rows, 0, size);
  memset(rows + size, 0xff, size);
  memset(rows + 2 * size, kUndefByte, size);
  return &object;
}

uint32_t Memory::add_tag(uint32_t parent, uint8_t bans, const Value *argument) {
  if (tags.size() >= kMaxTags)
    return parent;
  tags.push_back({parent, bans, true, argument});
  return uint32_t(tags.size() - 1) | kTag;
}

void Memory::destroy(Object &object) {
  object.life = Life::Gone;
  free(object.bytes.data);
  free(object.bytes.provenance);
  object.bytes = Bytes();
  used -= object.size;
  gone.push_back(object.id & kIndexMask);
}

void Memory::fill_undef(Object &object) {
  memset(object.bytes.unspecified, 0xff, object.size);
  memset(object.bytes.state, kUndefByte, object.size);
  if (object.bytes.provenance)
    memset(object.bytes.provenance, 0, object.size * sizeof(uint32_t));
}

void Memory::make_provenance(Object &object) {
  if (!object.bytes.provenance)
    object.bytes.provenance =
        static_cast<uint32_t *>(calloc(object.size + 1, sizeof(uint32_t)));
}

Object *Memory::at_address(uint64_t address) {
  auto holds = [&](const Object &object) {
    return object.id && address >= object.base &&
           address <= object.base + object.size;
  };
  if (holds(objects[last_found]))
    return &objects[last_found];
  for (uint32_t i = 1; i < objects.size(); ++i)
    if (holds(objects[i])) {
      last_found = i;
      return &objects[i];
    }
  return nullptr;
}

void Memory::note_origin(const uint8_t *data, uint64_t bytes, uint32_t origin) {
  for (uint64_t i = 0; i < bytes; ++i)
    origins[data + i] = origin;
}

uint32_t Memory::origin_at(const uint8_t *data, uint64_t bytes) const {
  for (uint64_t i = 0; i < bytes; ++i) {
    auto found = origins.find(data + i);
    if (found != origins.end())
      return found->second;
  }
  return 0;
}

void Memory::read(const Bytes &from, uint64_t at, const Leaf &leaf,
                  Cell *cells) {
  uint64_t total = bytes_of(leaf);
  uint32_t provenance = 0;
  if (from.provenance) {
    provenance = from.provenance[at];
    for (uint64_t i = 1; i < total; ++i)
      if (from.provenance[at + i] != provenance)
        provenance = 0;
  }
  bool has_provenance =
      from.provenance &&
      any(reinterpret_cast<uint8_t *>(from.provenance + at), total * 4);
  uint32_t state = 0;
  bool free = true;
  for (uint64_t i = 0; i < total; ++i)
    if (from.unspecified[at + i]) {
      state |= from.state[at + i];
      free &= (from.state[at + i] & kFree) != 0;
    }
  if (!free)
    state &= ~uint32_t(kFree);
  if (state & (kPoison | kUndef)) {
    uint32_t origin = origin_at(from.data + at, total);
    state |= origin << kOriginShift;
  }
  if (state & kPoison) {
    for (unsigned i = 0; i < cells_of(leaf.width); ++i)
      cells[i] = Cell{0, 0, 0, (state & ~uint32_t(kStates)) | kPoison};
    return;
  }
  // An address as a number depends on where its object lies.
  bool is_address = has_provenance && leaf.kind != Kind::Pointer;
  if (is_address)
    state |= kLayout;
  for (unsigned i = 0; i < cells_of(leaf.width); ++i) {
    uint64_t n = std::min<uint64_t>(8, total - 8 * i);
    uint64_t mask = low_mask(std::min(64u, leaf.width - 64 * i));
    Cell &cell = cells[i];
    cell = Cell();
    memcpy(&cell.bits, from.data + at + 8 * i, n);
    memcpy(&cell.unspecified, from.unspecified + at + 8 * i, n);
    if (is_address) {
      Object *object = get(provenance);
      uint64_t known = object && leaf.width == 64 ? object->align - 1 : 0;
      cell.unspecified |= ~known;
    }
    cell.bits &= mask;
    cell.unspecified &= mask;
    cell.object = provenance;
    cell.state = state;
  }
}

void Memory::write(const Bytes &to, uint64_t at, const Leaf &leaf,
                   const Cell *cells) {
  uint64_t total = bytes_of(leaf);
  uint8_t *data = to.data + at, *unspecified = to.unspecified + at;
  uint8_t *state = to.state + at;
  if (to.provenance)
    for (uint64_t i = 0; i < total; ++i)
      to.provenance[at + i] = cells->object;
  if (cells->poison()) {
    memset(data, 0, total);
    memset(unspecified, 0xff, total);
    memset(state, kPoison, total);
    note_origin(data, total, cells->origin());
    return;
  }
  for (unsigned i = 0; i < cells_of(leaf.width); ++i) {
    uint64_t n = std::min<uint64_t>(8, total - 8 * i);
    // What an object's address is made of is kept as provenance instead.
    uint64_t mask = cells[i].unspecified;
    if (cells[i].object && !(cells[i].state & (kUnspecified | kUndef)))
      mask = 0;
    memcpy(data + 8 * i, &cells[i].bits, n);
    memcpy(unspecified + 8 * i, &mask, n);
    memset(state + 8 * i, mask ? int(cells[i].state & kStates) : 0, n);
  }
  if (cells->origin() && (cells->state & kUndef))
    note_origin(data, total, cells->origin());
}

void Memory::read(const Bytes &from, uint64_t at, const Shape &shape,
                  Cell *cells) {
  if (!shape.packed_bits) {
    for (const Leaf &leaf : shape.leaves)
      read(from, at + leaf.offset, leaf, cells + leaf.cell);
    return;
  }
  // Lanes of a few bits lie one behind the other.
  unsigned bits = shape.lanes * shape.width;
  Leaf whole{Kind::Integer, bits, 0, 0, nullptr};
  std::vector<Cell> buffer(cells_of(bits));
  read(from, at, whole, buffer.data());
  Scalar scalar = read_scalar(buffer.data(), bits);
  for (unsigned i = 0; i < shape.lanes; ++i) {
    Scalar lane(scalar.bits.extractBits(shape.width, i * shape.width));
    lane.unspecified =
        scalar.unspecified.extractBits(shape.width, i * shape.width);
    lane.state = scalar.state;
    write_scalar(cells + i * shape.stride, lane);
  }
}

void Memory::write(const Bytes &to, uint64_t at, const Shape &shape,
                   const Cell *cells) {
  if (shape.packed_bits) {
    unsigned bits = shape.lanes * shape.width;
    Scalar whole(bits, 0);
    for (unsigned i = 0; i < shape.lanes; ++i) {
      Scalar lane = read_scalar(cells + i * shape.stride, shape.width);
      whole.bits.insertBits(lane.bits, i * shape.width);
      whole.unspecified.insertBits(lane.unspecified, i * shape.width);
      whole.state = merge_states(whole.state, lane.state);
    }
    std::vector<Cell> buffer(cells_of(bits));
    write_scalar(buffer.data(), whole);
    write(to, at, Leaf{Kind::Integer, bits, 0, 0, nullptr}, buffer.data());
    return;
  }
  if (shape.has_padding) {
    memset(to.unspecified + at, 0xff, shape.store_bytes);
    memset(to.state + at, kUndefByte, shape.store_bytes);
  }
  for (const Leaf &leaf : shape.leaves)
    write(to, at + leaf.offset, leaf, cells + leaf.cell);
}

void Memory::write(Object &to, uint64_t at, const Shape &shape,
                   const Cell *cells) {
  for (uint32_t i = 0; i < shape.n_cells && !to.bytes.provenance; ++i)
    if (cells[i].object)
      make_provenance(to);
  write(to.bytes, at, shape, cells);
}

void Memory::copy(Object &to, uint64_t to_at, const Object &from,
                  uint64_t from_at, uint64_t bytes) {
  const Bytes source = from.bytes;
  if (source.provenance &&
      any(reinterpret_cast<uint8_t *>(source.provenance + from_at), 4 * bytes))
    make_provenance(to);
  const Bytes &target = to.bytes;
  if (!origins.empty()) {
    std::vector<uint32_t> moved(bytes);
    for (uint64_t i = 0; i < bytes; ++i)
      moved[i] = origin_at(source.data + from_at + i, 1);
    for (uint64_t i = 0; i < bytes; ++i)
      if (moved[i])
        origins[target.data + to_at + i] = moved[i];
  }
  memmove(target.data + to_at, source.data + from_at, bytes);
  memmove(target.unspecified + to_at, source.unspecified + from_at, bytes);
  memmove(target.state + to_at, source.state + from_at, bytes);
  if (target.provenance && source.provenance)
    memmove(target.provenance + to_at, source.provenance + from_at, 4 * bytes);
  else if (target.provenance)
    memset(target.provenance + to_at, 0, 4 * bytes);
}

void Memory::set(Object &to, uint64_t at, uint64_t bytes, const Cell &value) {
  bool poison = value.poison();
  if (poison)
    note_origin(to.bytes.data + at, bytes, value.origin());
  memset(to.bytes.data + at, int(value.bits & 0xff), bytes);
  memset(to.bytes.unspecified + at,
         poison ? 0xff : int(value.unspecified & 0xff), bytes);
  memset(to.bytes.state + at, int(value.state & kStates), bytes);
  if (to.bytes.provenance)
    memset(to.bytes.provenance + at, 0, 4 * bytes);
}

void reinterpret(Memory &memory, const Shape &from, const Cell *cells,
                 const Shape &to, Cell *result) {
  uint64_t size = std::max(from.store_bytes, to.store_bytes);
  std::vector<uint8_t> rows(3 * size, 0);
  std::vector<uint32_t> provenance(size, 0);
  Bytes bytes{rows.data(), rows.data() + size, rows.data() + 2 * size,
              provenance.data()};
  memory.write(bytes, 0, from, cells);
  memory.read(bytes, 0, to, result);
}
} // namespace referee
} // namespace optsleuth

// Decodes a request's payload: structs of protocol.h, u32 numbers, texts (a
// length and bytes) and lists (a count and its items).
//
// Never here: trust in a length. A payload that ends early makes `ok` false.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace optsleuth {
// Everything read from here points into the mapped request: decoding touches
// no heap, so a longer request does not change how LLVM's memory is laid out.
class Payload {
public:
  Payload(const char *data, size_t bytes) : at(data), end(data + bytes) {}
  bool ok = true;

  uint32_t number() { return fixed<uint32_t>(); }
  std::string_view text() {
    uint32_t bytes = number();
    if (!has(bytes))
      return {};
    std::string_view value(at, bytes);
    at += bytes;
    return value;
  }
  // A struct of protocol.h or a number, copied: it need not lie aligned.
  template <typename Fixed> Fixed fixed() {
    Fixed value{};
    if (!has(sizeof value))
      return value;
    memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  }
  // The bytes themselves, unread.
  const char *skip(size_t bytes) {
    const char *start = at;
    if (has(bytes))
      at += bytes;
    return start;
  }

private:
  bool has(size_t bytes) { return ok = ok && size_t(end - at) >= bytes; }
  const char *at, *end;
};

// Numbers in stretches: half-open ranges, sorted, searched where they lie.
class IndexSet {
public:
  IndexSet() = default;
  explicit IndexSet(Payload &request)
      : count(request.number()), ranges(request.skip(size_t(count) * 8)) {
    if (!request.ok)
      count = 0;
  }
  bool empty() const { return count == 0; }
  bool has(uint32_t index) const {
    uint32_t low = 0, high = count; // The first range that ends behind it.
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (number(2 * middle + 1) <= index)
        low = middle + 1;
      else
        high = middle;
    }
    return low < count && number(2 * low) <= index;
  }

private:
  uint32_t number(uint32_t place) const {
    uint32_t value;
    memcpy(&value, ranges + size_t(place) * sizeof value, sizeof value);
    return value;
  }
  uint32_t count = 0;
  const char *ranges = nullptr;
};
} // namespace optsleuth

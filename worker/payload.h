// Decodes a request's payload. Integers are little-endian u32; a string is a
// length and bytes; a list is a count and its items.
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

  uint32_t number() {
    uint32_t value = 0;
    if (!has(sizeof value))
      return 0;
    memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  }
  std::string_view text() {
    uint32_t bytes = number();
    if (!has(bytes))
      return {};
    std::string_view value(at, bytes);
    at += bytes;
    return value;
  }

private:
  bool has(size_t bytes) { return ok = ok && size_t(end - at) >= bytes; }
  const char *at, *end;
};
} // namespace optsleuth

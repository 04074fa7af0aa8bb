// The shared memory file, from the worker's side. See memory.h.
#include "memory.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace optsleuth {
namespace {
int file = -1;
Report *live = nullptr;
// Mapped rather than kept in a std::string: recording must not disturb the
// heap, because LLVM iterates over hash tables keyed by heap addresses.
char *invocations = nullptr;
// Mapped once at full size, whatever the requests: later mappings then lie at
// the same addresses in every run.
char *requests = nullptr;
char *bit_maps = nullptr;
char *author_areas = nullptr;

char *map(uint64_t offset, uint64_t bytes) {
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                  off_t(offset));
  return at == MAP_FAILED ? nullptr : static_cast<char *>(at);
}
} // namespace

namespace memory {
void attach(int descriptor) {
  file = descriptor;
  live = reinterpret_cast<Report *>(map(0, sizeof(Report)));
  invocations = map(kInvocationOffset, kInvocationCapacity);
  requests = map(kRequestOffset, kMaxTransfer);
  bit_maps = map(kBitsOffset, kBitsCapacity);
  author_areas = map(kAuthorsOffset, kAuthorsCapacity);
  if (!live || !invocations || !requests || !bit_maps || !author_areas)
    _exit(71);
}

int descriptor() { return file; }
Report &report() { return *live; }

void reset_report() {
  // `session_loaded` is not touched, not even for a moment: the zygote reads it.
  constexpr size_t kBefore = offsetof(Report, session_loaded);
  constexpr size_t kAfter = kBefore + sizeof(Report::session_loaded);
  char *bytes = reinterpret_cast<char *>(live);
  memset(bytes, 0, kBefore);
  memset(bytes + kAfter, 0, offsetof(Report, frames) - kAfter);
  live->current_invocation = kNoInvocation;
}

Payload request(uint64_t bytes) {
  return Payload(requests, std::min<uint64_t>(bytes, kMaxTransfer));
}

bool write_response(const char *data, size_t bytes) {
  if (bytes > kMaxTransfer)
    return false;
  // Mapped, not written: a write would fall under the child's file-size limit.
  if (bytes) {
    char *at = map(kResponseOffset, bytes);
    if (!at)
      return false;
    memcpy(at, data, bytes);
    munmap(at, bytes);
  }
  live->response_bytes = bytes;
  return true;
}

void set_message(const char *text, size_t bytes) {
  bytes = std::min<size_t>(bytes, kMaxMessage);
  memcpy(live->message, text, bytes);
  live->message_bytes = uint32_t(bytes);
}

uint32_t *log_invocation(const char *pass, size_t pass_bytes, const char *unit,
                         size_t unit_bytes) {
  pass_bytes = std::min<size_t>(pass_bytes, 0xffff);
  unit_bytes = std::min<size_t>(unit_bytes, 0xffff);
  // Entries start at multiples of four, so that the flags are aligned.
  size_t bytes =
      (sizeof(InvocationRecord) + pass_bytes + unit_bytes + 3) & ~size_t(3);
  size_t at = live->invocation_bytes;
  if (at + bytes > kInvocationCapacity) {
    live->invocations_cut = 1;
    return nullptr;
  }
  auto *record = reinterpret_cast<InvocationRecord *>(invocations + at);
  record->flags = 0;
  record->pass_bytes = uint16_t(pass_bytes);
  record->unit_bytes = uint16_t(unit_bytes);
  char *names = reinterpret_cast<char *>(record + 1);
  memcpy(names, pass, pass_bytes);
  memcpy(names + pass_bytes, unit, unit_bytes);
  live->invocation_bytes = uint32_t(at + bytes);
  return &record->flags;
}

char *coverage_bits(uint64_t offset) { return bit_maps + (offset - kBitsOffset); }

char *author_area(uint64_t number) {
  return author_areas + number * kAuthorsArea;
}

void detach() {
  munmap(live, sizeof(Report));
  munmap(invocations, kInvocationCapacity);
  munmap(requests, kMaxTransfer);
  munmap(bit_maps, kBitsCapacity);
  munmap(author_areas, kAuthorsCapacity);
  close(file);
  live = nullptr;
  invocations = requests = bit_maps = author_areas = nullptr;
  file = -1;
}
} // namespace memory
} // namespace optsleuth

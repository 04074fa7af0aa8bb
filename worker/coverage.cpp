// Which basic blocks of LLVM a child executed. See coverage.h.
#include "coverage.h"
#include "memory.h"
#include "protocol.h"
#include <cstring>
#include <emmintrin.h>
#include <sys/mman.h>

// Defined by the two objects that frame the marks, if they were linked.
extern "C" {
extern unsigned char __objcov_first[] __attribute__((weak));
extern unsigned char __objcov_last[] __attribute__((weak));
extern unsigned char __start___objcov[] __attribute__((weak));
extern unsigned char __stop___objcov[] __attribute__((weak));
}

namespace optsleuth {
namespace {
constexpr size_t kPage = 4096;
unsigned char *marks = nullptr; // One byte a block, shared.
size_t count = 0;
// Mapped behind the marks: copies of them at certain moments.
unsigned char *before_window = nullptr;
unsigned char *in_window = nullptr;
unsigned char *paused = nullptr;

size_t mapped() { return (count + kPage - 1) & ~(kPage - 1); }

unsigned char *map(int file, uint64_t offset, void *where, int flags) {
  void *at = mmap(where, mapped(), PROT_READ | PROT_WRITE, MAP_SHARED | flags,
                  file, off_t(offset));
  return at == MAP_FAILED ? nullptr : static_cast<unsigned char *>(at);
}

// Bytes -> bits, 64 at a time; a stretch without marks costs four loads.
void pack(const unsigned char *from, uint64_t *to) {
  for (size_t at = 0; at < mapped(); at += 64) {
    uint64_t word = 0;
    for (int part = 0; part < 4; ++part) {
      __m128i bytes = _mm_load_si128(
          reinterpret_cast<const __m128i *>(from + at + 16 * size_t(part)));
      __m128i zero = _mm_cmpeq_epi8(bytes, _mm_setzero_si128());
      uint64_t set = uint64_t(_mm_movemask_epi8(zero)) ^ 0xffff;
      word |= set << (16 * part);
    }
    to[at / 64] = word;
  }
}

uint64_t *bits(uint64_t offset) {
  return reinterpret_cast<uint64_t *>(memory::coverage_bits(offset));
}
} // namespace

namespace coverage {
uint32_t block_count() { return uint32_t(count); }

bool attach(int file) {
  if (!__objcov_first)
    return true; // A plain worker.
  bool together = __start___objcov == __objcov_first &&
                  __stop___objcov == __objcov_last + kPage;
  size_t bytes = size_t(__objcov_last - __objcov_first);
  if (!together || bytes > kMaxBlocks ||
      reinterpret_cast<uintptr_t>(__objcov_first) % kPage)
    return false;
  count = bytes;
  marks = map(file, kMarksOffset, __objcov_first, MAP_FIXED);
  before_window = map(file, kMarksOffset + 1 * kMaxBlocks, nullptr, 0);
  in_window = map(file, kMarksOffset + 2 * kMaxBlocks, nullptr, 0);
  paused = map(file, kMarksOffset + 3 * kMaxBlocks, nullptr, 0);
  return marks && before_window && in_window && paused;
}

void clear() {
  if (count)
    memset(marks, 0, mapped());
}

void expect_marks() {
  constexpr int kPopulateWrite = 23; // MADV_POPULATE_WRITE, Linux 5.14.
  if (count)
    madvise(marks, mapped(), kPopulateWrite); // Only saves time.
}

void freeze() {
  Report &report = memory::report();
  if (!count || report.coverage_frozen)
    return;
  if (report.window == uint32_t(Window::Open))
    close_window();
  pack(marks, bits(kBitsOffset));
  report.coverage_frozen = 1;
}

void thaw() {
  if (!count)
    return;
  resume();
  memory::report().coverage_frozen = 0;
}

void pause() {
  if (count)
    memcpy(paused, marks, mapped());
}

void resume() {
  if (count)
    memcpy(marks, paused, mapped());
}

void open_window() {
  if (!count)
    return;
  memcpy(before_window, marks, mapped());
  memset(marks, 0, mapped());
  memory::report().window = uint32_t(Window::Open);
}

void close_window() {
  if (!count)
    return;
  memcpy(in_window, marks, mapped());
  memory::report().window = uint32_t(Window::Closed);
}

void detach() {
  if (!count)
    return;
  for (unsigned char *copy : {before_window, in_window, paused})
    munmap(copy, mapped());
  // The probes stay where they are, so something has to be there.
  mmap(marks, mapped(), PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void collect() {
  if (!count)
    return;
  Report &report = memory::report();
  if (report.phase < uint32_t(Phase::Pipeline)) {
    memset(bits(kBitsOffset), 0, mapped() / 8); // It never came to a pass.
    return;
  }
  if (!report.coverage_frozen)
    pack(marks, bits(kBitsOffset));
  if (report.window == uint32_t(Window::None))
    return;
  // What a child was in when it ended belongs to the window.
  pack(report.window == uint32_t(Window::Open) ? marks : in_window,
       bits(kWindowBitsOffset));
  // The marks were cleared when the window opened: join what was before.
  uint64_t *whole = bits(kBitsOffset);
  uint64_t *early = bits(kEarlyBitsOffset);
  pack(before_window, early);
  for (size_t i = 0; i < mapped() / 64; ++i)
    whole[i] |= early[i];
}
} // namespace coverage
} // namespace optsleuth

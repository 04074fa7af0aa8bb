// Makes the worker's own image cheap to fork. See pages.h.
//
// Never here: a change of content. Every byte stays at its address.
#include "pages.h"
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace optsleuth {
namespace {
constexpr uintptr_t kHuge = 2 * 1024 * 1024;

struct Mapping {
  uintptr_t start, end;
  bool readable, writable, executable;
};

void copy_to_memory(const Mapping &mapping) {
  size_t bytes = mapping.end - mapping.start;
  // The copy has to lie at the same distance from a multiple of the huge
  // page's size as the original, or its pages cannot move there whole.
  char *area = static_cast<char *>(mmap(nullptr, bytes + 2 * kHuge, PROT_NONE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (area == MAP_FAILED)
    return;
  uintptr_t base = reinterpret_cast<uintptr_t>(area);
  uintptr_t aligned = ((base + kHuge - 1) & ~(kHuge - 1)) + mapping.start % kHuge;
  char *copy = reinterpret_cast<char *>(aligned);
  void *original = reinterpret_cast<void *>(mapping.start);
  int protection = PROT_READ | (mapping.writable ? PROT_WRITE : 0) |
                   (mapping.executable ? PROT_EXEC : 0);
  if (mprotect(copy, bytes, PROT_READ | PROT_WRITE) == 0) {
    madvise(copy, bytes, MADV_HUGEPAGE);
    memcpy(copy, original, bytes);
    // The swap is one system call: this code runs on, in the copy.
    if (mprotect(copy, bytes, protection) == 0)
      mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, original);
  }
  // Unmaps what the move left of the area, on both sides of the hole.
  munmap(area, bytes + 2 * kHuge);
}
} // namespace

void copy_image_to_memory() {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  FILE *maps = fopen("/proc/self/maps", "re");
  if (length <= 0 || !maps)
    return;
  self[length] = '\0';
  Mapping found[16];
  int count = 0;
  char line[PATH_MAX + 128];
  while (count < 16 && fgets(line, sizeof line, maps)) {
    unsigned long start, end;
    char flags[5];
    if (sscanf(line, "%lx-%lx %4s", &start, &end, flags) != 3)
      continue;
    const char *path = strchr(line, '/');
    if (path && strncmp(path, self, size_t(length)) == 0 && path[length] == '\n')
      found[count++] = {start, end, flags[0] == 'r', flags[1] == 'w',
                        flags[2] == 'x'};
  }
  fclose(maps);
  for (int i = 0; i < count; ++i)
    if (found[i].readable)
      copy_to_memory(found[i]);
}
} // namespace optsleuth

// The main program of a cc1 of ours: gcc's own objects with probes, and the
// plug-in's code linked in.
//
//   gcc -B FOLDER -fplugin-arg-optsleuth_gcc_plugin-control=FILE
//     --> main: follows the orders, hides the argument --> gcc's toplev
//
// Never here: anything that changes what gcc does, but for detours.
#include "config.h"
#include "system.h"
#include "coretypes.h"
#include "tm.h"
#include "diagnostic-core.h"
#include "toplev.h"

#include "cc1.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

// Defined by the two objects that frame the marks.
extern "C" {
extern unsigned char __objcov_first[] __attribute__((weak));
extern unsigned char __objcov_last[] __attribute__((weak));
}

namespace {
constexpr size_t page = 4096;
const char control_flag[] = "-fplugin-arg-optsleuth_gcc_plugin-control=";

unsigned char *before_window = nullptr;
unsigned char *in_window = nullptr;
unsigned char *window_state = nullptr; // 0 none, 1 open, 2 closed.

[[noreturn]] void give_up(const char *what) {
  fprintf(stderr, "optsleuth's cc1: %s\n", what);
  exit(3);
}

size_t mapped() {
  return (size_t(__objcov_last - __objcov_first) + page - 1) & ~(page - 1);
}

unsigned char *map(int file, size_t offset, size_t bytes, void *where) {
  int flags = MAP_SHARED | (where ? MAP_FIXED : 0);
  void *at = mmap(where, bytes, PROT_READ | PROT_WRITE, flags, file, off_t(offset));
  if (at == MAP_FAILED)
    give_up("cannot map the marks");
  return static_cast<unsigned char *>(at);
}
} // namespace

namespace cc1 {
// The file: the marks, those from before the window, those of the window, and a
// page that begins with the window's state.
void cover(const char *path) {
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, off_t(3 * mapped() + page)) != 0)
    give_up("cannot write the marks");
  map(file, 0, mapped(), __objcov_first);
  before_window = map(file, mapped(), mapped(), nullptr);
  in_window = map(file, 2 * mapped(), mapped(), nullptr);
  window_state = map(file, 3 * mapped(), page, nullptr);
  close(file);
}

void open_window() {
  if (!window_state)
    return;
  memcpy(before_window, __objcov_first, mapped());
  memset(__objcov_first, 0, mapped());
  *window_state = 1;
}

void close_window() {
  if (!window_state || *window_state != 1)
    return;
  memcpy(in_window, __objcov_first, mapped());
  *window_state = 2;
}

void freeze() {
  // The probes stay where they are, so something has to be there.
  if (window_state)
    mmap(__objcov_first, mapped(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
         -1, 0);
}

void detour(const char *text) {
  char *rest = nullptr;
  uintptr_t at = strtoull(text, &rest, 16);
  uintptr_t first = at & ~(page - 1);
  // Two pages: the bytes may go over an edge.
  if (mprotect(reinterpret_cast<void *>(first), 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC))
    give_up("cannot change the code");
  for (; *rest == ' '; ++rest) {
  }
  for (char pair[3] = {}; rest[0] && rest[1]; rest += 2, ++at) {
    memcpy(pair, rest, 2);
    *reinterpret_cast<volatile unsigned char *>(at) = (unsigned char)strtoul(pair, nullptr, 16);
  }
  mprotect(reinterpret_cast<void *>(first), 2 * page, PROT_READ | PROT_EXEC);
}
} // namespace cc1

int main(int count, char **arguments) {
  int kept = 0;
  for (int place = 0; place < count; ++place) {
    char *argument = arguments[place];
    if (startswith(argument, control_flag))
      follow_orders(argument + sizeof control_flag - 1);
    else
      arguments[kept++] = argument;
  }
  arguments[kept] = nullptr;
  toplev compiler(nullptr, true);
  int status = compiler.main(kept, arguments);
  if (flag_checking && !seen_error())
    compiler.finalize();
  return status;
}

// What a child writes. See output.h.
#include "output.h"
#include "memory.h"
#include <algorithm>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace optsleuth {
namespace {
int program_stdout = -1;
int program_stderr = -1;
int null_device = -1;

int memory_file(const char *name) {
  int file = int(syscall(SYS_memfd_create, name, 1u /* close on exec */));
  if (file < 0)
    _exit(76);
  return file;
}

// Copies a file into the memory file, and empties it.
uint64_t copy_out(int source, uint64_t offset, uint64_t limit, bool &cut) {
  char buffer[16384];
  uint64_t done = 0;
  for (;;) {
    ssize_t got = pread(source, buffer, sizeof buffer, off_t(done));
    if (got <= 0 || done + uint64_t(got) > kMaxTransfer)
      break;
    if (pwrite(memory::descriptor(), buffer, size_t(got),
               off_t(offset + done)) != got)
      break;
    done += uint64_t(got);
  }
  cut = done > limit;
  // A program may have moved the shared position or grown the file.
  if (ftruncate(source, 0) != 0 || lseek(source, 0, SEEK_SET) != 0)
    _exit(74);
  return std::min(done, limit);
}
} // namespace

namespace output {
void open_files() {
  null_device = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null_device < 0)
    _exit(77);
  for (int standard = 0; standard <= 2; ++standard)
    dup2(null_device, standard);
  program_stdout = memory_file("stdout");
  program_stderr = memory_file("stderr");
}

void catch_stderr() { dup2(program_stderr, 2); }
void drop_stderr() { dup2(null_device, 2); }

bool catch_program() {
  return ftruncate(program_stderr, 0) == 0 &&
         lseek(program_stderr, 0, SEEK_SET) == 0 &&
         dup2(program_stdout, 1) == 1 && dup2(program_stderr, 2) == 2;
}

void collect(uint64_t limit) {
  Report &report = memory::report();
  bool stdout_cut, stderr_cut;
  report.stdout_bytes =
      copy_out(program_stdout, kStdoutOffset, limit, stdout_cut);
  report.stderr_bytes =
      copy_out(program_stderr, kStderrOffset, limit, stderr_cut);
  report.output_cut = stdout_cut; // Complaints may be long.
}
} // namespace output
} // namespace optsleuth

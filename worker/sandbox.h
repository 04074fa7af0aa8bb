// Limits and fences around a child.
//
// Never here: a fence that fails open in silence. `fence` says whether it holds.
#pragma once
#include <cstdint>

namespace optsleuth {
namespace sandbox {
struct Support {
  bool seccomp;
  int landlock_abi;
};
Support support();
// Address space, file size, core dumps, CPU time. For every child.
bool limit(uint64_t memory_bytes, uint64_t file_bytes, uint64_t cpu_ms);
// No network, no other process, no file outside `directory`. For programs.
// `may_exec` leaves execve open for the one call that starts the program.
bool fence(const char *directory, bool may_exec);
} // namespace sandbox
} // namespace optsleuth

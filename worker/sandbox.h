// Limits and fences around LLVM and around the programs it makes.
//
//   session: fence --> options, module --fork--> child: limit, isolate --> passes
//
// The outer fence is raised once per session, before LLVM sees anything of a
// case, and children inherit it. The inner one is raised by every child: it
// knows the child's own number, and is short, because each run pays for it.
//
// Never here: a fence that fails open in silence. Both say whether they hold.
#pragma once
#include <cstdint>

namespace optsleuth {
namespace sandbox {
struct Support {
  bool seccomp;
  int landlock_abi;
};
Support support();
// Address space, file size, core dumps, CPU time. For every child. No bytes of
// address space: as much as the kernel has.
bool limit(uint64_t address_bytes, uint64_t file_bytes, uint64_t cpu_ms);
// The outer fence: no rights of root, no network, no change to the machine, no
// file written outside of `directory`. Nothing happens where it stands already.
bool fence(const char *directory);
// What a child may do with processes.
enum class Processes {
  None,
  Become, // The one call that starts a program is open.
  Start,  // Others may be started; they end with it.
};
// The inner fence: no other process, no signal to one, no new limits.
bool isolate(Processes processes);
} // namespace sandbox
} // namespace optsleuth

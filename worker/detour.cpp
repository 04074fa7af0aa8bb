// Writes to this process's own code. See detour.h.
//
// Never here: a change that another process could see. The image is a private
// copy, and this process ends with its run.
#include "detour.h"
#include "crash.h"
#include <sys/mman.h>

// From the linker: where the code begins and ends.
extern "C" char __executable_start, etext;

namespace optsleuth {
uint8_t write_code(uint64_t address, uint8_t byte) {
  constexpr uintptr_t kPage = 4096;
  if (address < reinterpret_cast<uintptr_t>(&__executable_start) ||
      address >= reinterpret_cast<uintptr_t>(&etext))
    crash::finish(Verdict::Trouble, "a change outside of the compiler's code");
  void *page = reinterpret_cast<void *>(address & ~(kPage - 1));
  auto *place = reinterpret_cast<volatile uint8_t *>(address);
  if (mprotect(page, kPage, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    crash::finish(Verdict::Trouble, "the compiler's code cannot be changed");
  uint8_t original = *place;
  *place = byte;
  mprotect(page, kPage, PROT_READ | PROT_EXEC);
  return original;
}

void Detour::begin() {
  if (address)
    original = write_code(address, opcode);
}

void Detour::end() {
  if (address)
    write_code(address, original);
}
} // namespace optsleuth

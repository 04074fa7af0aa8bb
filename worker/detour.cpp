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

Detours::Detours(Payload &request) : count(request.number()) {
  if (count > kMaxDetours)
    crash::finish(Verdict::Trouble, "too many changes to the compiler's code");
  for (uint32_t i = 0; i < count; ++i) {
    detours[i] = request.fixed<DetourCode>();
    if (detours[i].length > sizeof detours[i].bytes)
      crash::finish(Verdict::Trouble, "a change to the compiler's code is too long");
  }
}

void Detours::exchange() {
  for (uint32_t i = 0; i < count; ++i) {
    DetourCode &detour = detours[i];
    auto *bytes = reinterpret_cast<uint8_t *>(&detour.bytes);
    for (uint32_t at = 0; at < detour.length; ++at)
      bytes[at] = write_code(detour.address + at, bytes[at]);
  }
}
} // namespace optsleuth

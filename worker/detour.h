// A few bytes of LLVM's code, changed while the passes run.
#pragma once
#include "payload.h"
#include "protocol.h"

namespace optsleuth {
// Puts a byte into LLVM's code, for this process alone, and returns what stood
// there.
uint8_t write_code(uint64_t address, uint8_t byte);

class Detours {
public:
  explicit Detours(Payload &request);
  // A compiler that goes astray may do anything: this process is fenced in.
  void begin() { exchange(); }
  void end() { exchange(); }

private:
  // Puts each one's bytes into the code, and takes what stood there.
  void exchange();
  DetourCode detours[kMaxDetours];
  uint32_t count;
};
} // namespace optsleuth

// One instruction of LLVM, changed while the passes run.
#pragma once
#include <cstdint>

namespace optsleuth {
// Puts a byte into LLVM's code, for this process alone, and returns what stood
// there.
uint8_t write_code(uint64_t address, uint8_t byte);

class Detour {
public:
  // Address 0: nothing is changed.
  Detour(uint64_t address, uint8_t opcode) : address(address), opcode(opcode) {}
  // A compiler that goes astray may do anything: this process is fenced in.
  void begin();
  void end();

private:
  uint64_t address;
  uint8_t opcode;
  uint8_t original = 0;
};
} // namespace optsleuth

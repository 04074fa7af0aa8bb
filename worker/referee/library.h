// What the parts of the C library share: arguments of variadic calls, formats.
#pragma once
#include "machine.h"

namespace optsleuth {
namespace referee {
// Where a format's arguments come from: the call itself, or a va_list.
class Arguments {
public:
  Arguments(Machine &machine, const CallPlan &plan, unsigned first)
      : machine(machine), plan(&plan), next(first) {}
  Arguments(Machine &machine, const Cell &list);
  // The next integer or pointer of at most 64 bits, sign and all.
  Cell integer(unsigned width);
  double number();
  long double long_number();

private:
  Cell from_list(uint64_t bytes, Cell *high);
  const Cell &given(Kind kind, unsigned width);
  Machine &machine;
  const CallPlan *plan = nullptr;
  unsigned next = 0;
  Cell list;
};

// The format at `pointer`, carried out as the host's C library does.
std::string format(Machine &machine, const Cell &pointer, Arguments arguments);
} // namespace referee
} // namespace optsleuth

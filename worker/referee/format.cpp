// printf's formats. Each conversion is carried out by the host's own printf, so
// that the text is what machine code would print.
//
// Never here: a stream.
#include "library.h"
#include <cstring>

using namespace llvm;

namespace optsleuth {
namespace referee {
Arguments::Arguments(Machine &machine, const Cell &list)
    : machine(machine), list(list) {}

const Cell &Arguments::given(Kind kind, unsigned width) {
  if (next >= plan->arguments.size())
    machine.undefined("a format asks for more arguments than there are");
  const CallArgument &argument = plan->arguments[next];
  const Shape &shape = *argument.shape;
  bool fits = shape.lanes == 1 && shape.width == width &&
              (shape.kind == Kind::Float) == (kind == Kind::Float);
  if (!fits)
    machine.no_verdict("a format asks for an argument of another type");
  return *machine.argument(*plan, next++);
}

// x86-64's va_list: everything lies where start_variadic put it.
Cell Arguments::from_list(uint64_t bytes, Cell *high) {
  uint64_t offset = 0;
  Object &object = machine.access(list, 24, 8, Access::Write, offset);
  uint32_t id = object.id;
  Leaf pointer{Kind::Pointer, 64, 0, 0, nullptr};
  Cell at, value;
  machine.memory.read(object.bytes, offset + 8, pointer, &at);
  if (bytes == 16)
    at.bits = (at.bits + 15) & ~15ull;
  uint64_t place = 0;
  Object &area = machine.access(at, bytes, 8, Access::Read, place);
  machine.memory.read(area.bytes, place, pointer, &value);
  if (high)
    machine.memory.read(area.bytes, place + 8, pointer, high);
  at.bits += bytes;
  machine.memory.write(machine.memory.get(id)->bytes, offset + 8, pointer, &at);
  return value;
}

Cell Arguments::integer(unsigned width) {
  if (plan)
    return given(Kind::Integer, width);
  Cell value = from_list(8, nullptr);
  value.bits &= low_mask(width);
  value.unspecified &= low_mask(width);
  if (!value.poison() && !value.unspecified)
    value.state = 0;
  return value;
}

namespace {
uint64_t plain(Machine &machine, const Cell &cell) {
  if (cell.poison())
    machine.undefined("poison is printed", &cell);
  if (!cell.plain())
    machine.no_verdict("the output depends on an unspecified value");
  return cell.bits;
}
} // namespace

double Arguments::number() {
  Cell cell = plan ? given(Kind::Float, 64) : from_list(8, nullptr);
  uint64_t bits = plain(machine, cell);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

long double Arguments::long_number() {
  Cell low, high;
  if (plan) {
    const Cell *cells = &given(Kind::Float, 80);
    low = cells[0], high = cells[1];
  } else {
    low = from_list(16, &high);
  }
  high.unspecified &= 0xffff; // The rest is padding.
  if (!high.poison() && !high.unspecified)
    high.state = 0;
  high.bits &= 0xffff;
  uint64_t words[2] = {plain(machine, low), plain(machine, high)};
  long double value = 0;
  memcpy(&value, words, std::min(sizeof value, sizeof words));
  return value;
}

std::string format(Machine &machine, const Cell &pointer, Arguments arguments) {
  std::string text = machine.text_at(pointer), out;
  auto print = [&](const std::string &spec, auto value) {
    int length = snprintf(nullptr, 0, spec.c_str(), value);
    std::string made(size_t(std::max(0, length)) + 1, '\0');
    snprintf(made.data(), made.size(), spec.c_str(), value);
    made.pop_back();
    out += made;
  };
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '%') {
      out += text[i++];
      continue;
    }
    std::string spec = "%";
    for (++i; i < text.size() && strchr("-+ #0'", text[i]); ++i)
      spec += text[i];
    int64_t precision = -1;
    for (int part = 0; part < 2; ++part) {
      if (part == 1) {
        if (i >= text.size() || text[i] != '.')
          break;
        spec += text[i++];
        precision = 0;
      }
      if (i < text.size() && text[i] == '*') {
        int64_t star = sign_extend(plain(machine, arguments.integer(32)), 32);
        // A negative precision is none; a negative width is a flag and a width.
        if (part == 1 && star < 0)
          spec.pop_back();
        else
          spec += std::to_string(star);
        precision = part == 1 ? star : precision;
        ++i;
      }
      size_t digits = i;
      while (i < text.size() && isdigit(static_cast<unsigned char>(text[i])))
        ++i;
      spec += text.substr(digits, i - digits);
      if (part == 1 && i > digits)
        precision = atoll(text.substr(digits, i - digits).c_str());
    }
    std::string length;
    while (i < text.size() && strchr("hljztLq", text[i]))
      length += text[i++];
    if (i >= text.size())
      machine.no_verdict("a format ends in the middle of a conversion");
    char kind = text[i++];
    bool is_long = length == "l" || length == "ll" || length == "j" ||
                   length == "z" || length == "t" || length == "q";
    switch (kind) {
    case '%':
      out += '%';
      break;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      uint64_t bits = plain(machine, arguments.integer(is_long ? 64 : 32));
      bool is_signed = kind == 'd' || kind == 'i';
      unsigned width = length == "hh" ? 8 : length == "h" ? 16 : is_long ? 64 : 32;
      bits &= low_mask(width);
      spec += std::string("ll") + kind;
      if (is_signed)
        print(spec, (long long)(sign_extend(bits, width)));
      else
        print(spec, (unsigned long long)(bits));
      break;
    }
    case 'c':
      print(spec + kind, int(plain(machine, arguments.integer(32)) & 0xff));
      break;
    case 's': {
      if (!length.empty())
        machine.no_verdict("a format with wide characters");
      Cell where = arguments.integer(64);
      if (where.plain() && !where.bits) {
        print(spec + kind, "(null)");
        break;
      }
      std::string given = machine.text_at(
          where, precision < 0 ? ~0ull : uint64_t(precision));
      print(spec + kind, given.c_str());
      break;
    }
    case 'p': {
      Cell where = arguments.integer(64);
      if (plain(machine, where) && where.object)
        machine.no_verdict("the output depends on an address");
      print(spec + kind, reinterpret_cast<void *>(where.bits));
      break;
    }
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      if (length == "L")
        print(spec + "L" + kind, arguments.long_number());
      else
        print(spec + kind, arguments.number());
      break;
    default:
      machine.no_verdict(std::string("the conversion %") + kind);
    }
  }
  return out;
}
} // namespace referee
} // namespace optsleuth

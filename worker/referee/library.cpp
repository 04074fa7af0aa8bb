// The C library, as far as programs under test use it: one that is not in the
// table has no verdict.
#include "library.h"
#include "llvm/IR/Instructions.h"
#include <csignal>
#include <cstring>

using namespace llvm;

namespace optsleuth {
namespace referee {
// The arguments beyond the parameters, as x86-64's va_list finds them: its
// registers are used up, so that everything is read from memory, in order.
void Machine::start_variadic(const Cell &list) {
  if (!compat::triple(module).isArch64Bit() ||
      compat::triple(module).getArch() != Triple::x86_64)
    no_verdict("not known to the referee: va_start of this target");
  Frame &frame = frames.back();
  uint64_t size = 0;
  std::vector<uint64_t> places;
  for (const auto &argument : frame.variadic) {
    uint64_t bytes = (argument.first->alloc_bytes + 7) & ~7ull;
    if (argument.first->leaves.size() == 1 && argument.first->width > 64)
      size = (size + 15) & ~15ull;
    places.push_back(size);
    size += bytes;
  }
  Object &area = new_object(Storage::Stack, size, 16, now);
  uint32_t id = area.id;
  allocas.push_back(id);
  for (size_t i = 0; i < places.size(); ++i)
    memory.write(area, places[i], *frame.variadic[i].first,
                 frame.variadic[i].second.data());
  uint64_t offset = 0;
  Object &target = access(list, 24, 8, Access::Write, offset);
  memory.make_provenance(target);
  Leaf number{Kind::Integer, 32, 0, 0, nullptr};
  Leaf pointer{Kind::Pointer, 64, 0, 0, nullptr};
  Cell general{48, 0, 0, 0}, floats{176, 0, 0, 0}, none;
  Cell rest = pointer_to(*memory.get(id));
  memory.write(target.bytes, offset, number, &general);
  memory.write(target.bytes, offset + 4, number, &floats);
  memory.write(target.bytes, offset + 8, pointer, &rest);
  memory.write(target.bytes, offset + 16, pointer, &none);
}

namespace {
const Cell &argument(Machine &machine, const CallPlan &plan, unsigned index) {
  if (index >= plan.arguments.size())
    machine.undefined("a call of " + plan.callee->getName().str() +
                      " with too few arguments");
  return *machine.argument(plan, index);
}
uint64_t number(Machine &machine, const CallPlan &plan, unsigned index) {
  return machine.known(argument(machine, plan, index),
                       "an argument of a library function");
}
void give(const CallPlan &plan, Cell *result, int64_t value) {
  if (plan.result_shape->width)
    *result = Cell{uint64_t(value) & low_mask(plan.result_shape->width), 0, 0, 0};
}

// To which stream a FILE pointer writes: 1 or 2.
bool is_stderr(Machine &machine, const Cell &file) {
  Object *object = machine.memory.get(file.object);
  if (!file.plain() || !object || object->storage != Storage::File)
    machine.no_verdict("output to a file");
  StringRef name = object->source->getName();
  if (name == "stdin")
    machine.no_verdict("the program uses its standard input");
  return name == "stderr";
}

// Where a format goes, and where its arguments are.
enum Printing { kOut, kFile, kText, kTextN, kList = 8, kChecked = 16 };
void print(Machine &machine, const CallPlan &plan, Cell *result) {
  int to = plan.kind & 3;
  bool checked = plan.kind & kChecked, list = plan.kind & kList;
  // __sprintf_chk(to, flag, size, format), __snprintf_chk(to, n, flag, size,
  // format), __fprintf_chk(file, flag, format), __printf_chk(flag, format).
  unsigned format_at = to == kOut ? 0 : to == kFile ? 1 : to == kText ? 1 : 2;
  if (checked)
    format_at += to == kOut || to == kFile ? 1 : 2;
  const Cell &pattern = argument(machine, plan, format_at);
  Arguments rest = list ? Arguments(machine, argument(machine, plan, format_at + 1))
                        : Arguments(machine, plan, format_at + 1);
  std::string text = format(machine, pattern, rest);
  give(plan, result, int64_t(text.size()));
  if (to == kOut)
    return machine.write_output(false, text);
  if (to == kFile)
    return machine.write_output(is_stderr(machine, argument(machine, plan, 0)),
                                text);
  uint64_t room = to == kTextN ? number(machine, plan, 1) : ~0ull;
  if (!room)
    return;
  text.resize(std::min<uint64_t>(text.size(), room - 1));
  uint64_t offset = 0;
  Object &object = machine.access(argument(machine, plan, 0), text.size() + 1,
                                  1, Access::Write, offset);
  for (size_t i = 0; i <= text.size(); ++i)
    machine.memory.set(object, offset + i, 1,
                       Cell{uint8_t(i < text.size() ? text[i] : 0), 0, 0, 0});
}

void put(Machine &machine, const CallPlan &plan, Cell *result) {
  if (plan.kind == 0) { // puts
    std::string text = machine.text_at(argument(machine, plan, 0)) + "\n";
    machine.write_output(false, text);
    return give(plan, result, int64_t(text.size()));
  }
  if (plan.kind == 1) { // fputs
    std::string text = machine.text_at(argument(machine, plan, 0));
    machine.write_output(is_stderr(machine, argument(machine, plan, 1)), text);
    return give(plan, result, 1);
  }
  uint64_t byte = number(machine, plan, 0) & 0xff;
  bool err = plan.kind == 3 && is_stderr(machine, argument(machine, plan, 1));
  machine.write_output(err, std::string(1, char(byte)));
  give(plan, result, int64_t(byte));
}

void file_write(Machine &machine, const CallPlan &plan, Cell *result) {
  uint64_t size = number(machine, plan, 1), count = number(machine, plan, 2);
  std::string text;
  Cell from = argument(machine, plan, 0);
  for (uint64_t i = 0; i < size * count; ++i, ++from.bits) {
    uint64_t offset = 0;
    Object &object = machine.access(from, 1, 1, Access::Read, offset);
    if (object.life == Life::Dead || object.bytes.unspecified[offset])
      machine.no_verdict("the output depends on an unspecified value");
    text += char(object.bytes.data[offset]);
  }
  machine.write_output(is_stderr(machine, argument(machine, plan, 3)), text);
  give(plan, result, int64_t(count));
}

void zero(Machine &, const CallPlan &plan, Cell *result) { give(plan, result, 0); }

void allocate(Machine &machine, const CallPlan &plan, Cell *result) {
  uint64_t size = number(machine, plan, 0), align = 16;
  if (plan.kind == 1 && // calloc
      __builtin_mul_overflow(size, number(machine, plan, 1), &size)) {
    *result = Cell();
    return;
  }
  if (plan.kind == 2) { // aligned_alloc
    align = std::max<uint64_t>(16, size);
    size = number(machine, plan, 1);
    if (align & (align - 1))
      machine.undefined("aligned_alloc with an alignment that is no power of two");
  }
  Object &object = machine.new_object(Storage::Heap, size, align, plan.call);
  if (plan.kind == 1)
    machine.memory.set(object, 0, size, Cell());
  *result = machine.pointer_to(object);
}

// A pointer that free and realloc take.
Object &heap_object(Machine &machine, const Cell &pointer, const char *what) {
  machine.known(pointer, "the pointer to free");
  Object *object = machine.memory.get(pointer.object);
  if (!object)
    machine.undefined(std::string(what) + " of no object");
  if (object->storage != Storage::Heap)
    machine.undefined(std::string(what) + " of " + machine.name_of(*object) +
                      ", which is not on the heap");
  if (object->life == Life::Gone)
    machine.undefined(std::string(what) + " of " + machine.name_of(*object) +
                      " after it was freed");
  if (pointer.bits != object->base)
    machine.undefined(std::string(what) + " of the middle of " +
                      machine.name_of(*object));
  return *object;
}

void release(Machine &machine, const CallPlan &plan, Cell *) {
  const Cell &pointer = argument(machine, plan, 0);
  if (pointer.plain() && !pointer.bits)
    return;
  machine.memory.destroy(heap_object(machine, pointer, "free"));
}

void reallocate(Machine &machine, const CallPlan &plan, Cell *result) {
  const Cell pointer = argument(machine, plan, 0);
  uint64_t size = number(machine, plan, 1);
  bool fresh = pointer.plain() && !pointer.bits;
  uint32_t old = fresh ? 0 : heap_object(machine, pointer, "realloc").id;
  Object &object = machine.new_object(Storage::Heap, size, 16, plan.call);
  Cell made = machine.pointer_to(object);
  if (Object *before = machine.memory.get(old)) {
    machine.memory.copy(object, 0, *before, 0, std::min(before->size, size));
    machine.memory.destroy(*before);
  }
  *result = made;
}

void copy(Machine &machine, const CallPlan &plan, Cell *result) {
  const Cell to = argument(machine, plan, 0);
  machine.copy_bytes(to, argument(machine, plan, 1), number(machine, plan, 2),
                     plan.kind != 0);
  *result = to;
}

void fill(Machine &machine, const CallPlan &plan, Cell *result) {
  const Cell to = argument(machine, plan, 0);
  Cell byte = argument(machine, plan, 1);
  uint64_t size = number(machine, plan, 2), offset = 0;
  byte.bits &= 0xff;
  byte.unspecified &= 0xff;
  if (size)
    machine.memory.set(machine.access(to, size, 1, Access::Write, offset),
                       offset, size, byte);
  *result = to;
}

uint8_t byte_at(Machine &machine, Cell pointer, uint64_t index) {
  pointer.bits += index;
  uint64_t offset = 0;
  Object &object = machine.access(pointer, 1, 1, Access::Read, offset);
  if (object.life == Life::Dead || object.bytes.unspecified[offset])
    machine.no_verdict("a library function reads an unspecified byte");
  return object.bytes.data[offset];
}

// Only the sign of the result is specified, and that it is not zero.
enum Comparing { kMemory, kStrings, kStringsN };
void compare_bytes(Machine &machine, const CallPlan &plan, Cell *result) {
  uint64_t most = plan.kind == kStrings ? ~0ull : number(machine, plan, 2);
  int order = 0;
  for (uint64_t i = 0; i < most && !order; ++i) {
    int a = byte_at(machine, argument(machine, plan, 0), i);
    int b = byte_at(machine, argument(machine, plan, 1), i);
    order = a < b ? -1 : a > b;
    if (plan.kind != kMemory && !a)
      break;
  }
  give(plan, result, order);
  if (order) {
    result->unspecified = low_mask(plan.result_shape->width - 1) & ~1ull;
    result->state = kUnspecified;
  }
}

void length(Machine &machine, const CallPlan &plan, Cell *result) {
  uint64_t most = plan.kind ? number(machine, plan, 1) : ~0ull;
  give(plan, result,
       int64_t(machine.text_at(argument(machine, plan, 0), most).size()));
}

enum Copying { kCopy, kCopyN, kAppend, kAppendN };
void copy_text(Machine &machine, const CallPlan &plan, Cell *result) {
  const Cell to = argument(machine, plan, 0);
  bool bounded = plan.kind == kCopyN || plan.kind == kAppendN;
  uint64_t most = bounded ? number(machine, plan, 2) : ~0ull;
  std::string text = machine.text_at(argument(machine, plan, 1), most);
  Cell at = to;
  if (plan.kind == kAppend || plan.kind == kAppendN)
    at.bits += machine.text_at(to).size();
  if (plan.kind == kCopyN)
    text.resize(most, '\0');
  else
    text += '\0';
  uint64_t offset = 0;
  if (!text.empty()) {
    Object &object =
        machine.access(at, text.size(), 1, Access::Write, offset);
    for (size_t i = 0; i < text.size(); ++i)
      machine.memory.set(object, offset + i, 1, Cell{uint8_t(text[i]), 0, 0, 0});
  }
  *result = to;
}

enum Finding { kFirst, kLast, kBytes, kWord };
void find(Machine &machine, const CallPlan &plan, Cell *result) {
  const Cell in = argument(machine, plan, 0);
  size_t found = std::string::npos;
  if (plan.kind == kBytes) {
    uint8_t wanted = uint8_t(number(machine, plan, 1));
    uint64_t most = number(machine, plan, 2);
    for (uint64_t i = 0; i < most && found == std::string::npos; ++i)
      if (byte_at(machine, in, i) == wanted)
        found = i;
  } else {
    std::string text = machine.text_at(in);
    if (plan.kind == kWord) {
      found = text.find(machine.text_at(argument(machine, plan, 1)));
    } else {
      char wanted = char(number(machine, plan, 1));
      text += '\0';
      found = plan.kind == kFirst ? text.find(wanted) : text.rfind(wanted);
    }
  }
  *result = found == std::string::npos ? Cell() : in;
  if (found != std::string::npos)
    result->bits += found;
}

void stop(Machine &machine, const CallPlan &plan, Cell *) {
  if (plan.kind == 0)
    machine.exit_program(true, SIGABRT);
  machine.exit_program(false, int(number(machine, plan, 0) & 0xff));
}

void assertion(Machine &machine, const CallPlan &plan, Cell *) {
  auto text = [&](unsigned i) { return machine.text_at(argument(machine, plan, i)); };
  machine.write_output(true, "program: " + text(1) + ":" +
                                 std::to_string(number(machine, plan, 2)) + ": " +
                                 text(3) + ": Assertion `" + text(0) +
                                 "' failed.\n");
  machine.exit_program(true, SIGABRT);
}

void absolute(Machine &machine, const CallPlan &plan, Cell *result) {
  unsigned width = plan.result_shape->width;
  int64_t value = sign_extend(number(machine, plan, 0), width);
  if (value < 0 && uint64_t(value) << (64 - width) == 1ull << 63)
    machine.undefined("abs of the least number");
  give(plan, result, value < 0 ? -value : value);
}

void letter(Machine &machine, const CallPlan &plan, Cell *result) {
  int64_t value = sign_extend(number(machine, plan, 0), 32);
  bool lower = value >= 'a' && value <= 'z', upper = value >= 'A' && value <= 'Z';
  give(plan, result, plan.kind ? (lower ? value - 32 : value)
                               : (upper ? value + 32 : value));
}

void parse(Machine &machine, const CallPlan &plan, Cell *result) {
  give(plan, result,
       int64_t(atoll(machine.text_at(argument(machine, plan, 0)).c_str())));
}

void math(Machine &machine, const CallPlan &plan, Cell *result) {
  FloatOp op = FloatOp(plan.kind);
  const Shape &shape = *plan.result_shape;
  SmallVector<Scalar, 3> operands;
  for (unsigned i = 0; i < operands_of(op); ++i) {
    argument(machine, plan, i);
    if (plan.arguments[i].shape != &shape || shape.kind != Kind::Float)
      machine.no_verdict("a mathematical function with another signature");
    operands.push_back(read_scalar(machine.argument(plan, i), shape.width));
  }
  Outcome outcome;
  Type *type = shape.leaves[0].type;
  Scalar value = float_op(op, plan.fast, operands, type, outcome);
  machine.settle(value, outcome, machine.argument(plan, 0), nullptr, "",
                 shape.width, Kind::Float, type);
  write_scalar(result, value);
}

const NamedBuiltin kFunctions[] = {
    {"printf", print, kOut},
    {"fprintf", print, kFile},
    {"sprintf", print, kText},
    {"snprintf", print, kTextN},
    {"vprintf", print, kOut | kList},
    {"vfprintf", print, kFile | kList},
    {"vsprintf", print, kText | kList},
    {"vsnprintf", print, kTextN | kList},
    {"__printf_chk", print, kOut | kChecked},
    {"__fprintf_chk", print, kFile | kChecked},
    {"__sprintf_chk", print, kText | kChecked},
    {"__snprintf_chk", print, kTextN | kChecked},
    {"puts", put, 0},
    {"fputs", put, 1},
    {"putchar", put, 2},
    {"fputc", put, 3},
    {"putc", put, 3},
    {"fwrite", file_write, 0},
    {"fflush", zero, 0},
    {"malloc", allocate, 0},
    {"calloc", allocate, 1},
    {"aligned_alloc", allocate, 2},
    {"realloc", reallocate, 0},
    {"free", release, 0},
    {"memcpy", copy, 0},
    {"__memcpy_chk", copy, 0},
    {"memmove", copy, 1},
    {"__memmove_chk", copy, 1},
    {"memset", fill, 0},
    {"__memset_chk", fill, 0},
    {"memcmp", compare_bytes, kMemory},
    {"bcmp", compare_bytes, kMemory},
    {"strcmp", compare_bytes, kStrings},
    {"strncmp", compare_bytes, kStringsN},
    {"strlen", length, 0},
    {"strnlen", length, 1},
    {"strcpy", copy_text, kCopy},
    {"__strcpy_chk", copy_text, kCopy},
    {"strncpy", copy_text, kCopyN},
    {"strcat", copy_text, kAppend},
    {"__strcat_chk", copy_text, kAppend},
    {"strncat", copy_text, kAppendN},
    {"strchr", find, kFirst},
    {"strrchr", find, kLast},
    {"memchr", find, kBytes},
    {"strstr", find, kWord},
    {"abort", stop, 0},
    {"exit", stop, 1},
    {"_exit", stop, 1},
    {"__assert_fail", assertion, 0},
    {"abs", absolute, 0},
    {"labs", absolute, 0},
    {"llabs", absolute, 0},
    {"tolower", letter, 0},
    {"toupper", letter, 1},
    {"atoi", parse, 0},
    {"atol", parse, 0},
    {"atoll", parse, 0},
};
struct KnownMath {
  const char *name;
  FloatOp op;
};
// Each also with an f behind it, for single precision.
const KnownMath kMath[] = {
    {"fabs", FloatOp::Abs},      {"ceil", FloatOp::Ceil},
    {"copysign", FloatOp::CopySign}, {"floor", FloatOp::Floor},
    {"fma", FloatOp::Fma},       {"fmax", FloatOp::MaxNum},
    {"fmin", FloatOp::MinNum},   {"round", FloatOp::Round},
    {"roundeven", FloatOp::RoundEven}, {"rint", FloatOp::Rint},
    {"nearbyint", FloatOp::Rint}, {"sqrt", FloatOp::Sqrt},
    {"trunc", FloatOp::Trunc},   {"acos", FloatOp::Acos},
    {"asin", FloatOp::Asin},     {"atan", FloatOp::Atan},
    {"atan2", FloatOp::Atan2},   {"cbrt", FloatOp::Cbrt},
    {"cos", FloatOp::Cos},       {"cosh", FloatOp::Cosh},
    {"exp", FloatOp::Exp},       {"exp2", FloatOp::Exp2},
    {"fmod", FloatOp::Fmod},     {"hypot", FloatOp::Hypot},
    {"log", FloatOp::Log},       {"log10", FloatOp::Log10},
    {"log2", FloatOp::Log2},     {"pow", FloatOp::Pow},
    {"sin", FloatOp::Sin},       {"sinh", FloatOp::Sinh},
    {"tan", FloatOp::Tan},       {"tanh", FloatOp::Tanh},
};
} // namespace

Builtin find_library(StringRef name, int &kind) {
  for (const NamedBuiltin &known : kFunctions)
    if (name == known.name) {
      kind = known.kind;
      return known.builtin;
    }
  for (const KnownMath &known : kMath) {
    StringRef rest = name;
    if (rest.consume_front(known.name) && (rest.empty() || rest == "f")) {
      kind = int(known.op);
      return math;
    }
  }
  return nullptr;
}
} // namespace referee
} // namespace optsleuth

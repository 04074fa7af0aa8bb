// LLVM's intrinsics, by name: one that is not in the table has no verdict.
#include "machine.h"
#include "llvm/IR/Instructions.h"
#include <csignal>

using namespace llvm;

namespace optsleuth {
namespace referee {
namespace {
uint64_t flag_of(Machine &machine, const CallPlan &plan, unsigned index) {
  return machine.known(*machine.argument(plan, index), "a flag");
}

void integer(Machine &machine, const CallPlan &plan, Cell *result) {
  Op op = Op(plan.kind);
  unsigned count = operands_of(op);
  const Shape &in = *plan.arguments[0].shape;
  bool flag = plan.arguments.size() > count && flag_of(machine, plan, count);
  bool overflow = overflow_reported(op);
  unsigned width = overflow ? in.width : plan.result_shape->width;
  unsigned stride = cells_of(width);
  for (uint32_t lane = 0; lane < in.lanes; ++lane) {
    SmallVector<Scalar, 3> operands;
    const Cell *first = nullptr, *second = nullptr;
    for (unsigned i = 0; i < count; ++i) {
      const Cell *cell = machine.argument(plan, i) + lane * in.stride;
      (i == 0 ? first : second) = cell;
      operands.push_back(read_scalar(cell, in.width));
    }
    Outcome outcome;
    Scalar bit;
    Scalar value = integer_op(op, operands, flag, width,
                              overflow ? &bit : nullptr, outcome);
    machine.settle(value, outcome, first, second, "and", in.width,
                   Kind::Integer, nullptr);
    write_scalar(result + lane * stride, value);
    if (overflow)
      write_scalar(result + in.lanes * in.stride + lane, bit);
  }
}

void floating(Machine &machine, const CallPlan &plan, Cell *result) {
  FloatOp op = FloatOp(plan.kind);
  unsigned count = operands_of(op);
  const Shape &in = *plan.arguments[0].shape;
  if (in.kind != Kind::Float)
    machine.no_verdict("not known to the referee: an operation on this type");
  for (uint32_t lane = 0; lane < in.lanes; ++lane) {
    SmallVector<Scalar, 3> operands;
    for (unsigned i = 0; i < count; ++i)
      operands.push_back(read_scalar(
          machine.argument(plan, i) + lane * in.stride, in.width));
    Outcome outcome;
    Type *type = in.leaves[0].type;
    Scalar value = float_op(op, plan.fast, operands, type, outcome);
    machine.settle(value, outcome,
                   machine.argument(plan, 0) + lane * in.stride, nullptr, "",
                   in.width, Kind::Float, type);
    write_scalar(result + lane * in.stride, value);
  }
}

// fptosi.sat and fptoui.sat.
void saturate(Machine &machine, const CallPlan &plan, Cell *result) {
  const Shape &in = *plan.arguments[0].shape;
  const Shape &out = *plan.result_shape;
  for (uint32_t lane = 0; lane < in.lanes; ++lane) {
    const Cell *cell = machine.argument(plan, 0) + lane * in.stride;
    Scalar a = read_scalar(cell, in.width), value(out.width, 0);
    if (a.poison()) {
      value.state = a.state;
    } else if (!is_nan(a, in.leaves[0].type)) {
      APSInt integer(out.width, plan.kind != 0);
      bool exact = false;
      APFloat(in.leaves[0].type->getFltSemantics(), a.bits)
          .convertToInteger(integer, APFloat::rmTowardZero, &exact);
      value.bits = integer;
      if (!a.unspecified.isZero())
        value.taint(APInt::getAllOnes(out.width), a.state);
    }
    write_scalar(result + lane * out.stride, value);
  }
}

void is_class(Machine &machine, const CallPlan &plan, Cell *result) {
  const Shape &in = *plan.arguments[0].shape;
  uint64_t classes = flag_of(machine, plan, 1);
  for (uint32_t lane = 0; lane < in.lanes; ++lane) {
    const Cell *cell = machine.argument(plan, 0) + lane * in.stride;
    Scalar a = read_scalar(cell, in.width);
    if (a.poison()) {
      result[lane] = *cell;
      continue;
    }
    if (!a.unspecified.isZero() && !(is_nan(a, in.leaves[0].type)))
      machine.no_verdict("the class of an unspecified number");
    APFloat value(in.leaves[0].type->getFltSemantics(), a.bits);
    bool negative = value.isNegative();
    uint64_t bit = value.isNaN() ? (value.isSignaling() ? 1 : 2)
                   : value.isInfinity() ? (negative ? 4 : 512)
                   : value.isZero()     ? (negative ? 32 : 64)
                   : value.isDenormal() ? (negative ? 16 : 128)
                                        : (negative ? 8 : 256);
    result[lane] = Cell{(classes & bit) != 0, 0, 0, 0};
  }
}

void reduce(Machine &machine, const CallPlan &plan, Cell *result) {
  using I = Instruction;
  const Shape &in = *plan.arguments.back().shape;
  const Cell *cells = machine.argument(plan, unsigned(plan.arguments.size() - 1));
  Type *type = in.leaves[0].type;
  unsigned opcode = unsigned(plan.kind);
  bool starts = plan.arguments.size() == 2; // fadd and fmul do.
  Scalar total = read_scalar(starts ? machine.argument(plan, 0) : cells, in.width);
  for (uint32_t lane = starts ? 0 : 1; lane < in.lanes; ++lane) {
    Scalar next = read_scalar(cells + lane * in.stride, in.width);
    Outcome outcome;
    if (opcode == I::FAdd || opcode == I::FMul)
      total = float_binary(opcode, plan.fast, total, next, type, outcome);
    else if (opcode < 1000)
      total = binary(opcode, 0, total, next, outcome);
    else if (opcode < 2000)
      total = integer_op(Op(opcode - 1000), {total, next}, false, in.width,
                         nullptr, outcome);
    else
      total = float_op(FloatOp(opcode - 2000), plan.fast, {total, next}, type,
                       outcome);
    machine.settle(total, outcome, cells, nullptr, "", in.width, in.kind, type);
  }
  write_scalar(result, total);
}

void copy_first(Machine &machine, const CallPlan &plan, Cell *result) {
  const Cell *from = machine.argument(plan, 0);
  std::copy(from, from + plan.result_shape->n_cells, result);
}

void nothing(Machine &, const CallPlan &, Cell *) {}

void no_effect_pointer(Machine &, const CallPlan &, Cell *result) {
  *result = Cell(); // invariant.start: a token for invariant.end.
}

void memory_copy(Machine &machine, const CallPlan &plan, Cell *) {
  uint64_t size = machine.known(*machine.argument(plan, 2), "the size of a copy");
  machine.copy_bytes(*machine.argument(plan, 0), *machine.argument(plan, 1),
                     size, plan.kind != 0);
}

void memory_set(Machine &machine, const CallPlan &plan, Cell *) {
  uint64_t size = machine.known(*machine.argument(plan, 2), "the size of a fill");
  if (!size)
    return;
  uint64_t offset = 0;
  Object &object = machine.access(*machine.argument(plan, 0), size, 1,
                                  Access::Write, offset);
  machine.memory.set(object, offset, size, *machine.argument(plan, 1));
}

void lifetime(Machine &machine, const CallPlan &plan, Cell *) {
  const Cell &pointer =
      *machine.argument(plan, unsigned(plan.arguments.size() - 1));
  Object *object = pointer.poison() ? nullptr : machine.memory.get(pointer.object);
  if (!object || object->storage != Storage::Stack ||
      object->life == Life::Gone || pointer.bits != object->base)
    return;
  object->life = plan.kind ? Life::Alive : Life::Dead;
  machine.memory.fill_undef(*object);
}

void assume(Machine &machine, const CallPlan &plan, Cell *) {
  const Cell &condition = *machine.argument(plan, 0);
  if (machine.known(condition, "what llvm.assume is told") == 0)
    machine.undefined("llvm.assume is told something false");
}

// What an optimizer may find out, or not.
void may_be_known(Machine &, const CallPlan &plan, Cell *result) {
  Scalar value(plan.result_shape->width, plan.kind ? ~0ull : 0);
  value.taint(APInt::getAllOnes(value.width()), kUnspecified);
  write_scalar(result, value);
}

void pointer_mask(Machine &machine, const CallPlan &plan, Cell *result) {
  const Cell &pointer = *machine.argument(plan, 0);
  const Cell &mask = *machine.argument(plan, 1);
  *result = pointer;
  if (pointer.poison())
    return;
  uint64_t bits = machine.known(mask, "a mask of a pointer");
  unsigned width = plan.arguments[1].shape->width;
  result->bits &= bits | ~low_mask(width);
  Object *object = machine.memory.get(pointer.object);
  if (object && (~bits & ~(object->align - 1)) && result->bits != pointer.bits) {
    result->unspecified = ~bits;
    result->state |= kLayout;
  }
}

void stack_save(Machine &machine, const CallPlan &, Cell *result) {
  *result = Cell{machine.allocas.size() + 1, 0, 0, 0};
}
void stack_restore(Machine &machine, const CallPlan &plan, Cell *) {
  uint64_t size = machine.known(*machine.argument(plan, 0), "a saved stack");
  if (!size || size - 1 < machine.frames.back().first_alloca)
    machine.undefined("llvm.stackrestore of another function's stack");
  machine.end_allocas(size - 1);
}

void variadic_start(Machine &machine, const CallPlan &plan, Cell *) {
  machine.start_variadic(*machine.argument(plan, 0));
}
void variadic_copy(Machine &machine, const CallPlan &plan, Cell *) {
  machine.copy_bytes(*machine.argument(plan, 0), *machine.argument(plan, 1), 24,
                     true);
}

void trap(Machine &machine, const CallPlan &plan, Cell *) {
  machine.exit_program(true, plan.kind);
}

// masked.load, masked.store, masked.gather, masked.scatter. The alignment is an
// argument up to LLVM 21, and the pointer's attribute since.
void masked(Machine &machine, const CallPlan &plan, Cell *result) {
  bool stores = plan.kind & 1, scattered = plan.kind & 2;
  bool has_align = plan.arguments.size() == 4;
  unsigned pointer_index = stores ? 1 : 0;
  unsigned mask_index = pointer_index + (has_align ? 2 : 1);
  const Shape &shape = *plan.arguments[stores ? 0 : mask_index + 1].shape;
  if (shape.packed_bits)
    machine.no_verdict("not known to the referee: a masked access to bits");
  uint64_t align =
      has_align ? flag_of(machine, plan, pointer_index + 1) : uint64_t(1);
  align = std::max<uint64_t>(1, align);
  const Cell *mask = machine.argument(plan, mask_index);
  std::vector<Cell> made(shape.n_cells);
  for (uint32_t i = 0; i < shape.lanes; ++i) {
    const Leaf &leaf = shape.leaves[i];
    bool active = machine.known(mask[i], "the mask of an access") & 1;
    if (!active) {
      if (!stores) {
        const Cell *other = machine.argument(plan, mask_index + 1) + leaf.cell;
        std::copy(other, other + shape.stride, made.begin() + leaf.cell);
      }
      continue;
    }
    Cell pointer = machine.argument(plan, pointer_index)[scattered ? i : 0];
    uint64_t lane_align = align;
    if (!scattered) {
      if (pointer.plain() && (pointer.bits & (align - 1)))
        machine.undefined("a masked access is not aligned");
      pointer.bits += leaf.offset;
      lane_align = 1;
    }
    uint64_t offset = 0, size = (leaf.width + 7) / 8;
    Object &object =
        machine.access(pointer, size, lane_align,
                       stores ? Access::Write : Access::Read, offset);
    if (stores) {
      const Cell *value = machine.argument(plan, 0) + leaf.cell;
      if (value->object)
        machine.memory.make_provenance(object);
      machine.memory.write(object.bytes, offset, leaf, value);
    } else if (object.life == Life::Dead) {
      made[leaf.cell] = machine.poison("a read outside of a lifetime");
    } else {
      machine.memory.read(object.bytes, offset, leaf, made.data() + leaf.cell);
    }
  }
  if (!stores)
    std::copy(made.begin(), made.end(), result);
}

void vector_extract(Machine &machine, const CallPlan &plan, Cell *result) {
  uint64_t first = flag_of(machine, plan, 1);
  const Shape &in = *plan.arguments[0].shape, &out = *plan.result_shape;
  if (first + out.lanes > in.lanes) {
    std::fill(result, result + out.n_cells,
              machine.poison("no such part of the vector"));
    return;
  }
  std::vector<Cell> part(machine.argument(plan, 0) + first * in.stride,
                         machine.argument(plan, 0) +
                             (first + out.lanes) * in.stride);
  std::copy(part.begin(), part.end(), result);
}

void vector_insert(Machine &machine, const CallPlan &plan, Cell *result) {
  uint64_t first = flag_of(machine, plan, 2);
  const Shape &in = *plan.arguments[1].shape, &out = *plan.result_shape;
  const Cell *whole = machine.argument(plan, 0);
  std::vector<Cell> made(whole, whole + out.n_cells);
  if (first + in.lanes > out.lanes)
    std::fill(made.begin(), made.end(),
              machine.poison("no such part of the vector"));
  else
    std::copy(machine.argument(plan, 1),
              machine.argument(plan, 1) + in.n_cells,
              made.begin() + long(first * out.stride));
  std::copy(made.begin(), made.end(), result);
}

void vector_reverse(Machine &machine, const CallPlan &plan, Cell *result) {
  const Shape &shape = *plan.result_shape;
  const Cell *from = machine.argument(plan, 0);
  std::vector<Cell> made;
  for (uint32_t i = shape.lanes; i-- > 0;)
    made.insert(made.end(), from + i * shape.stride,
                from + (i + 1) * shape.stride);
  std::copy(made.begin(), made.end(), result);
}

// Lane i is active if base + i < limit, without wrapping.
void lane_mask(Machine &machine, const CallPlan &plan, Cell *result) {
  const Shape &in = *plan.arguments[0].shape;
  Scalar base = read_scalar(machine.argument(plan, 0), in.width);
  Scalar limit = read_scalar(machine.argument(plan, 1), in.width);
  if (!base.exact() || !limit.exact())
    machine.no_verdict("a mask of lanes that depends on an unspecified value");
  for (uint32_t i = 0; i < plan.result_shape->lanes; ++i) {
    APInt at = base.bits.zext(in.width + 32) + i;
    result[i] = Cell{at.ult(limit.bits.zext(in.width + 32)), 0, 0, 0};
  }
}

constexpr int of(Op op) { return int(op); }
constexpr int of(FloatOp op) { return int(op); }
using I = Instruction;

const NamedBuiltin kIntrinsics[] = {
    {"abs", integer, of(Op::Abs)},
    {"bitreverse", integer, of(Op::Bitreverse)},
    {"bswap", integer, of(Op::Bswap)},
    {"ctlz", integer, of(Op::Ctlz)},
    {"ctpop", integer, of(Op::Ctpop)},
    {"cttz", integer, of(Op::Cttz)},
    {"fshl", integer, of(Op::Fshl)},
    {"fshr", integer, of(Op::Fshr)},
    {"sadd.sat", integer, of(Op::SaddSat)},
    {"ssub.sat", integer, of(Op::SsubSat)},
    {"sshl.sat", integer, of(Op::SshlSat)},
    {"uadd.sat", integer, of(Op::UaddSat)},
    {"usub.sat", integer, of(Op::UsubSat)},
    {"ushl.sat", integer, of(Op::UshlSat)},
    {"smax", integer, of(Op::Smax)},
    {"smin", integer, of(Op::Smin)},
    {"umax", integer, of(Op::Umax)},
    {"umin", integer, of(Op::Umin)},
    {"sadd.with.overflow", integer, of(Op::SaddOverflow)},
    {"ssub.with.overflow", integer, of(Op::SsubOverflow)},
    {"smul.with.overflow", integer, of(Op::SmulOverflow)},
    {"uadd.with.overflow", integer, of(Op::UaddOverflow)},
    {"usub.with.overflow", integer, of(Op::UsubOverflow)},
    {"umul.with.overflow", integer, of(Op::UmulOverflow)},
    {"scmp", integer, of(Op::Scmp)},
    {"ucmp", integer, of(Op::Ucmp)},
    {"fabs", floating, of(FloatOp::Abs)},
    {"canonicalize", floating, of(FloatOp::Canonicalize)},
    {"ceil", floating, of(FloatOp::Ceil)},
    {"copysign", floating, of(FloatOp::CopySign)},
    {"floor", floating, of(FloatOp::Floor)},
    {"fma", floating, of(FloatOp::Fma)},
    {"fmuladd", floating, of(FloatOp::MulAdd)},
    {"maxnum", floating, of(FloatOp::MaxNum)},
    {"minnum", floating, of(FloatOp::MinNum)},
    {"maximum", floating, of(FloatOp::Maximum)},
    {"minimum", floating, of(FloatOp::Minimum)},
    {"round", floating, of(FloatOp::Round)},
    {"roundeven", floating, of(FloatOp::RoundEven)},
    {"rint", floating, of(FloatOp::Rint)},
    {"nearbyint", floating, of(FloatOp::Rint)},
    {"sqrt", floating, of(FloatOp::Sqrt)},
    {"trunc", floating, of(FloatOp::Trunc)},
    {"acos", floating, of(FloatOp::Acos)},
    {"asin", floating, of(FloatOp::Asin)},
    {"atan", floating, of(FloatOp::Atan)},
    {"atan2", floating, of(FloatOp::Atan2)},
    {"cos", floating, of(FloatOp::Cos)},
    {"cosh", floating, of(FloatOp::Cosh)},
    {"exp", floating, of(FloatOp::Exp)},
    {"exp2", floating, of(FloatOp::Exp2)},
    {"log", floating, of(FloatOp::Log)},
    {"log10", floating, of(FloatOp::Log10)},
    {"log2", floating, of(FloatOp::Log2)},
    {"pow", floating, of(FloatOp::Pow)},
    {"sin", floating, of(FloatOp::Sin)},
    {"sinh", floating, of(FloatOp::Sinh)},
    {"tan", floating, of(FloatOp::Tan)},
    {"tanh", floating, of(FloatOp::Tanh)},
    {"is.fpclass", is_class, 0},
    {"fptosi.sat", saturate, 0},
    {"fptoui.sat", saturate, 1},
    {"vector.reduce.add", reduce, I::Add},
    {"vector.reduce.mul", reduce, I::Mul},
    {"vector.reduce.and", reduce, I::And},
    {"vector.reduce.or", reduce, I::Or},
    {"vector.reduce.xor", reduce, I::Xor},
    {"vector.reduce.smax", reduce, 1000 + of(Op::Smax)},
    {"vector.reduce.smin", reduce, 1000 + of(Op::Smin)},
    {"vector.reduce.umax", reduce, 1000 + of(Op::Umax)},
    {"vector.reduce.umin", reduce, 1000 + of(Op::Umin)},
    {"vector.reduce.fadd", reduce, I::FAdd},
    {"vector.reduce.fmul", reduce, I::FMul},
    {"vector.reduce.fmax", reduce, 2000 + of(FloatOp::MaxNum)},
    {"vector.reduce.fmin", reduce, 2000 + of(FloatOp::MinNum)},
    {"vector.extract", vector_extract, 0},
    {"experimental.vector.extract", vector_extract, 0},
    {"vector.insert", vector_insert, 0},
    {"experimental.vector.insert", vector_insert, 0},
    {"vector.reverse", vector_reverse, 0},
    {"experimental.vector.reverse", vector_reverse, 0},
    {"get.active.lane.mask", lane_mask, 0},
    {"masked.load", masked, 0},
    {"masked.store", masked, 1},
    {"masked.gather", masked, 2},
    {"masked.scatter", masked, 3},
    {"memcpy", memory_copy, 0},
    {"memcpy.inline", memory_copy, 0},
    {"memmove", memory_copy, 1},
    {"memset", memory_set, 0},
    {"memset.inline", memory_set, 0},
    {"lifetime.start", lifetime, 1},
    {"lifetime.end", lifetime, 0},
    {"invariant.start", no_effect_pointer, 0},
    {"invariant.end", nothing, 0},
    {"assume", assume, 0},
    {"expect", copy_first, 0},
    {"expect.with.probability", copy_first, 0},
    {"ssa.copy", copy_first, 0},
    {"launder.invariant.group", copy_first, 0},
    {"strip.invariant.group", copy_first, 0},
    {"threadlocal.address", copy_first, 0},
    {"annotation", copy_first, 0},
    {"ptr.annotation", copy_first, 0},
    {"objectsize", may_be_known, 1},
    {"is.constant", may_be_known, 0},
    {"ptrmask", pointer_mask, 0},
    {"stacksave", stack_save, 0},
    {"stackrestore", stack_restore, 0},
    {"va_start", variadic_start, 0},
    {"va_copy", variadic_copy, 0},
    {"va_end", nothing, 0},
    {"trap", trap, SIGILL},
    {"ubsantrap", trap, SIGILL},
    {"debugtrap", trap, SIGTRAP},
    {"donothing", nothing, 0},
    {"sideeffect", nothing, 0},
    {"prefetch", nothing, 0},
    {"var.annotation", nothing, 0},
    {"fake.use", nothing, 0},
    {"experimental.noalias.scope.decl", nothing, 0},
    {"dbg.declare", nothing, 0},
    {"dbg.value", nothing, 0},
    {"dbg.label", nothing, 0},
    {"dbg.assign", nothing, 0},
};
} // namespace

Builtin find_intrinsic(StringRef name, int &kind) {
  name.consume_front("llvm.");
  const NamedBuiltin *best = nullptr;
  size_t length = 0;
  for (const NamedBuiltin &known : kIntrinsics) {
    StringRef rest = name;
    StringRef prefix = known.name;
    if (!rest.consume_front(prefix) || prefix.size() <= length)
      continue;
    // What follows is types.
    if (!rest.empty() && rest[0] != '.')
      continue;
    best = &known;
    length = prefix.size();
  }
  if (!best)
    return nullptr;
  // The rest is types, and nothing else: not `memcpy.element.unordered...`.
  StringRef rest = name.substr(length);
  while (rest.consume_front("."))  {
    size_t end = rest.find('.');
    StringRef type = rest.substr(0, end);
    bool is_type = !type.empty() &&
                   StringRef("ipvfsnb{").find(type[0]) != StringRef::npos &&
                   (type.find_first_of("0123456789") != StringRef::npos ||
                    type[0] == 's');
    if (!is_type)
      return nullptr;
    rest = end == StringRef::npos ? StringRef() : rest.substr(end);
  }
  kind = best->kind;
  return best->builtin;
}
} // namespace referee
} // namespace optsleuth

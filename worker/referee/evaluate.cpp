// Operations on values, at any width and with any number of lanes: what a cell
// that is not plain makes of the result, and which promise is broken.
//
// Never here: memory, control flow.
#include "machine.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace optsleuth {
namespace referee {
namespace {
using I = Instruction;

const char *sign_of(unsigned opcode) {
  switch (opcode) {
  case I::Add:
  case I::FAdd:
    return "+";
  case I::Sub:
  case I::FSub:
    return "-";
  case I::Mul:
  case I::FMul:
    return "*";
  case I::UDiv:
  case I::SDiv:
  case I::FDiv:
    return "/";
  case I::URem:
  case I::SRem:
  case I::FRem:
    return "%";
  case I::Shl:
    return "<<";
  case I::LShr:
  case I::AShr:
    return ">>";
  case I::Or:
    return "|";
  default:
    return ",";
  }
}

// The state of a lane whose poison goes on.
Cell passed_on(Judge &judge, const Instruction *now, const Cell &cell) {
  return poison_cell(judge.passed_on(now, cell.origin()));
}
} // namespace

std::string Machine::name_of(const Object &object) {
  if (object.storage == Storage::Heap)
    return "the heap object made by " +
           (object.source ? judge.text_of(cast<Instruction>(object.source))
                          : std::string("the library"));
  return judge.name_of(object.source);
}

std::string Machine::describe(const Cell *cells, const Leaf &leaf) {
  if (cells->poison())
    return "poison";
  Scalar scalar = read_scalar(cells, leaf.width);
  std::string text;
  raw_string_ostream out(text);
  if (scalar.state & kFree && scalar.unspecified.isAllOnes()) {
    out << "undef";
  } else if (leaf.kind == Kind::Pointer) {
    Object *object = memory.get(cells->object);
    if (!cells->bits)
      out << "null";
    else if (!object)
      out << "0x" << utohexstr(cells->bits);
    else {
      out << name_of(*object);
      int64_t offset = int64_t(cells->bits - object->base);
      if (offset)
        out << (offset < 0 ? " - " : " + ") << std::abs(offset);
    }
  } else if (leaf.kind == Kind::Float) {
    SmallString<32> digits;
    APFloat(leaf.type->getFltSemantics(), scalar.bits).toString(digits);
    out << digits;
  } else {
    scalar.bits.print(out, leaf.width > 1);
  }
  if (!scalar.unspecified.isZero() && !(scalar.state & kFree))
    out << (scalar.state & kUnspecified ? " (unspecified)" : " (an address)");
  return out.str();
}

std::string Machine::describe(const Cell *cells, const Shape &shape) {
  if (shape.leaves.size() == 1)
    return describe(cells, shape.leaves[0]);
  std::string text = "{";
  for (size_t i = 0; i < shape.leaves.size(); ++i) {
    if (i == 16)
      return text + ", ...}";
    text += (i ? ", " : "") +
            describe(cells + shape.leaves[i].cell, shape.leaves[i]);
  }
  return text + "}";
}

void Machine::settle(Scalar &result, const Outcome &outcome, const Cell *a,
                     const Cell *b, const char *sign, unsigned width, Kind kind,
                     Type *type) {
  Leaf leaf{kind, width, 0, 0, type};
  auto operands = [&] {
    std::string text = describe(a, leaf);
    if (b)
      text += std::string(" ") + sign + " " + describe(b, leaf);
    return text;
  };
  if (outcome.undefined)
    undefined(std::string(outcome.undefined) + ": " + operands(),
              b && b->origin() ? b : a);
  if (outcome.unknown)
    no_verdict(outcome.unknown);
  if (outcome.poison)
    result.state = poison(std::string(outcome.poison) + ": " + operands()).state;
  else if (result.poison())
    result.state =
        poison_cell(judge.passed_on(now, result.state >> kOriginShift)).state;
}

void Machine::lanes(const Instr &instr, Cell *result) {
  // Two addresses of one object, whatever they were passed as.
  auto rooted = [&](Scalar scalar) {
    scalar.object = memory.root(scalar.object);
    return scalar;
  };
  unsigned stride = cells_of(instr.width);
  for (uint32_t i = 0; i < instr.lanes; ++i) {
    const Cell *a = at(instr.a) + i * stride;
    Scalar left = read_scalar(a, instr.width), value;
    Outcome outcome;
    const Cell *b = nullptr;
    const char *sign = "";
    unsigned out = instr.shape->stride;
    switch (instr.code) {
    case Code::Compare1:
    case Code::Compare:
      b = at(instr.b) + i * stride;
      value = compare(CmpInst::Predicate(instr.sub), instr.flags, rooted(left),
                      rooted(read_scalar(b, instr.width)), outcome);
      sign = "and";
      break;
    case Code::Trunc1:
    case Code::ZExt1:
    case Code::SExt1:
    case Code::Cast:
      value = integer_cast(instr.sub, instr.flags, left, instr.shape->width, outcome);
      // A truncated address is still part of one.
      break;
    default: {
      b = at(instr.b) + i * stride;
      uint64_t bits;
      if (instr.width <= 64 && !(a->state | b->state) &&
          fast_binary(instr.sub, instr.flags, instr.width, a->bits, b->bits,
                      bits)) {
        result[i * out] = Cell{bits, 0, 0, 0};
        continue;
      }
      Scalar right = read_scalar(b, instr.width);
      bool distance = instr.sub == I::Sub && left.object && right.object;
      value = binary(instr.sub, instr.flags, distance ? rooted(left) : left,
                     distance ? rooted(right) : right, outcome);
      sign = sign_of(instr.sub);
      break;
    }
    }
    settle(value, outcome, a, b, sign, instr.width, Kind::Integer, nullptr);
    write_scalar(result + i * out, value);
  }
}

void Machine::float_lanes(const Instr &instr, Cell *result) {
  unsigned stride = cells_of(instr.width);
  Type *type = instr.operand->leaves[0].type;
  for (uint32_t i = 0; i < instr.lanes; ++i) {
    const Cell *a = at(instr.a) + i * stride;
    const Cell *b = nullptr;
    Scalar left = read_scalar(a, instr.width), value;
    Outcome outcome;
    Kind kind = instr.operand->kind;
    const char *sign = "and";
    switch (instr.code) {
    case Code::FloatBinary: {
      b = at(instr.b) + i * stride;
      value = float_binary(instr.sub, instr.fast, left,
                           read_scalar(b, instr.width), type, outcome);
      sign = sign_of(instr.sub);
      break;
    }
    case Code::FloatCompare:
      b = at(instr.b) + i * stride;
      value = float_compare(CmpInst::Predicate(instr.sub), instr.fast, left,
                            read_scalar(b, instr.width), type, outcome);
      break;
    case Code::FloatNegate:
      value = float_negate(instr.fast, left, type, outcome);
      break;
    default:
      value = float_cast(instr.sub, instr.flags, left, type,
                         instr.shape->leaves[0].type, instr.shape->width,
                         outcome);
      break;
    }
    settle(value, outcome, a, b, sign, instr.width, kind, type);
    write_scalar(result + i * instr.shape->stride, value);
  }
}

// One lane of a select, or all of it.
void Machine::run_select(const Shape &shape, const Cell &condition,
                         const Cell *yes, const Cell *no, Cell *result,
                         unsigned n_cells) {
  (void)shape;
  if (condition.poison()) {
    std::fill(result, result + n_cells, passed_on(judge, now, condition));
    return;
  }
  const Cell *chosen = condition.bits & 1 ? yes : no;
  std::copy(chosen, chosen + n_cells, result);
  if (condition.plain())
    return;
  // It could have been the other one.
  const Cell *other = condition.bits & 1 ? no : yes;
  for (unsigned i = 0; i < n_cells; ++i) {
    Cell &cell = result[i];
    if ((condition.state & kFree) && (cell.poison() || other[i].poison())) {
      cell = passed_on(judge, now, cell.poison() ? cell : other[i]);
      continue;
    }
    uint64_t differs = (cell.bits ^ other[i].bits) | other[i].unspecified;
    if (cell.object != other[i].object)
      differs = ~0ull;
    if (cell.poison() || !differs)
      continue;
    uint32_t reasons = merge_states(condition.state, other[i].state);
    reasons &= ~uint32_t(kFree | kPoison);
    cell.unspecified |= differs;
    cell.state = merge_states(cell.state & ~uint32_t(kFree), reasons);
  }
}

void Machine::vectors(const Instr &instr, Cell *result) {
  const ElementPlan &plan = (*element_plans)[instr.extra];
  const Cell *a = at(instr.a);
  unsigned stride = instr.operand->stride;
  auto index = [&](const Cell &cell) -> int64_t {
    if (cell.poison() || (cell.state & kFree))
      return -1;
    if (!cell.plain())
      no_verdict("an index of a vector is an unspecified value");
    return cell.bits < instr.operand->lanes ? int64_t(cell.bits) : -1;
  };
  switch (instr.code) {
  case Code::ExtractValue:
    std::copy(a + plan.first_cell, a + plan.first_cell + plan.n_cells, result);
    break;
  case Code::InsertValue: {
    const Cell *part = at(instr.b);
    std::vector<Cell> whole(a, a + instr.shape->n_cells);
    std::copy(part, part + plan.n_cells, whole.begin() + plan.first_cell);
    std::copy(whole.begin(), whole.end(), result);
    break;
  }
  case Code::ExtractElement: {
    int64_t lane = index(*at(instr.b));
    if (lane < 0) {
      std::fill(result, result + stride, poison("no such element of the vector"));
      break;
    }
    std::copy(a + lane * stride, a + (lane + 1) * stride, result);
    break;
  }
  case Code::InsertElement: {
    int64_t lane = index(*at(instr.c));
    std::vector<Cell> whole(a, a + instr.shape->n_cells);
    const Cell *part = at(instr.b);
    if (lane < 0)
      std::fill(whole.begin(), whole.end(),
                poison("no such element of the vector"));
    else
      std::copy(part, part + stride, whole.begin() + lane * stride);
    std::copy(whole.begin(), whole.end(), result);
    break;
  }
  default: { // Shuffle.
    const Cell *b = at(instr.b);
    unsigned lanes = instr.operand->lanes;
    std::vector<Cell> whole;
    for (int from : plan.mask) {
      if (from < 0) {
        whole.insert(whole.end(), stride, poison_cell(0));
        continue;
      }
      const Cell *lane = unsigned(from) < lanes ? a + from * stride
                                                : b + (from - lanes) * stride;
      whole.insert(whole.end(), lane, lane + stride);
    }
    std::copy(whole.begin(), whole.end(), result);
    break;
  }
  }
}

void Machine::evaluate(const Instr &instr, Cell *result) {
  switch (instr.code) {
  case Code::Copy:
    if (instr.lanes)
      std::copy(at(instr.a), at(instr.a) + instr.shape->n_cells, result);
    break;
  case Code::Freeze:
    for (const Leaf &leaf : instr.shape->leaves) {
      Scalar value = read_scalar(at(instr.a) + leaf.cell, leaf.width);
      if (value.poison()) {
        value = Scalar(leaf.width, 0);
        value.taint(APInt::getAllOnes(leaf.width), kUnspecified);
      } else if (value.state & kUndef) {
        value.state &= ~uint32_t(kFree | kUndef);
      }
      write_scalar(result + leaf.cell, value);
    }
    break;
  case Code::Select: {
    const Shape &shape = *instr.shape;
    const Cell *condition = at(instr.a);
    if (!instr.operand->type->isVectorTy()) {
      run_select(shape, *condition, at(instr.b), at(instr.c), result,
                 shape.n_cells);
      break;
    }
    for (uint32_t i = 0; i < shape.lanes; ++i)
      run_select(shape, condition[i], at(instr.b) + i * shape.stride,
                 at(instr.c) + i * shape.stride, result + i * shape.stride,
                 shape.stride);
    break;
  }
  case Code::FloatBinary:
  case Code::FloatNegate:
  case Code::FloatCompare:
  case Code::FloatCast:
    float_lanes(instr, result);
    break;
  case Code::Reinterpret:
    reinterpret(memory, *instr.operand, at(instr.a), *instr.shape, result);
    break;
  case Code::PointerCompare:
    compare_pointers(instr, result);
    break;
  case Code::PtrToInt:
  case Code::IntToPtr:
    pointer_casts(instr, result);
    break;
  case Code::Gep:
  case Code::Gep1:
    gep(instr, result);
    break;
  case Code::ExtractElement:
  case Code::InsertElement:
  case Code::Shuffle:
  case Code::ExtractValue:
  case Code::InsertValue:
    vectors(instr, result);
    break;
  default:
    lanes(instr, result);
    break;
  }
}
} // namespace referee
} // namespace optsleuth

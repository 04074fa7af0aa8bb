// Pointers: arithmetic, comparisons, casts.
//
// Never here: a look at memory's bytes.
#include "machine.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace optsleuth {
namespace referee {
// base + offset. `overflows`: the offset itself did, as a signed number.
Cell Machine::gep_lane(const Cell &base, uint64_t offset, const Instr &instr,
                       bool overflows) {
  if (base.poison())
    return poison_cell(judge.passed_on(now, base.origin()));
  Cell result = base;
  result.bits += offset;
  if (!offset)
    return result;
  int64_t by = int64_t(offset);
  if (instr.flags & kNoSignedWrap) {
    // The address is unsigned, the offset signed.
    bool wraps = by < 0 ? result.bits > base.bits : result.bits < base.bits;
    if (overflows || wraps)
      return poison("the address wraps around");
  }
  if ((instr.flags & kNoUnsignedWrap) && result.bits < base.bits)
    return poison("the address wraps around, unsigned");
  if (!(instr.flags & kInBounds) || base.state)
    return result;
  Object *object = memory.get(base.object);
  if (!object) {
    // Gone for long, or made of a number: nothing is known of its bounds.
    if (!base.object && !base.bits)
      return poison("getelementptr inbounds from null");
    return result;
  }
  if (object->storage == Storage::External || object->storage == Storage::File)
    return result;
  uint64_t from = base.bits - object->base, to = result.bits - object->base;
  if (from > object->size || to > object->size)
    return poison("getelementptr inbounds leaves " + name_of(*object) +
                  ": offset " + std::to_string(int64_t(to)) + " of " +
                  std::to_string(object->size) + " bytes");
  return result;
}

void Machine::gep(const Instr &instr, Cell *result) {
  const GepPlan &plan = (*gep_plans)[instr.extra];
  for (uint32_t lane = 0; lane < instr.lanes; ++lane) {
    const Cell &base = at(instr.a)[plan.base_lanes > 1 ? lane : 0];
    int64_t offset = int64_t(plan.offset);
    bool overflows = false;
    uint32_t reasons = 0;
    const Cell *poisoned = nullptr;
    for (const GepIndex &index : plan.indices) {
      const Cell &cell = at(index.place)[index.lanes > 1 ? lane : 0];
      if (cell.poison())
        poisoned = &cell;
      reasons = merge_states(reasons, cell.state);
      int64_t by = sign_extend(cell.bits, index.width), scaled = 0;
      overflows |= __builtin_mul_overflow(by, int64_t(index.scale), &scaled);
      overflows |= __builtin_add_overflow(offset, scaled, &offset);
    }
    if (poisoned) {
      result[lane] = poison_cell(judge.passed_on(now, poisoned->origin()));
      continue;
    }
    Cell cell = gep_lane(base, uint64_t(offset), instr, overflows);
    if (reasons && !cell.poison()) {
      cell.unspecified = ~0ull;
      cell.state = merge_states(cell.state, reasons) & ~uint32_t(kFree);
    }
    result[lane] = cell;
  }
}

Cell Machine::compare_pointer(unsigned predicate, const Cell &a,
                              const Cell &b) {
  if (a.poison() || b.poison())
    return poison_cell(
        judge.passed_on(now, (a.poison() ? a : b).origin()));
  auto which = CmpInst::Predicate(predicate);
  Cell result{fast_compare(which, 64, a.bits, b.bits), 0, 0, 0};
  uint32_t reasons = merge_states(a.state, b.state);
  if (reasons) {
    result.unspecified = 1;
    bool one_is_undef = (a.state & kFree) || (b.state & kFree);
    result.state = one_is_undef ? reasons : reasons & ~uint32_t(kFree);
    return result;
  }
  if (memory.root(a.object) == memory.root(b.object))
    return result;
  // One past the end of one object may be the start of another.
  Object *x = memory.get(a.object), *y = memory.get(b.object);
  auto inside = [](Object *object, const Cell &cell) {
    return object && object->life != Life::Gone &&
           cell.bits - object->base < std::max<uint64_t>(1, object->size);
  };
  bool null = (!a.object && !a.bits) || (!b.object && !b.bits);
  bool known = CmpInst::isEquality(which) &&
               ((inside(x, a) && inside(y, b)) ||
                (null && (inside(x, a) || inside(y, b) ||
                          (x && a.bits == x->base + x->size) ||
                          (y && b.bits == y->base + y->size))));
  // A number that was made a pointer is compared as the number that it is,
  // and so are null and a live object, by any order.
  known |= !a.object && !b.object;
  known |= null && (inside(x, a) || inside(y, b));
  if (!known) {
    result.unspecified = 1;
    result.state = kLayout;
  }
  return result;
}

void Machine::compare_pointers(const Instr &instr, Cell *result) {
  for (uint32_t i = 0; i < instr.lanes; ++i)
    result[i] = compare_pointer(instr.sub, at(instr.a)[i], at(instr.b)[i]);
}

void Machine::pointer_casts(const Instr &instr, Cell *result) {
  for (uint32_t i = 0; i < instr.lanes; ++i) {
    if (instr.code == Code::PtrToInt) {
      const Cell &from = at(instr.a)[i];
      Scalar value = read_scalar(&from, 64);
      if (value.poison()) {
        value = Scalar(instr.shape->width, 0);
        value.state = poison_cell(judge.passed_on(now, from.origin())).state;
        write_scalar(result + i * instr.shape->stride, value);
        continue;
      }
      if (Object *object = memory.get(from.object)) {
        // The bits below the alignment do not depend on the place.
        APInt mask = APInt::getAllOnes(64);
        mask &= ~APInt(64, object->align - 1);
        value.taint(mask, kLayout);
        value.object = from.object;
      }
      unsigned width = instr.shape->width;
      uint32_t object = width == 64 ? value.object : 0;
      value.bits = value.bits.zextOrTrunc(width);
      value.unspecified = value.unspecified.zextOrTrunc(width);
      value.object = object;
      write_scalar(result + i * instr.shape->stride, value);
      continue;
    }
    const Cell *from = at(instr.a) + i * instr.operand->stride;
    Scalar value = read_scalar(from, instr.width);
    if (value.poison()) {
      result[i] = poison_cell(judge.passed_on(now, from->origin()));
      continue;
    }
    Cell cell;
    cell.bits = value.bits.zextOrTrunc(64).getZExtValue();
    cell.object = instr.width == 64 ? value.object : 0;
    // An address is no number that could be another one: its object is known.
    if (!cell.object && cell.bits)
      if (Object *object = memory.at_address(cell.bits))
        cell.object = object->id;
    bool whole_address = cell.object && !(value.state & (kUnspecified | kUndef));
    if (!value.unspecified.isZero() && !whole_address) {
      cell.unspecified = ~0ull;
      cell.state = value.state;
    }
    result[i] = cell;
  }
}
} // namespace referee
} // namespace optsleuth

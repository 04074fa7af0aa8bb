// Integer operations. See arithmetic.h.
#include "arithmetic.h"
#include "../compat.h"

using namespace llvm;

namespace optsleuth {
namespace referee {
namespace {
using I = Instruction;

Scalar poison(const char *reason, Outcome &outcome, unsigned width) {
  Scalar result(width, 0);
  result.state = kPoison;
  outcome.poison = reason;
  return result;
}

// A result that depends on operands as a whole.
Scalar &blur(Scalar &result, uint32_t reasons) {
  return result.taint(APInt::getAllOnes(result.width()), reasons);
}

// From the lowest unspecified bit upwards: as far as a carry comes.
APInt carried(const APInt &mask) {
  unsigned width = mask.getBitWidth();
  unsigned low = compat::trailing_zeros(mask);
  return low >= width ? APInt(width, 0) : APInt::getHighBitsSet(width, width - low);
}

// Whether every unspecified bit of the operands is undef itself.
bool all_free(const Scalar &a, const Scalar &b) {
  auto free = [](const Scalar &s) {
    return s.unspecified.isZero() || (s.state & kFree);
  };
  return free(a) && free(b);
}

// The operation on exact bits. Sets the outcome where a promise is broken.
APInt exactly(unsigned opcode, uint8_t flags, const APInt &a, const APInt &b,
              Outcome &outcome) {
  unsigned width = a.getBitWidth();
  bool signed_wrap = false, unsigned_wrap = false;
  APInt result(width, 0);
  auto broken = [&](const char *reason) {
    if (!outcome.poison)
      outcome.poison = reason;
  };
  switch (opcode) {
  case I::Add:
    (void)a.sadd_ov(b, signed_wrap);
    result = a.uadd_ov(b, unsigned_wrap);
    break;
  case I::Sub:
    (void)a.ssub_ov(b, signed_wrap);
    result = a.usub_ov(b, unsigned_wrap);
    break;
  case I::Mul: {
    // Not smul_ov: it divides, and is wrong about one bit in old versions.
    APInt wide = a.sext(2 * width) * b.sext(2 * width);
    result = wide.trunc(width);
    signed_wrap = result.sext(2 * width) != wide;
    unsigned_wrap =
        a.zext(2 * width) * b.zext(2 * width) != result.zext(2 * width);
    break;
  }
  case I::UDiv:
  case I::URem:
  case I::SDiv:
  case I::SRem: {
    bool is_signed = opcode == I::SDiv || opcode == I::SRem;
    if (b.isZero()) {
      outcome.undefined = "division by zero";
      return result;
    }
    if (is_signed && a.isMinSignedValue() && b.isAllOnes()) {
      outcome.undefined = "signed division overflows";
      return result;
    }
    APInt rest = is_signed ? a.srem(b) : a.urem(b);
    if (opcode == I::URem || opcode == I::SRem)
      return rest;
    if ((flags & kExact) && !rest.isZero())
      broken("an exact division leaves a remainder");
    return is_signed ? a.sdiv(b) : a.udiv(b);
  }
  case I::Shl:
  case I::LShr:
  case I::AShr: {
    if (b.uge(width)) {
      broken("the shift is not less than the width");
      return result;
    }
    unsigned by = unsigned(b.getZExtValue());
    if (opcode == I::Shl) {
      result = a.shl(by);
      signed_wrap = result.ashr(by) != a;
      unsigned_wrap = result.lshr(by) != a;
      break;
    }
    result = opcode == I::LShr ? a.lshr(by) : a.ashr(by);
    if ((flags & kExact) && result.shl(by) != a)
      broken("an exact shift drops bits");
    return result;
  }
  case I::And:
    return a & b;
  case I::Or:
    if ((flags & kDisjoint) && a.intersects(b))
      broken("the operands of a disjoint or share bits");
    return a | b;
  case I::Xor:
    return a ^ b;
  default:
    outcome.unknown = "an unknown binary operation";
    return result;
  }
  if ((flags & kNoSignedWrap) && signed_wrap)
    broken("signed overflow");
  if ((flags & kNoUnsignedWrap) && unsigned_wrap)
    broken("unsigned overflow");
  return result;
}

// Which bits of the result are unspecified, and whether they are still free.
void mark(unsigned opcode, const Scalar &a, const Scalar &b, Scalar &result) {
  unsigned width = a.width();
  const APInt &ma = a.unspecified, &mb = b.unspecified;
  APInt mask = APInt::getAllOnes(width);
  bool is_free = false;
  switch (opcode) {
  case I::And:
    mask = (ma & (b.bits | mb)) | (mb & (a.bits | ma));
    is_free = true;
    break;
  case I::Or:
    mask = (ma & (~b.bits | mb)) | (mb & (~a.bits | ma));
    is_free = true;
    break;
  case I::Xor:
    mask = ma | mb;
    is_free = true;
    break;
  case I::Add:
  case I::Sub:
    mask = carried(ma | mb);
    is_free = (ma | mb).isAllOnes() && (ma.isAllOnes() || mb.isAllOnes());
    break;
  case I::Mul:
    mask = carried(ma | mb);
    break;
  case I::Shl:
  case I::LShr:
  case I::AShr:
    if (mb.isZero() && b.bits.ult(width)) {
      unsigned by = unsigned(b.bits.getZExtValue());
      mask = opcode == I::Shl    ? ma.shl(by)
             : opcode == I::LShr ? ma.lshr(by)
                                 : ma.ashr(by);
      is_free = opcode != I::AShr || !ma.isNegative();
    }
    break;
  default:
    break;
  }
  result.taint(mask, merge_states(a.state, b.state));
  if (is_free && all_free(a, b) && !mask.isZero())
    result.state |= kFree;
}
} // namespace

Scalar binary(unsigned opcode, uint8_t flags, const Scalar &a, const Scalar &b,
              Outcome &outcome) {
  unsigned width = a.width();
  bool divides = opcode == I::UDiv || opcode == I::SDiv || opcode == I::URem ||
                 opcode == I::SRem;
  if (divides && b.poison()) {
    outcome.undefined = "division by poison";
    return Scalar(width, 0);
  }
  if (divides && !b.unspecified.isZero() && (b.bits & ~b.unspecified).isZero()) {
    if (b.state & kFree)
      outcome.undefined = "division by undef";
    else
      outcome.unknown = "the divisor is an unspecified value";
    return Scalar(width, 0);
  }
  if (a.poison() || b.poison()) {
    Scalar result(width, 0);
    result.state = (a.poison() ? a : b).state;
    return result;
  }
  // The distance within one object does not depend on where it lies.
  bool distance = opcode == I::Sub && width == 64 && a.object && b.object &&
                  a.object == b.object;
  Scalar result(exactly(opcode, flags, a.bits, b.bits, outcome));
  if (outcome.poison)
    result.state = kPoison;
  if (outcome.poison || distance || (a.exact() && b.exact()))
    return result;
  mark(opcode, a, b, result);
  // An address stays one where something known is added.
  if (width == 64 && (opcode == I::Add || opcode == I::Sub)) {
    if (a.object && b.exact())
      result.object = a.object;
    if (b.object && a.exact() && opcode == I::Add)
      result.object = b.object;
  }
  return result;
}

Scalar compare(CmpInst::Predicate predicate, uint8_t flags, const Scalar &a,
               const Scalar &b, Outcome &outcome) {
  Scalar result(1, 0);
  if (a.poison() || b.poison()) {
    result.state = (a.poison() ? a : b).state;
    return result;
  }
  if ((flags & kSameSign) && a.bits.isNegative() != b.bits.isNegative())
    return poison("the operands of icmp samesign differ in sign", outcome, 1);
  bool holds = false;
  switch (predicate) {
  case CmpInst::ICMP_EQ:
    holds = a.bits == b.bits;
    break;
  case CmpInst::ICMP_NE:
    holds = a.bits != b.bits;
    break;
  case CmpInst::ICMP_UGT:
    holds = a.bits.ugt(b.bits);
    break;
  case CmpInst::ICMP_UGE:
    holds = a.bits.uge(b.bits);
    break;
  case CmpInst::ICMP_ULT:
    holds = a.bits.ult(b.bits);
    break;
  case CmpInst::ICMP_ULE:
    holds = a.bits.ule(b.bits);
    break;
  case CmpInst::ICMP_SGT:
    holds = a.bits.sgt(b.bits);
    break;
  case CmpInst::ICMP_SGE:
    holds = a.bits.sge(b.bits);
    break;
  case CmpInst::ICMP_SLT:
    holds = a.bits.slt(b.bits);
    break;
  default:
    holds = a.bits.sle(b.bits);
    break;
  }
  result.bits = APInt(1, holds);
  bool same_object = a.width() == 64 && a.object && a.object == b.object;
  if ((a.exact() && b.exact()) || same_object)
    return result;
  // Decided all the same? By a bit that is known and differs, or by ranges
  // that do not overlap.
  const APInt &ma = a.unspecified, &mb = b.unspecified;
  if (CmpInst::isEquality(predicate)) {
    if (!((a.bits ^ b.bits) & ~(ma | mb)).isZero())
      return result;
  } else {
    // Signed order is unsigned order with the sign bit flipped.
    APInt flip(a.width(), 0);
    if (CmpInst::isSigned(predicate))
      flip.setSignBit();
    APInt least_a = (a.bits ^ flip) & ~ma, most_a = (a.bits ^ flip) | ma;
    APInt least_b = (b.bits ^ flip) & ~mb, most_b = (b.bits ^ flip) | mb;
    bool greater = predicate == CmpInst::ICMP_UGT ||
                   predicate == CmpInst::ICMP_SGT ||
                   predicate == CmpInst::ICMP_ULE ||
                   predicate == CmpInst::ICMP_SLE;
    bool always_greater = least_a.ugt(most_b), never_greater = most_a.ule(least_b);
    bool always_less = most_a.ult(least_b), never_less = least_a.uge(most_b);
    if (greater ? always_greater || never_greater : always_less || never_less)
      return result;
  }
  result.taint(APInt(1, 1), merge_states(a.state, b.state));
  if (all_free(a, b))
    result.state |= kFree;
  return result;
}

Scalar integer_cast(unsigned opcode, uint8_t flags, const Scalar &a, unsigned width,
            Outcome &outcome) {
  Scalar result(width, 0);
  result.state = a.state;
  if (a.poison())
    return result;
  switch (opcode) {
  case I::Trunc:
    result.bits = a.bits.trunc(width);
    result.unspecified = a.unspecified.trunc(width);
    if ((flags & kNoSignedWrap) && result.bits.sext(a.width()) != a.bits)
      return poison("trunc nsw drops bits that matter", outcome, width);
    if ((flags & kNoUnsignedWrap) && result.bits.zext(a.width()) != a.bits)
      return poison("trunc nuw drops bits that matter", outcome, width);
    break;
  case I::ZExt:
    if ((flags & kNonNegative) && a.bits.isNegative())
      return poison("zext nneg of a negative number", outcome, width);
    result.bits = a.bits.zext(width);
    result.unspecified = a.unspecified.zext(width);
    break;
  default:
    result.bits = a.bits.sext(width);
    result.unspecified = a.unspecified.sext(width);
    if (a.unspecified.isNegative())
      result.state &= ~uint32_t(kFree);
    break;
  }
  if (result.unspecified.isZero())
    result.state = 0;
  return result;
}

bool overflow_reported(Op op) {
  return op >= Op::SaddOverflow && op <= Op::UsubOverflow;
}

unsigned operands_of(Op op) {
  switch (op) {
  case Op::Abs:
  case Op::Bitreverse:
  case Op::Bswap:
  case Op::Ctlz:
  case Op::Ctpop:
  case Op::Cttz:
    return 1;
  case Op::Fshl:
  case Op::Fshr:
    return 3;
  default:
    return 2;
  }
}

Scalar integer_op(Op op, ArrayRef<Scalar> operands, bool flag, unsigned width,
                  Scalar *overflow, Outcome &outcome) {
  const APInt &a = operands[0].bits;
  const APInt &b = operands[operands.size() > 1 ? 1 : 0].bits;
  uint32_t reasons = 0;
  bool tainted = false;
  for (const Scalar &operand : operands) {
    if (operand.poison()) {
      Scalar result(width, 0);
      result.state = operand.state;
      if (overflow) {
        *overflow = Scalar(1, 0);
        overflow->state = operand.state;
      }
      return result;
    }
    reasons = merge_states(reasons, operand.state);
    tainted |= !operand.unspecified.isZero();
  }
  Scalar result(width, 0);
  bool over = false;
  switch (op) {
  case Op::Abs:
    if (flag && a.isMinSignedValue())
      return poison("llvm.abs of the least number", outcome, width);
    result.bits = a.abs();
    break;
  case Op::Bitreverse:
    result.bits = a.reverseBits();
    result.taint(operands[0].unspecified.reverseBits(), reasons);
    return result;
  case Op::Bswap:
    result.bits = a.byteSwap();
    result.taint(operands[0].unspecified.byteSwap(), reasons);
    return result;
  case Op::Ctlz:
  case Op::Cttz:
    if (flag && a.isZero())
      return poison("a count of zeros of zero", outcome, width);
    result = Scalar(width, op == Op::Ctlz ? compat::leading_zeros(a)
                                          : compat::trailing_zeros(a));
    break;
  case Op::Ctpop:
    result = Scalar(width, compat::population(a));
    break;
  case Op::Fshl:
  case Op::Fshr: {
    // Wide enough to hold the width itself.
    APInt wide = operands[2].bits.zext(width + 32);
    unsigned by = unsigned(wide.urem(APInt(width + 32, width)).getZExtValue());
    auto funnel = [&](const APInt &high, const APInt &low) {
      APInt both = high.zext(2 * width).shl(width) | low.zext(2 * width);
      return op == Op::Fshl ? both.shl(by).lshr(width).trunc(width)
                            : both.lshr(by).trunc(width);
    };
    result.bits = funnel(a, b);
    if (operands[2].unspecified.isZero()) {
      result.taint(funnel(operands[0].unspecified, operands[1].unspecified),
                   reasons);
      return result;
    }
    break;
  }
  case Op::SaddSat:
    result.bits = a.sadd_sat(b);
    break;
  case Op::SsubSat:
    result.bits = a.ssub_sat(b);
    break;
  case Op::UaddSat:
    result.bits = a.uadd_sat(b);
    break;
  case Op::UsubSat:
    result.bits = a.usub_sat(b);
    break;
  case Op::SshlSat:
  case Op::UshlSat: {
    if (b.uge(width))
      return poison("the shift is not less than the width", outcome, width);
    unsigned by = unsigned(b.getZExtValue());
    APInt shifted = a.shl(by);
    if (op == Op::UshlSat)
      result.bits = shifted.lshr(by) == a ? shifted : APInt::getMaxValue(width);
    else if (shifted.ashr(by) == a)
      result.bits = shifted;
    else
      result.bits = a.isNegative() ? APInt::getSignedMinValue(width)
                                   : APInt::getSignedMaxValue(width);
    break;
  }
  case Op::Smax:
    result.bits = a.sgt(b) ? a : b;
    break;
  case Op::Smin:
    result.bits = a.slt(b) ? a : b;
    break;
  case Op::Umax:
    result.bits = a.ugt(b) ? a : b;
    break;
  case Op::Umin:
    result.bits = a.ult(b) ? a : b;
    break;
  case Op::SaddOverflow:
    result.bits = a.sadd_ov(b, over);
    break;
  case Op::SsubOverflow:
    result.bits = a.ssub_ov(b, over);
    break;
  case Op::UaddOverflow:
    result.bits = a.uadd_ov(b, over);
    break;
  case Op::UsubOverflow:
    result.bits = a.usub_ov(b, over);
    break;
  case Op::SmulOverflow: {
    APInt wide = a.sext(2 * width) * b.sext(2 * width);
    result.bits = wide.trunc(width);
    over = result.bits.sext(2 * width) != wide;
    break;
  }
  case Op::UmulOverflow: {
    APInt wide = a.zext(2 * width) * b.zext(2 * width);
    result.bits = wide.trunc(width);
    over = result.bits.zext(2 * width) != wide;
    break;
  }
  case Op::Scmp:
  case Op::Ucmp: {
    bool less = op == Op::Scmp ? a.slt(b) : a.ult(b);
    result.bits = a == b ? APInt(width, 0)
                  : less ? APInt::getAllOnes(width)
                         : APInt(width, 1);
    break;
  }
  }
  if (tainted)
    blur(result, reasons);
  if (overflow) {
    *overflow = Scalar(1, over);
    if (tainted)
      overflow->taint(APInt(1, 1), reasons);
  }
  return result;
}
} // namespace referee
} // namespace optsleuth

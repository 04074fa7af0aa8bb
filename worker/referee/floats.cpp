// Floating-point operations. See floats.h.
#include "floats.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace optsleuth {
namespace referee {
namespace {
using I = Instruction;

APFloat number(const Scalar &a, Type *type) {
  return APFloat(type->getFltSemantics(), a.bits);
}

// The bits of a NaN that say nothing: its sign and its payload.
APInt payload_mask(Type *type) {
  const fltSemantics &semantics = type->getFltSemantics();
  unsigned width = type->getPrimitiveSizeInBits();
  unsigned precision = APFloat::semanticsPrecision(semantics);
  // Below the quiet bit; x87 stores its integer bit as well.
  unsigned low = precision - 2;
  APInt mask = APInt::getLowBitsSet(width, low);
  mask.setSignBit();
  return mask;
}

// What an operation computed -> a scalar. `reasons` are those of its operands.
Scalar made(const APFloat &value, uint8_t fast, Type *type, bool tainted,
            uint32_t reasons, Outcome &outcome) {
  Scalar result(value.bitcastToAPInt());
  if ((fast & kNoNans) && value.isNaN())
    outcome.poison = "nnan, and the result is NaN";
  if ((fast & kNoInfinities) && value.isInfinity())
    outcome.poison = "ninf, and the result is infinite";
  if (outcome.poison) {
    result.state = kPoison;
    return result;
  }
  APInt all = APInt::getAllOnes(result.width());
  if (tainted)
    return result.taint(all, reasons);
  if (value.isNaN()) {
    result.bits = APFloat::getNaN(type->getFltSemantics()).bitcastToAPInt();
    return result.taint(payload_mask(type), kUnspecified);
  }
  if ((fast & kLoose) && !value.isZero())
    return result.taint(all, kUnspecified);
  if ((fast & kNoSignedZeros) && value.isZero())
    result.taint(APInt::getSignMask(result.width()), kUnspecified);
  return result;
}

// Poison among the operands, and promises that they break.
bool spoiled(ArrayRef<Scalar> operands, uint8_t fast, Type *type,
             unsigned width, Scalar &result, Outcome &outcome) {
  result = Scalar(width, 0);
  for (const Scalar &operand : operands)
    if (operand.poison()) {
      result.state = operand.state;
      return true;
    }
  for (const Scalar &operand : operands) {
    APFloat value = number(operand, type);
    if ((fast & kNoNans) && value.isNaN())
      outcome.poison = "nnan, and an operand is NaN";
    if ((fast & kNoInfinities) && value.isInfinity())
      outcome.poison = "ninf, and an operand is infinite";
  }
  if (outcome.poison)
    result.state = kPoison;
  return outcome.poison != nullptr;
}

// Whether the value of an operand, as a number, is unspecified.
bool tainted(const Scalar &a, Type *type) {
  return !a.unspecified.isZero() && !is_nan(a, type);
}

template <typename Function>
APFloat by_host(const APFloat &a, const APFloat &b, Type *type, bool &known,
                Function function) {
  known = true;
  if (type->isDoubleTy())
    return APFloat(function(a.convertToDouble(), b.convertToDouble()));
  if (type->isFloatTy())
    return APFloat(float(function(a.convertToFloat(), b.convertToFloat())));
  known = false;
  return a;
}
} // namespace

bool is_nan(const Scalar &a, Type *type) {
  if (!number(a, type).isNaN())
    return false;
  return (a.unspecified & ~payload_mask(type)).isZero();
}

Scalar float_binary(unsigned opcode, uint8_t fast, const Scalar &a,
                    const Scalar &b, Type *type, Outcome &outcome) {
  Scalar result;
  if (spoiled({a, b}, fast, type, a.width(), result, outcome))
    return result;
  APFloat value = number(a, type);
  const APFloat other = number(b, type);
  switch (opcode) {
  case I::FAdd:
    value.add(other, APFloat::rmNearestTiesToEven);
    break;
  case I::FSub:
    value.subtract(other, APFloat::rmNearestTiesToEven);
    break;
  case I::FMul:
    value.multiply(other, APFloat::rmNearestTiesToEven);
    break;
  case I::FDiv:
    value.divide(other, APFloat::rmNearestTiesToEven);
    break;
  default:
    value.mod(other);
    break;
  }
  bool either = tainted(a, type) || tainted(b, type);
  return made(value, fast, type, either, merge_states(a.state, b.state),
              outcome);
}

Scalar float_negate(uint8_t fast, const Scalar &a, Type *type,
                    Outcome &outcome) {
  Scalar result;
  if (spoiled({a}, fast, type, a.width(), result, outcome))
    return result;
  result = a;
  result.bits.flipBit(a.width() - 1);
  return result;
}

Scalar float_compare(CmpInst::Predicate predicate, uint8_t fast,
                     const Scalar &a, const Scalar &b, Type *type,
                     Outcome &outcome) {
  Scalar result;
  if (spoiled({a, b}, fast, type, 1, result, outcome))
    return result;
  APFloat::cmpResult order = number(a, type).compare(number(b, type));
  // The predicate's number is a set: unordered, less, greater, equal.
  unsigned bit = order == APFloat::cmpEqual         ? 1
                 : order == APFloat::cmpGreaterThan ? 2
                 : order == APFloat::cmpLessThan    ? 4
                                                    : 8;
  result = Scalar(1, (unsigned(predicate) & bit) != 0);
  bool decided = predicate == CmpInst::FCMP_FALSE ||
                 predicate == CmpInst::FCMP_TRUE || is_nan(a, type) ||
                 is_nan(b, type);
  if (!decided && (tainted(a, type) || tainted(b, type))) {
    uint32_t reasons = merge_states(a.state, b.state);
    result.taint(APInt(1, 1), reasons);
    auto whole = [](const Scalar &s) {
      return s.unspecified.isZero() ||
             ((s.state & kFree) && s.unspecified.isAllOnes());
    };
    if (whole(a) && whole(b)) // An undef number can make it either.
      result.state |= kFree;
  }
  return result;
}

Scalar float_cast(unsigned opcode, uint8_t flags, const Scalar &a, Type *from,
                  Type *to, unsigned width, Outcome &outcome) {
  Scalar result(width, 0);
  if (a.poison()) {
    result.state = a.state;
    return result;
  }
  bool lossless = false;
  switch (opcode) {
  case I::FPTrunc:
  case I::FPExt: {
    APFloat value = number(a, from);
    value.convert(to->getFltSemantics(), APFloat::rmNearestTiesToEven,
                  &lossless);
    return made(value, 0, to, tainted(a, from), a.state, outcome);
  }
  case I::FPToUI:
  case I::FPToSI: {
    APSInt integer(width, opcode == I::FPToUI);
    APFloat::opStatus status = number(a, from).convertToInteger(
        integer, APFloat::rmTowardZero, &lossless);
    if (status & APFloat::opInvalidOp) {
      outcome.poison = "the number does not fit into the integer";
      result.state = kPoison;
      return result;
    }
    result.bits = integer;
    if (!a.unspecified.isZero())
      result.taint(APInt::getAllOnes(width), a.state);
    return result;
  }
  default: {
    if ((flags & kNonNegative) && a.bits.isNegative()) {
      outcome.poison = "uitofp nneg of a negative number";
      result.state = kPoison;
      return result;
    }
    APFloat value(to->getFltSemantics());
    value.convertFromAPInt(a.bits, opcode == I::SIToFP,
                           APFloat::rmNearestTiesToEven);
    return made(value, 0, to, !a.unspecified.isZero(), a.state, outcome);
  }
  }
}

unsigned operands_of(FloatOp op) {
  switch (op) {
  case FloatOp::Fma:
  case FloatOp::MulAdd:
    return 3;
  case FloatOp::CopySign:
  case FloatOp::MaxNum:
  case FloatOp::MinNum:
  case FloatOp::Maximum:
  case FloatOp::Minimum:
  case FloatOp::Atan2:
  case FloatOp::Fmod:
  case FloatOp::Hypot:
  case FloatOp::Pow:
    return 2;
  default:
    return 1;
  }
}

Scalar float_op(FloatOp op, uint8_t fast, ArrayRef<Scalar> operands, Type *type,
                Outcome &outcome) {
  Scalar result;
  unsigned width = operands[0].width();
  if (spoiled(operands, fast, type, width, result, outcome))
    return result;
  // Operations on bits.
  if (op == FloatOp::Abs || op == FloatOp::CopySign) {
    result = operands[0];
    const Scalar &sign = operands[op == FloatOp::Abs ? 0 : 1];
    bool negative = op == FloatOp::CopySign && sign.bits.isNegative();
    APInt bit = APInt::getSignMask(width);
    result.bits = negative ? result.bits | bit : result.bits & ~bit;
    result.unspecified &= ~bit;
    if (op == FloatOp::CopySign && sign.unspecified.isNegative())
      result.taint(bit, sign.state);
    return result;
  }
  bool either = false;
  uint32_t reasons = 0;
  for (const Scalar &operand : operands) {
    either |= tainted(operand, type);
    reasons = merge_states(reasons, operand.state);
  }
  APFloat value = number(operands[0], type);
  APFloat second = number(operands[operands.size() > 1 ? 1 : 0], type);
  bool known = true;
  auto rounded = [&](APFloat::roundingMode mode) { value.roundToIntegral(mode); };
  auto host = [&](auto function) {
    value = by_host(value, second, type, known, function);
  };
  switch (op) {
  case FloatOp::Canonicalize:
    break;
  case FloatOp::Ceil:
    rounded(APFloat::rmTowardPositive);
    break;
  case FloatOp::Floor:
    rounded(APFloat::rmTowardNegative);
    break;
  case FloatOp::Trunc:
    rounded(APFloat::rmTowardZero);
    break;
  case FloatOp::Round:
    rounded(APFloat::rmNearestTiesToAway);
    break;
  case FloatOp::RoundEven:
  case FloatOp::Rint:
    rounded(APFloat::rmNearestTiesToEven);
    break;
  case FloatOp::Fma:
    value.fusedMultiplyAdd(second, number(operands[2], type),
                           APFloat::rmNearestTiesToEven);
    break;
  case FloatOp::MulAdd: {
    // In one step or in two: that is the code generator's choice.
    APFloat fused = value, third = number(operands[2], type);
    fused.fusedMultiplyAdd(second, third, APFloat::rmNearestTiesToEven);
    value.multiply(second, APFloat::rmNearestTiesToEven);
    value.add(third, APFloat::rmNearestTiesToEven);
    if (!value.bitwiseIsEqual(fused) && !value.isNaN()) {
      either = true;
      reasons |= kUnspecified;
    }
    break;
  }
  case FloatOp::MaxNum:
  case FloatOp::MinNum:
    // Of two zeros with different signs either may be the result.
    if (value.isZero() && second.isZero())
      fast |= kNoSignedZeros;
    if (value.isSignaling() || second.isSignaling())
      either = true;
    value = op == FloatOp::MaxNum ? maxnum(value, second) : minnum(value, second);
    break;
  case FloatOp::Maximum:
    value = maximum(value, second);
    break;
  case FloatOp::Minimum:
    value = minimum(value, second);
    break;
  case FloatOp::Sqrt:
    host([](auto x, auto) { return std::sqrt(x); });
    break;
  case FloatOp::Acos:
    host([](auto x, auto) { return std::acos(x); });
    break;
  case FloatOp::Asin:
    host([](auto x, auto) { return std::asin(x); });
    break;
  case FloatOp::Atan:
    host([](auto x, auto) { return std::atan(x); });
    break;
  case FloatOp::Atan2:
    host([](auto x, auto y) { return std::atan2(x, y); });
    break;
  case FloatOp::Cbrt:
    host([](auto x, auto) { return std::cbrt(x); });
    break;
  case FloatOp::Cos:
    host([](auto x, auto) { return std::cos(x); });
    break;
  case FloatOp::Cosh:
    host([](auto x, auto) { return std::cosh(x); });
    break;
  case FloatOp::Exp:
    host([](auto x, auto) { return std::exp(x); });
    break;
  case FloatOp::Exp2:
    host([](auto x, auto) { return std::exp2(x); });
    break;
  case FloatOp::Fmod:
    value.mod(second);
    break;
  case FloatOp::Hypot:
    host([](auto x, auto y) { return std::hypot(x, y); });
    break;
  case FloatOp::Log:
    host([](auto x, auto) { return std::log(x); });
    break;
  case FloatOp::Log10:
    host([](auto x, auto) { return std::log10(x); });
    break;
  case FloatOp::Log2:
    host([](auto x, auto) { return std::log2(x); });
    break;
  case FloatOp::Pow:
    host([](auto x, auto y) { return std::pow(x, y); });
    break;
  case FloatOp::Sin:
    host([](auto x, auto) { return std::sin(x); });
    break;
  case FloatOp::Sinh:
    host([](auto x, auto) { return std::sinh(x); });
    break;
  case FloatOp::Tan:
    host([](auto x, auto) { return std::tan(x); });
    break;
  case FloatOp::Tanh:
    host([](auto x, auto) { return std::tanh(x); });
    break;
  case FloatOp::Abs:
  case FloatOp::CopySign:
    break;
  }
  if (!known)
    outcome.unknown = "a mathematical function of this type";
  return made(value, fast, type, either, reasons, outcome);
}
} // namespace referee
} // namespace optsleuth

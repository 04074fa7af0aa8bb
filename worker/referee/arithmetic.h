// Integer operations on scalars, by the language reference: the result with its
// unspecified bits, poison with its reason, or undefined behaviour.
//
// The fast forms are for plain operands of at most 64 bits. They leave whatever
// is special to the slow ones, so that there is one place for every rule.
//
// Never here: an instruction, memory, the end of a run.
#pragma once
#include "value.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instruction.h"

namespace optsleuth {
namespace referee {
// Promises of an instruction.
enum Flag : uint8_t {
  kNoSignedWrap = 1,
  kNoUnsignedWrap = 2,
  kExact = 4,
  kDisjoint = 8,
  kNonNegative = 16,
  kSameSign = 32,
  kInBounds = 64,
};

// What is special about an operation.
struct Outcome {
  const char *undefined = nullptr; // It is undefined behaviour, and why.
  const char *poison = nullptr;    // It makes poison, and why.
  const char *unknown = nullptr;   // It depends on an unspecified value.
};

Scalar binary(unsigned opcode, uint8_t flags, const Scalar &a, const Scalar &b,
              Outcome &outcome);
Scalar compare(llvm::CmpInst::Predicate predicate, uint8_t flags,
               const Scalar &a, const Scalar &b, Outcome &outcome);
// trunc, zext, sext.
Scalar integer_cast(unsigned opcode, uint8_t flags, const Scalar &a, unsigned width,
            Outcome &outcome);

// Intrinsics on integers.
enum class Op : uint8_t {
  Abs,
  Bitreverse,
  Bswap,
  Ctlz,
  Ctpop,
  Cttz,
  Fshl,
  Fshr,
  SaddSat,
  SshlSat,
  SsubSat,
  Smax,
  Smin,
  UaddSat,
  UshlSat,
  UsubSat,
  Umax,
  Umin,
  SaddOverflow,
  SmulOverflow,
  SsubOverflow,
  UaddOverflow,
  UmulOverflow,
  UsubOverflow,
  Scmp,
  Ucmp,
};
bool overflow_reported(Op op);
// How many scalars the operation takes. Abs, Ctlz and Cttz take a flag on top:
// whether the least value, or zero, is poison.
unsigned operands_of(Op op);
// `width` is the result's. The second result is the overflow bit, if any.
Scalar integer_op(Op op, llvm::ArrayRef<Scalar> operands, bool flag,
                  unsigned width, Scalar *overflow, Outcome &outcome);

// False where anything is special: then the slow form says what.
inline __attribute__((always_inline)) bool
fast_binary(unsigned opcode, uint8_t flags, unsigned width, uint64_t a,
            uint64_t b, uint64_t &result) {
  using I = llvm::Instruction;
  uint64_t mask = low_mask(width);
  switch (opcode) {
  case I::Add:
    result = (a + b) & mask;
    if ((flags & kNoUnsignedWrap) && result < a)
      return false;
    // Overflow: both operands have one sign, the result the other.
    return !((flags & kNoSignedWrap) &&
             (((a ^ result) & (b ^ result)) >> (width - 1) & 1));
  case I::Sub:
    result = (a - b) & mask;
    if ((flags & kNoUnsignedWrap) && a < b)
      return false;
    return !((flags & kNoSignedWrap) &&
             (((a ^ b) & (a ^ result)) >> (width - 1) & 1));
  case I::Mul: {
    result = (a * b) & mask;
    if (flags & kNoSignedWrap) {
      __int128 full = __int128(sign_extend(a, width)) * sign_extend(b, width);
      if (full != sign_extend(result, width))
        return false;
    }
    if (flags & kNoUnsignedWrap)
      return (unsigned __int128)(a)*b == result;
    return true;
  }
  case I::UDiv:
  case I::URem:
    if (!b)
      return false;
    result = opcode == I::UDiv ? a / b : a % b;
    return !((flags & kExact) && a % b);
  case I::SDiv:
  case I::SRem: {
    int64_t x = sign_extend(a, width), y = sign_extend(b, width);
    if (!y || y == -1)
      return false;
    result = uint64_t(opcode == I::SDiv ? x / y : x % y) & mask;
    return !((flags & kExact) && x % y);
  }
  case I::Shl:
    if (b >= width)
      return false;
    result = (a << b) & mask;
    if ((flags & kNoUnsignedWrap) && result >> b != a)
      return false;
    return !((flags & kNoSignedWrap) &&
             sign_extend(result, width) >> b != sign_extend(a, width));
  case I::LShr:
    if (b >= width)
      return false;
    result = a >> b;
    return !((flags & kExact) && result << b != a);
  case I::AShr:
    if (b >= width)
      return false;
    result = uint64_t(sign_extend(a, width) >> b) & mask;
    return !((flags & kExact) && ((result << b) & mask) != a);
  case I::And:
    result = a & b;
    return true;
  case I::Or:
    result = a | b;
    return !((flags & kDisjoint) && (a & b));
  case I::Xor:
    result = a ^ b;
    return true;
  default:
    return false;
  }
}

inline __attribute__((always_inline)) bool
fast_compare(llvm::CmpInst::Predicate predicate, unsigned width, uint64_t a,
             uint64_t b) {
  using C = llvm::CmpInst;
  switch (predicate) {
  case C::ICMP_EQ:
    return a == b;
  case C::ICMP_NE:
    return a != b;
  case C::ICMP_UGT:
    return a > b;
  case C::ICMP_UGE:
    return a >= b;
  case C::ICMP_ULT:
    return a < b;
  case C::ICMP_ULE:
    return a <= b;
  case C::ICMP_SGT:
    return sign_extend(a, width) > sign_extend(b, width);
  case C::ICMP_SGE:
    return sign_extend(a, width) >= sign_extend(b, width);
  case C::ICMP_SLT:
    return sign_extend(a, width) < sign_extend(b, width);
  default:
    return sign_extend(a, width) <= sign_extend(b, width);
  }
}
} // namespace referee
} // namespace optsleuth

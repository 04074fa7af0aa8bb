// Floating-point operations on scalars, by the language reference: IEEE
// arithmetic, in the default rounding mode.
//
// Sign and payload of a NaN that an operation makes are unspecified. So is what
// a fast-math flag allows to differ.
//
// Never here: an instruction, memory, the end of a run.
#pragma once
#include "arithmetic.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"

namespace optsleuth {
namespace referee {
// Fast-math flags.
enum Fast : uint8_t {
  kNoNans = 1,
  kNoInfinities = 2,
  kNoSignedZeros = 4,
  kLoose = 8, // Others than these three: the result may be rounded otherwise.
};

Scalar float_binary(unsigned opcode, uint8_t fast, const Scalar &a,
                    const Scalar &b, llvm::Type *type, Outcome &outcome);
Scalar float_negate(uint8_t fast, const Scalar &a, llvm::Type *type,
                    Outcome &outcome);
Scalar float_compare(llvm::CmpInst::Predicate predicate, uint8_t fast,
                     const Scalar &a, const Scalar &b, llvm::Type *type,
                     Outcome &outcome);
// fptrunc, fpext, fptoui, fptosi, uitofp, sitofp.
Scalar float_cast(unsigned opcode, uint8_t flags, const Scalar &a,
                  llvm::Type *from, llvm::Type *to, unsigned width,
                  Outcome &outcome);

enum class FloatOp : uint8_t {
  Abs,
  Canonicalize,
  Ceil,
  CopySign,
  Floor,
  Fma,
  MulAdd,
  MaxNum,
  MinNum,
  Maximum,
  Minimum,
  Round,
  RoundEven,
  Rint,
  Sqrt,
  Trunc,
  // The mathematical library's, in single and double precision.
  Acos,
  Asin,
  Atan,
  Atan2,
  Cbrt,
  Cos,
  Cosh,
  Exp,
  Exp2,
  Fmod,
  Hypot,
  Log,
  Log10,
  Log2,
  Pow,
  Sin,
  Sinh,
  Tan,
  Tanh,
};
unsigned operands_of(FloatOp op);
Scalar float_op(FloatOp op, uint8_t fast, llvm::ArrayRef<Scalar> operands,
                llvm::Type *type, Outcome &outcome);
// Whether the bits are a NaN, whatever its unspecified bits are.
bool is_nan(const Scalar &a, llvm::Type *type);
} // namespace referee
} // namespace optsleuth

// Every integer operation on every pair of values of a width, compared with
// LLVM's constant folder where the result is a value, and with plain arithmetic
// in wider integers where it is poison or undefined.
//
// Never here: a rule of the referee's. Everything is written a second time.
#include "../crash.h"
#include "../memory.h"
#include "arithmetic.h"
#include "referee.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <unistd.h>

using namespace llvm;

namespace optsleuth {
namespace referee {
namespace {
using I = Instruction;
using Wide = long long;

class SelfTest {
public:
  explicit SelfTest(unsigned width)
      : width(width), count(1u << width), module("self-test", context),
        type(IntegerType::get(context, width)) {
    auto *shell = Function::Create(FunctionType::get(Type::getVoidTy(context), false),
                                   GlobalValue::ExternalLinkage, "shell", module);
    block = BasicBlock::Create(context, "entry", shell);
    for (unsigned i = 0; i < count; ++i)
      constants.push_back(ConstantInt::get(context, APInt(width, i)));
  }

  void binaries();
  void compares();
  void casts();
  void intrinsics();

  uint64_t n_checked = 0, n_unfolded = 0, n_poison = 0, n_undefined = 0;
  uint64_t n_fast = 0, n_failures = 0;
  std::string failures;

private:
  Wide as_signed(unsigned value) const { return sign_extend(value, width); }
  bool fits_signed(Wide value) const {
    return value >= -(1ll << (width - 1)) && value < (1ll << (width - 1));
  }
  bool fits_unsigned(Wide value) const { return value >= 0 && value < Wide(count); }
  void fail(const std::string &what, ArrayRef<unsigned> operands) {
    ++n_failures;
    if (failures.size() > 4000)
      return;
    failures += what;
    for (unsigned operand : operands)
      failures += " " + std::to_string(operand);
    failures += "\n";
  }
  // `expected`: 0 a value, 1 poison, 2 undefined.
  void check(const std::string &what, ArrayRef<unsigned> operands, int expected,
             const Scalar &value, const Outcome &outcome, Constant *folded);
  void intrinsic(Op op, const char *name, bool flag, unsigned step);
  int expect_binary(unsigned opcode, uint8_t flags, unsigned a, unsigned b) const;

  unsigned width, count;
  LLVMContext context;
  Module module;
  Type *type;
  BasicBlock *block;
  std::vector<Constant *> constants;
};

void SelfTest::check(const std::string &what, ArrayRef<unsigned> operands,
                     int expected, const Scalar &value, const Outcome &outcome,
                     Constant *folded) {
  ++n_checked;
  int got = outcome.undefined ? 2 : value.poison() ? 1 : 0;
  if (got != expected)
    return fail(what + (expected == 2   ? " should be undefined:"
                        : expected == 1 ? " should be poison:"
                                        : " should be a value:"),
                operands);
  n_poison += got == 1;
  n_undefined += got == 2;
  if (got)
    return;
  if (!value.unspecified.isZero())
    return fail(what + " has unspecified bits:", operands);
  auto *number = dyn_cast_or_null<ConstantInt>(folded);
  if (!number) {
    ++n_unfolded;
    return;
  }
  if (number->getValue() != value.bits)
    fail(what + " is not what the constant folder says:", operands);
}

int SelfTest::expect_binary(unsigned opcode, uint8_t flags, unsigned a,
                            unsigned b) const {
  Wide x = as_signed(a), y = as_signed(b), u = a, v = b;
  bool nsw = flags & kNoSignedWrap, nuw = flags & kNoUnsignedWrap;
  auto wraps = [&](Wide of_signed, Wide of_unsigned) {
    return (nsw && !fits_signed(of_signed)) ||
           (nuw && !fits_unsigned(of_unsigned));
  };
  switch (opcode) {
  case I::Add:
    return wraps(x + y, u + v);
  case I::Sub:
    return wraps(x - y, u - v);
  case I::Mul:
    return wraps(x * y, u * v);
  case I::UDiv:
    return !v ? 2 : (flags & kExact) && u % v;
  case I::SDiv:
    return !y || !fits_signed(x / y) ? 2 : (flags & kExact) && x % y;
  case I::URem:
    return !v ? 2 : 0;
  case I::SRem:
    return !y || !fits_signed(x / y) ? 2 : 0;
  case I::Shl:
    return v >= width || wraps(x * (1ll << v), u * (1ll << v));
  case I::LShr:
  case I::AShr:
    return v >= width || ((flags & kExact) && u % (1ll << v));
  case I::Or:
    return (flags & kDisjoint) && (a & b);
  default:
    return 0;
  }
}

void SelfTest::binaries() {
  static const struct {
    unsigned opcode;
    std::vector<uint8_t> flags;
  } kOperations[] = {
      {I::Add, {0, 1, 2, 3}},  {I::Sub, {0, 1, 2, 3}},
      {I::Mul, {0, 1, 2, 3}},  {I::Shl, {0, 1, 2, 3}},
      {I::UDiv, {0, kExact}},  {I::SDiv, {0, kExact}},
      {I::LShr, {0, kExact}},  {I::AShr, {0, kExact}},
      {I::URem, {0}},          {I::SRem, {0}},
      {I::And, {0}},           {I::Or, {0, kDisjoint}},
      {I::Xor, {0}},
  };
  const DataLayout &layout = module.getDataLayout();
  for (const auto &operation : kOperations)
    for (unsigned a = 0; a < count; ++a)
      for (unsigned b = 0; b < count; ++b) {
        Constant *folded = ConstantFoldBinaryOpOperands(
            operation.opcode, constants[a], constants[b], layout);
        for (uint8_t flags : operation.flags) {
          std::string what = std::string(I::getOpcodeName(operation.opcode)) +
                             " with flags " + std::to_string(flags);
          int expected = expect_binary(operation.opcode, flags, a, b);
          Outcome outcome;
          Scalar value = binary(operation.opcode, flags, Scalar(width, a),
                                Scalar(width, b), outcome);
          check(what, {a, b}, expected, value, outcome, folded);
          uint64_t bits = 0;
          if (!fast_binary(operation.opcode, flags, width, a, b, bits))
            continue;
          ++n_fast;
          if (expected)
            fail(what + ", the fast form, does not see it:", {a, b});
          else if (bits != value.bits.getZExtValue())
            fail(what + ", the fast form, is different:", {a, b});
        }
      }
}

void SelfTest::compares() {
  const DataLayout &layout = module.getDataLayout();
  for (unsigned which = CmpInst::FIRST_ICMP_PREDICATE;
       which <= CmpInst::LAST_ICMP_PREDICATE; ++which)
    for (unsigned a = 0; a < count; ++a)
      for (unsigned b = 0; b < count; ++b) {
        auto predicate = CmpInst::Predicate(which);
        Constant *folded = ConstantFoldCompareInstOperands(
            predicate, constants[a], constants[b], layout);
        for (uint8_t flags : {uint8_t(0), uint8_t(kSameSign)}) {
          int expected = flags && (as_signed(a) < 0) != (as_signed(b) < 0);
          Outcome outcome;
          Scalar value = compare(predicate, flags, Scalar(width, a),
                                 Scalar(width, b), outcome);
          check("icmp " + std::to_string(which), {a, b}, expected, value,
                outcome, folded);
        }
        auto *bit = dyn_cast_or_null<ConstantInt>(folded);
        if (bit && fast_compare(predicate, width, a, b) != bit->isOne())
          fail("icmp " + std::to_string(which) + ", the fast form:", {a, b});
      }
}

void SelfTest::casts() {
  const DataLayout &layout = module.getDataLayout();
  for (unsigned a = 0; a < count; ++a) {
    auto one = [&](unsigned opcode, uint8_t flags, unsigned to, int expected) {
      Outcome outcome;
      Scalar value = integer_cast(opcode, flags, Scalar(width, a), to, outcome);
      Constant *folded = ConstantFoldCastOperand(
          opcode, constants[a], IntegerType::get(context, to), layout);
      check(std::string(I::getOpcodeName(opcode)) + " to " + std::to_string(to),
            {a}, expected, value, outcome, folded);
    };
    for (unsigned to = 1; to < width; ++to)
      for (uint8_t flags = 0; flags < 4; ++flags) {
        bool drops_signed = as_signed(a) < -(1ll << (to - 1)) ||
                            as_signed(a) >= (1ll << (to - 1));
        bool drops = a >> to;
        one(I::Trunc, flags, to,
            ((flags & kNoSignedWrap) && drops_signed) ||
                ((flags & kNoUnsignedWrap) && drops));
      }
    for (unsigned to : {width + 1, 2 * width, 63u, 64u, 65u, 200u}) {
      one(I::ZExt, 0, to, 0);
      one(I::ZExt, kNonNegative, to, as_signed(a) < 0);
      one(I::SExt, 0, to, 0);
    }
  }
}

void SelfTest::intrinsic(Op op, const char *name, bool flag, unsigned step) {
  unsigned n_operands = operands_of(op);
  bool has_flag = op == Op::Abs || op == Op::Ctlz || op == Op::Cttz;
  bool overflow = overflow_reported(op);
  Type *bit = Type::getInt1Ty(context);
  std::vector<Type *> parameters(n_operands, type);
  if (has_flag)
    parameters.push_back(bit);
  Type *returned = overflow ? StructType::get(type, bit) : type;
  std::string full = std::string("llvm.") + name;
  if (op == Op::Scmp || op == Op::Ucmp)
    full += ".i" + std::to_string(width);
  full += ".i" + std::to_string(width);
  auto *function = cast<Function>(
      module
          .getOrInsertFunction(full,
                               FunctionType::get(returned, parameters, false))
          .getCallee());
  if (function->getIntrinsicID() == Intrinsic::not_intrinsic)
    return; // Of a later LLVM.
  std::vector<Value *> blank(n_operands, constants[0]);
  Constant *flag_constant = ConstantInt::get(bit, flag);
  if (has_flag)
    blank.push_back(flag_constant);
  CallInst *call = IRBuilder<>(block).CreateCall(function, blank);
  unsigned operands[3] = {0, 0, 0};
  unsigned last_b = n_operands > 1 ? count : 1, last_c = n_operands > 2 ? count : 1;
  for (unsigned a = 0; a < count; ++a)
    for (unsigned b = 0; b < last_b; b += n_operands > 2 ? step : 1)
      for (unsigned c = 0; c < last_c; ++c) {
        operands[0] = a, operands[1] = b, operands[2] = c;
        SmallVector<Scalar, 3> scalars;
        SmallVector<Constant *, 4> given;
        for (unsigned i = 0; i < n_operands; ++i) {
          scalars.push_back(Scalar(width, operands[i]));
          given.push_back(constants[operands[i]]);
        }
        if (has_flag)
          given.push_back(flag_constant);
        int expected = (op == Op::Abs && flag && a == count / 2) ||
                       ((op == Op::Ctlz || op == Op::Cttz) && flag && !a) ||
                       ((op == Op::SshlSat || op == Op::UshlSat) && b >= width);
        Outcome outcome;
        Scalar second;
        Scalar value = integer_op(op, scalars, flag, width,
                                  overflow ? &second : nullptr, outcome);
        Constant *folded = ConstantFoldCall(call, function, given);
        ArrayRef<unsigned> shown(operands, n_operands);
        if (overflow && folded) {
          auto *its = dyn_cast_or_null<ConstantInt>(folded->getAggregateElement(1u));
          if (its && its->isOne() != second.bits.isAllOnes())
            fail(full + ", its overflow bit:", shown);
          folded = folded->getAggregateElement(0u);
        }
        check(full, shown, expected, value, outcome, folded);
        if (!folded && !expected && (op == Op::SshlSat || op == Op::UshlSat)) {
          // No folder knows these: plain arithmetic does.
          bool is_signed = op == Op::SshlSat;
          Wide exact = (is_signed ? as_signed(a) : Wide(a)) * (1ll << b);
          Wide least = is_signed ? -(1ll << (width - 1)) : 0;
          Wide most = is_signed ? (1ll << (width - 1)) - 1 : Wide(count) - 1;
          Wide clamped = std::max(least, std::min(most, exact));
          if (value.bits.getZExtValue() != (uint64_t(clamped) & low_mask(width)))
            fail(full + " is not what plain arithmetic says:", shown);
        }
      }
}

void SelfTest::intrinsics() {
  unsigned step = width > 4 ? 37 : 1; // All triples would take too long.
  for (bool flag : {false, true}) {
    intrinsic(Op::Abs, "abs", flag, step);
    intrinsic(Op::Ctlz, "ctlz", flag, step);
    intrinsic(Op::Cttz, "cttz", flag, step);
  }
  intrinsic(Op::Ctpop, "ctpop", false, step);
  intrinsic(Op::Bitreverse, "bitreverse", false, step);
  if (width % 16 == 0)
    return intrinsic(Op::Bswap, "bswap", false, step);
  intrinsic(Op::Fshl, "fshl", false, step);
  intrinsic(Op::Fshr, "fshr", false, step);
  intrinsic(Op::SaddSat, "sadd.sat", false, step);
  intrinsic(Op::SsubSat, "ssub.sat", false, step);
  intrinsic(Op::SshlSat, "sshl.sat", false, step);
  intrinsic(Op::UaddSat, "uadd.sat", false, step);
  intrinsic(Op::UsubSat, "usub.sat", false, step);
  intrinsic(Op::UshlSat, "ushl.sat", false, step);
  intrinsic(Op::Smax, "smax", false, step);
  intrinsic(Op::Smin, "smin", false, step);
  intrinsic(Op::Umax, "umax", false, step);
  intrinsic(Op::Umin, "umin", false, step);
  intrinsic(Op::SaddOverflow, "sadd.with.overflow", false, step);
  intrinsic(Op::SsubOverflow, "ssub.with.overflow", false, step);
  intrinsic(Op::SmulOverflow, "smul.with.overflow", false, step);
  intrinsic(Op::UaddOverflow, "uadd.with.overflow", false, step);
  intrinsic(Op::UsubOverflow, "usub.with.overflow", false, step);
  intrinsic(Op::UmulOverflow, "umul.with.overflow", false, step);
  intrinsic(Op::Scmp, "scmp", false, step);
  intrinsic(Op::Ucmp, "ucmp", false, step);
}
} // namespace

void self_test(uint32_t width) {
  if (width < 2 || width > 16)
    crash::finish(Verdict::CannotCall, "the self-test takes 2 to 16 bits");
  SelfTest test(width);
  if (width <= 10) { // Pairs; beyond that, single operands only.
    test.binaries();
    test.compares();
  }
  test.casts();
  test.intrinsics();
  std::string text =
      std::to_string(test.n_checked) + " checked, " +
      std::to_string(test.n_poison) + " poison, " +
      std::to_string(test.n_undefined) + " undefined, " +
      std::to_string(test.n_unfolded) + " unknown to the constant folder, " +
      std::to_string(test.n_fast) + " fast, " +
      std::to_string(test.n_failures) + " failures\n" + test.failures;
  if (!memory::write_response(text.data(), text.size()))
    crash::finish(Verdict::Trouble, "the self-test's text is too large");
  memory::report().verdict = uint32_t(Verdict::Ok);
  memory::report().phase = uint32_t(Phase::Done);
  _exit(0);
}
} // namespace referee
} // namespace optsleuth

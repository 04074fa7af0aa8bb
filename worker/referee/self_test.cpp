// Every integer operation on every pair of values of a width, compared with
// LLVM's constant folder where the result is a value, and with plain arithmetic
// in wider integers where it is poison or undefined.
//
// Instructions are checked twice: the operation itself, and a line of IR with
// its flags, from the parser to the result.
//
// Never here: a rule of the referee's. Everything is written a second time.
#include "../crash.h"
#include "../memory.h"
#include "machine.h"
#include "referee.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include <cmath>
#include <unistd.h>

using namespace llvm;

namespace optsleuth {
namespace referee {
namespace {
using I = Instruction;
using Wide = long long;

// One instruction of IR, by its text; none if this LLVM does not know it.
struct Line {
  Line(LLVMContext &context, const std::string &text) : text(text) {
    SMDiagnostic error;
    module = parseAssemblyString(
        "define void @f() {\n  %1 = " + text + "\n  ret void\n}\n", error, context);
    if (module)
      instruction = &module->getFunction("f")->front().front();
  }
  std::string text;
  std::unique_ptr<Module> module;
  Instruction *instruction = nullptr;
};

class SelfTest {
public:
  explicit SelfTest(unsigned width)
      : width(width), count(1u << width), module("self-test", context),
        type(IntegerType::get(context, width)), judge(module, 0),
        machine(module, judge, Limits{~0ull, 1 << 20, 0, 1}) {
    auto *shell = Function::Create(FunctionType::get(Type::getVoidTy(context), false),
                                   GlobalValue::ExternalLinkage, "shell", module);
    block = BasicBlock::Create(context, "entry", shell);
    for (unsigned i = 0; i < count; ++i)
      constants.push_back(ConstantInt::get(context, APInt(width, i)));
  }

  void binaries();
  void compares();
  void casts();
  void selects();
  void float_casts();
  void intrinsics();

  uint64_t n_checked = 0, n_lines = 0, n_unfolded = 0, n_poison = 0;
  uint64_t n_undefined = 0, n_fast = 0, n_failures = 0;
  std::string failures;

private:
  Wide as_signed(unsigned value) const {
    return value < count / 2 ? Wide(value) : Wide(value) - Wide(count);
  }
  std::string name() const { return "i" + std::to_string(width); }
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
  // The same, of a line with these operands.
  void check(const Line &line, ArrayRef<Constant *> operands,
             ArrayRef<unsigned> shown, int expected, Constant *folded);
  Constant *half(unsigned bits) {
    return ConstantFP::get(context, APFloat(APFloat::IEEEhalf(), APInt(16, bits)));
  }
  void intrinsic(Op op, const char *name, bool flag, unsigned step);
  int expect_binary(unsigned opcode, uint8_t flags, unsigned a, unsigned b) const;

  unsigned width, count;
  LLVMContext context;
  Module module;
  Type *type;
  BasicBlock *block;
  std::vector<Constant *> constants;
  Judge judge;
  Machine machine;
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
  auto *real = dyn_cast_or_null<ConstantFP>(folded);
  if (!number && !real)
    ++n_unfolded;
  else if ((number ? number->getValue()
                   : real->getValueAPF().bitcastToAPInt()) != value.bits)
    fail(what + " is not what the constant folder says:", operands);
}

void SelfTest::check(const Line &line, ArrayRef<Constant *> operands,
                     ArrayRef<unsigned> shown, int expected, Constant *folded) {
  if (!line.instruction || expected == 2)
    return; // Undefined behaviour would end this run.
  for (unsigned i = 0; i < operands.size(); ++i)
    line.instruction->setOperand(i, operands[i]);
  std::vector<Cell> cells(machine.shapes.of(line.instruction->getType()).n_cells);
  if (!machine.compute(*line.instruction, cells.data()))
    return fail(line.text + " is not known:", shown);
  ++n_lines;
  check(line.text, shown, expected,
        read_scalar(cells.data(), line.instruction->getType()->getScalarSizeInBits()),
        Outcome(), folded);
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

// Flags as they are written.
std::string words(uint8_t flags) {
  std::string text;
  for (auto [flag, word] : {std::pair<Flag, const char *>{kNoUnsignedWrap, " nuw"},
                            {kNoSignedWrap, " nsw"},
                            {kExact, " exact"},
                            {kDisjoint, " disjoint"},
                            {kNonNegative, " nneg"},
                            {kSameSign, " samesign"}})
    text += flags & flag ? word : "";
  return text;
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
  for (const auto &operation : kOperations) {
    std::vector<Line> lines;
    for (uint8_t flags : operation.flags)
      lines.emplace_back(context, I::getOpcodeName(operation.opcode) +
                                      words(flags) + " " + name() + " 0, 0");
    for (unsigned a = 0; a < count; ++a)
      for (unsigned b = 0; b < count; ++b) {
        Constant *folded = ConstantFoldBinaryOpOperands(
            operation.opcode, constants[a], constants[b], layout);
        for (size_t i = 0; i < lines.size(); ++i) {
          uint8_t flags = operation.flags[i];
          const std::string &what = lines[i].text;
          int expected = expect_binary(operation.opcode, flags, a, b);
          Outcome outcome;
          Scalar value = binary(operation.opcode, flags, Scalar(width, a),
                                Scalar(width, b), outcome);
          check(what, {a, b}, expected, value, outcome, folded);
          check(lines[i], {constants[a], constants[b]}, {a, b}, expected, folded);
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
}

void SelfTest::compares() {
  const DataLayout &layout = module.getDataLayout();
  for (unsigned which = CmpInst::FIRST_ICMP_PREDICATE;
       which <= CmpInst::LAST_ICMP_PREDICATE; ++which) {
    auto predicate = CmpInst::Predicate(which);
    for (uint8_t flags : {uint8_t(0), uint8_t(kSameSign)}) {
      Line line(context, "icmp" + words(flags) + " " +
                             CmpInst::getPredicateName(predicate).str() + " " +
                             name() + " 0, 0");
      for (unsigned a = 0; a < count; ++a)
        for (unsigned b = 0; b < count; ++b) {
          Constant *folded = ConstantFoldCompareInstOperands(
              predicate, constants[a], constants[b], layout);
          int expected = flags && (as_signed(a) < 0) != (as_signed(b) < 0);
          Outcome outcome;
          Scalar value = compare(predicate, flags, Scalar(width, a),
                                 Scalar(width, b), outcome);
          check(line.text, {a, b}, expected, value, outcome, folded);
          check(line, {constants[a], constants[b]}, {a, b}, expected, folded);
          auto *bit = dyn_cast_or_null<ConstantInt>(folded);
          if (bit && fast_compare(predicate, width, a, b) != bit->isOne())
            fail(line.text + ", the fast form:", {a, b});
        }
    }
  }
}

void SelfTest::casts() {
  const DataLayout &layout = module.getDataLayout();
  auto all = [&](unsigned opcode, uint8_t flags, unsigned to, auto expect) {
    Line line(context, I::getOpcodeName(opcode) + words(flags) + " " + name() +
                           " 0 to i" + std::to_string(to));
    for (unsigned a = 0; a < count; ++a) {
      int expected = expect(a);
      Outcome outcome;
      Scalar value = integer_cast(opcode, flags, Scalar(width, a), to, outcome);
      Constant *folded = ConstantFoldCastOperand(
          opcode, constants[a], IntegerType::get(context, to), layout);
      check(line.text, {a}, expected, value, outcome, folded);
      check(line, {constants[a]}, {a}, expected, folded);
    }
  };
  for (unsigned to = 1; to < width; ++to)
    for (uint8_t flags = 0; flags < 4; ++flags)
      all(I::Trunc, flags, to, [&](unsigned a) {
        bool drops_signed = as_signed(a) < -(1ll << (to - 1)) ||
                            as_signed(a) >= (1ll << (to - 1));
        return ((flags & kNoSignedWrap) && drops_signed) ||
               ((flags & kNoUnsignedWrap) && a >> to);
      });
  auto never = [](unsigned) { return false; };
  auto negative = [&](unsigned a) { return as_signed(a) < 0; };
  for (unsigned to : {width + 1, 2 * width, 63u, 64u, 65u, 200u}) {
    all(I::ZExt, 0, to, never);
    all(I::ZExt, kNonNegative, to, negative);
    all(I::SExt, 0, to, never);
  }
  Line same(context, "bitcast " + name() + " 0 to " + name());
  for (unsigned a = 0; a < count; ++a)
    check(same, {constants[a]}, {a}, 0, constants[a]);
}

// A condition that is poison makes poison, a value only where it is chosen.
void SelfTest::selects() {
  Line line(context, "select i1 false, " + name() + " 0, " + name() + " 0");
  Constant *none = PoisonValue::get(type);
  Type *bit = Type::getInt1Ty(context);
  for (unsigned yes = 0; yes <= 1; ++yes) {
    Constant *condition = ConstantInt::get(bit, yes);
    for (unsigned a = 0; a < count; ++a) {
      for (unsigned b = 0; b < count; ++b)
        check(line, {condition, constants[a], constants[b]}, {yes, a, b}, 0,
              constants[yes ? a : b]);
      check(line, {condition, none, constants[a]}, {yes, a}, yes, constants[a]);
      check(line, {condition, constants[a], none}, {yes, a}, !yes, constants[a]);
      check(line, {PoisonValue::get(bit), constants[a], constants[a]}, {a}, 1,
            nullptr);
    }
  }
}

// Integers to floats, and every half to integers, by the host's doubles.
void SelfTest::float_casts() {
  const DataLayout &layout = module.getDataLayout();
  for (const char *to : {"half", "float", "double"})
    for (const char *how : {"sitofp", "uitofp", "uitofp nneg"}) {
      Line line(context, std::string(how) + " " + name() + " 0 to " + to);
      if (!line.instruction)
        continue;
      for (unsigned a = 0; a < count; ++a)
        check(line, {constants[a]}, {a}, StringRef(how).contains("nneg") && as_signed(a) < 0,
              ConstantFoldCastOperand(line.instruction->getOpcode(), constants[a],
                                      line.instruction->getType(), layout));
    }
  for (bool is_signed : {false, true}) {
    Line line(context, std::string(is_signed ? "fptosi" : "fptoui") +
                           " half 0.0 to " + name());
    for (unsigned bits = 0; bits < 1u << 16; ++bits) {
      Constant *from = half(bits);
      unsigned exponent = bits >> 10 & 31, digits = bits & 1023;
      double value = exponent ? std::ldexp(1024 + digits, int(exponent) - 25)
                              : std::ldexp(digits, -24);
      Wide whole = Wide(bits >> 15 ? -value : value); // Towards zero.
      bool fits = exponent != 31 &&
                  (is_signed ? fits_signed(whole) : fits_unsigned(whole));
      check(line, {from}, {bits}, !fits,
            ConstantFoldCastOperand(line.instruction->getOpcode(), from, type,
                                    layout));
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
  int kind = -1;
  if (!find_intrinsic(full, kind) || kind != int(op))
    fail(full + " is not known:", {});
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
    test.selects();
  }
  test.casts();
  test.float_casts();
  test.intrinsics();
  std::string text =
      std::to_string(test.n_checked) + " checked, " +
      std::to_string(test.n_lines) + " of them as lines of IR, " +
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

// Checks for undefined behaviour, put into the program's IR: a program that
// ends the same with and without them relies on no overflow that is not
// allowed, no shift that is too wide, no broken assumption. See guard.h.
//
// An unoptimized program shows none of these by itself: the machine wraps
// around, and only an optimization that trusts the flag makes a difference. A
// reducer that breaks such a promise would blame the compiler for it.
//
// Never here: a change to what a program does that keeps its promises.
#include "guard.h"
#include "compat.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include <vector>

using namespace llvm;

namespace optsleuth {
namespace {
// void guard(i1 broken): traps where it is true. A call needs no new blocks.
Function *make_guard(Module &module) {
  LLVMContext &context = module.getContext();
  auto *type = FunctionType::get(Type::getVoidTy(context),
                                 {Type::getInt1Ty(context)}, false);
  auto *function = Function::Create(type, GlobalValue::InternalLinkage,
                                    "optsleuth.guard", &module);
  auto *entry = BasicBlock::Create(context, "", function);
  auto *broken = BasicBlock::Create(context, "", function);
  auto *fine = BasicBlock::Create(context, "", function);
  IRBuilder<> builder(entry);
  builder.CreateCondBr(function->getArg(0), broken, fine);
  builder.SetInsertPoint(broken);
  builder.CreateIntrinsic(Intrinsic::trap, ArrayRef<Type *>(),
                          ArrayRef<Value *>());
  builder.CreateUnreachable();
  builder.SetInsertPoint(fine);
  builder.CreateRetVoid();
  return function;
}

class Checks {
public:
  explicit Checks(Module &module) : guard(make_guard(module)) {}

  void check(Instruction &instruction) {
    IRBuilder<> builder(&instruction);
    if (isa<UnreachableInst>(instruction)) {
      builder.CreateCall(guard, {builder.getTrue()});
    } else if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
      check_intrinsic(builder, *call);
    } else if (auto *operation = dyn_cast<BinaryOperator>(&instruction)) {
      check_operation(builder, *operation);
    } else if (compat::is_not_negative_zext(instruction)) {
      Value *operand = instruction.getOperand(0);
      Value *zero = Constant::getNullValue(operand->getType());
      demand_not(builder, builder.CreateICmpSLT(operand, zero));
    }
  }

private:
  void demand_not(IRBuilder<> &builder, Value *broken) {
    if (isa<ScalableVectorType>(broken->getType()))
      return;
    if (auto *vector = dyn_cast<FixedVectorType>(broken->getType())) {
      Type *bits = builder.getIntNTy(vector->getNumElements());
      Value *any = builder.CreateBitCast(broken, bits);
      broken = builder.CreateICmpNE(any, Constant::getNullValue(bits));
    }
    builder.CreateCall(guard, {broken});
  }

  void check_intrinsic(IRBuilder<> &builder, IntrinsicInst &call) {
    switch (call.getIntrinsicID()) {
    case Intrinsic::assume:
      demand_not(builder, builder.CreateNot(call.getArgOperand(0)));
      break;
    case Intrinsic::ctlz:
    case Intrinsic::cttz:
      if (cast<ConstantInt>(call.getArgOperand(1))->isOne()) {
        Value *operand = call.getArgOperand(0);
        Value *zero = Constant::getNullValue(operand->getType());
        demand_not(builder, builder.CreateICmpEQ(operand, zero));
      }
      break;
    default:
      break;
    }
  }

  void check_operation(IRBuilder<> &builder, BinaryOperator &operation) {
    Value *left = operation.getOperand(0), *right = operation.getOperand(1);
    if (!operation.getType()->isIntOrIntVectorTy())
      return;
    auto overflows = [&](Intrinsic::ID id) {
      Value *pair = builder.CreateBinaryIntrinsic(id, left, right);
      demand_not(builder, builder.CreateExtractValue(pair, 1));
    };
    auto wraps = [&](Intrinsic::ID with_sign, Intrinsic::ID without) {
      if (operation.hasNoSignedWrap())
        overflows(with_sign);
      if (operation.hasNoUnsignedWrap())
        overflows(without);
    };
    switch (operation.getOpcode()) {
    case Instruction::Add:
      wraps(Intrinsic::sadd_with_overflow, Intrinsic::uadd_with_overflow);
      break;
    case Instruction::Sub:
      wraps(Intrinsic::ssub_with_overflow, Intrinsic::usub_with_overflow);
      break;
    case Instruction::Mul:
      wraps(Intrinsic::smul_with_overflow, Intrinsic::umul_with_overflow);
      break;
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr:
      check_shift(builder, operation);
      break;
    case Instruction::UDiv:
    case Instruction::SDiv: {
      if (!operation.isExact())
        break;
      Value *rest = operation.getOpcode() == Instruction::UDiv
                        ? builder.CreateURem(left, right)
                        : builder.CreateSRem(left, right);
      Value *zero = Constant::getNullValue(left->getType());
      demand_not(builder, builder.CreateICmpNE(rest, zero));
      break;
    }
    case Instruction::Or:
      if (compat::is_disjoint_or(operation)) {
        Value *zero = Constant::getNullValue(left->getType());
        Value *both = builder.CreateAnd(left, right);
        demand_not(builder, builder.CreateICmpNE(both, zero));
      }
      break;
    default:
      break;
    }
  }

  void check_shift(IRBuilder<> &builder, BinaryOperator &shift) {
    Value *left = shift.getOperand(0), *by = shift.getOperand(1);
    Value *width =
        ConstantInt::get(by->getType(), by->getType()->getScalarSizeInBits());
    demand_not(builder, builder.CreateICmpUGE(by, width));
    auto demand_back = [&](Value *there, Instruction::BinaryOps back) {
      Value *again = builder.CreateBinOp(back, there, by);
      demand_not(builder, builder.CreateICmpNE(again, left));
    };
    if (shift.getOpcode() == Instruction::Shl) {
      if (shift.hasNoSignedWrap())
        demand_back(builder.CreateShl(left, by), Instruction::AShr);
      if (shift.hasNoUnsignedWrap())
        demand_back(builder.CreateShl(left, by), Instruction::LShr);
    } else if (shift.isExact()) {
      demand_back(builder.CreateLShr(left, by), Instruction::Shl);
    }
  }

  Function *guard;
};
} // namespace

namespace guard {
void apply(Module &module) {
  std::vector<Instruction *> all;
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        all.push_back(&instruction);
  Checks checks(module);
  for (Instruction *instruction : all)
    checks.check(*instruction);
}
} // namespace guard
} // namespace optsleuth

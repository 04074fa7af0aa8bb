// A function of LLVM IR -> a body. See body.h.
//
// What the referee does not know becomes an instruction that ends the run
// without a verdict when it is reached, and not before.
#include "compiler.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace optsleuth {
namespace referee {
using I = Instruction;

Promise promise_of(AttributeSet attributes) {
  Promise promise;
  promise.noundef = attributes.hasAttribute(Attribute::NoUndef);
  promise.nonnull = attributes.hasAttribute(Attribute::NonNull);
  promise.returned = attributes.hasAttribute(Attribute::Returned);
  promise.no_alias = attributes.hasAttribute(Attribute::NoAlias);
  if (attributes.hasAttribute(Attribute::ReadOnly))
    promise.bans |= kNoWrite;
  if (attributes.hasAttribute(Attribute::WriteOnly))
    promise.bans |= kNoRead;
  if (attributes.hasAttribute(Attribute::ReadNone))
    promise.bans |= kNoRead | kNoWrite;
  if (auto align = attributes.getAlignment())
    promise.align = align->value();
  promise.dereferenceable = attributes.getDereferenceableBytes();
  promise.dereferenceable_or_null = attributes.getDereferenceableOrNullBytes();
  APInt lower, upper;
  if (compat::range_of(attributes, lower, upper)) {
    promise.has_range = true;
    promise.ranges.push_back({lower, upper});
  }
  promise.no_classes = compat::no_classes_of(attributes);
  if (attributes.hasAttribute(Attribute::ByVal)) {
    promise.by_value = attributes.getByValType();
    promise.by_value_align = promise.align;
    promise.align = 1; // Of the copy.
  }
  return promise;
}

namespace {
void add_range(Promise &promise, const Instruction &instruction) {
  MDNode *range = instruction.getMetadata(LLVMContext::MD_range);
  if (!range)
    return;
  auto number = [&](unsigned i) {
    return mdconst::extract<ConstantInt>(range->getOperand(i))->getValue();
  };
  promise.has_range = true;
  for (unsigned i = 0; i + 1 < range->getNumOperands(); i += 2)
    promise.ranges.push_back({number(i), number(i + 1)});
}

uint8_t fast_of(const Instruction &instruction) {
  auto *math = dyn_cast<FPMathOperator>(&instruction);
  if (!math)
    return 0;
  FastMathFlags flags = math->getFastMathFlags();
  bool loose = flags.allowReassoc() || flags.allowReciprocal() ||
               flags.allowContract() || flags.approxFunc();
  return uint8_t((flags.noNaNs() ? kNoNans : 0) |
                 (flags.noInfs() ? kNoInfinities : 0) |
                 (flags.noSignedZeros() ? kNoSignedZeros : 0) |
                 (loose ? kLoose : 0));
}

uint8_t flags_of(const Instruction &instruction) {
  uint8_t flags = 0;
  if (auto *wraps = dyn_cast<OverflowingBinaryOperator>(&instruction)) {
    flags |= wraps->hasNoSignedWrap() ? kNoSignedWrap : 0;
    flags |= wraps->hasNoUnsignedWrap() ? kNoUnsignedWrap : 0;
  } else if (isa<TruncInst>(instruction)) {
    flags |= compat::trunc_has_wrap(instruction, true) ? kNoSignedWrap : 0;
    flags |= compat::trunc_has_wrap(instruction, false) ? kNoUnsignedWrap : 0;
  }
  if (auto *exact = dyn_cast<PossiblyExactOperator>(&instruction))
    flags |= exact->isExact() ? kExact : 0;
  flags |= compat::is_disjoint_or(instruction) ? kDisjoint : 0;
  flags |= compat::is_not_negative(instruction) ? kNonNegative : 0;
  if (isa<ICmpInst>(instruction))
    flags |= compat::has_same_sign(instruction) ? kSameSign : 0;
  return flags;
}

// LLVM's integer operations are numbered as ours are.
Code fast_code(unsigned opcode) {
  switch (opcode) {
  case I::Add:
    return Code::Add;
  case I::Sub:
    return Code::Sub;
  case I::Mul:
    return Code::Mul;
  case I::UDiv:
    return Code::UDiv;
  case I::SDiv:
    return Code::SDiv;
  case I::URem:
    return Code::URem;
  case I::SRem:
    return Code::SRem;
  case I::Shl:
    return Code::Shl;
  case I::LShr:
    return Code::LShr;
  case I::AShr:
    return Code::AShr;
  case I::And:
    return Code::And;
  case I::Or:
    return Code::Or;
  default:
    return Code::Xor;
  }
}
} // namespace

Place Compiler::place(const Value *value) {
  auto found = places.find(value);
  if (found != places.end())
    return found->second;
  auto *constant = dyn_cast<Constant>(value);
  const Shape *shape = constant ? &machine.shapes.of(value->getType()) : nullptr;
  if (!constant || !shape->supported) {
    fail("an operand of a kind that is not known");
    return 0;
  }
  size_t first = body.constants.size();
  std::vector<Cell> cells(shape->n_cells);
  if (!machine.constant(constant, cells.data())) {
    fail("a constant that is not known");
    return 0;
  }
  body.constants.insert(body.constants.end(), cells.begin(), cells.end());
  return places[value] = ~Place(first);
}

const Shape &Compiler::shape(Type *type) {
  const Shape &shape = machine.shapes.of(type);
  if (!shape.supported)
    fail("a type that is not known");
  return shape;
}

void Compiler::fail(const std::string &why) {
  if (reason.empty())
    reason = why;
}

uint32_t Compiler::edge(const BasicBlock *from, const BasicBlock *to) {
  Edge edge;
  edge.first_copy = uint32_t(body.copies.size());
  for (const PHINode &phi : to->phis()) {
    const Value *value = phi.getIncomingValueForBlock(from);
    const Shape &its = shape(phi.getType());
    body.copies.push_back({place(value), uint32_t(place(&phi)), its.n_cells});
    edge.phi = &phi;
  }
  edge.n_copies = uint32_t(body.copies.size()) - edge.first_copy;
  body.edges.push_back(edge);
  targets.push_back(to);
  return uint32_t(body.edges.size() - 1);
}

void Compiler::gep(const Instruction &instruction, Instr &instr) {
  auto &gep = cast<GEPOperator>(instruction);
  GepPlan plan;
  const Shape &base = shape(gep.getPointerOperandType());
  plan.base_lanes = base.lanes;
  instr.a = place(gep.getPointerOperand());
  instr.width = 64;
  if (gep.isInBounds())
    instr.flags |= kInBounds;
  if (compat::gep_has_nusw(gep))
    instr.flags |= kNoSignedWrap;
  if (compat::gep_has_nuw(gep))
    instr.flags |= kNoUnsignedWrap;
  const DataLayout &layout = machine.layout;
  for (auto step = gep_type_begin(gep), end = gep_type_end(gep); step != end;
       ++step) {
    const Value *index = step.getOperand();
    if (StructType *structure = step.getStructTypeOrNull()) {
      unsigned field =
          unsigned(cast<Constant>(index)->getUniqueInteger().getZExtValue());
      plan.offset += uint64_t(
          layout.getStructLayout(structure)->getElementOffset(field));
      continue;
    }
    uint64_t scale = layout.getTypeAllocSize(step.getIndexedType());
    if (auto *number = dyn_cast<ConstantInt>(index)) {
      if (!index->getType()->isVectorTy()) {
        plan.offset += uint64_t(number->getValue().sextOrTrunc(64).getSExtValue()) * scale;
        continue;
      }
    }
    const Shape &its = shape(index->getType());
    if (its.width > 64)
      fail("an index of more than 64 bits");
    plan.indices.push_back({place(index), its.width, its.lanes, scale});
  }
  bool simple = instr.lanes == 1;
  instr.code = simple && plan.indices.size() <= 1 ? Code::Gep1 : Code::Gep;
  instr.extra = uint32_t(body.geps.size());
  body.geps.push_back(plan);
}

void Compiler::load_or_store(const Instruction &instruction, Instr &instr) {
  AccessPlan plan;
  bool loads = isa<LoadInst>(instruction);
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    plan.align = load->getAlign().value();
    plan.is_volatile = load->isVolatile();
    plan.is_invariant = load->getMetadata(LLVMContext::MD_invariant_load);
    instr.shape = &shape(load->getType());
    instr.a = place(load->getPointerOperand());
    Promise &promise = plan.promise;
    promise.noundef = load->getMetadata(LLVMContext::MD_noundef);
    promise.nonnull = load->getMetadata(LLVMContext::MD_nonnull);
    auto number = [&](unsigned kind) -> uint64_t {
      MDNode *node = load->getMetadata(kind);
      if (!node)
        return 0;
      return mdconst::extract<ConstantInt>(node->getOperand(0))->getZExtValue();
    };
    promise.align = std::max<uint64_t>(1, number(LLVMContext::MD_align));
    promise.dereferenceable = number(LLVMContext::MD_dereferenceable);
    promise.dereferenceable_or_null =
        number(LLVMContext::MD_dereferenceable_or_null);
    add_range(promise, instruction);
  } else {
    auto &store = cast<StoreInst>(instruction);
    plan.align = store.getAlign().value();
    plan.is_volatile = store.isVolatile();
    instr.shape = &shape(store.getValueOperand()->getType());
    instr.a = place(store.getPointerOperand());
    instr.b = place(store.getValueOperand());
  }
  const Shape &its = *instr.shape;
  bool whole_bytes = its.width % 8 == 0;
  bool fast = its.lanes == 1 && its.width <= 64 && its.width && whole_bytes &&
              !its.type->isVectorTy() && !plan.is_volatile &&
              !plan.is_invariant && !plan.promise.any();
  instr.width = uint32_t(its.store_bytes);
  instr.code = loads ? (fast ? Code::Load1 : Code::Load)
                     : (fast ? Code::Store1 : Code::Store);
  instr.c = Place(plan.align - 1);
  instr.extra = uint32_t(body.accesses.size());
  body.accesses.push_back(plan);
}

void Compiler::elements(const Instruction &instruction, Instr &instr) {
  ElementPlan plan;
  auto part = [&](Type *type, ArrayRef<unsigned> indices) {
    for (unsigned index : indices) {
      for (unsigned i = 0; i < index; ++i) {
        Type *before = isa<StructType>(type)
                           ? type->getStructElementType(i)
                           : type->getArrayElementType();
        plan.first_cell += shape(before).n_cells;
      }
      type = isa<StructType>(type) ? type->getStructElementType(index)
                                   : type->getArrayElementType();
    }
    plan.n_cells = shape(type).n_cells;
  };
  if (auto *extract = dyn_cast<ExtractValueInst>(&instruction)) {
    instr.code = Code::ExtractValue;
    part(extract->getAggregateOperand()->getType(), extract->getIndices());
  } else if (auto *insert = dyn_cast<InsertValueInst>(&instruction)) {
    instr.code = Code::InsertValue;
    part(insert->getType(), insert->getIndices());
  } else if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction)) {
    instr.code = Code::Shuffle;
    for (int index : shuffle->getShuffleMask())
      plan.mask.push_back(index);
  } else {
    bool extracts = isa<ExtractElementInst>(instruction);
    instr.code = extracts ? Code::ExtractElement : Code::InsertElement;
    const Value *index = instruction.getOperand(extracts ? 1 : 2);
    instr.width = shape(index->getType()).width;
  }
  instr.extra = uint32_t(body.elements.size());
  body.elements.push_back(plan);
}

void Compiler::call(const Instruction &instruction, Instr &instr) {
  auto &call = cast<CallBase>(instruction);
  instr.code = Code::Call;
  if (!isa<CallInst>(instruction))
    return fail(isa<InvokeInst>(instruction) ? "an invoke" : "a callbr");
  if (call.isInlineAsm()) {
    // Clang's way to keep a value from the optimizer: it does nothing.
    auto *assembly = cast<InlineAsm>(call.getCalledOperand());
    if (assembly->getAsmString().empty() && call.getType()->isVoidTy() &&
        call.arg_size() == 0) {
      instr.code = Code::Copy;
      instr.lanes = 0;
      return;
    }
    return fail("inline assembly");
  }
  CallPlan plan;
  plan.call = &call;
  const Value *called = call.getCalledOperand()->stripPointerCasts();
  plan.callee = dyn_cast<Function>(called);
  plan.result = promise_of(call.getAttributes().getRetAttrs());
  if (!plan.result.has_range)
    add_range(plan.result, call);
  plan.result_shape = &machine.shapes.of(call.getType());
  if (!call.getType()->isVoidTy() && !call.getType()->isTokenTy())
    shape(call.getType());
  plan.result_place = instr.result;
  plan.fast = fast_of(instruction);
  plan.effects = compat::effects_of(call);
  plan.no_return = call.hasFnAttr(Attribute::NoReturn);
  bool is_intrinsic = plan.callee && plan.callee->isIntrinsic();
  StringRef name = plan.callee ? plan.callee->getName() : "";
  if (plan.callee && plan.callee->isDeclaration()) {
    plan.builtin = is_intrinsic ? find_intrinsic(name, plan.kind)
                                : find_library(name, plan.kind);
    if (!plan.builtin)
      return fail("a call of " + name.str());
  }
  if (!plan.callee)
    plan.pointer = place(call.getCalledOperand());
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const Value *argument = call.getArgOperand(i);
    CallArgument its;
    bool is_value = !argument->getType()->isMetadataTy() &&
                    !argument->getType()->isTokenTy();
    its.shape = is_value ? &shape(argument->getType()) : nullptr;
    its.place = is_value ? place(argument) : 0;
    its.promise = promise_of(call.getAttributes().getParamAttrs(i));
    if (call.paramHasAttr(i, Attribute::InAlloca) ||
        call.paramHasAttr(i, Attribute::Preallocated))
      return fail("an argument in its caller's frame");
    plan.arguments.push_back(std::move(its));
  }
  for (unsigned i = 0; name == "llvm.assume" && i < call.getNumOperandBundles(); ++i) {
    OperandBundleUse bundle = call.getOperandBundleAt(i);
    Assumption assumption{bundle.getTagName(), {}};
    for (const Use &use : bundle.Inputs)
      assumption.operands.push_back({place(use), &shape(use->getType()), {}});
    plan.assumptions.push_back(std::move(assumption));
  }
  instr.extra = uint32_t(body.calls.size());
  body.calls.push_back(std::move(plan));
}

void Compiler::branch(const Instruction &instruction, Instr &instr) {
  const BasicBlock *block = instruction.getParent();
  if (auto *jump = dyn_cast<BranchInst>(&instruction)) {
    instr.extra = edge(block, jump->getSuccessor(0));
    if (jump->isUnconditional()) {
      instr.code = Code::Jump;
      return;
    }
    instr.code = Code::Branch;
    instr.a = place(jump->getCondition());
    instr.b = Place(edge(block, jump->getSuccessor(1)));
    return;
  }
  auto &choice = cast<SwitchInst>(instruction);
  instr.code = Code::Switch;
  instr.a = place(choice.getCondition());
  instr.width = shape(choice.getCondition()->getType()).width;
  if (instr.width > 64)
    return fail("a switch over more than 64 bits");
  SwitchPlan plan;
  plan.otherwise = edge(block, choice.getDefaultDest());
  for (const auto &which : choice.cases())
    plan.edges[which.getCaseValue()->getZExtValue()] =
        edge(block, which.getCaseSuccessor());
  instr.extra = uint32_t(body.switches.size());
  body.switches.push_back(std::move(plan));
}

void Compiler::values(const Instruction &instruction, Instr &instr) {
  unsigned opcode = instruction.getOpcode();
  instr.sub = uint8_t(opcode);
  const Shape &operand = *instr.operand;
  bool one = operand.lanes == 1 && operand.width <= 64 &&
             !operand.type->isVectorTy();
  bool integers = operand.kind == Kind::Integer;
  if (isa<BinaryOperator>(instruction)) {
    bool is_float = operand.kind == Kind::Float;
    instr.code = is_float ? Code::FloatBinary
                 : one    ? fast_code(opcode)
                          : Code::Binary;
  } else if (auto *compare = dyn_cast<CmpInst>(&instruction)) {
    instr.sub = uint8_t(compare->getPredicate());
    instr.code = isa<FCmpInst>(compare)            ? Code::FloatCompare
                 : operand.kind == Kind::Pointer   ? Code::PointerCompare
                 : one                             ? Code::Compare1
                                                   : Code::Compare;
  } else if (opcode == I::FNeg) {
    instr.code = Code::FloatNegate;
  } else if (opcode == I::Select) {
    instr.code = Code::Select;
  } else if (opcode == I::Freeze) {
    instr.code = Code::Freeze;
  } else if (compat::is_ptr_to_addr(instruction)) {
    instr.code = Code::PtrToInt;
  } else if (isa<CastInst>(instruction)) {
    bool narrow = one && instr.shape->width <= 64;
    switch (opcode) {
    case I::Trunc:
      instr.code = narrow && integers && !instr.flags ? Code::Trunc1 : Code::Cast;
      break;
    case I::ZExt:
      instr.code = narrow ? Code::ZExt1 : Code::Cast;
      break;
    case I::SExt:
      instr.code = narrow ? Code::SExt1 : Code::Cast;
      break;
    case I::PtrToInt:
      instr.code = Code::PtrToInt;
      break;
    case I::IntToPtr:
      instr.code = Code::IntToPtr;
      break;
    case I::BitCast:
      instr.code = instr.shape->kind == Kind::Pointer ? Code::Copy
                                                      : Code::Reinterpret;
      break;
    case I::AddrSpaceCast:
      fail("an addrspacecast");
      break;
    default:
      instr.code = Code::FloatCast;
      break;
    }
  } else {
    fail(std::string("the instruction ") + instruction.getOpcodeName());
  }
}

void Compiler::compile(const Instruction &instruction) {
  reason.clear();
  Instr instr;
  instr.from = &instruction;
  Type *type = instruction.getType();
  if (!type->isVoidTy() && !type->isTokenTy()) {
    instr.shape = &shape(type);
    instr.lanes = instr.shape->lanes;
    auto slot = places.find(&instruction);
    instr.result = slot == places.end() ? 0 : uint32_t(slot->second);
  }
  instr.flags = flags_of(instruction);
  instr.fast = fast_of(instruction);
  switch (instruction.getOpcode()) {
  case I::Call:
  case I::Invoke:
  case I::CallBr:
    call(instruction, instr);
    break;
  case I::Load:
  case I::Store:
    load_or_store(instruction, instr);
    break;
  case I::GetElementPtr:
    instr.flags = 0;
    gep(instruction, instr);
    break;
  case I::Br:
  case I::Switch:
    branch(instruction, instr);
    break;
  case I::Ret:
    instr.code = Code::Return;
    if (instruction.getNumOperands()) {
      instr.shape = &shape(instruction.getOperand(0)->getType());
      instr.a = place(instruction.getOperand(0));
    }
    break;
  case I::Unreachable:
    instr.code = Code::Unreachable;
    break;
  case I::Alloca: {
    auto &alloca = cast<AllocaInst>(instruction);
    AllocaPlan plan;
    if (!alloca.getAllocatedType()->isSized() ||
        isa<ScalableVectorType>(alloca.getAllocatedType()))
      fail("an alloca of this type");
    else
      plan.unit = machine.layout.getTypeAllocSize(alloca.getAllocatedType());
    plan.align = alloca.getAlign().value();
    plan.starts_dead = has_lifetime_start(alloca);
    plan.count_width = shape(alloca.getArraySize()->getType()).width;
    instr.code = Code::Alloca;
    instr.a = place(alloca.getArraySize());
    instr.extra = uint32_t(body.allocas.size());
    body.allocas.push_back(plan);
    break;
  }
  case I::Fence:
    instr.code = Code::Copy; // There is one thread.
    instr.lanes = 0;
    break;
  case I::AtomicRMW: {
    auto &atomic = cast<AtomicRMWInst>(instruction);
    instr.code = Code::AtomicRmw;
    instr.sub = uint8_t(atomic.getOperation());
    instr.a = place(atomic.getPointerOperand());
    instr.b = place(atomic.getValOperand());
    instr.extra = uint32_t(atomic.getAlign().value());
    instr.operand = &shape(atomic.getValOperand()->getType());
    break;
  }
  case I::AtomicCmpXchg: {
    auto &atomic = cast<AtomicCmpXchgInst>(instruction);
    instr.code = Code::CompareExchange;
    instr.a = place(atomic.getPointerOperand());
    instr.b = place(atomic.getCompareOperand());
    instr.c = place(atomic.getNewValOperand());
    instr.extra = uint32_t(atomic.getAlign().value());
    instr.operand = &shape(atomic.getCompareOperand()->getType());
    break;
  }
  case I::ExtractValue:
  case I::InsertValue:
  case I::ExtractElement:
  case I::InsertElement:
  case I::ShuffleVector:
    elements(instruction, instr);
    operands(instruction, instr);
    break;
  default:
    operands(instruction, instr);
    if (reason.empty())
      values(instruction, instr);
    break;
  }
  if (!reason.empty()) {
    instr.code = Code::Unsupported;
    instr.extra = uint32_t(body.reasons.size());
    body.reasons.push_back(reason);
  }
  body.code.push_back(instr);
}

void Compiler::operands(const Instruction &instruction, Instr &instr) {
  Place *places[] = {&instr.a, &instr.b, &instr.c};
  unsigned count = std::min(3u, instruction.getNumOperands());
  if (isa<PHINode>(instruction) || instruction.isTerminator() || !count)
    return fail(std::string("the instruction ") + instruction.getOpcodeName());
  for (unsigned i = 0; i < count; ++i)
    *places[i] = place(instruction.getOperand(i));
  instr.operand = &shape(instruction.getOperand(0)->getType());
  if (!instr.width)
    instr.width = instr.operand->width;
}

bool Compiler::has_lifetime_start(const AllocaInst &alloca) {
  std::vector<const Value *> pending{&alloca};
  while (!pending.empty()) {
    const Value *value = pending.back();
    pending.pop_back();
    for (const User *user : value->users()) {
      if (isa<BitCastInst>(user))
        pending.push_back(user);
      if (auto *call = dyn_cast<CallInst>(user))
        if (const Function *callee = call->getCalledFunction()) {
          StringRef name = callee->getName();
          if (name.consume_front("llvm.lifetime.start"))
            return true;
        }
    }
  }
  return false;
}

void Compiler::whole(const Function &function) {
  body.function = &function;
  body.effects = compat::effects_of(function);
  body.no_return = function.hasFnAttribute(Attribute::NoReturn);
  body.will_return = function.hasFnAttribute(Attribute::WillReturn);
  body.result = promise_of(function.getAttributes().getRetAttrs());
  auto take = [&](const Value &value) {
    const Shape &its = machine.shapes.of(value.getType());
    places[&value] = Place(body.n_cells);
    body.n_cells += std::max(1u, its.n_cells);
  };
  for (const Argument &argument : function.args()) {
    take(argument);
    body.parameter_places.push_back(uint32_t(places[&argument]));
    body.parameter_shapes.push_back(&machine.shapes.of(argument.getType()));
    body.parameters.push_back(promise_of(
        function.getAttributes().getParamAttrs(argument.getArgNo())));
  }
  for (const BasicBlock &block : function)
    for (const Instruction &instruction : block)
      if (!instruction.getType()->isVoidTy() &&
          !instruction.getType()->isTokenTy())
        take(instruction);
  DenseMap<const BasicBlock *, uint32_t> starts;
  for (const BasicBlock &block : function) {
    starts[&block] = uint32_t(body.code.size());
    for (const Instruction &instruction : block)
      if (!isa<PHINode>(instruction) && !instruction.isDebugOrPseudoInst())
        compile(instruction);
  }
  for (size_t i = 0; i < body.edges.size(); ++i)
    body.edges[i].target = starts[targets[i]];
}

const Body &Machine::body_of(const Function &function) {
  Body *&body = bodies[&function];
  if (!body) {
    Body *made = new Body; // For as long as the process lives.
    Compiler(*this, *made).whole(function);
    return *(bodies[&function] = made);
  }
  return *body;
}
} // namespace referee
} // namespace optsleuth

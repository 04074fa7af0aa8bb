// Global variables, functions and constants -> objects and cells.
//
// Never here: an instruction of a function.
#include "compiler.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalVariable.h"
#include <cstring>

using namespace llvm;

namespace optsleuth {
namespace referee {
namespace {
constexpr uint32_t kUndefCell = kUnspecified | kUndef | kFree;
} // namespace

uint32_t Machine::object_of(const GlobalValue *global) {
  auto found = globals.find(global);
  return found == globals.end() ? 0 : found->second;
}

void Machine::make_globals() {
  if (const GlobalVariable *list = module.getNamedGlobal("llvm.global_ctors"))
    if (list->hasInitializer() && list->getValueType()->getArrayNumElements())
      no_verdict("the program has constructors");
  for (const Function &function : module) {
    if (function.isIntrinsic())
      continue;
    Object &object = new_object(Storage::Function, 1, 16, &function);
    globals[&function] = object.id;
    functions[object.id] = &function;
  }
  for (const GlobalVariable &variable : module.globals()) {
    StringRef name = variable.getName();
    if (StringRef(name).consume_front("llvm."))
      continue;
    Type *type = variable.getValueType();
    uint64_t size = type->isSized() ? uint64_t(layout.getTypeAllocSize(type)) : 0;
    bool is_file = variable.isDeclaration() &&
                   (name == "stdout" || name == "stderr" || name == "stdin");
    Storage storage = variable.isDeclaration() && !is_file ? Storage::External
                                                           : Storage::Global;
    uint64_t align = layout.getPreferredAlign(&variable).value();
    if (auto stated = variable.getAlign())
      align = stated->value();
    Object &object = new_object(storage, size, align, &variable);
    globals[&variable] = object.id;
    if (!is_file)
      continue;
    uint32_t id = object.id;
    Object &file = new_object(Storage::File, 1, 16, &variable);
    Cell cell = pointer_to(file);
    memory.write(*memory.get(id), 0, shapes.of(type), &cell);
  }
  for (const GlobalVariable &variable : module.globals())
    if (variable.hasInitializer() && object_of(&variable)) {
      Object &object = *memory.get(object_of(&variable));
      memset(object.bytes.unspecified, 0, object.size);
      initialize(object, 0, variable.getInitializer());
      object.constant = variable.isConstant();
    }
}

void Machine::initialize(Object &object, uint64_t offset,
                         const Constant *value) {
  Type *type = value->getType();
  if (isa<ConstantAggregateZero>(value))
    return; // As the object is.
  if (auto *bytes = dyn_cast<ConstantDataSequential>(value)) {
    if (type->isArrayTy()) {
      StringRef raw = bytes->getRawDataValues();
      memcpy(object.bytes.data + offset, raw.data(), raw.size());
      return;
    }
  }
  if (isa<ConstantStruct>(value) || isa<ConstantArray>(value)) {
    auto *structure = dyn_cast<StructType>(type);
    for (unsigned i = 0; i < value->getNumOperands(); ++i) {
      uint64_t place =
          structure
              ? uint64_t(layout.getStructLayout(structure)->getElementOffset(i))
              : i * layout.getTypeAllocSize(type->getArrayElementType());
      initialize(object, offset + place, cast<Constant>(value->getOperand(i)));
    }
    return;
  }
  const Shape &shape = shapes.of(type);
  std::vector<Cell> cells(shape.n_cells);
  if (!shape.supported || !constant(value, cells.data()))
    no_verdict("an initializer that is not known, of " +
               judge.name_of(object.source));
  memory.write(object, offset, shape, cells.data());
}

bool Machine::constant(const Constant *value, Cell *cells) {
  Type *type = value->getType();
  const Shape &shape = shapes.of(type);
  if (!shape.supported)
    return false;
  auto repeat = [&](const APInt &bits) {
    for (uint32_t i = 0; i < shape.lanes; ++i)
      write_scalar(cells + i * shape.stride, Scalar(bits));
    return true;
  };
  if (auto *integer = dyn_cast<ConstantInt>(value))
    return repeat(integer->getValue());
  if (auto *number = dyn_cast<ConstantFP>(value))
    return repeat(number->getValueAPF().bitcastToAPInt());
  if (value->isNullValue()) {
    std::fill(cells, cells + shape.n_cells, Cell());
    return true;
  }
  if (isa<PoisonValue>(value)) {
    std::fill(cells, cells + shape.n_cells, poison_cell(0));
    return true;
  }
  if (isa<UndefValue>(value)) {
    for (const Leaf &leaf : shape.leaves) {
      Scalar undef(leaf.width, 0);
      undef.unspecified = APInt::getAllOnes(leaf.width);
      undef.state = kUndefCell;
      write_scalar(cells + leaf.cell, undef);
    }
    return true;
  }
  if (auto *alias = dyn_cast<GlobalAlias>(value))
    return constant(alias->getAliasee(), cells);
  if (auto *global = dyn_cast<GlobalValue>(value)) {
    Object *object = memory.get(object_of(global));
    if (!object)
      return false;
    *cells = pointer_to(*object);
    return true;
  }
  if (auto *list = dyn_cast<ConstantDataSequential>(value)) {
    for (unsigned i = 0; i < list->getNumElements(); ++i)
      if (!constant(list->getElementAsConstant(i),
                    cells + shape.leaves[i].cell))
        return false;
    return true;
  }
  if (isa<ConstantAggregate>(value)) {
    uint32_t next = 0;
    for (const Use &use : value->operands()) {
      auto *part = cast<Constant>(use.get());
      if (!constant(part, cells + next))
        return false;
      next += shapes.of(part->getType()).n_cells;
    }
    return true;
  }
  auto *expression = dyn_cast<ConstantExpr>(value);
  if (!expression)
    return false;
  Instruction *instruction = expression->getAsInstruction();
  bool known = compute(*instruction, cells);
  instruction->deleteValue();
  return known;
}

bool Machine::compute(const Instruction &instruction, Cell *cells) {
  Body body;
  Compiler(*this, body).compile(instruction);
  Instr instr = body.code[0];
  instr.from = now;
  if (instr.code == Code::Unsupported)
    return false;
  const Cell *before = constants;
  const std::vector<GepPlan> *plans = gep_plans;
  const std::vector<ElementPlan> *parts = element_plans;
  constants = body.constants.data();
  gep_plans = &body.geps;
  element_plans = &body.elements;
  evaluate(instr, cells);
  constants = before;
  gep_plans = plans;
  element_plans = parts;
  return true;
}
} // namespace referee
} // namespace optsleuth

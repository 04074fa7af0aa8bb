// Loads, stores and allocas, and what is undefined about an access.
#include "machine.h"
#include "llvm/IR/Argument.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace optsleuth {
namespace referee {
namespace {
std::string bytes(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}
} // namespace

Cell Machine::pointer_to(const Object &object, uint64_t offset) const {
  return {object.base + offset, 0, object.id, 0};
}

Object &Machine::new_object(Storage storage, uint64_t size, uint64_t align,
                            const Value *source) {
  Object *object = memory.create(storage, size, align, source);
  if (!object)
    no_verdict("the limit of memory is reached");
  return *object;
}

// An object may lie better aligned than it asks for, by chance. That counts only
// if the program looked where it lies.
bool Machine::is_aligned(const Cell &pointer, const Object &object,
                         uint64_t align) const {
  if (pointer.bits & (align - 1))
    return false;
  return object.align >= align || (pointer.state & kLayout) ||
         judge.depends_on_layout;
}

Object &Machine::access(const Cell &pointer, uint64_t size, uint64_t align,
                        Access kind, uint64_t &offset) {
  bool writes = kind == Access::Write;
  const std::string doing = writes ? "a write of " : "a read of ";
  if (!pointer.plain()) {
    if (pointer.poison())
      undefined(doing + bytes(size) + " through a poison pointer", &pointer);
    if (pointer.state & kFree)
      undefined(doing + bytes(size) + " through an undef pointer", &pointer);
    if ((pointer.state & kStates) != kLayout)
      no_verdict("an access depends on an unspecified value");
    judge.depends_on_layout = true;
  }
  Object *object = memory.get(pointer.object);
  if (!object && pointer.object)
    undefined(doing + bytes(size) + " of an object that is gone");
  if (!object && pointer.bits)
    object = memory.at_address(pointer.bits);
  if (!object && pointer.bits >= 4096 && now)
    if (now->isVolatile())
      no_verdict("a volatile access to a fixed address");
  if (!object)
    undefined(doing + bytes(size) +
              (pointer.bits < 4096 ? " through a null pointer"
                                   : " at an address where no object is"));
  if (object->life == Life::Gone)
    undefined(doing + bytes(size) + " of " + name_of(*object) +
              (object->storage == Storage::Heap ? " after it was freed"
                                                : " after its function returned"));
  if (object->life == Life::Dead && writes)
    undefined(doing + bytes(size) + " of " + name_of(*object) +
              " outside of its lifetime");
  if (object->storage == Storage::External)
    no_verdict("the program uses " + name_of(*object) +
               ", which is defined elsewhere");
  if (object->storage >= Storage::Function)
    no_verdict("an access to " + name_of(*object));
  offset = pointer.bits - object->base;
  if (offset > object->size || object->size - offset < size)
    undefined(doing + bytes(size) + " at offset " +
              std::to_string(int64_t(offset)) + " of " + name_of(*object) +
              ", which has " + bytes(object->size));
  if (!is_aligned(pointer, *object, align))
    undefined(doing + bytes(size) + " that should be aligned to " +
              bytes(align) + " is not: offset " +
              std::to_string(int64_t(offset)) + " of " + name_of(*object) +
              ", which is aligned to " + bytes(object->align));
  if (writes && object->constant)
    undefined("a write to the constant " + name_of(*object));
  if (!restrictions.empty())
    check_restrictions(*object, kind);
  if (Memory::is_tag(pointer.object))
    check_tags(pointer.object, *object, kind);
  if (!aliases.empty())
    check_aliases(pointer.object, *object, offset, size, kind);
  if (writes && !invariants.empty())
    expect_change(*object, offset, size);
  return *object;
}

namespace {
std::string argument_of(const Value *value) {
  auto *argument = cast<Argument>(value);
  return "argument " + std::to_string(argument->getArgNo() + 1) + " of " +
         argument->getParent()->getName().str();
}
} // namespace

// readonly, writeonly and readnone parameters.
void Machine::check_tags(uint32_t id, const Object &object, Access kind) {
  uint8_t ban = kind == Access::Write ? kNoWrite : kNoRead;
  for (; Memory::is_tag(id); id = memory.tag(id).parent) {
    const Tag &tag = memory.tag(id);
    if (tag.active && (tag.bans & ban))
      undefined(std::string(kind == Access::Write ? "a write to " : "a read of ") +
                name_of(object) + " through " + argument_of(tag.argument) +
                ", which is " +
                (tag.bans == kNoWrite  ? "readonly"
                 : tag.bans == kNoRead ? "writeonly"
                                       : "readnone"));
  }
}

// noalias parameters: a byte that is changed while the call is active must not
// be accessed both through the argument and otherwise.
void Machine::check_aliases(uint32_t id, const Object &object, uint64_t offset,
                            uint64_t size, Access kind) {
  for (Alias &alias : aliases) {
    if (alias.object != object.id)
      continue;
    bool based = false;
    for (uint32_t up = id; Memory::is_tag(up); up = memory.tag(up).parent)
      based |= up == alias.tag;
    uint8_t bit = uint8_t((kind == Access::Write ? 2 : 1) << (based ? 0 : 2));
    alias.bytes.resize(object.size);
    for (uint64_t i = offset; i < offset + size; ++i) {
      uint8_t &seen = alias.bytes[i];
      seen |= bit;
      if ((seen & 3) && (seen & 12) && (seen & 10))
        undefined("offset " + std::to_string(i) + " of " + name_of(object) +
                  " is accessed through " +
                  argument_of(memory.tag(alias.tag).argument) +
                  ", which is noalias, and otherwise, and is changed");
    }
  }
}

void Machine::check_restrictions(const Object &object, Access kind) {
  bool writes = kind == Access::Write;
  if (!writes && object.constant)
    return; // It cannot change, so reading it is no effect.
  for (const Restriction &restriction : restrictions) {
    if (object.serial >= restriction.serial)
      continue; // Its own.
    const compat::Effects &effects = restriction.effects;
    bool of_argument = false;
    for (uint32_t id : restriction.arguments)
      of_argument |= id == object.id;
    bool other = writes ? effects.other_write : effects.other_read;
    bool argument = writes ? effects.argument_write : effects.argument_read;
    if (other || (of_argument && argument))
      continue;
    undefined(std::string(writes ? "a write to " : "a read of ") +
              name_of(object) + " in " +
              restriction.function->getName().str() +
              ", which promised not to (memory attributes)");
  }
}

uint64_t Machine::known(const Cell &cell, const char *what) {
  if (cell.plain())
    return cell.bits;
  if (cell.poison())
    undefined(std::string(what) + " is poison", &cell);
  if (cell.state & kFree)
    undefined(std::string(what) + " is undef", &cell);
  no_verdict(std::string(what) + " is an unspecified value");
}

void Machine::load(const Instr &instr, Cell *result) {
  const AccessPlan &plan = frames.back().body->accesses[instr.extra];
  const Cell pointer = *at(instr.a);
  const Shape &shape = *instr.shape;
  uint64_t offset = 0;
  Object &object =
      access(pointer, shape.store_bytes, plan.align, Access::Read, offset);
  if (object.life == Life::Dead) {
    Cell dead = poison("a read of " + name_of(object) +
                       " outside of its lifetime");
    std::fill(result, result + shape.n_cells, dead);
  } else {
    memory.read(object.bytes, offset, shape, result);
  }
  for (const Leaf &leaf : shape.leaves) {
    Cell &cell = result[leaf.cell];
    if (!(cell.state & kStates))
      continue;
    if ((cell.state & kUndef) && !cell.origin())
      cell.state |= judge.origin(now, "bytes of " + name_of(object) +
                                          " that were never written are read")
                    << kOriginShift;
    else if (cell.poison() && cell.origin())
      cell = poison_cell(judge.passed_on(now, cell.origin()));
    for (unsigned i = 1; i < cells_of(leaf.width); ++i)
      result[leaf.cell + i].state = cell.state;
  }
  // A number in memory that is read as a pointer.
  for (const Leaf &leaf : shape.leaves) {
    Cell &cell = result[leaf.cell];
    if (leaf.kind == Kind::Pointer && cell.plain() && cell.bits && !cell.object)
      if (Object *found = memory.at_address(cell.bits))
        cell.object = found->id;
  }
  if (plan.promise.any())
    hold(plan.promise, shape, result, "the loaded value");
  if (plan.is_invariant && object.life != Life::Dead)
    promise_invariant(object.id, offset, shape.store_bytes);
}

void Machine::store(const Instr &instr) {
  const AccessPlan &plan = frames.back().body->accesses[instr.extra];
  const Shape &shape = *instr.shape;
  uint64_t offset = 0;
  Object &object = access(*at(instr.a), shape.store_bytes, plan.align,
                          Access::Write, offset);
  memory.write(object, offset, shape, at(instr.b));
  if (!changing.empty())
    check_changes();
}

void Machine::make_alloca(const Instr &instr, Cell *result) {
  const AllocaPlan &plan = frames.back().body->allocas[instr.extra];
  const Cell &count = *at(instr.a);
  uint64_t n = known(count, "the size of an alloca");
  unsigned __int128 size = (unsigned __int128)(n)*plan.unit;
  if (size > limits.memory)
    no_verdict("the limit of memory is reached");
  Object &object =
      new_object(Storage::Stack, uint64_t(size), plan.align, instr.from);
  if (plan.starts_dead)
    object.life = Life::Dead;
  allocas.push_back(object.id);
  *result = pointer_to(object);
}

void Machine::end_allocas(size_t first) {
  while (allocas.size() > first) {
    if (Object *object = memory.get(allocas.back()))
      memory.destroy(*object);
    allocas.pop_back();
  }
}

void Machine::atomics(const Instr &instr, Cell *result) {
  const Shape &shape = *instr.operand;
  if (shape.lanes != 1)
    no_verdict("an atomic operation on a vector");
  uint64_t offset = 0;
  Object &object = access(*at(instr.a), shape.store_bytes, instr.extra,
                          Access::Write, offset);
  std::vector<Cell> old(shape.n_cells), made(shape.n_cells);
  memory.read(object.bytes, offset, shape, old.data());
  const Cell *given = at(instr.b);
  if (instr.code == Code::CompareExchange) {
    Cell same = compare_pointer(CmpInst::ICMP_EQ, old[0], *given);
    if (shape.kind == Kind::Integer) {
      Outcome outcome;
      Scalar equal =
          compare(CmpInst::ICMP_EQ, 0, read_scalar(old.data(), shape.width),
                  read_scalar(given, shape.width), outcome);
      write_scalar(&same, equal);
    }
    if (decide(same))
      memory.write(object, offset, shape, at(instr.c));
    std::copy(old.begin(), old.end(), result);
    result[shape.n_cells] = same;
    return;
  }
  Scalar a = read_scalar(old.data(), shape.width);
  Scalar b = read_scalar(given, shape.width), value = b;
  Outcome outcome;
  using I = Instruction;
  auto pick = [&](Op op) {
    value = integer_op(op, {a, b}, false, shape.width, nullptr, outcome);
  };
  switch (AtomicRMWInst::BinOp(instr.sub)) {
  case AtomicRMWInst::Xchg:
    break;
  case AtomicRMWInst::Add:
    value = binary(I::Add, 0, a, b, outcome);
    break;
  case AtomicRMWInst::Sub:
    value = binary(I::Sub, 0, a, b, outcome);
    break;
  case AtomicRMWInst::And:
    value = binary(I::And, 0, a, b, outcome);
    break;
  case AtomicRMWInst::Or:
    value = binary(I::Or, 0, a, b, outcome);
    break;
  case AtomicRMWInst::Xor:
    value = binary(I::Xor, 0, a, b, outcome);
    break;
  case AtomicRMWInst::Nand:
    value = binary(I::And, 0, a, b, outcome);
    value.bits.flipAllBits();
    break;
  case AtomicRMWInst::Max:
    pick(Op::Smax);
    break;
  case AtomicRMWInst::Min:
    pick(Op::Smin);
    break;
  case AtomicRMWInst::UMax:
    pick(Op::Umax);
    break;
  case AtomicRMWInst::UMin:
    pick(Op::Umin);
    break;
  default:
    no_verdict("an atomic operation that is not known");
  }
  write_scalar(made.data(), value);
  memory.write(object, offset, shape, made.data());
  std::copy(old.begin(), old.end(), result);
}

std::string Machine::text_at(const Cell &pointer, uint64_t most) {
  std::string text;
  Cell cell = pointer;
  while (text.size() < most) {
    uint64_t offset = 0;
    Object &object = access(cell, 1, 1, Access::Read, offset);
    if (object.life == Life::Dead || object.bytes.unspecified[offset])
      no_verdict("a text depends on an unspecified value");
    char byte = char(object.bytes.data[offset]);
    if (!byte)
      break;
    text += byte;
    ++cell.bits;
  }
  return text;
}

void Machine::copy_bytes(const Cell &to, const Cell &from, uint64_t size,
                         bool may_overlap) {
  if (!size)
    return;
  uint64_t from_at = 0, to_at = 0;
  Object &source = access(from, size, 1, Access::Read, from_at);
  uint32_t id = source.id;
  Object &target = access(to, size, 1, Access::Write, to_at);
  Object &again = *memory.get(id);
  uint64_t apart = from.bits > to.bits ? from.bits - to.bits : to.bits - from.bits;
  if (!may_overlap && apart && apart < size && again.id == target.id)
    undefined("memcpy of overlapping bytes");
  if (again.life == Life::Dead) {
    memory.set(target, to_at, size,
               poison("a read of " + name_of(again) + " outside of its lifetime"));
    return;
  }
  memory.copy(target, to_at, again, from_at, size);
}
} // namespace referee
} // namespace optsleuth

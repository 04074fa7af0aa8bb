// The loop over a body's instructions.
//
// Plain integers of at most 64 bits are computed on the spot; whatever is
// special about an operation is evaluate.cpp's.
#include "machine.h"
#include "llvm/IR/Instructions.h"
#include <cstring>

using namespace llvm;

namespace optsleuth {
namespace referee {
Machine::Machine(const Module &module, Judge &judge, Limits limits)
    : module(module), layout(module.getDataLayout()), judge(judge),
      limits(limits), memory(limits.memory), shapes(module.getDataLayout()) {}

void Machine::undefined(const std::string &what, const Cell *because) {
  uint32_t origin = because ? because->origin() : 0;
  judge.undefined(what, now, origin);
}

void Machine::no_verdict(const std::string &why) { judge.no_verdict(why, now); }

Cell Machine::poison(const std::string &what) {
  return poison_cell(now ? judge.origin(now, what) : 0);
}

// What a branch goes by.
bool Machine::decide(const Cell &condition) {
  if (!condition.plain()) {
    if (condition.poison())
      undefined("a branch depends on poison", &condition);
    if (condition.state & kFree)
      undefined("a branch depends on undef", &condition);
    if ((condition.state & kStates) != kLayout)
      no_verdict("control flow depends on an unspecified value");
    judge.depends_on_layout = true;
  }
  return condition.bits & 1;
}

// Phis are assigned all at once.
void Machine::follow(const Edge &edge) {
  Frame &frame = frames.back();
  const PhiCopy *copies = frame.body->copies.data() + edge.first_copy;
  if (edge.n_copies == 1) {
    const PhiCopy &copy = copies[0];
    memmove(cells + copy.to, at(copy.from), copy.cells * sizeof(Cell));
  } else if (edge.n_copies) {
    phi_buffer.clear();
    for (uint32_t i = 0; i < edge.n_copies; ++i) {
      const Cell *from = at(copies[i].from);
      phi_buffer.insert(phi_buffer.end(), from, from + copies[i].cells);
    }
    const Cell *next = phi_buffer.data();
    for (uint32_t i = 0; i < edge.n_copies; ++i) {
      memcpy(cells + copies[i].to, next, copies[i].cells * sizeof(Cell));
      next += copies[i].cells;
    }
  }
  frame.pc = edge.target;
  if (judge.steps > limits.steps)
    no_verdict("the limit of " + std::to_string(limits.steps) +
               " steps is reached");
}

namespace {
inline uint64_t read_bytes(const uint8_t *from, unsigned bytes) {
  uint64_t value = 0;
  switch (bytes) {
  case 1:
    return *from;
  case 4:
    memcpy(&value, from, 4);
    return value;
  case 8:
    memcpy(&value, from, 8);
    return value;
  default:
    memcpy(&value, from, bytes);
    return value;
  }
}
inline void write_bytes(uint8_t *to, uint64_t value, unsigned bytes) {
  switch (bytes) {
  case 1:
    *to = uint8_t(value);
    break;
  case 4:
    memcpy(to, &value, 4);
    break;
  case 8:
    memcpy(to, &value, 8);
    break;
  default:
    memcpy(to, &value, bytes);
  }
}
} // namespace

#define PLAIN_BINARY(NAME)                                                     \
  case Code::NAME: {                                                           \
    const Cell *a = at(instr.a), *b = at(instr.b);                             \
    uint64_t bits;                                                             \
    if (!((a->state | b->state)) &&                                            \
        fast_binary(Instruction::NAME, instr.flags, instr.width, a->bits,      \
                    b->bits, bits))                                            \
      cells[instr.result] = Cell{bits, 0, 0, 0};                               \
    else                                                                       \
      evaluate(instr, cells + instr.result);                                   \
    break;                                                                     \
  }

void Machine::loop() {
  bool tracing = judge.tracing();
  for (;;) {
    Frame &frame = frames.back();
    const Instr &instr = frame.body->code[frame.pc++];
    now = instr.from;
    ++judge.steps;
    switch (instr.code) {
      PLAIN_BINARY(Add)
      PLAIN_BINARY(Sub)
      PLAIN_BINARY(Mul)
      PLAIN_BINARY(UDiv)
      PLAIN_BINARY(SDiv)
      PLAIN_BINARY(URem)
      PLAIN_BINARY(SRem)
      PLAIN_BINARY(Shl)
      PLAIN_BINARY(LShr)
      PLAIN_BINARY(AShr)
      PLAIN_BINARY(And)
      PLAIN_BINARY(Or)
      PLAIN_BINARY(Xor)
    case Code::Compare1: {
      const Cell *a = at(instr.a), *b = at(instr.b);
      if (!(a->state | b->state | instr.flags))
        cells[instr.result] =
            Cell{fast_compare(CmpInst::Predicate(instr.sub), instr.width,
                              a->bits, b->bits),
                 0, 0, 0};
      else
        evaluate(instr, cells + instr.result);
      break;
    }
    case Code::Trunc1: {
      const Cell *a = at(instr.a);
      if (!a->state)
        cells[instr.result] =
            Cell{a->bits & low_mask(instr.shape->width), 0, 0, 0};
      else
        evaluate(instr, cells + instr.result);
      break;
    }
    case Code::ZExt1: {
      const Cell *a = at(instr.a);
      if (!(a->state | instr.flags))
        cells[instr.result] = Cell{a->bits, 0, 0, 0};
      else
        evaluate(instr, cells + instr.result);
      break;
    }
    case Code::SExt1: {
      const Cell *a = at(instr.a);
      if (!a->state)
        cells[instr.result] = Cell{uint64_t(sign_extend(a->bits, instr.width)) &
                                       low_mask(instr.shape->width),
                                   0, 0, 0};
      else
        evaluate(instr, cells + instr.result);
      break;
    }
    case Code::Load1: {
      const Cell *pointer = at(instr.a);
      Object *object = pointer->state ? nullptr : memory.get(pointer->object);
      uint32_t bytes = instr.width;
      if (object && object->life == Life::Alive &&
          object->storage <= Storage::Heap && !watched &&
          !Memory::is_tag(pointer->object)) {
        uint64_t offset = pointer->bits - object->base;
        if (offset < object->size && object->size - offset >= bytes &&
            !(pointer->bits & uint64_t(instr.c)) &&
            uint64_t(instr.c) < object->align &&
            !read_bytes(object->bytes.unspecified + offset, bytes)) {
          uint64_t bits = read_bytes(object->bytes.data + offset, bytes);
          uint32_t *provenance = object->bytes.provenance;
          if (!provenance) {
            cells[instr.result] = Cell{bits, 0, 0, 0};
            break;
          }
          // Bytes of one pointer, or of none.
          provenance += offset;
          bool same = !memcmp(provenance, provenance + 1, 4 * (bytes - 1));
          if (same && (!*provenance || instr.shape->kind == Kind::Pointer)) {
            cells[instr.result] = Cell{bits, 0, *provenance, 0};
            break;
          }
        }
      }
      load(instr, cells + instr.result);
      break;
    }
    case Code::Store1: {
      const Cell *pointer = at(instr.a), *value = at(instr.b);
      Object *object = pointer->state ? nullptr : memory.get(pointer->object);
      uint32_t bytes = instr.width;
      if (object && object->life == Life::Alive && !object->constant &&
          object->storage <= Storage::Heap && !value->state && !watched &&
          !Memory::is_tag(pointer->object)) {
        uint64_t offset = pointer->bits - object->base;
        if (offset < object->size && object->size - offset >= bytes &&
            !(pointer->bits & uint64_t(instr.c)) &&
            uint64_t(instr.c) < object->align) {
          if (value->object && !object->bytes.provenance)
            memory.make_provenance(*object);
          write_bytes(object->bytes.data + offset, value->bits, bytes);
          write_bytes(object->bytes.unspecified + offset, 0, bytes);
          if (uint32_t *provenance = object->bytes.provenance)
            std::fill(provenance + offset, provenance + offset + bytes,
                      value->object);
          break;
        }
      }
      store(instr);
      break;
    }
    case Code::Gep1: {
      const Cell *base = at(instr.a);
      const GepPlan &plan = frame.body->geps[instr.extra];
      uint64_t offset = plan.offset;
      const Cell *index = nullptr;
      if (!plan.indices.empty()) {
        index = at(plan.indices[0].place);
        int64_t by = 0, scaled = 0;
        by = sign_extend(index->bits, plan.indices[0].width);
        if (index->state ||
            __builtin_mul_overflow(by, int64_t(plan.indices[0].scale), &scaled)) {
          gep_plans = &frame.body->geps;
          gep(instr, cells + instr.result);
          break;
        }
        offset += uint64_t(scaled);
      }
      Object *object = base->state ? nullptr : memory.get(base->object);
      uint64_t from = base->bits - (object ? object->base : 0);
      uint64_t to = from + offset;
      // Within its object nothing can overflow.
      if (object && from <= object->size && to <= object->size &&
          !(instr.flags & kNoUnsignedWrap)) {
        cells[instr.result] = Cell{base->bits + offset, 0, base->object, 0};
        break;
      }
      gep_plans = &frame.body->geps;
      gep(instr, cells + instr.result);
      break;
    }
    case Code::Load:
      load(instr, cells + instr.result);
      break;
    case Code::Store:
      store(instr);
      break;
    case Code::Alloca:
      make_alloca(instr, cells + instr.result);
      break;
    case Code::AtomicRmw:
    case Code::CompareExchange:
      atomics(instr, cells + instr.result);
      if (!changing.empty())
        check_changes();
      break;
    case Code::Jump:
      follow(frame.body->edges[instr.extra]);
      continue;
    case Code::Branch: {
      bool yes = decide(*at(instr.a));
      if (tracing)
        judge.trace(now, yes ? "true" : "false");
      follow(frame.body->edges[yes ? instr.extra : uint32_t(instr.b)]);
      continue;
    }
    case Code::Switch: {
      const Cell &value = *at(instr.a);
      decide(value);
      if (tracing)
        judge.trace(now, std::to_string(value.bits));
      const SwitchPlan &plan = frame.body->switches[instr.extra];
      auto found = plan.edges.find(value.bits);
      follow(frame.body->edges[found == plan.edges.end() ? plan.otherwise
                                                         : found->second]);
      continue;
    }
    case Code::Call:
      call(instr);
      continue; // It may be another frame's turn; traced when it returns.
    case Code::Return:
      if (tracing)
        judge.trace(now, instr.shape ? describe(at(instr.a), *instr.shape) : "");
      leave(instr.shape ? at(instr.a) : nullptr);
      continue;
    case Code::Unreachable:
      undefined("an unreachable instruction is reached");
    case Code::Unsupported:
      no_verdict("not known to the referee: " +
                 frame.body->reasons[instr.extra]);
    default:
      gep_plans = &frame.body->geps;
      element_plans = &frame.body->elements;
      evaluate(instr, cells + instr.result);
      break;
    }
    if (tracing)
      judge.trace(now, now->getType()->isVoidTy() || !instr.shape
                           ? ""
                           : describe(cells + instr.result, *instr.shape));
  }
}
#undef PLAIN_BINARY
} // namespace referee
} // namespace optsleuth

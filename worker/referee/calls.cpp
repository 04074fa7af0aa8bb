// Calls and returns: frames, and what attributes promise about values, memory
// and control.
#include "machine.h"
#include "llvm/IR/Instructions.h"
#include <cstring>

using namespace llvm;

namespace optsleuth {
namespace referee {
namespace {
// How much of what a call writes is told.
constexpr size_t kShownText = 256;

// Whether LLVM's nofpclass mask forbids the value.
bool forbidden(uint32_t classes, const APFloat &value) {
  bool negative = value.isNegative();
  uint32_t bit = value.isNaN() ? (value.isSignaling() ? 1u : 2u)
                 : value.isInfinity() ? (negative ? 4u : 512u)
                 : value.isZero()     ? (negative ? 32u : 64u)
                 : value.isDenormal() ? (negative ? 16u : 128u)
                                      : (negative ? 8u : 256u);
  return classes & bit;
}

bool within(const Promise &promise, const APInt &value) {
  for (const auto &range : promise.ranges) {
    const APInt &lower = range.first, &upper = range.second;
    if (lower == upper) {
      if (lower.isZero())
        continue; // The empty set.
      return true;
    }
    bool wraps = lower.ugt(upper);
    bool inside = wraps ? value.uge(lower) || value.ult(upper)
                        : value.uge(lower) && value.ult(upper);
    if (inside)
      return true;
  }
  return false;
}
} // namespace

// A broken promise makes poison of the value; what must not be poison is
// undefined then.
void Machine::hold(const Promise &promise, const Shape &shape, Cell *value,
                   const std::string &whose) {
  auto aligned = [&](const Cell &cell) {
    Object *object = memory.get(cell.object);
    return object ? is_aligned(cell, *object, promise.align)
                  : !(cell.bits & (promise.align - 1));
  };
  for (const Leaf &leaf : shape.leaves) {
    Cell *cell = value + leaf.cell;
    auto broken = [&](const std::string &what) {
      Cell bad = poison(whose + " is " + describe(cell, leaf) + ", against " + what);
      std::fill(cell, cell + cells_of(leaf.width), bad);
    };
    if (leaf.kind == Kind::Pointer && !(cell->state & kStates)) {
      if (promise.nonnull && !cell->bits)
        broken("nonnull");
      else if (promise.align > 1 && !aligned(*cell))
        broken("align " + std::to_string(promise.align));
    } else if (leaf.kind == Kind::Integer && !(cell->state & kStates) &&
               promise.has_range) {
      if (!within(promise, read_scalar(cell, leaf.width).bits))
        broken("its range");
    } else if (leaf.kind == Kind::Float && promise.no_classes &&
               !cell->poison()) {
      Scalar scalar = read_scalar(cell, leaf.width);
      bool known = scalar.unspecified.isZero() || is_nan(scalar, leaf.type);
      if (known && forbidden(promise.no_classes,
                             APFloat(leaf.type->getFltSemantics(), scalar.bits)))
        broken("nofpclass");
    }
    if (!promise.noundef || !(cell->state & kStates))
      continue;
    if (cell->poison())
      undefined(whose + " is poison, against noundef", cell);
    if (cell->state & kFree)
      undefined(whose + " has undef bits, against noundef", cell);
    if (cell->state & kUndef)
      no_verdict(whose + " depends on undef, against noundef");
  }
  uint64_t size = promise.dereferenceable;
  if (!size && value->plain() && value->bits)
    size = promise.dereferenceable_or_null;
  if (!size || shape.leaves[0].kind != Kind::Pointer)
    return;
  if (value->poison() || (value->state & kFree))
    undefined(whose + " is " + describe(value, shape.leaves[0]) +
                  ", against dereferenceable(" + std::to_string(size) + ")",
              value);
  Object *object = memory.get(value->object);
  if (!object && value->bits)
    object = memory.at_address(value->bits);
  if (object && object->storage == Storage::External)
    return;
  uint64_t offset = object ? value->bits - object->base : 0;
  if (!object || object->life == Life::Gone || offset > object->size ||
      object->size - offset < size)
    undefined(whose + " is " + describe(value, shape.leaves[0]) +
              ", against dereferenceable(" + std::to_string(size) + ")");
}

// What llvm.assume says about a pointer or a value, beside its condition.
void Machine::hold(const Assumption &assumption) {
  if (assumption.operands.empty())
    return;
  auto number = [&](size_t i) -> uint64_t {
    if (i >= assumption.operands.size())
      return 0;
    return known(*at(assumption.operands[i].place), "what llvm.assume is told");
  };
  Promise promise;
  const CallArgument &told = assumption.operands[0];
  const Cell *from = at(told.place);
  std::vector<Cell> value(from, from + told.shape->n_cells);
  if (assumption.tag == "align") {
    promise.align = number(1);
    value[0].bits -= number(2);
    if (promise.align & (promise.align - 1))
      return; // Not a power of two: it says nothing.
  } else if (assumption.tag == "dereferenceable") {
    promise.dereferenceable = number(1);
  } else if (assumption.tag == "nonnull") {
    promise.nonnull = true;
  } else if (assumption.tag != "noundef") {
    return;
  }
  promise.noundef = true;
  hold(promise, *told.shape, value.data(), "what llvm.assume is told");
}

void Machine::restrict(const compat::Effects &effects, const CallPlan *plan,
                       const Function *function) {
  if (effects.all())
    return;
  Restriction restriction{memory.next_serial(), effects, {}, function};
  if (plan)
    for (const CallArgument &argument : plan->arguments) {
      if (!argument.shape)
        continue;
      const Cell *cell = at(argument.place);
      for (uint32_t i = 0; i < argument.shape->n_cells; ++i)
        if (cell[i].object)
          restriction.arguments.push_back(memory.root(cell[i].object));
    }
  restrictions.push_back(std::move(restriction));
}

bool Machine::restricts_inaccessible() {
  for (const Restriction &restriction : restrictions)
    if (!restriction.effects.inaccessible_write)
      return true;
  return false;
}

const Function *Machine::function_at(const Cell &pointer) {
  known(pointer, "the called pointer");
  Object *object = memory.get(pointer.object);
  if (!object && pointer.bits)
    object = memory.at_address(pointer.bits);
  if (!object)
    undefined(pointer.bits ? "a call of an address where no function is"
                           : "a call through a null pointer");
  auto found = functions.find(object->id);
  if (found == functions.end() || pointer.bits != object->base)
    undefined("a call of " + describe(&pointer, Leaf{Kind::Pointer, 64, 0, 0, nullptr}) +
              ", which is no function");
  return found->second;
}

void Machine::call(const Instr &instr) {
  const CallPlan &plan = frames.back().body->calls[instr.extra];
  const Function *callee = plan.callee ? plan.callee : function_at(*at(plan.pointer));
  Builtin builtin = plan.builtin;
  int kind = plan.kind;
  CallPlan through_pointer;
  const CallPlan *used = &plan;
  if (!plan.callee && callee->isDeclaration()) {
    builtin = find_library(callee->getName(), kind);
    if (!builtin)
      no_verdict("not known to the referee: a call of " +
                 callee->getName().str());
    through_pointer = plan;
    through_pointer.callee = callee;
    through_pointer.kind = kind;
    used = &through_pointer;
  }
  const FunctionType *type = plan.call->getFunctionType();
  if (!plan.callee || plan.callee != plan.call->getCalledFunction()) {
    if (type != callee->getFunctionType())
      undefined("a call of " + callee->getName().str() +
                " with another signature than it has");
  }
  if (callee->getCallingConv() != plan.call->getCallingConv())
    undefined("a call of " + callee->getName().str() +
              " with another calling convention than it has");
  // Values first, by the call's own attributes and by the function's.
  size_t n_fixed = callee->arg_size();
  std::vector<std::vector<Cell>> fixed;
  std::vector<std::pair<const Shape *, std::vector<Cell>>> variadic;
  bool is_intrinsic = callee->isIntrinsic();
  const Body *body = builtin ? nullptr : &body_of(*callee);
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const CallArgument &argument = plan.arguments[i];
    bool promises = argument.promise.any();
    if (builtin && !promises && is_intrinsic)
      continue;
    if (!argument.shape)
      continue;
    const Cell *from = at(argument.place);
    std::vector<Cell> value(from, from + argument.shape->n_cells);
    auto whose = [&] {
      return "argument " + std::to_string(i + 1) + " of " +
             callee->getName().str();
    };
    if (promises)
      hold(argument.promise, *argument.shape, value.data(), whose());
    Promise its;
    if (i < n_fixed && !is_intrinsic) {
      const Promise &promise =
          body ? body->parameters[i]
               : (its = promise_of(callee->getAttributes().getParamAttrs(
                      unsigned(i))));
      if (promise.any())
        hold(promise, *argument.shape, value.data(), whose());
    }
    if (builtin) {
      if (value[0].poison() && !from->poison())
        undefined(whose() + " is not as its attributes say", value.data());
      continue;
    }
    Type *by_value = argument.promise.by_value;
    if (by_value) {
      uint64_t size = layout.getTypeAllocSize(by_value);
      uint64_t align =
          std::max<uint64_t>(argument.promise.by_value_align,
                             layout.getABITypeAlign(by_value).value());
      Object &copy = new_object(Storage::Stack, size, align, plan.call);
      Cell place = pointer_to(copy);
      allocas.push_back(copy.id);
      copy_bytes(place, value[0], size, false);
      value[0] = place;
    }
    if (i < n_fixed)
      fixed.push_back(std::move(value));
    else
      variadic.push_back({argument.shape, std::move(value)});
  }
  if (builtin) {
    Cell *result = cells + plan.result_place;
    calling = used;
    for (const Assumption &assumption : plan.assumptions)
      hold(assumption);
    builtin(*this, *used, result);
    if (!changing.empty())
      check_changes();
    if (plan.no_return)
      undefined("a noreturn call of " + callee->getName().str() + " returns");
    if (plan.result.any() && plan.result_shape->n_cells)
      hold(plan.result, *plan.result_shape, result,
           "the result of " + callee->getName().str());
    if (judge.tracing())
      judge.trace(now, plan.result_shape->n_cells
                           ? describe(result, *plan.result_shape)
                           : "");
    return;
  }
  // Copies of arguments belong to the callee's frame.
  size_t copies = 0;
  for (const CallArgument &argument : plan.arguments)
    copies += argument.promise.by_value != nullptr;
  if (judge.tracing())
    judge.trace(now, "");
  enter(*body, &plan, fixed, std::move(variadic));
  frames.back().first_alloca -= copies;
}

void Machine::enter(
    const Body &body, const CallPlan *plan,
    const std::vector<std::vector<Cell>> &arguments,
    std::vector<std::pair<const Shape *, std::vector<Cell>>> variadic) {
  if (frames.size() >= limits.depth)
    no_verdict("more than " + std::to_string(limits.depth) +
               " calls are active at once");
  size_t before = restrictions.size();
  if (plan)
    restrict(plan->effects, plan, body.function);
  restrict(body.effects, plan, body.function);
  size_t start = frames.empty()
                     ? 0
                     : frames.back().cells + frames.back().body->n_cells;
  if (stack.size() < start + body.n_cells)
    stack.resize(2 * (start + body.n_cells) + 1024);
  Frame frame;
  frame.body = &body;
  frame.cells = start;
  frame.call = plan;
  frame.first_alloca = allocas.size();
  frame.n_restrictions = uint32_t(restrictions.size() - before);
  frame.variadic = std::move(variadic);
  frames.push_back(std::move(frame));
  cells = stack.data() + start;
  constants = body.constants.data();
  for (size_t i = 0; i < arguments.size(); ++i)
    std::copy(arguments[i].begin(), arguments[i].end(),
              cells + body.parameter_places[i]);
  add_tags(frames.back(), plan);
  watched = !restrictions.empty() || !aliases.empty() || !invariants.empty();
}

// Pointers that attributes say something about get a provenance of their own.
void Machine::add_tags(Frame &frame, const CallPlan *plan) {
  const Body &body = *frame.body;
  frame.first_tag = memory.n_tags();
  for (size_t i = 0; i < body.parameters.size(); ++i) {
    const Promise &own = body.parameters[i];
    bool at_call = plan && i < plan->arguments.size();
    uint8_t bans = own.bans | (at_call ? plan->arguments[i].promise.bans : 0);
    bool no_alias =
        own.no_alias || (at_call && plan->arguments[i].promise.no_alias);
    Cell &cell = cells[body.parameter_places[i]];
    Object *object = bans || no_alias ? memory.get(cell.object) : nullptr;
    if (!object || cell.poison() ||
        body.parameter_shapes[i]->kind != Kind::Pointer ||
        body.parameter_shapes[i]->lanes != 1)
      continue;
    cell.object =
        memory.add_tag(cell.object, bans, body.function->getArg(unsigned(i)));
    if (no_alias && Memory::is_tag(cell.object)) {
      aliases.push_back({cell.object, object->id, {}});
      ++frame.n_aliases;
    }
  }
  frame.end_tag = memory.n_tags();
}

void Machine::leave(const Cell *result) {
  Frame &frame = frames.back();
  const Body &body = *frame.body;
  const CallPlan *plan = frame.call;
  auto name = [&] { return body.function->getName().str(); };
  if (body.no_return || (plan && plan->no_return))
    undefined("the noreturn function " + name() + " returns");
  const Shape *shape = nullptr;
  std::vector<Cell> value;
  if (result) {
    shape = &shapes.of(body.function->getReturnType());
    value.assign(result, result + shape->n_cells);
    if (body.result.any())
      hold(body.result, *shape, value.data(), "the result of " + name());
    for (size_t i = 0; i < body.parameters.size(); ++i)
      if (body.parameters[i].returned && value[0].plain() &&
          cells[body.parameter_places[i]].plain() &&
          value[0].bits != cells[body.parameter_places[i]].bits)
        undefined(name() + " does not return its `returned` argument");
  }
  end_allocas(frame.first_alloca);
  for (uint32_t i = 0; i < frame.n_restrictions; ++i)
    restrictions.pop_back();
  for (uint32_t i = 0; i < frame.n_aliases; ++i)
    aliases.pop_back();
  memory.end_tags(frame.first_tag, frame.end_tag);
  watched = !restrictions.empty() || !aliases.empty() || !invariants.empty();
  frames.pop_back();
  if (frames.empty()) {
    if (!shape)
      exit_program(false, 0);
    result_text = describe(value.data(), *shape);
    if (shape->kind != Kind::Integer || shape->lanes != 1)
      exit_program(false, 0);
    exit_program(false, int(known(value[0], "the exit status") & 0xff));
  }
  cells = stack.data() + frames.back().cells;
  constants = frames.back().body->constants.data();
  now = plan->call;
  if (result) {
    if (plan->result.any())
      hold(plan->result, *shape, value.data(), "the result of " + name());
    std::copy(value.begin(), value.end(), cells + plan->result_place);
  }
}

void Machine::exit_program(bool by_signal, int value) {
  for (const Frame &frame : frames)
    if (frame.body->will_return)
      undefined("the program ends in " +
                frame.body->function->getName().str() + ", which is willreturn");
  judge.result = result_text;
  judge.defined(by_signal, value, now);
}

// The call that writes this, and its arguments.
void Machine::observe_call(const std::string &text) {
  judge.add_observation(text.substr(0, kShownText), now);
  for (const CallArgument &argument : calling->arguments) {
    if (!argument.shape)
      continue;
    const Value *given = calling->call->getArgOperand(
        unsigned(&argument - calling->arguments.data()));
    judge.add_observation(describe(at(argument.place), *argument.shape),
                          dyn_cast<Instruction>(given));
  }
}

void Machine::write_output(bool to_err, const std::string &text) {
  if (restricts_inaccessible())
    undefined("output in a function that promised to change no memory "
              "(memory attributes)");
  if (judge.is_observed(to_err, text.size()))
    observe_call(text);
  std::string &stream = to_err ? judge.err : judge.out;
  stream += text;
  if (stream.size() > limits.output)
    no_verdict("the limit of output is reached");
}
} // namespace referee
} // namespace optsleuth

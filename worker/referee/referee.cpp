// Request -> machine -> verdict. See referee.h.
#include "referee.h"
#include "../crash.h"
#include "../memory.h"
#include "machine.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace optsleuth {
namespace referee {
namespace {
// Words of the command line -> cells of a parameter.
bool parse(const std::string &word, const Shape &shape, Cell *cells) {
  if (shape.lanes != 1)
    return false;
  if (word == "poison") {
    std::fill(cells, cells + shape.n_cells, poison_cell(0));
    return true;
  }
  if (word == "undef") {
    Scalar undef(shape.width, 0);
    undef.unspecified = APInt::getAllOnes(shape.width);
    undef.state = kUnspecified | kUndef | kFree;
    write_scalar(cells, undef);
    return true;
  }
  switch (shape.kind) {
  case Kind::Pointer:
    *cells = Cell();
    return word == "null" || word == "0";
  case Kind::Float: {
    APFloat value(shape.leaves[0].type->getFltSemantics());
    auto status = value.convertFromString(word, APFloat::rmNearestTiesToEven);
    if (!status) {
      consumeError(status.takeError());
      return false;
    }
    write_scalar(cells, Scalar(value.bitcastToAPInt()));
    return true;
  }
  case Kind::Integer: {
    StringRef digits = word;
    bool negative = digits.consume_front("-");
    APInt value;
    if (digits.empty() || digits.getAsInteger(0, value))
      return false;
    value = value.zextOrTrunc(std::max(shape.width, value.getBitWidth()) + 1);
    if (negative)
      value = -value;
    // As a signed or as an unsigned number.
    if (value.getBitWidth() > shape.width + 1 &&
        !value.isSignedIntN(shape.width) && !value.isIntN(shape.width))
      return false;
    if (!value.isSignedIntN(shape.width) && !value.isIntN(shape.width))
      return false;
    write_scalar(cells, Scalar(value.trunc(shape.width)));
    return true;
  }
  }
  return false;
}
} // namespace

void Machine::run(const Function &function,
                  const std::vector<std::string> &arguments,
                  bool with_arguments) {
  if (!layout.isLittleEndian())
    no_verdict("not known to the referee: a big-endian target");
  make_globals();
  const Body &body = body_of(function);
  std::vector<std::vector<Cell>> values;
  if (with_arguments) {
    for (size_t i = 0; i < body.parameter_shapes.size(); ++i) {
      const Shape &shape = *body.parameter_shapes[i];
      values.emplace_back(shape.n_cells);
      if (i >= arguments.size() ||
          !parse(arguments[i], shape, values.back().data()))
        crash::finish(Verdict::CannotCall,
                      ("argument " + std::to_string(i + 1) + " of " +
                       function.getName().str() + " cannot be made of `" +
                       (i < arguments.size() ? arguments[i] : "") + "`")
                          .c_str());
    }
    if (arguments.size() > body.parameter_shapes.size())
      crash::finish(Verdict::CannotCall,
                    (function.getName().str() + " takes " +
                     std::to_string(body.parameter_shapes.size()) +
                     " arguments")
                        .c_str());
  } else {
    // main(1, {"program", null}, {null}), as machine code is called.
    Object &name = new_object(Storage::Global, 8, 1, &function);
    for (unsigned i = 0; i < 8; ++i)
      memory.set(name, i, 1, Cell{uint8_t("program"[i]), 0, 0, 0});
    Cell first = pointer_to(name), none;
    Object &list = new_object(Storage::Global, 16, 8, &function);
    Leaf pointer{Kind::Pointer, 64, 0, 0, nullptr};
    memory.make_provenance(list);
    memory.write(list.bytes, 0, pointer, &first);
    memory.write(list.bytes, 8, pointer, &none);
    Cell argv = pointer_to(list);
    Object &environment = new_object(Storage::Global, 8, 8, &function);
    memory.write(environment.bytes, 0, pointer, &none);
    Cell given[] = {Cell{1, 0, 0, 0}, argv, pointer_to(environment)};
    for (size_t i = 0; i < body.parameter_shapes.size() && i < 3; ++i)
      values.push_back({given[i]});
    if (body.parameter_shapes.size() > 3)
      no_verdict("main has more than three parameters");
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (body.parameters[i].any())
      hold(body.parameters[i], *body.parameter_shapes[i], values[i].data(),
           "argument " + std::to_string(i + 1) + " of " +
               function.getName().str());
  enter(body, nullptr, values, {});
  loop();
}

void judge(const Module &module, const InterpretOptions &options,
           Payload &request) {
  std::string name(request.text());
  std::vector<std::string> arguments;
  for (uint32_t i = request.number(); i && request.ok; --i)
    arguments.emplace_back(request.text());
  if (!request.ok)
    crash::finish(Verdict::Trouble, "malformed Run request");
  memory::report().phase = uint32_t(Phase::Interpret);
  if (options.self_test)
    self_test(options.self_test);
  const Function *function = module.getFunction(name);
  if (!function || function->isDeclaration())
    crash::finish(Verdict::CannotCall,
                  ("the module has no function `" + name + "`").c_str());
  Judge judge(module, options.trace_lines);
  judge.observe(options.observed_stream, options.observed_byte);
  Limits limits{options.steps, options.memory_bytes, options.output_bytes,
                options.depth};
  Machine machine(module, judge, limits);
  machine.run(*function, arguments, options.with_arguments != 0);
}
} // namespace referee
} // namespace optsleuth

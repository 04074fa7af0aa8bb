// Origins, output and verdict. See judge.h.
#include "judge.h"
#include "../crash.h"
#include "../memory.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace llvm;

namespace optsleuth {
namespace referee {
namespace {
constexpr size_t kMaxOrigins = 1 << 20;
constexpr size_t kMaxHistory = 32;

void add_number(std::string &to, uint32_t number) {
  to.append(reinterpret_cast<const char *>(&number), sizeof number);
}
void add_text(std::string &to, const std::string &text) {
  add_number(to, uint32_t(text.size()));
  to += text;
}
} // namespace

Judge::Judge(const Module &module, uint32_t trace_lines)
    : trace_lines(trace_lines), slots(&module, false) {}

uint32_t Judge::origin(const Instruction *at, const std::string &what) {
  uint64_t key = uint64_t(uintptr_t(at));
  auto found = known.find(key);
  if (found != known.end()) {
    origins[found->second].what = what; // The newest.
    return found->second;
  }
  if (origins.size() >= kMaxOrigins)
    return 0;
  origins.push_back({at, 0, what});
  return known[key] = uint32_t(origins.size() - 1);
}

uint32_t Judge::passed_on(const Instruction *at, uint32_t parent) {
  if (!at || origins[parent].at == at)
    return parent;
  uint64_t key = uint64_t(uintptr_t(at)) * 0x9e3779b97f4a7c15ull + parent + 1;
  auto found = known.find(key);
  if (found != known.end())
    return found->second;
  if (origins.size() >= kMaxOrigins)
    return parent;
  origins.push_back({at, parent, ""});
  return known[key] = uint32_t(origins.size() - 1);
}

std::string Judge::name_of(const Value *value) {
  if (!value)
    return "an object";
  std::string text;
  raw_string_ostream stream(text);
  if (auto *instruction = dyn_cast<Instruction>(value)) {
    const Function *function = instruction->getFunction();
    if (slots_of != function)
      slots.incorporateFunction(*(slots_of = function));
  }
  value->printAsOperand(stream, false, slots);
  return stream.str();
}

const std::string &Judge::text_of(const Instruction *at) {
  std::string &text = texts[at];
  if (text.empty() && at->getParent()) {
    if (slots_of != at->getFunction())
      slots.incorporateFunction(*(slots_of = at->getFunction()));
    raw_string_ostream stream(text);
    at->print(stream, slots);
    stream.flush();
    text.erase(0, text.find_first_not_of(' '));
    // References to metadata say nothing to a reader.
    size_t cut = text.find(", !");
    if (cut != std::string::npos && text.find("!range", cut) == std::string::npos)
      text.resize(cut);
  }
  return text;
}

void Judge::trace(const Instruction *at, const std::string &value) {
  std::string line = at->getFunction()->getName().str() + ": " + text_of(at);
  if (!value.empty())
    line += "  ; " + value;
  lines.push_back(std::move(line));
  if (lines.size() > trace_lines)
    lines.pop_front();
}

void Judge::add_place(std::string &to, const std::string &what,
                      const Instruction *at) {
  add_text(to, what);
  bool in_function = at && at->getParent();
  add_text(to, in_function ? text_of(at) : "");
  add_text(to, in_function ? at->getFunction()->getName().str() : "");
  const DebugLoc place = at ? at->getDebugLoc() : DebugLoc();
  add_text(to, place ? place->getFilename().str() : "");
  add_number(to, place ? place.getLine() : 0);
  add_number(to, place ? place.getCol() : 0);
}

void Judge::finish(Ruling ruling, const std::string &what,
                   const Instruction *at, uint32_t origin, bool by_signal,
                   int value) {
  RulingRecord record{};
  record.ruling = uint32_t(ruling);
  record.by_signal = by_signal;
  record.end_value = value;
  record.depends_on_layout = depends_on_layout;
  record.steps = steps;
  std::vector<const Origin *> history;
  for (uint32_t i = origin; i && history.size() < kMaxHistory;
       i = origins[i].parent)
    history.push_back(&origins[i]);
  record.observed = uint32_t(observations.size());
  record.places = uint32_t(1 + history.size()) + record.observed;
  std::string answer(reinterpret_cast<const char *>(&record), sizeof record);
  add_place(answer, what, at);
  for (const Origin *step : history)
    add_place(answer, step->what, step->at);
  for (const Origin &step : observations)
    add_place(answer, step.what, step.at);
  add_text(answer, result);
  add_text(answer, out);
  add_text(answer, err);
  std::string trace;
  for (const std::string &line : lines)
    trace += line + "\n";
  add_text(answer, trace);
  if (!memory::write_response(answer.data(), answer.size()))
    crash::finish(Verdict::Trouble, "the verdict is too large to send");
  memory::report().verdict = uint32_t(Verdict::Ok);
  memory::report().phase = uint32_t(Phase::Done);
  _exit(0);
}

void Judge::undefined(const std::string &what, const Instruction *at,
                      uint32_t origin) {
  finish(Ruling::Undefined, what, at, origin, false, 0);
}
void Judge::no_verdict(const std::string &why, const Instruction *at) {
  finish(Ruling::NoVerdict, why, at, 0, false, 0);
}
void Judge::defined(bool by_signal, int value, const Instruction *at) {
  finish(Ruling::Defined, "", at, 0, by_signal, value);
}
} // namespace referee
} // namespace optsleuth

// The end of an interpretation: how poison came about, what the program wrote,
// and the verdict with all of it, as the host reads it.
//
// Never here: a rule of the language.
#pragma once
#include "../protocol.h"
#include "value.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace optsleuth {
namespace referee {
// Where something became poison or undef, or went on being it.
struct Origin {
  const llvm::Instruction *at;
  uint32_t parent; // 0: none.
  std::string what;
};

class Judge {
public:
  explicit Judge(const llvm::Module &module, uint32_t trace_lines);

  // Both give the number of an origin; those of one instruction and parent are
  // one origin, so that a loop does not fill the list.
  uint32_t origin(const llvm::Instruction *at, const std::string &what);
  uint32_t passed_on(const llvm::Instruction *at, uint32_t parent);

  [[noreturn]] void undefined(const std::string &what,
                              const llvm::Instruction *at, uint32_t origin = 0);
  [[noreturn]] void no_verdict(const std::string &why,
                               const llvm::Instruction *at);
  // `at` is where the program ended.
  [[noreturn]] void defined(bool by_signal, int value,
                            const llvm::Instruction *at);

  // What is to be observed: who writes this byte of this stream.
  void observe(uint32_t stream, uint64_t byte) {
    observed_stream = stream;
    observed_byte = byte;
  }
  // Whether a text of this size, written now, has that byte in it.
  bool is_observed(bool to_err, size_t size) const {
    size_t begin = (to_err ? err : out).size();
    return observed_stream == (to_err ? 2u : 1u) && begin <= observed_byte &&
           observed_byte - begin < size;
  }
  void add_observation(const std::string &what, const llvm::Instruction *at) {
    observations.push_back({at, 0, what});
  }

  void trace(const llvm::Instruction *at, const std::string &value);
  bool tracing() const { return trace_lines != 0; }
  const std::string &text_of(const llvm::Instruction *at);
  std::string name_of(const llvm::Value *value);

  std::string out, err; // What the program wrote.
  std::string result;   // What the function returned.
  uint64_t steps = 0;
  bool depends_on_layout = false; // Control flow did.

private:
  [[noreturn]] void finish(Ruling ruling, const std::string &what,
                           const llvm::Instruction *at, uint32_t origin,
                           bool by_signal, int value);
  void add_place(std::string &to, const std::string &what,
                 const llvm::Instruction *at);

  uint32_t observed_stream = 0;
  uint64_t observed_byte = 0;
  std::vector<Origin> observations;
  std::vector<Origin> origins{1};
  std::unordered_map<uint64_t, uint32_t> known;
  std::unordered_map<const llvm::Instruction *, std::string> texts;
  std::deque<std::string> lines;
  uint32_t trace_lines;
  llvm::ModuleSlotTracker slots;
  const llvm::Function *slots_of = nullptr;
};
} // namespace referee
} // namespace optsleuth

// The interpreter: the state of a run, and everything that looks at it.
//
// compile.cpp makes bodies, execute.cpp has the loop, access.cpp loads and
// stores, calls.cpp calls and attributes, intrinsics.cpp and library.cpp what
// has no body.
//
// Never here: a child process or machine code.
#pragma once
#include "body.h"
#include "judge.h"
#include "memory.h"
#include "llvm/IR/Module.h"

namespace optsleuth {
namespace referee {
struct Limits {
  uint64_t steps, memory, output;
  uint32_t depth;
};

struct Frame {
  const Body *body = nullptr;
  uint32_t pc = 0;
  size_t cells = 0; // Where its cells begin.
  const CallPlan *call = nullptr; // The caller's; null for the first.
  size_t first_alloca = 0;
  uint32_t n_restrictions = 0, n_aliases = 0;
  size_t first_tag = 0, end_tag = 0;
  std::vector<std::pair<const Shape *, std::vector<Cell>>> variadic;
};

// What an active function promised about memory.
struct Restriction {
  uint64_t serial; // Objects from here on are its own.
  compat::Effects effects;
  std::vector<uint32_t> arguments; // Objects that pointers of its point to.
  const llvm::Function *function;
};

// What was done to an object through a noalias argument, and otherwise, since
// the call began: for each byte, four bits.
struct Alias {
  uint32_t tag;
  uint32_t object;
  std::vector<uint8_t> bytes;
};

// A byte that must not change, before a write to it.
struct ChangingByte {
  uint32_t object;
  uint64_t offset;
  uint8_t before;
};

enum class Access { Read, Write };

class Machine {
public:
  Machine(const llvm::Module &module, Judge &judge, Limits limits);
  // Calls the function and goes on to the end of the program, which ends this
  // process.
  [[noreturn]] void run(const llvm::Function &function,
                        const std::vector<std::string> &arguments,
                        bool with_arguments);

  // One instruction on constants. False: not known.
  bool compute(const llvm::Instruction &instruction, Cell *cells);

  // For builtins.
  const Cell *argument(const CallPlan &plan, unsigned index) const {
    return at(plan.arguments[index].place);
  }
  Object &access(const Cell &pointer, uint64_t size, uint64_t align,
                 Access access, uint64_t &offset);
  // A length, a count, a flag: undefined or without a verdict if not plain.
  uint64_t known(const Cell &cell, const char *what);
  // The bytes up to a zero, or `most`.
  std::string text_at(const Cell &pointer, uint64_t most = ~0ull);
  Cell pointer_to(const Object &object, uint64_t offset = 0) const;
  Object &new_object(Storage storage, uint64_t size, uint64_t align,
                     const llvm::Value *source);
  void copy_bytes(const Cell &to, const Cell &from, uint64_t size,
                  bool may_overlap);
  void write_output(bool to_err, const std::string &text);
  void observe_call(const std::string &text);
  [[noreturn]] void exit_program(bool by_signal, int value);
  [[noreturn]] void undefined(const std::string &what, const Cell *because = nullptr);
  [[noreturn]] void no_verdict(const std::string &why);
  Cell poison(const std::string &what);
  void settle(Scalar &result, const Outcome &outcome, const Cell *a,
              const Cell *b, const char *sign, unsigned width, Kind kind,
              llvm::Type *type);
  std::string describe(const Cell *cells, const Leaf &leaf);
  std::string describe(const Cell *cells, const Shape &shape);
  std::string name_of(const Object &object);
  void run_select(const Shape &shape, const Cell &condition, const Cell *yes,
                  const Cell *no, Cell *result, unsigned lane_cells);
  void start_variadic(const Cell &list);
  void end_allocas(size_t first);

  const llvm::Module &module;
  const llvm::DataLayout &layout;
  Judge &judge;
  Limits limits;
  Memory memory;
  Shapes shapes;
  std::vector<uint32_t> allocas; // Objects on the stack, oldest first.
  std::vector<Frame> frames;
  const llvm::Instruction *now = nullptr; // What is executed.
  const CallPlan *calling = nullptr; // What a builtin stands for, in it.
  std::string result_text; // What the first function returned.

private:
  friend class Compiler;
  // execute.cpp
  [[noreturn]] void loop();
  void evaluate(const Instr &instr, Cell *result);
  bool simple(const Instr &instr, Cell *result);
  const Cell *at(Place place) const {
    return place >= 0 ? cells + place : constants + ~place;
  }
  bool decide(const Cell &condition);
  void follow(const Edge &edge);
  void lanes(const Instr &instr, Cell *result);
  void float_lanes(const Instr &instr, Cell *result);
  void vectors(const Instr &instr, Cell *result);
  // pointers.cpp
  void gep(const Instr &instr, Cell *result);
  Cell gep_lane(const Cell &base, uint64_t offset, const Instr &instr,
                bool overflows);
  void compare_pointers(const Instr &instr, Cell *result);
  Cell compare_pointer(unsigned predicate, const Cell &a, const Cell &b);
  void pointer_casts(const Instr &instr, Cell *result);
  // access.cpp
  void load(const Instr &instr, Cell *result);
  void store(const Instr &instr);
  void make_alloca(const Instr &instr, Cell *result);
  void atomics(const Instr &instr, Cell *result);
  bool is_aligned(const Cell &pointer, const Object &object,
                  uint64_t align) const;
  void check_restrictions(const Object &object, Access access);
  void check_tags(uint32_t id, const Object &object, Access access);
  void check_aliases(uint32_t id, const Object &object, uint64_t offset,
                     uint64_t size, Access access);
  void add_tags(Frame &frame, const CallPlan *plan);
  // invariants.cpp
  bool was_changed(const Object &object, uint64_t offset, uint64_t size);
  void promise_invariant(uint32_t object, uint64_t offset, uint64_t size);
  void expect_change(const Object &object, uint64_t offset, uint64_t size);
  void check_changes();
  // calls.cpp
  void call(const Instr &instr);
  void enter(const Body &body, const CallPlan *plan,
             const std::vector<std::vector<Cell>> &arguments,
             std::vector<std::pair<const Shape *, std::vector<Cell>>> variadic);
  void leave(const Cell *result);
  void hold(const Promise &promise, const Shape &shape, Cell *value,
            const std::string &whose);
  void hold(const Assumption &assumption);
  void restrict(const compat::Effects &effects, const CallPlan *plan,
                const llvm::Function *function);
  // compile.cpp
  const Body &body_of(const llvm::Function &function);
  // globals.cpp
  void make_globals();
  void initialize(Object &object, uint64_t offset, const llvm::Constant *value);
  bool constant(const llvm::Constant *value, Cell *cells);
  uint32_t object_of(const llvm::GlobalValue *global);

  std::vector<Cell> stack;
  Cell *cells = nullptr; // Of the current frame.
  const Cell *constants = nullptr;
  const std::vector<GepPlan> *gep_plans = nullptr;
  const std::vector<ElementPlan> *element_plans = nullptr;
  std::vector<Restriction> restrictions;
  std::vector<Alias> aliases;
  llvm::DenseMap<uint32_t, std::vector<bool>> invariants; // By object, its bytes.
  std::vector<ChangingByte> changing; // By the instruction that is executed.
  // There are restrictions, aliases or invariants.
  bool watched = false;
  llvm::DenseMap<const llvm::Function *, Body *> bodies;
  llvm::DenseMap<const llvm::GlobalValue *, uint32_t> globals;
  llvm::DenseMap<uint32_t, const llvm::Function *> functions;
  std::vector<Cell> phi_buffer;

public:
  bool restricts_inaccessible();
  const llvm::Function *function_at(const Cell &pointer);
};

Builtin find_intrinsic(llvm::StringRef name, int &kind);
Builtin find_library(llvm::StringRef name, int &kind);
} // namespace referee
} // namespace optsleuth

// Makes bodies: the instructions of a function, or one alone.
//
// Never here: a value of a run, but for constants.
#pragma once
#include "machine.h"
#include "llvm/IR/Instructions.h"

namespace optsleuth {
namespace referee {
class Compiler {
public:
  Compiler(Machine &machine, Body &body) : machine(machine), body(body) {}
  void whole(const llvm::Function &function);
  // Appends to the body's code.
  void compile(const llvm::Instruction &instruction);

private:
  void fail(const std::string &why);
  Place place(const llvm::Value *value);
  const Shape &shape(llvm::Type *type);
  uint32_t edge(const llvm::BasicBlock *from, const llvm::BasicBlock *to);
  void operands(const llvm::Instruction &instruction, Instr &instr);
  void gep(const llvm::Instruction &instruction, Instr &instr);
  void load_or_store(const llvm::Instruction &instruction, Instr &instr);
  void elements(const llvm::Instruction &instruction, Instr &instr);
  void call(const llvm::Instruction &instruction, Instr &instr);
  void branch(const llvm::Instruction &instruction, Instr &instr);
  void values(const llvm::Instruction &instruction, Instr &instr);
  bool has_lifetime_start(const llvm::AllocaInst &alloca);

  Machine &machine;
  Body &body;
  llvm::DenseMap<const llvm::Value *, Place> places;
  std::vector<const llvm::BasicBlock *> targets; // Of the edges.
  std::string reason; // Why the current instruction is not known.
};
} // namespace referee
} // namespace optsleuth

// A function in the form in which it is interpreted: every operand is a place
// among the frame's cells or the function's constants, every type is laid out,
// every attribute is looked up. Made once, when the function is first called.
//
// Never here: a value of a run.
#pragma once
#include "arithmetic.h"
#include "floats.h"
#include "memory.h"
#include "../compat.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include <unordered_map>

namespace optsleuth {
namespace referee {
class Machine;

enum class Code : uint8_t {
  // Plain integers of at most 64 bits, one lane each.
  Add,
  Sub,
  Mul,
  UDiv,
  SDiv,
  URem,
  SRem,
  Shl,
  LShr,
  AShr,
  And,
  Or,
  Xor,
  Compare1,
  Trunc1,
  ZExt1,
  SExt1,
  Load1,
  Store1,
  Gep1,
  // Anything else, lane by lane.
  Binary,
  Compare,
  Cast,
  Select,
  Copy,
  Freeze,
  FloatBinary,
  FloatNegate,
  FloatCompare,
  FloatCast,
  PointerCompare,
  PtrToInt,
  IntToPtr,
  Reinterpret,
  Gep,
  Load,
  Store,
  Alloca,
  ExtractElement,
  InsertElement,
  Shuffle,
  ExtractValue,
  InsertValue,
  AtomicRmw,
  CompareExchange,
  Jump,
  Branch,
  Switch,
  Return,
  Unreachable,
  Call,
  Unsupported,
};

// An operand: a frame's cell if not negative, else ~constant.
using Place = int32_t;

struct Instr {
  Code code = Code::Unsupported;
  uint8_t sub = 0; // LLVM's opcode or predicate.
  uint8_t flags = 0, fast = 0;
  uint32_t width = 0; // Of a lane of the operands, in bits.
  uint32_t lanes = 1;
  uint32_t result = 0;
  Place a = 0, b = 0, c = 0;
  uint32_t extra = 0;             // Index of a plan, by code.
  const Shape *shape = nullptr;   // Of the result; of what is stored.
  const Shape *operand = nullptr; // Of the first operand.
  const llvm::Instruction *from = nullptr;
};

// What a load's metadata or a parameter's attributes promise.
struct Promise {
  bool noundef = false, nonnull = false;
  uint64_t align = 1, dereferenceable = 0, dereferenceable_or_null = 0;
  bool has_range = false;
  std::vector<std::pair<llvm::APInt, llvm::APInt>> ranges; // Half-open.
  uint32_t no_classes = 0; // nofpclass, in LLVM's numbers.
  bool returned = false, no_alias = false;
  uint8_t bans = 0; // readonly, writeonly, readnone: memory.h.
  llvm::Type *by_value = nullptr;
  uint64_t by_value_align = 1;
  bool any() const {
    return noundef || nonnull || align > 1 || dereferenceable ||
           dereferenceable_or_null || has_range || no_classes;
  }
};
Promise promise_of(llvm::AttributeSet attributes);

struct AccessPlan {
  uint64_t align = 1;
  bool is_volatile = false, is_invariant = false;
  Promise promise;
};

struct GepIndex {
  Place place;
  uint32_t width, lanes;
  uint64_t scale;
};
struct GepPlan {
  uint64_t offset = 0;
  uint32_t base_lanes = 1;
  std::vector<GepIndex> indices;
};

struct PhiCopy {
  Place from;
  uint32_t to, cells;
};
struct Edge {
  uint32_t target = 0;
  uint32_t first_copy = 0, n_copies = 0;
  const llvm::Instruction *phi = nullptr;
};
struct SwitchPlan {
  uint32_t otherwise = 0; // An edge.
  std::unordered_map<uint64_t, uint32_t> edges;
};

struct CallArgument {
  Place place;
  const Shape *shape;
  Promise promise;
};
struct CallPlan;
// What the referee does instead of calling a function without a body.
using Builtin = void (*)(Machine &, const CallPlan &, Cell *result);
struct NamedBuiltin {
  const char *name;
  Builtin builtin;
  int kind;
};
// An operand bundle of llvm.assume: "align"(ptr, i64) and the like.
struct Assumption {
  llvm::StringRef tag;
  std::vector<CallArgument> operands;
};
struct CallPlan {
  const llvm::CallBase *call = nullptr;
  const llvm::Function *callee = nullptr; // Null: through a pointer.
  Place pointer = 0;
  std::vector<CallArgument> arguments;
  std::vector<Assumption> assumptions;
  Promise result;
  const Shape *result_shape = nullptr;
  uint32_t result_place = 0;
  compat::Effects effects;
  Builtin builtin = nullptr;
  int kind = 0; // Which operation, where a builtin stands for several.
  uint8_t fast = 0;
  bool no_return = false;
};

struct AllocaPlan {
  uint64_t unit = 0, align = 1;
  bool starts_dead = false;
  uint32_t count_width = 0;
};
struct ElementPlan {
  uint32_t first_cell = 0, n_cells = 0; // Of the part within the whole.
  std::vector<int> mask;                // Of a shuffle.
};

struct Body {
  const llvm::Function *function = nullptr;
  uint32_t n_cells = 0;
  std::vector<Instr> code;
  std::vector<Cell> constants;
  std::vector<AccessPlan> accesses;
  std::vector<GepPlan> geps;
  std::vector<Edge> edges;
  std::vector<PhiCopy> copies;
  std::vector<SwitchPlan> switches;
  std::vector<CallPlan> calls;
  std::vector<AllocaPlan> allocas;
  std::vector<ElementPlan> elements;
  std::vector<std::string> reasons; // Of what is not supported.
  std::vector<Promise> parameters;
  std::vector<uint32_t> parameter_places;
  std::vector<const Shape *> parameter_shapes;
  Promise result;
  compat::Effects effects;
  bool no_return = false, will_return = false;
};
} // namespace referee
} // namespace optsleuth

// What a value of LLVM IR is to the referee.
//
// A value is a row of cells, one for each scalar in it; a scalar of more than
// 64 bits has several. A cell says for each bit whether it is specified. What
// depends on an unspecified bit is still computed, with one possible choice, and
// marked, so that nothing is concluded from it.
//
// Never here: an instruction, memory.
#pragma once
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Type.h"
#include <cstdint>
#include <string>
#include <vector>

namespace optsleuth {
namespace referee {
// Why a cell is not plain. A plain cell's state is 0.
enum State : uint32_t {
  kPoison = 1,
  kUnspecified = 2, // Some bits could be others.
  kUndef = 4,       // It was computed from undef.
  kFree = 8,        // Every unspecified bit is undef itself: any use may differ.
  kLayout = 16,     // Some bits depend on where objects lie.
  kStates = 31,
};
// The rest of a state is where poison or undef came from: undefined.h.
constexpr uint32_t kOriginShift = 8;
// The reasons of both, and the origin of the first that has one.
inline uint32_t merge_states(uint32_t a, uint32_t b) {
  uint32_t origin = a >> kOriginShift ? a : b;
  return ((a | b) & kStates) | (origin & ~((1u << kOriginShift) - 1));
}

struct Cell {
  uint64_t bits = 0;
  uint64_t unspecified = 0; // A mask of bits; 0 unless `state` says more.
  uint32_t object = 0;      // Provenance: of a pointer, or of its bytes.
  uint32_t state = 0;
  bool plain() const { return state == 0; }
  bool poison() const { return state & kPoison; }
  uint32_t origin() const { return state >> kOriginShift; }
};

inline uint64_t low_mask(unsigned bits) {
  return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}
inline int64_t sign_extend(uint64_t bits, unsigned width) {
  return int64_t(bits << (64 - width)) >> (64 - width);
}
inline Cell poison_cell(uint32_t origin) {
  return {0, 0, 0, kPoison | origin << kOriginShift};
}

// One scalar at its full width, for everything that is not fast.
struct Scalar {
  llvm::APInt bits, unspecified;
  uint32_t object = 0, state = 0;

  Scalar() = default;
  explicit Scalar(const llvm::APInt &bits)
      : bits(bits), unspecified(bits.getBitWidth(), 0) {}
  Scalar(unsigned width, uint64_t value)
      : Scalar(llvm::APInt(64, value).zextOrTrunc(width)) {}
  unsigned width() const { return bits.getBitWidth(); }
  bool poison() const { return state & kPoison; }
  bool exact() const { return !poison() && unspecified.isZero(); }
  // Marks bits as unspecified for the reasons of `reasons`, without kFree.
  Scalar &taint(const llvm::APInt &mask, uint32_t reasons);
};
Scalar read_scalar(const Cell *cells, unsigned width);
void write_scalar(Cell *cells, const Scalar &scalar);
inline unsigned cells_of(unsigned width) { return (width + 63) / 64; }

// What a scalar is made of.
enum class Kind : uint8_t { Integer, Float, Pointer };

// A scalar within a value: its place among the cells and in memory.
struct Leaf {
  Kind kind;
  uint32_t width;  // In bits.
  uint32_t cell;
  uint64_t offset; // In bytes.
  llvm::Type *type;
};

// A type, laid out.
struct Shape {
  llvm::Type *type = nullptr;
  std::vector<Leaf> leaves;
  uint32_t n_cells = 0;
  uint64_t store_bytes = 0, alloc_bytes = 0;
  // Of a vector or a scalar: what each lane is.
  uint32_t lanes = 0, stride = 1, width = 0;
  Kind kind = Kind::Integer;
  bool supported = true;
  bool packed_bits = false; // A vector whose lanes are no whole bytes.
  bool has_padding = false;
};

// Shapes of types, each made once.
class Shapes {
public:
  explicit Shapes(const llvm::DataLayout &layout) : layout(layout) {}
  const Shape &of(llvm::Type *type);
  const llvm::DataLayout &layout;

private:
  void lay_out(Shape &shape, llvm::Type *type, uint64_t offset);
  llvm::DenseMap<llvm::Type *, Shape *> known;
};
} // namespace referee
} // namespace optsleuth

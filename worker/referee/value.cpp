// Cells, scalars and shapes. See value.h.
#include "value.h"
#include "llvm/IR/DerivedTypes.h"

using namespace llvm;

namespace optsleuth {
namespace referee {
Scalar &Scalar::taint(const APInt &mask, uint32_t reasons) {
  unspecified |= mask;
  if (!mask.isZero()) {
    state |= reasons & ~uint32_t(kFree | kPoison);
    if (!(state & kLayout))
      state |= kUnspecified;
  }
  return *this;
}

Scalar read_scalar(const Cell *cells, unsigned width) {
  Scalar scalar;
  scalar.object = cells->object;
  scalar.state = cells->state;
  if (width <= 64) {
    scalar.bits = APInt(64, cells->bits).zextOrTrunc(width);
    scalar.unspecified = APInt(64, cells->unspecified).zextOrTrunc(width);
    return scalar;
  }
  SmallVector<uint64_t, 8> bits, unspecified;
  for (unsigned i = 0; i < cells_of(width); ++i) {
    bits.push_back(cells[i].bits);
    unspecified.push_back(cells[i].unspecified);
    scalar.state |= cells[i].state;
  }
  scalar.bits = APInt(width, bits);
  scalar.unspecified = APInt(width, unspecified);
  return scalar;
}

void write_scalar(Cell *cells, const Scalar &scalar) {
  unsigned count = cells_of(scalar.width());
  uint32_t state = scalar.state;
  if (!(state & kPoison) && scalar.unspecified.isZero())
    state = 0;
  for (unsigned i = 0; i < count; ++i) {
    cells[i].bits = state & kPoison ? 0 : scalar.bits.getRawData()[i];
    cells[i].unspecified =
        state & kPoison ? 0 : scalar.unspecified.getRawData()[i];
    cells[i].object = state & kPoison ? 0 : scalar.object;
    cells[i].state = state;
  }
}

namespace {
bool is_scalar(Type *type) {
  return type->isIntegerTy() || type->isPointerTy() ||
         type->isFloatingPointTy();
}
} // namespace

void Shapes::lay_out(Shape &shape, Type *type, uint64_t offset) {
  if (is_scalar(type)) {
    unsigned width = type->isPointerTy()
                         ? layout.getPointerTypeSizeInBits(type)
                         : unsigned(type->getPrimitiveSizeInBits());
    if (type->isIntegerTy())
      width = type->getIntegerBitWidth();
    if (type->isPPC_FP128Ty() || (type->isPointerTy() && width != 64))
      shape.supported = false;
    Kind kind = type->isPointerTy()   ? Kind::Pointer
                : type->isIntegerTy() ? Kind::Integer
                                      : Kind::Float;
    shape.leaves.push_back({kind, width, shape.n_cells, offset, type});
    shape.n_cells += cells_of(width);
  } else if (auto *structure = dyn_cast<StructType>(type)) {
    if (structure->isOpaque()) {
      shape.supported = false;
      return;
    }
    const StructLayout *places = layout.getStructLayout(structure);
    shape.has_padding |= places->hasPadding();
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      lay_out(shape, structure->getElementType(i),
              offset + uint64_t(places->getElementOffset(i)));
  } else if (auto *array = dyn_cast<ArrayType>(type)) {
    if (array->getNumElements() > (1u << 22)) {
      shape.supported = false; // No value that anyone would write by hand.
      return;
    }
    uint64_t step = layout.getTypeAllocSize(array->getElementType());
    for (uint64_t i = 0; i < array->getNumElements(); ++i)
      lay_out(shape, array->getElementType(), offset + i * step);
  } else if (auto *vector = dyn_cast<FixedVectorType>(type)) {
    Type *lane = vector->getElementType();
    uint64_t bits = layout.getTypeSizeInBits(lane);
    if (bits % 8)
      shape.packed_bits = true;
    for (unsigned i = 0; i < vector->getNumElements(); ++i)
      lay_out(shape, lane, offset + i * (bits / 8));
  } else {
    shape.supported = false;
  }
}

const Shape &Shapes::of(Type *type) {
  auto found = known.find(type);
  if (found != known.end())
    return *found->second;
  Shape *shape = new Shape; // For as long as the process lives.
  shape->type = type;
  if (!type->isVoidTy()) {
    lay_out(*shape, type, 0);
    if (shape->supported && type->isSized()) {
      shape->store_bytes = layout.getTypeStoreSize(type);
      shape->alloc_bytes = layout.getTypeAllocSize(type);
    }
  }
  if ((is_scalar(type) || type->isVectorTy()) && !shape->leaves.empty()) {
    shape->lanes = uint32_t(shape->leaves.size());
    shape->width = shape->leaves[0].width;
    shape->kind = shape->leaves[0].kind;
    shape->stride = cells_of(shape->width);
  }
  // Packed lanes inside of an aggregate would need bits as places.
  if (shape->packed_bits && !type->isVectorTy())
    shape->supported = false;
  known[type] = shape;
  return *shape;
}
} // namespace referee
} // namespace optsleuth

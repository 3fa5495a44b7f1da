// Elementwise ops on the bits of integers.
#include "ops/op.h"

namespace sluice {
namespace {

OP(BitwiseAnd, "Computes the bitwise AND of x and y. Broadcasts.")
    .With(BinaryElementwise{IntTypes()})
    .Commutative()
    .NotDifferentiable();

OP(BitwiseOr, "Computes the bitwise OR of x and y. Broadcasts.")
    .With(BinaryElementwise{IntTypes()})
    .Commutative()
    .NotDifferentiable();

OP(BitwiseXor, "Computes the bitwise exclusive OR of x and y. Broadcasts.")
    .With(BinaryElementwise{IntTypes()})
    .Commutative()
    .NotDifferentiable();

OP(Invert, "Inverts all bits of each element.")
    .With(UnaryElementwise{IntTypes()})
    .NotDifferentiable()
    .Undoes([](const Node&, const Node&) { return true; });

OP(LeftShift, "Shifts x left by y bits. Clamps y to [0, bits of the type - 1]. Broadcasts.")
    .With(BinaryElementwise{IntTypes()})
    .NotDifferentiable();

OP(RightShift,
   "Shifts x right by y bits and keeps the sign. Clamps y to [0, bits of the type - 1]. "
   "Broadcasts.")
    .With(BinaryElementwise{IntTypes()})
    .NotDifferentiable();

OP(PopulationCount, "Counts the bits set in each element.")
    .With(UnaryElementwise{IntTypes(), DT_UINT8})
    .NotDifferentiable();

}  // namespace
}  // namespace sluice

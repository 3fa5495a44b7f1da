// Shape functions of ops on the matrices in the last two dimensions of tensors, and a mixin (an
// argument of OpDefBuilder::With) for such ops.
//
// Errors: INVALID_ARGUMENT with TensorFlow's texts.
#ifndef SLUICE_OPS_LINALG_MATRIX_SHAPE_H_
#define SLUICE_OPS_LINALG_MATRIX_SHAPE_H_

#include "graph/infer/shape_context.h"
#include "graph/op/op_def.h"
#include "graph/tensor/dtype.h"

namespace sluice {

// The types of decompositions, solvers and functions of matrices.
inline constexpr TypeSet kFloatOrComplex{DT_DOUBLE, DT_FLOAT, DT_HALF, DT_COMPLEX64, DT_COMPLEX128};

// BatchOf returns all dimensions except the last two. MatrixRows and MatrixColumns return the sizes
// of the last two. All are unknown if the rank is unknown.
PartialShape BatchOf(const PartialShape& s);
int64_t MatrixRows(const PartialShape& s);
int64_t MatrixColumns(const PartialShape& s);

// The shape of input i. INVALID_ARGUMENT unless it has rank 2 or more and square matrices.
absl::StatusOr<PartialShape> Squares(const ShapeContext& c, int i);

// Output 0 has the shape of input 0, whose matrices are square.
absl::Status SquareShape(ShapeContext& c);
// Sets the shape of output 0, the solution of matrix * output = rhs. Inputs 0 (`matrix`) and 1
// (`rhs`) must have equal batch dimensions.
absl::Status SolveShape(ShapeContext& c);
// SolveShape for matrices that need not be square.
absl::Status LeastSquaresShape(ShapeContext& c);
// TriangularSolveShape and BandedSolveShape are the same for triangular matrices and for banded
// triangular matrices. The batch dimensions of `matrix` and `rhs` broadcast.
absl::Status TriangularSolveShape(ShapeContext& c);
absl::Status BandedSolveShape(ShapeContext& c);
// Shape function of determinants. Each output has one number per square matrix of input 0.
absl::Status DeterminantShape(ShapeContext& c);

// Mixin of ops that compute one square matrix from each square matrix of the input.
struct SquareFunction {
  TypeSet types;
  void operator()(OpDefBuilder& op) const;
};

}  // namespace sluice

#endif  // SLUICE_OPS_LINALG_MATRIX_SHAPE_H_

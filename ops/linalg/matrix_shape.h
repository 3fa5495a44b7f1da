// Shapes of ops over the matrices in the last two dimensions of tensors.
//
// Parts of shape functions: errors are INVALID_ARGUMENT with TensorFlow's sentences.
#ifndef SLUICE_OPS_LINALG_MATRIX_SHAPE_H_
#define SLUICE_OPS_LINALG_MATRIX_SHAPE_H_

#include "graph/infer/shape_context.h"
#include "graph/tensor/dtype.h"

namespace sluice {

// What decompositions, solvers and functions of matrices take.
inline constexpr TypeSet kFloatOrComplex{DT_DOUBLE, DT_FLOAT, DT_HALF, DT_COMPLEX64, DT_COMPLEX128};

// All dimensions but the last two, and these; unknown where the rank is.
PartialShape BatchOf(const PartialShape& s);
int64_t MatrixRows(const PartialShape& s);
int64_t MatrixColumns(const PartialShape& s);

// Input i, of rank 2 or more; its matrices are square.
absl::StatusOr<PartialShape> Squares(const ShapeContext& c, int i);

// Output 0 is shaped as input 0, whose matrices are square.
absl::Status SquareShape(ShapeContext& c);
// Output 0 solves matrix * output = rhs, for inputs matrix and rhs of the same batch.
absl::Status SolveShape(ShapeContext& c);
// The same for matrices of any form.
absl::Status LeastSquaresShape(ShapeContext& c);
// The same where the batches broadcast: triangular matrices, and bands of them.
absl::Status TriangularSolveShape(ShapeContext& c);
absl::Status BandedSolveShape(ShapeContext& c);
// One number a square matrix, in each output.
absl::Status DeterminantShape(ShapeContext& c);

}  // namespace sluice

#endif  // SLUICE_OPS_LINALG_MATRIX_SHAPE_H_

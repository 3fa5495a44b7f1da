// Numbers and functions of square matrices: determinants, exponential, logarithm, square root.
#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/linalg/diagonal_builders.h"
#include "ops/linalg/matrix_nodes.h"
#include "ops/linalg/solve_builders.h"
#include "ops/shape_nodes.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// A number a matrix, times the inverse of the input's adjoint.
void IntoInverse(Backprop& b, Output numbers) {
  Output inverse = MatrixInverse(b.Value("input"), {.adjoint = true});
  b.Into("input", ExpandDims(ExpandDims(numbers, -1), -1) * inverse);
}

// The Kronecker product of two batches of matrices of one size.
Output Kronecker(Output x, Output y, Output shape) {
  Graph& g = *x.graph();
  Output batch = PartOf(shape, 0, -2), side = PartOf(shape, -1, kToTheEnd);
  Output one = IndexVector(g, {1});
  Output x_spread = Reshape(x, Concat({batch, side, one, side, one}, 0));
  Output y_spread = Reshape(y, Concat({batch, one, side, one, side}, 0));
  return Reshape(x_spread * y_spread, Concat({batch, side * side, side * side}, 0));
}

// From R R = A: R dR + dR R = dA, a Sylvester equation, solved as one of vectors.
void SquareRootGradient(Backprop& b) {
  Output root = b.Value("output");
  Graph& g = b.graph();
  Output shape = ShapeNode(root);
  Output batch = PartOf(shape, 0, -2), side = PartOf(shape, -1, kToTheEnd);
  Output eye = MatrixDiag(OnesLike(MatrixDiagPart(root)));
  Output conj = ConjOf(root);
  Output sum = Kronecker(eye, TransposeOf(conj), shape) + Kronecker(conj, eye, shape);
  Output vectors =
      Reshape(TransposeOf(b.Of("output")), Concat({batch, side * side, IndexVector(g, {1})}, 0));
  b.Into("input", TransposeOf(Reshape(MatrixSolve(sum, vectors), shape)));
}
#endif

OP(LogMatrixDeterminant,
   "The sign (for complex matrices: a number of length 1) and the logarithm of the absolute value "
   "of the determinant of each matrix.")
    .Input("input", "T")
    .Output("sign", "T")
    .Output("log_abs_determinant", "T")
    .Attr("T", TypeAttr(kFloatOrComplex))
    .Shape(DeterminantShape)
        GRADIENT([](Backprop& b) { IntoInverse(b, b.Of("log_abs_determinant")); });

OP(MatrixDeterminant, "The determinant of each matrix.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(kFloatOrComplex))
    .Shape(DeterminantShape)
        GRADIENT([](Backprop& b) { IntoInverse(b, b.Of("output") * ConjOf(b.Value("output"))); });

OP(MatrixExponential, "The exponential of each matrix.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(kFloatOrComplex))
    .Deprecated(27, "Use Python implementation tf.linalg.matrix_exponential instead.")
    .Shape(SquareShape);

OP(MatrixLogarithm, "The principal logarithm of each matrix.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(ComplexTypes()))
    .Shape(SquareShape);

OP(MatrixSquareRoot,
   "The principal square root of each matrix; of a real one that has none among real matrices, "
   "NaN.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(kFloatOrComplex))
    .Shape(SquareShape) GRADIENT(SquareRootGradient);

OP(BatchMatrixDeterminant, "MatrixDeterminant.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE, DT_COMPLEX64, DT_COMPLEX128}))
    .Deprecated(13, "Use MatrixDeterminant instead.")
    .Shape(DeterminantShape);

}  // namespace
}  // namespace sluice

// Ops that compute functions of square matrices: determinants, exponential, logarithm, square root.
#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/linalg/diagonal_builders.h"
#include "ops/linalg/matrix_nodes.h"
#include "ops/linalg/solve_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// Sets the gradient to the inverse of the adjoint of the input, times one number per matrix.
void IntoInverse(Backprop& b, Output numbers) {
  Output inverse = MatrixInverse(b.Value("input"), {.adjoint = true});
  b.Into("input", ExpandDims(ExpandDims(numbers, -1), -1) * inverse);
}

// Returns the Kronecker products of two batches of matrices of equal shapes.
Output Kronecker(Output x, Output y, Output shape) {
  Graph& g = *x.graph();
  Output batch = PartOf(shape, 0, -2), side = PartOf(shape, -1, kToTheEnd);
  Output one = IndexVector(g, {1});
  Output x_spread = Reshape(x, Concat({batch, side, one, side, one}, 0));
  Output y_spread = Reshape(y, Concat({batch, one, side, one, side}, 0));
  return Reshape(x_spread * y_spread, Concat({batch, side * side, side * side}, 0));
}

// R R = A gives the Sylvester equation R dR + dR R = dA. This solves it as an equation of vectors.
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
   "Computes the sign (a number of absolute value 1 for complex matrices) and the logarithm of the "
   "absolute value of determinants.")
    .Input("input", "T")
    .Output("sign", "T")
    .Output("log_abs_determinant", "T")
    .Attr("T", TypeAttr(kFloatOrComplex))
    .Shape(DeterminantShape)
        GRADIENT([](Backprop& b) { IntoInverse(b, b.Of("log_abs_determinant")); });

OP(MatrixDeterminant, "Computes determinants.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(kFloatOrComplex))
    .Shape(DeterminantShape)
        GRADIENT([](Backprop& b) { IntoInverse(b, b.Of("output") * ConjOf(b.Value("output"))); });

OP(MatrixExponential, "Computes exponentials of matrices.")
    .With(SquareFunction{kFloatOrComplex})
    .Deprecated(27, "Use Python implementation tf.linalg.matrix_exponential instead.");

OP(MatrixLogarithm, "Computes principal logarithms of matrices.")
    .With(SquareFunction{ComplexTypes()});

OP(MatrixSquareRoot,
   "Computes principal square roots of matrices. NaN for a real matrix without a real square "
   "root.")
    .With(SquareFunction{kFloatOrComplex}) GRADIENT(SquareRootGradient);

OP(BatchMatrixDeterminant, "An older form of MatrixDeterminant.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE, DT_COMPLEX64, DT_COMPLEX128}))
    .Deprecated(13, "Use MatrixDeterminant instead.")
    .Shape(DeterminantShape);

}  // namespace
}  // namespace sluice

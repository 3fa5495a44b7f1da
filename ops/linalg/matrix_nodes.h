// Builds nodes that gradients of linear algebra ops share.
//
// The functions add nodes to the graph of their arguments.
// Errors: stay in the graph (Graph::status). The result is then an invalid handle.
#ifndef SLUICE_OPS_LINALG_MATRIX_NODES_H_
#define SLUICE_OPS_LINALG_MATRIX_NODES_H_

#include "graph/gradient/backprop.h"
#include "graph/ir/graph.h"

namespace sluice {

// The form in which Times uses a factor: as it is, or as its adjoint (conjugate transpose).
enum class Form { kPlain, kAdjoint };

// The product of the matrices in x and y. Each factor is the matrix itself or its adjoint.
Output Times(Output x, Output y, Form x_form = Form::kPlain, Form y_form = Form::kPlain);

// AdjointOf returns the adjoint of each matrix in x, and TransposeOf the transpose.
Output AdjointOf(Output x);
Output TransposeOf(Output x);

// LowerTriangle keeps the diagonal and the elements below it, and sets the others to 0.
// WithDiagonalTimes multiplies the elements on the diagonal by `factor`.
Output LowerTriangle(Output x);
Output WithDiagonalTimes(Output x, double factor);

// x / (x^2 + 1e-20), a reciprocal that is 0 at 0. As in TensorFlow, gradients of decompositions use
// it to avoid NaN for equal eigenvalues.
Output SafeReciprocal(Output x);
// Makes a matrix from each vector in the last dimension of `e`. Element (i, j) of the matrix is
// 1 / (e_j - e_i), computed by SafeReciprocal. The diagonal is 0.
Output ReciprocalDifferences(Output e);

// x[..., begin:end] along the last dimension (axis -1) or the one before it (axis -2). A negative
// end counts from the end, and kToTheEnd means no bound.
Output PartOfAxis(Output x, int axis, int64_t begin, int64_t end);

// Sets the gradients of inputs 0 and 1 to grad_0 and grad_1. If batch dimensions of an input were
// broadcast, its gradient is summed over these dimensions first.
void IntoBatches(Backprop& b, Output grad_0, Output grad_1);

}  // namespace sluice

#endif  // SLUICE_OPS_LINALG_MATRIX_NODES_H_

// Builds nodes that gradients of linear algebra ops share.
//
// The functions add nodes to the graph of their arguments.
// Errors: stay in the graph.
#ifndef SLUICE_OPS_LINALG_MATRIX_NODES_H_
#define SLUICE_OPS_LINALG_MATRIX_NODES_H_

#include "graph/gradient/backprop.h"
#include "graph/ir/graph.h"

namespace sluice {

// A factor itself or its adjoint (conjugate transpose).
enum class Form { kPlain, kAdjoint };

// Products of matrices, op(x) * op(y).
Output Times(Output x, Output y, Form x_form = Form::kPlain, Form y_form = Form::kPlain);

// Adjoints and transposes of matrices.
Output AdjointOf(Output x);
Output TransposeOf(Output x);

// The lower triangle including the diagonal, and the matrix with its diagonal multiplied by
// `factor`.
Output LowerTriangle(Output x);
Output WithDiagonalTimes(Output x, double factor);

// x / (x^2 + 1e-20), a reciprocal that is 0 at 0. As in TensorFlow, gradients of decompositions use
// it to avoid NaN for equal eigenvalues.
Output SafeReciprocal(Output x);
// Matrices of 1 / (e_j - e_i) at (i, j), with zeros on the diagonal, for the last dimension of `e`.
Output ReciprocalDifferences(Output e);

// x[..., begin:end] along the last dimension (axis -1) or the one before it (axis -2). A negative
// end counts from the end, and kToTheEnd means no bound.
Output PartOfAxis(Output x, int axis, int64_t begin, int64_t end);

// Sets the gradients of inputs 0 and 1, whose batch dimensions broadcast: sums grad_0 and grad_1 to
// the shapes of the inputs.
void IntoBatches(Backprop& b, Output grad_0, Output grad_1);

}  // namespace sluice

#endif  // SLUICE_OPS_LINALG_MATRIX_NODES_H_

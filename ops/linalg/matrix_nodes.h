// Nodes that gradients of linear algebra share.
//
// The functions add nodes to the graph of their arguments; errors stay in the graph.
#ifndef SLUICE_OPS_LINALG_MATRIX_NODES_H_
#define SLUICE_OPS_LINALG_MATRIX_NODES_H_

#include "graph/gradient/backprop.h"
#include "graph/ir/graph.h"

namespace sluice {

// Whether a factor is taken as it is or as its adjoint (conjugate transpose).
enum class Form { kPlain, kAdjoint };

// op(x) * op(y), matrix by matrix.
Output Times(Output x, Output y, Form x_form = Form::kPlain, Form y_form = Form::kPlain);

// The adjoint of each matrix, and the transpose.
Output AdjointOf(Output x);
Output TransposeOf(Output x);

// The lower triangle with the diagonal, and the matrix with its diagonal multiplied.
Output LowerTriangle(Output x);
Output WithDiagonalTimes(Output x, double factor);

// x / (x^2 + 1e-20): a reciprocal that is 0 at 0, as TensorFlow's gradients of decompositions take
// it, so that equal eigenvalues give no NaN.
Output SafeReciprocal(Output x);
// 1 / (e_j - e_i) at (i, j), 0 on the diagonal, of the last dimension of `e`.
Output ReciprocalDifferences(Output e);

// x[..., begin:end] along the last dimension (axis -1) or the one before (-2); kToTheEnd is open,
// a negative end counts from the end.
Output PartOfAxis(Output x, int axis, int64_t begin, int64_t end);

// Gradients of inputs 0 and 1, whose batch dimensions broadcast, summed to their shapes.
void IntoBatches(Backprop& b, Output grad_0, Output grad_1);

}  // namespace sluice

#endif  // SLUICE_OPS_LINALG_MATRIX_NODES_H_

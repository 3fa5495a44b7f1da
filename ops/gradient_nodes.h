// Nodes that gradients share: constants, shapes, conjugates, undoing a broadcast, the shape that a
// reduction would have kept.
//
// The functions add the nodes that TensorFlow's gradients are made of to the graph of their
// arguments; errors stay in the graph, and an invalid argument gives an invalid result.
#ifndef SLUICE_OPS_GRADIENT_NODES_H_
#define SLUICE_OPS_GRADIENT_NODES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/build/scopes.h"
#include "graph/gradient/backprop.h"

namespace sluice {

// An int32 vector constant.
Output IntVector(Graph& graph, const std::vector<int64_t>& values, std::string_view name);

// A scalar constant of x's type.
Output NumberLike(Output x, double value, std::string_view name = "Const");

// Conj(x) of a complex tensor; a real one as it is.
Output ConjOf(Output x);

// Gradients gx and gy, shaped as the broadcast of x and y, summed to the shapes of x and y. Where
// the static shapes tell that nothing was repeated, they stay as they are. One that is invalid
// stays so.
struct GradientPair {
  Output x;
  Output y;
};
GradientPair ReduceGradientArgs(Output x, Output y, Output gx, Output gy);

// The same into inputs 0 and 1 of the op.
void IntoBroadcast(Backprop& b, Output gx, Output gy);

// The shape that reducing `input` over `axes` gives with keep_dims, as an int32 vector.
// `input_shape` is ShapeOf(input).
Output ReducedShape(Output input_shape, Output axes);

// The outputs of a node of `op` over `inputs`. Attributes that `op` shares with the op of `b`, and
// that do not follow from the inputs, have the values of that op: the ops of one family, as Conv2D
// and Conv2DBackpropInput, describe their windows or ranges by the same attributes. `attrs` win.
// For ops without list arguments.
OutputList SiblingOutputs(Backprop& b, std::string_view op, const OutputList& inputs,
                          const AttrMap& attrs = {}, At at = At::current());
// The same for an op with one output.
Output Sibling(Backprop& b, std::string_view op, const OutputList& inputs, At at = At::current());

// Known sizes of all three, and the same.
bool SameKnownShapes(Output x, Output y, Output grad);

}  // namespace sluice

#endif  // SLUICE_OPS_GRADIENT_NODES_H_

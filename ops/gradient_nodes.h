// Nodes that gradients of several families of ops share: constants, conjugates, sums over broadcast
// dimensions, shapes of reductions.
//
// The functions add the same nodes as TensorFlow's gradients, to the graph of their arguments.
// Errors: stay in the graph. An invalid argument gives an invalid result.
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

// Conj(x) for a complex tensor, x for a real one.
Output ConjOf(Output x);

// Returns the gradient function of y = f(x). It adds the nodes of `derivative(b, grad)`, where
// `grad` is the gradient with respect to y. As in TensorFlow, these nodes run after `grad` has been
// computed.
GradientFunction ChainRule(Output (*derivative)(Backprop& b, Output grad));

struct GradientPair {
  Output x;
  Output y;
};
// The gradients gx and gy have the broadcast shape of x and y. Sums gx over the dimensions in which
// x was broadcast, so that it gets the shape of x, and does the same with gy and y. A gradient
// stays as it is if it is invalid, or if static shapes show that nothing was broadcast.
GradientPair ReduceGradientArgs(Output x, Output y, Output gx, Output gy);

// Calls ReduceGradientArgs for inputs 0 and 1 of the node of `b`, and sets their gradients to its
// results.
void IntoBroadcast(Backprop& b, Output gx, Output gy);

// The shape of the result of a reduction over `axes` with keep_dims, as an int32 vector.
// `input_shape` is the shape of the reduction's input, ShapeOf(input).
Output ReducedShape(Output input_shape, Output axes);

// Adds a node of `op`, which belongs to the same family as the op of `b` (such as
// Conv2DBackpropInput and Conv2D), and returns its outputs. Ops of a family describe their windows
// or ranges by the same attributes. So the attributes that both ops have are copied from the node
// of `b`, except those that follow from the inputs. `attrs` take precedence. `op` must not have
// list arguments.
OutputList SiblingOutputs(Backprop& b, std::string_view op, const OutputList& inputs,
                          const AttrMap& attrs = {}, At at = At::current());
// Does the same for an op with one output, and returns that output.
Output Sibling(Backprop& b, std::string_view op, const OutputList& inputs, At at = At::current());

// Whether all three shapes are known and equal.
bool SameKnownShapes(Output x, Output y, Output grad);

}  // namespace sluice

#endif  // SLUICE_OPS_GRADIENT_NODES_H_

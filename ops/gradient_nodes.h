// Helpers for the gradient functions of ops. They add constants, conjugates, sums over broadcast
// dimensions and shapes of reductions.
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

// Adds an int32 vector constant called `name`.
Output IntVector(Graph& graph, const std::vector<int64_t>& values, std::string_view name);

// Adds a scalar constant with this value and the type of x.
Output NumberLike(Output x, double value, std::string_view name = "Const");

// Returns Conj(x) for a complex tensor, and x itself for a real one.
Output ConjOf(Output x);

// Returns the gradient function of an op y = f(x). The gradient with respect to x (input 0) is
// `derivative(b, grad)`, where `grad` is the gradient with respect to y (output 0). As in
// TensorFlow, the nodes that `derivative` adds run after `grad` has been computed.
GradientFunction ChainRule(Output (*derivative)(Backprop& b, Output grad));

struct GradientPair {
  Output x;
  Output y;
};
// Completes the gradients of an op that broadcasts its inputs x and y. The arguments gx and gy are
// gradients of the broadcast shape. Returns gx summed over the dimensions in which x was broadcast,
// so that it has the shape of x, and gy summed to the shape of y in the same way. A gradient stays
// as it is if it is invalid, or if static shapes show that its input was not broadcast.
GradientPair ReduceGradientArgs(Output x, Output y, Output gx, Output gy);

// Calls ReduceGradientArgs with inputs 0 and 1 of the forward op of `b`, and sets the gradients
// with respect to these inputs to the results. Sets no gradient for a result that is invalid.
void IntoBroadcast(Backprop& b, Output gx, Output gy);

// Returns the shape of the result of a reduction over `axes` with keep_dims, as an int32 vector.
// `input_shape` is the shape of the reduction's input, as ShapeOf returns it.
Output ReducedShape(Output input_shape, Output axes);

// Adds a node of `op` that computes a gradient of the forward op of `b`, and returns its outputs.
// Example: `op` is Conv2DBackpropInput, and the forward op is Conv2D. Attributes that both ops
// have, such as strides and padding, are copied from the forward op. Types that `inputs` determine
// are not copied. `attrs` adds attributes and overrides copied ones. `op` must not have list
// arguments.
OutputList SiblingOutputs(Backprop& b, std::string_view op, const OutputList& inputs,
                          const AttrMap& attrs = {}, At at = At::current());
// Does the same as SiblingOutputs for an op with one output, and returns that output.
Output Sibling(Backprop& b, std::string_view op, const OutputList& inputs, At at = At::current());

// Whether the static shapes of x, y and grad are fully known and equal.
bool SameKnownShapes(Output x, Output y, Output grad);

}  // namespace sluice

#endif  // SLUICE_OPS_GRADIENT_NODES_H_

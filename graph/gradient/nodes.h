// The few ops that the gradient engine makes itself, by name: graph/ knows no generated builders.
//
// Each makes its node under the graph's open scopes; an error stays in the graph.
#ifndef SLUICE_GRAPH_GRADIENT_NODES_H_
#define SLUICE_GRAPH_GRADIENT_NODES_H_

#include <string_view>
#include <vector>

#include "graph/gradient/gradients.h"
#include "graph/ir/graph.h"

namespace sluice::gradient {

Output Const(Graph* graph, std::string_view name, const Tensor& value);
// An op of one tensor and one result, without attributes to give.
Output Unary(std::string_view op, std::string_view name, Output x);
// Sizes of x: a constant where they are known, else a Shape node.
Output ShapeOf(Output x);
// `value` (0 or 1) everywhere: nodes `<name>/Const` and `<name>`.
Output Filled(Output shape, DataType dtype, int value, std::string_view name);
// Zeros of x's type and shape, outside of any op's gradient; of a resource, of what it holds.
Output ZerosAs(Output x);
// vector[0], with the nodes that TensorFlow's indexing makes.
Output FirstElement(Output vector);

}  // namespace sluice::gradient

#endif  // SLUICE_GRAPH_GRADIENT_NODES_H_

// Converts slices to a dense tensor: rows of the same index are added.
#include "graph/build/core_ops.h"
#include "graph/build/node_builder.h"
#include "graph/gradient/gradients.h"
#include "graph/gradient/made_dense.h"
#include "graph/status.h"

namespace sluice {

Output ToDense(const Grad& grad, std::string_view name) {
  if (!grad.is_slices()) return grad.dense();
  const IndexedSlices slices = grad.slices();
  Graph* graph = slices.values.graph();
  if (graph == nullptr) return Output();
  if (!slices.dense_shape) {
    graph->SetError(absl::InvalidArgumentError(
        StrCat("Tensor conversion requested for IndexedSlices without dense_shape: '",
               slices.values.name(), "'")));
    return Output();
  }
  return NodeBuilder(graph, "UnsortedSegmentSum", At::current())
      .Name(name)
      .Input(slices.values)
      .Input(slices.indices)
      .Input(core::FirstElement(slices.dense_shape))
      .Attr(kMadeDenseAttr, true)
      .Finish();
}

}  // namespace sluice

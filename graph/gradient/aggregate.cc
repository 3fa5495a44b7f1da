#include "graph/gradient/aggregate.h"

#include <algorithm>
#include <map>
#include <string>

#include "graph/build/core_ops.h"
#include "graph/build/node_builder.h"
#include "graph/status.h"

namespace sluice::gradient {
namespace {

constexpr std::string_view kAddN = "AddN";

Output AddN(const OutputList& summands, std::string_view name = "") {
  return NodeBuilder(GraphOf({}, {&summands}), kAddN, At::current())
      .Name(name)
      .Input(summands)
      .Finish();
}

Output SumOverDevices(Graph& graph, const OutputList& summands) {
  std::map<std::string, OutputList> by_device;
  for (const Output& t : summands) by_device[t.node->device()].push_back(t);
  OutputList partial;
  for (const auto& [device, tensors] : by_device) {
    ColocateWith with(graph, tensors[0], /*ignore_existing=*/true);
    partial.push_back(tensors.size() == 1 ? tensors[0] : AddN(tensors));
  }
  return partial.size() == 1 ? partial[0] : AddN(partial);
}

Output SumAsTree(Graph& graph, const Node& op, const OutputList& summands) {
  NameScope scope(graph, StrCat(op.name(), "_gradient_sum"));
  Output sum = summands[0];
  for (size_t i = 1; i < summands.size(); ++i) sum = AddN({sum, summands[i]});
  return sum;
}

constexpr char kAccumulateN[] = "AccumulateNV2";

bool HasKnownShape(const OutputList& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const Output& t) { return t.shape().IsFullyDefined(); });
}

Output SumTensors(Graph& graph, const Node& op, const OutputList& summands,
                  AggregationMethod method) {
  if (method == AggregationMethod::kAddN) return SumOverDevices(graph, summands);
  if (method == AggregationMethod::kExperimentalAccumulateN && summands.size() > 2 &&
      HasKnownShape(summands) && OpRegistry::Global().Find(kAccumulateN) != nullptr) {
    return NodeBuilder(&graph, kAccumulateN, At::current())
        .Input(summands)
        .Attr("shape", summands[0].shape())
        .Finish();
  }
  return SumAsTree(graph, op, summands);
}

// Converts indices of different types to int64.
void UnifyIndices(std::vector<IndexedSlices>& slices) {
  const bool same = std::all_of(slices.begin(), slices.end(), [&](const IndexedSlices& s) {
    return s.indices.dtype() == slices[0].indices.dtype();
  });
  if (same) return;
  for (IndexedSlices& s : slices) {
    if (s.indices.dtype() != DT_INT64) s.indices = core::Cast(s.indices, DT_INT64);
  }
}

Grad SumSlices(std::vector<IndexedSlices> slices) {
  UnifyIndices(slices);
  OutputList values, indices;
  for (const IndexedSlices& s : slices) {
    values.push_back(s.values);
    indices.push_back(s.indices);
  }
  const Output all_values = core::Concat(values);
  const Output all_indices = core::Concat(indices);
  return Grad(IndexedSlices{
      .values = all_values, .indices = all_indices, .dense_shape = slices[0].dense_shape});
}

// Adds dense tensors and slices. Converts the slices to dense tensors, in the name scope of the
// sum.
Grad SumMixed(Graph& graph, const std::vector<Grad>& summands) {
  NameScope scope(graph, kAddN);
  OutputList tensors;
  for (size_t i = 0; i < summands.size(); ++i) {
    tensors.push_back(ToDense(summands[i], StrCat("inputs_", i)));
  }
  if (!graph.status().ok()) return Grad();
  return AddN(tensors, scope.prefix());
}

}  // namespace

Grad Sum(const Node& op, const std::vector<Grad>& summands, AggregationMethod method) {
  if (summands.empty()) return Grad();
  if (summands.size() == 1) return summands[0];
  Graph& graph = *op.graph();
  const bool all_slices =
      std::all_of(summands.begin(), summands.end(), [](const Grad& g) { return g.is_slices(); });
  const bool all_dense =
      std::all_of(summands.begin(), summands.end(), [](const Grad& g) { return g.is_dense(); });
  if (all_slices) {
    std::vector<IndexedSlices> slices;
    for (const Grad& g : summands) slices.push_back(g.slices());
    return SumSlices(std::move(slices));
  }
  if (!all_dense) return SumMixed(graph, summands);
  OutputList tensors;
  for (const Grad& g : summands) tensors.push_back(g.dense());
  return SumTensors(graph, op, tensors, method);
}

}  // namespace sluice::gradient

#include "ops/indexing/subscript.h"

#include "graph/build/node_builder.h"
#include "ops/array/shaping.h"
#include "ops/builders/constant.h"
#include "ops/reduce/reduce_axes.h"

namespace sluice {
namespace {

using Masks = std::vector<std::pair<std::string_view, int64_t>>;

// Slices axis 0. Adds the constants and masks that Python's indexing adds.
Output SliceRows(Output x, int64_t begin, int64_t end, std::string_view name, At at,
                 const Masks& masks) {
  if (!x) return Output();
  Graph& graph = *x.graph();
  NameScope scope(graph, name);
  const Output from = Constant(graph, IntegerTensor({begin}), "stack", at);
  const Output to = Constant(graph, IntegerTensor({end}), "stack_1", at);
  NodeBuilder builder(&graph, "StridedSlice", at);
  builder.Name(scope.prefix()).Input(x).Input(from).Input(to);
  builder.Input(Constant(graph, IntegerTensor({1}), "stack_2", at));
  for (const auto& [mask, value] : masks) builder.Attr(mask, value);
  return builder.Finish();
}

}  // namespace

Output Gather(Output params, Output indices, int axis, std::string_view name, At at) {
  if (!params) return Output();
  Graph& graph = *params.graph();
  NameScope scope(graph, name.empty() ? "GatherV2" : name);
  return NodeBuilder(&graph, "GatherV2", at)
      .Name(scope.prefix())
      .Input(params)
      .Input(indices)
      .Input(Constant(graph, int32_t{axis}, "axis", at))
      .Finish();
}

Output ElementAt(Output x, int64_t index, std::string_view name, At at) {
  Masks masks = {{"shrink_axis_mask", 1}};
  if (index == -1) masks.push_back({"end_mask", 0});
  return SliceRows(x, index, index + 1, name, at, masks);
}

Output RowsOf(Output x, int64_t begin, int64_t end, std::string_view name, At at) {
  Masks masks;
  if (begin == 0) masks.push_back({"begin_mask", 1});
  if (end == 0) masks.push_back({"end_mask", 1});
  return SliceRows(x, begin, end, name, at, masks);
}

Output BooleanMask(Output x, Output mask, std::string_view name, At at) {
  if (!x || !mask) return Output();
  Graph& graph = *x.graph();
  NameScope scope(graph, name);
  // As in TensorFlow, adds nodes that flatten the axes of the mask, even though it is a vector.
  const Output covered = SliceRows(ShapeOf(x, "Shape", at), 0, 1, "strided_slice", at, {});
  const Output count = ReduceProd(covered, {0}, {}, at);
  const Output before =
      SliceRows(ShapeOf(x, "Shape", at), 0, 0, "strided_slice", at, {{"begin_mask", 1}});
  const Output after =
      SliceRows(ShapeOf(x, "Shape", at), 1, 0, "strided_slice", at, {{"end_mask", 1}});
  Output shape;
  {
    NameScope concat(graph, "concat");
    const Output middle = Stack({count}, 0, {.name = "values_1"}, at);
    shape = NodeBuilder(&graph, "ConcatV2", at)
                .Name(concat.prefix())
                .Input(OutputList{before, middle, after})
                .Input(Constant(graph, int32_t{0}, "axis", at))
                .Finish();
  }
  const Output rows = NodeBuilder(&graph, "Reshape", at).Input(x).Input(shape).Finish();
  const Output where = NodeBuilder(&graph, "Where", at).Input(Reshape(mask, {-1}, {}, at)).Finish();
  const Output positions = NodeBuilder(&graph, "Squeeze", at)
                               .Input(where)
                               .Attr("squeeze_dims", std::vector<int64_t>{1})
                               .Finish();
  return Gather(rows, positions, 0, "", at);
}

}  // namespace sluice

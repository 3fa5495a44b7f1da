#include "ops/array/shaping.h"

#include <numeric>

#include "graph/build/node_builder.h"
#include "graph/status.h"
#include "ops/builders/constant.h"
#include "ops/builders/result.h"

namespace sluice {
namespace {

using Ints = std::vector<int64_t>;

// Builds a node in a name scope of the same name, which contains its constant arguments.
class ScopedOp {
 public:
  ScopedOp(Graph& graph, std::string_view op, std::string_view name, At at)
      : graph_(graph), scope_(graph, name), builder_(&graph, op, at), at_(at) {
    builder_.Name(scope_.prefix());
  }
  ScopedOp& In(Output x) {
    builder_.Input(x);
    return *this;
  }
  ScopedOp& In(const OutputList& list) {
    builder_.Input(list);
    return *this;
  }
  ScopedOp& Vector(std::string_view name, const Ints& values) {
    return In(Constant(graph_, IntegerTensor(values), name, at_));
  }
  ScopedOp& Scalar(std::string_view name, int64_t value) {
    return In(Constant(graph_, IntegerTensor({value}).Reshaped(TensorShape()), name, at_));
  }
  ScopedOp& Attr(std::string_view name, AttrValue value) {
    builder_.Attr(name, std::move(value));
    return *this;
  }
  Node* Finish() { return builder_.Finish(); }

 private:
  Graph& graph_;
  NameScope scope_;
  NodeBuilder builder_;
  At at_;
};

std::string_view Or(const Named& options, std::string_view otherwise) {
  return options.name.empty() ? otherwise : options.name;
}

Output Fail(Output x, std::string_view message, At at) {
  x.graph()->SetError(
      InvalidArgument(message, ", got '", x.name(), "' of shape ", x.shape().ToString()), at);
  return Output();
}

Output WithVector(std::string_view op, std::string_view default_name, Output x,
                  std::string_view arg, const Ints& values, const Named& options, At at) {
  if (!x) return Output();
  return ScopedOp(*x.graph(), op, Or(options, default_name), at).In(x).Vector(arg, values).Finish();
}

Output WithScalar(std::string_view op, Output x, std::string_view arg, int64_t value,
                  const Named& options, At at) {
  if (!x) return Output();
  return ScopedOp(*x.graph(), op, Or(options, op), at).In(x).Scalar(arg, value).Finish();
}

Output Property(std::string_view op, Output x, std::string_view name, At at) {
  return NodeBuilder(x.graph(), op, at).Name(name).Input(x).Finish();
}
Output KnownScalar(Output x, int64_t value, std::string_view name, At at) {
  return Constant(*x.graph(), IntegerTensor({value}).Reshaped(TensorShape()), name, at);
}

}  // namespace

Output Reshape(Output x, const Ints& shape, const Named& options, At at) {
  return WithVector("Reshape", "Reshape", x, "shape", shape, options, at);
}
Output Transpose(Output x, const Ints& perm, const Named& options, At at) {
  return WithVector("Transpose", "transpose", x, "perm", perm, options, at);
}
Output Transpose(Output x, At at) {
  if (!x) return Output();
  if (!x.shape().rank_known()) return Fail(x, "Transpose: a tensor of known rank", at);
  Ints perm(x.shape().rank());
  std::iota(perm.rbegin(), perm.rend(), 0);
  return Transpose(x, perm, {}, at);
}
Output ExpandDims(Output x, int axis, const Named& options, At at) {
  return WithScalar("ExpandDims", x, "dim", axis, options, at);
}
Output Tile(Output x, const Ints& multiples, const Named& options, At at) {
  return WithVector("Tile", "Tile", x, "multiples", multiples, options, at);
}

Output Pad(Output x, const std::vector<std::pair<int64_t, int64_t>>& paddings, const Named& options,
           At at) {
  if (!x) return Output();
  Ints flat;
  for (const auto& [before, after] : paddings) {
    flat.push_back(before);
    flat.push_back(after);
  }
  Graph& graph = *x.graph();
  NameScope scope(graph, Or(options, "Pad"));
  const Tensor table =
      IntegerTensor(flat).Reshaped(TensorShape({static_cast<int64_t>(paddings.size()), 2}));
  return NodeBuilder(&graph, "Pad", at)
      .Name(scope.prefix())
      .Input(x)
      .Input(Constant(graph, table, "paddings", at))
      .Finish();
}

Output Slice(Output x, const Ints& begin, const Ints& size, const Named& options, At at) {
  if (!x) return Output();
  return ScopedOp(*x.graph(), "Slice", Or(options, "Slice"), at)
      .In(x)
      .Vector("begin", begin)
      .Vector("size", size)
      .Finish();
}

Output Concat(const OutputList& values, int axis, const Named& options, At at) {
  Graph* graph = GraphOf({}, {&values});
  if (graph == nullptr) return Output();
  return ScopedOp(*graph, "ConcatV2", Or(options, "concat"), at)
      .In(values)
      .Scalar("axis", axis)
      .Finish();
}

OutputList Split(Output x, int num, int axis, const Named& options, At at) {
  if (!x) return ListOutput(nullptr, 0, static_cast<size_t>(num));
  Node* node = ScopedOp(*x.graph(), "Split", Or(options, "split"), at)
                   .Scalar("split_dim", axis)
                   .In(x)
                   .Attr("num_split", int64_t{num})
                   .Finish();
  return ListOutput(node, 0, static_cast<size_t>(num));
}

OutputList Split(Output x, const Ints& sizes, int axis, const Named& options, At at) {
  if (!x) return OutputList(sizes.size());
  Graph& graph = *x.graph();
  const Output size_splits = Constant(graph, IntegerTensor(sizes), "Const", at);
  Node* node = ScopedOp(graph, "SplitV", Or(options, "split"), at)
                   .In(x)
                   .In(size_splits)
                   .Scalar("split_dim", axis)
                   .Attr("num_split", static_cast<int64_t>(sizes.size()))
                   .Finish();
  return ListOutput(node, 0, sizes.size());
}

Output Stack(const OutputList& values, int axis, const Named& options, At at) {
  return NodeBuilder(GraphOf({}, {&values}), "Pack", at)
      .Name(Or(options, "stack"))
      .Input(values)
      .Attr("axis", int64_t{axis})
      .Finish();
}

OutputList Unstack(Output x, int axis, int num, const Named& options, At at) {
  if (!x) return {};
  if (num < 0 && x.shape().rank_known()) {
    const int i = axis < 0 ? axis + x.shape().rank() : axis;
    if (i >= 0 && i < x.shape().rank()) num = static_cast<int>(x.shape().dim(i));
  }
  if (num < 0) {
    Fail(x, "Unstack: an axis of known size", at);
    return {};
  }
  Node* node = NodeBuilder(x.graph(), "Unpack", at)
                   .Name(Or(options, "unstack"))
                   .Input(x)
                   .Attr("num", int64_t{num})
                   .Attr("axis", int64_t{axis})
                   .Finish();
  return ListOutput(node, 0, static_cast<size_t>(num));
}

Output OneHot(Output indices, int depth, DataType dtype, const Named& options, At at) {
  if (!indices) return Output();
  Graph& graph = *indices.graph();
  NameScope scope(graph, Or(options, "one_hot"));
  const Output on = Constant(graph, 1, dtype, "on_value", at);
  const Output off = Constant(graph, 0, dtype, "off_value", at);
  return NodeBuilder(&graph, "OneHot", at)
      .Name(scope.prefix())
      .Input(indices)
      .Input(Constant(graph, int32_t{depth}, "depth", at))
      .Input(on)
      .Input(off)
      .Finish();
}

Output ArgMax(Output x, int axis, const Named& options, At at) {
  return WithScalar("ArgMax", x, "dimension", axis, options, at);
}
Output ArgMin(Output x, int axis, const Named& options, At at) {
  return WithScalar("ArgMin", x, "dimension", axis, options, at);
}

Output ShapeOf(Output x, std::string_view name, At at) {
  if (!x) return Output();
  if (name.empty()) name = "Shape";
  if (!x.shape().IsFullyDefined()) return Property("Shape", x, name, at);
  const Ints dims(x.shape().dims().begin(), x.shape().dims().end());
  return Constant(*x.graph(), IntegerTensor(dims), name, at);
}
Output SizeOf(Output x, std::string_view name, At at) {
  if (!x) return Output();
  if (name.empty()) name = "Size";
  const int64_t n = x.shape().num_elements();
  return n < 0 ? Property("Size", x, name, at) : KnownScalar(x, n, name, at);
}
Output RankOf(Output x, std::string_view name, At at) {
  if (!x) return Output();
  return x.shape().rank_known() ? KnownScalar(x, x.shape().rank(), name, at)
                                : Property("Rank", x, name, at);
}

}  // namespace sluice

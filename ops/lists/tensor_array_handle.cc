#include "ops/lists/tensor_array_handle.h"

#include <optional>
#include <utility>

#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/infer/shape_context.h"
#include "graph/status.h"
#include "ops/lists/tensor_array_builders.h"

namespace sluice {
namespace {

std::string OrDefault(std::string_view name, const char* otherwise) {
  return std::string(name.empty() ? otherwise : name);
}

// Returns the size, or -1 if it is unknown.
int64_t KnownSize(Output size) {
  const std::optional<Tensor> value = size ? ConstantValue(size) : std::nullopt;
  return value && value->dtype() == DT_INT32 && value->num_elements() == 1
             ? value->scalar<int32_t>()
             : -1;
}

Output IntConst(Graph& graph, const Tensor& value, const char* name, At at) {
  return NodeBuilder(&graph, "Const", at)
      .Name(name)
      .Attr("value", value)
      .Attr("dtype", DT_INT32)
      .Finish();
}

Output Numbers(Graph& graph, Output limit, At at) {
  NameScope scope(graph, "range");
  const Output start = IntConst(graph, Tensor::Scalar<int32_t>(0), "start", at);
  const Output delta = IntConst(graph, Tensor::Scalar<int32_t>(1), "delta", at);
  return NodeBuilder(&graph, "Range", at)
      .Name(scope.prefix())
      .Input(start)
      .Input(limit)
      .Input(delta)
      .Finish();
}

// Returns the number of rows of `value`. Adds the nodes of tf.shape(value)[0].
Output NumRows(Graph& graph, Output value, At at) {
  Output shape;
  if (value.shape().IsFullyDefined()) {
    Tensor sizes(DT_INT32, {value.shape().rank()});
    for (int i = 0; i < value.shape().rank(); ++i) {
      sizes.data<int32_t>()[i] = static_cast<int32_t>(value.shape().dim(i));
    }
    shape = IntConst(graph, sizes, "Shape", at);
  } else {
    shape = NodeBuilder(&graph, "Shape", at).Input(value).Finish();
  }
  if (!shape) return shape;
  NameScope slice(graph, "strided_slice");
  const Output begin = IntConst(graph, Tensor::Vector<int32_t>({0}), "stack", at);
  const Output end = IntConst(graph, Tensor::Vector<int32_t>({1}), "stack_1", at);
  const Output stride = IntConst(graph, Tensor::Vector<int32_t>({1}), "stack_2", at);
  return NodeBuilder(&graph, "StridedSlice", at)
      .Name(slice.prefix())
      .Input(shape)
      .Input(begin)
      .Input(end)
      .Input(stride)
      .Attr("shrink_axis_mask", int64_t{1})
      .Finish();
}

}  // namespace

TensorArray::TensorArray(Graph& graph, DataType dtype, int size, const TensorArrayOptions& options,
                         At at)
    : TensorArray(graph, dtype, Output(), options, at) {
  if (!graph.status().ok()) return;
  NameScope scope(graph, options.name);
  const Output count = IntConst(graph, Tensor::Scalar<int32_t>(size), "size", at);
  *this = TensorArray(graph, dtype, count,
                      {.dynamic_size = options.dynamic_size,
                       .clear_after_read = options.clear_after_read,
                       .infer_shape = options.infer_shape,
                       .element_shape = options.element_shape,
                       .tensor_array_name = options.tensor_array_name,
                       .name = scope.prefix()},
                      at);
  state_->fixed_size = size;
}

TensorArray::TensorArray(Graph& graph, DataType dtype, Output size,
                         const TensorArrayOptions& options, At at)
    : state_(std::make_shared<State>()) {
  state_->dtype = dtype;
  state_->dynamic_size = options.dynamic_size;
  state_->infer_shape = options.infer_shape;
  state_->element_shape = options.element_shape;
  state_->size = size;
  if (!size || !graph.status().ok()) return;
  // Ignores the devices of the scopes, so that the array is placed with its first element.
  ColocateWith nowhere(graph, Operation(), /*ignore_existing=*/true);
  DeviceScope no_device = DeviceScope::None(graph);
  Node* node = NodeBuilder(&graph, "TensorArrayV3", at)
                   .Name(options.name)
                   .Input(size)
                   .Attr("dtype", dtype)
                   .Attr("element_shape", options.element_shape)
                   .Attr("dynamic_size", options.dynamic_size)
                   .Attr("clear_after_read", options.clear_after_read)
                   .Attr("identical_element_shapes", options.infer_shape)
                   .Attr("tensor_array_name", options.tensor_array_name)
                   .Finish();
  if (node == nullptr) return;
  handle_ = Output(node, 0);
  flow_ = Output(node, 1);
}

TensorArray TensorArray::WithFlow(Output flow) const {
  TensorArray array = *this;
  array.flow_ = flow;
  return array;
}

void TensorArray::CheckShape(const PartialShape& shape, std::string_view what, At at) const {
  absl::StatusOr<PartialShape> merged = state_->element_shape.MergeWith(shape);
  if (!merged.ok()) {
    graph().SetError(InvalidArgument("TensorArray '", handle_.node->name(),
                                     "': inconsistent shapes"
                                     " in ",
                                     what, ": expected ", state_->element_shape.ToString(),
                                     ", got ", shape.ToString()),
                     at);
  } else if (state_->infer_shape) {
    state_->element_shape = *std::move(merged);
  }
}

Output TensorArray::Typed(Output value, const PartialShape& shape) const {
  if (!value) return value;
  absl::StatusOr<PartialShape> merged = value.shape().MergeWith(shape);
  if (merged.ok()) value.node->set_output_shape(value.index, *std::move(merged));
  return value;
}

TensorArray TensorArray::Write(Output index, Output value, std::string_view name, At at) const {
  if (!handle_ || !value) return WithFlow({});
  NameScope scope(graph(), OrDefault(name, "TensorArrayWrite"));
  CheckShape(value.shape(), "Write", at);
  if (!state_->first) state_->first = value;
  ColocateWith with(graph(), state_->first);
  return WithFlow(TensorArrayWriteV3(handle_, index, value, flow_, {}, at));
}

Output TensorArray::Read(Output index, std::string_view name, At at) const {
  if (!handle_) return {};
  return Typed(TensorArrayReadV3(handle_, index, flow_, dtype(), {.name = std::string(name)}, at),
               state_->element_shape);
}

Output TensorArray::Stack(std::string_view name, At at) const {
  if (!handle_) return {};
  ColocateWith with(graph(), handle_);
  NameScope scope(graph(), OrDefault(name, "TensorArrayStack"));
  const Output all = Gather(Numbers(graph(), Size("", at), at), "", at);
  const int64_t size = state_->dynamic_size ? -1 : KnownSize(state_->size);
  return Typed(all, PartialShape({size}).Concatenate(state_->element_shape));
}

Output TensorArray::Gather(Output indices, std::string_view name, At at) const {
  if (!handle_) return {};
  return Typed(
      TensorArrayGatherV3(handle_, indices, flow_, dtype(),
                          {.name = std::string(name), .element_shape = state_->element_shape}, at),
      PartialShape({-1}).Concatenate(state_->element_shape));
}

TensorArray TensorArray::Unstack(Output value, std::string_view name, At at) const {
  if (!handle_ || !value) return WithFlow({});
  NameScope scope(graph(), OrDefault(name, "TensorArrayUnstack"));
  return Scatter(Numbers(graph(), NumRows(graph(), value, at), at), value, "", at);
}

TensorArray TensorArray::Scatter(Output indices, Output value, std::string_view name, At at) const {
  if (!handle_ || !value) return WithFlow({});
  NameScope scope(graph(), OrDefault(name, "TensorArrayScatter"));
  const PartialShape& shape = value.shape();
  if (shape.rank() > 0) CheckShape(PartialShape(shape.dims().subspan(1)), "Scatter", at);
  if (!state_->first) state_->first = value;
  ColocateWith with(graph(), state_->first);
  return WithFlow(TensorArrayScatterV3(handle_, indices, value, flow_, {}, at));
}

Output TensorArray::Concat(std::string_view name, At at) const {
  if (!handle_) return {};
  const PartialShape& element = state_->element_shape;
  const PartialShape rest =
      element.rank() > 0 ? PartialShape(element.dims().subspan(1)) : PartialShape();
  const Output value =
      TensorArrayConcatV3(handle_, flow_, dtype(),
                          {.name = std::string(name), .element_shape_except0 = rest}, at)
          .value;
  return Typed(value, PartialShape({-1}).Concatenate(rest));
}

TensorArray TensorArray::Split(Output value, Output lengths, std::string_view name, At at) const {
  if (!handle_ || !value) return WithFlow({});
  NameScope scope(graph(), OrDefault(name, "TensorArraySplit"));
  if (!state_->first) state_->first = value;
  ColocateWith with(graph(), state_->first);
  return WithFlow(TensorArraySplitV3(handle_, value, lengths, flow_, {}, at));
}

Output TensorArray::Size(std::string_view name, At at) const {
  if (!handle_) return {};
  if (!state_->dynamic_size && state_->fixed_size >= 0) {
    return IntConst(graph(), Tensor::Scalar<int32_t>(state_->fixed_size), "Const", at);
  }
  if (!state_->dynamic_size && state_->size) return state_->size;
  return TensorArraySizeV3(handle_, flow_, {.name = std::string(name)}, at);
}

Operation TensorArray::Close(std::string_view name, At at) const {
  if (!handle_) return {};
  return TensorArrayCloseV3(handle_, {.name = std::string(name)}, at);
}

TensorArray TensorArray::Grad(std::string source, Output flow, At at) const {
  if (!handle_) return {};
  if (!flow) flow = flow_;
  NameScope scope(graph(), "TensorArrayGrad");
  ColocateWith with(graph(), handle_);
  TensorArray gradient;
  gradient.handle_ = TensorArrayGradV3(handle_, flow, std::move(source), {}, at).grad_handle;
  gradient.state_ = std::make_shared<State>(*state_);
  gradient.state_->size = Output();
  gradient.state_->dynamic_size = false;
  if (!gradient.handle_) return {};
  ControlDependencies after(graph(), {gradient.handle_});
  gradient.flow_ = NodeBuilder(&graph(), "Identity", at).Name("gradient_flow").Input(flow).Finish();
  return gradient;
}

}  // namespace sluice

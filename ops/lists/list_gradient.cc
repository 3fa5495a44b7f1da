#include "ops/lists/list_gradient.h"

#include "graph/gradient/nodes.h"
#include "ops/array/concat_builders.h"
#include "ops/array/fill_builders.h"
#include "ops/indexing/slice_builders.h"
#include "ops/lists/list_builders.h"

namespace sluice::tensor_list {
namespace {

DataType ElementType(const Backprop& b) { return b.attr<DataType>("element_dtype"); }

Output ShapeOfElements(Output list) { return TensorListElementShape(list, DT_INT32); }

Output Ints(Graph& graph, std::initializer_list<int32_t> values) {
  return gradient::Const(&graph, "Const", Tensor::Vector<int32_t>(values));
}

Output RowShape(Backprop& b, Output tensor) {
  return Slice(gradient::ShapeOf(tensor), Ints(b.graph(), {1}), Ints(b.graph(), {-1}));
}

}  // namespace

void PushBackGradient(Backprop& b) {
  const auto popped = TensorListPopBack(b.Of(0), gradient::ShapeOf(b.In(1)), ElementType(b));
  b.Into(0, popped.output_handle);
  b.Into(1, popped.tensor);
}

void PopBackGradient(Backprop& b) {
  Output list = b.Has(0) ? b.Of(0)
                         : EmptyTensorList(ShapeOfElements(b.Out(0)),
                                           gradient::Const(&b.graph(), "max_num_elements",
                                                           Tensor::Scalar<int32_t>(-1)),
                                           ElementType(b));
  b.Into(0, TensorListPushBack(list, b.Of(1)));
}

void SetItemGradient(Backprop& b) {
  const Output grad = b.Of(0);
  Output list = TensorListSetItem(grad, b.In(1), ZerosLike(b.In(2)));
  if (b.attr<bool>("resize_if_index_out_of_bounds")) {
    list = TensorListResize(list, TensorListLength(b.In(0)));
  }
  b.Into(0, list);
  b.Into(2, TensorListGetItem(grad, b.In(1), gradient::ShapeOf(b.In(2)), ElementType(b)));
}

void GetItemGradient(Backprop& b) {
  const Output zeros =
      TensorListReserve(ShapeOfElements(b.In(0)), TensorListLength(b.In(0)), ElementType(b));
  b.Into(0, TensorListSetItem(zeros, b.In(1), b.Of(0)));
}

void StackGradient(Backprop& b) {
  const Output grad = b.Of(0);
  if (!grad) return;
  const PartialShape& shape = grad.shape();
  Tensor element = Tensor::Scalar<int32_t>(-1);
  if (shape.rank() > 0) {
    element = Tensor(DT_INT32, {shape.rank() - 1});
    for (int d = 1; d < shape.rank(); ++d) {
      element.data<int32_t>()[d - 1] = static_cast<int32_t>(shape.dim(d));
    }
  }
  b.Into(0, TensorListFromTensor(grad, gradient::Const(&b.graph(), "element_shape", element)));
}

void FromTensorGradient(Backprop& b) {
  const Output t = b.In(0);
  const int64_t rows = t.shape().rank() > 0 ? t.shape().dim(0) : -1;
  b.Into(0, TensorListStack(b.Of(0), RowShape(b, t), ElementType(b), {.num_elements = rows}));
}

void GatherGradient(Backprop& b) {
  const Output zeros =
      TensorListReserve(ShapeOfElements(b.In(0)), TensorListLength(b.In(0)), ElementType(b));
  b.Into(0, TensorListScatterIntoExistingList(zeros, b.Of(0), b.In(1)));
}

void ScatterGradient(Backprop& b) {
  b.Into(0, TensorListGather(b.Of(0), b.In(1), RowShape(b, b.In(0)), ElementType(b)));
}

void ScatterIntoGradient(Backprop& b) {
  const Output grad = b.Of(0);
  b.Into(1, TensorListGather(grad, b.In(2), RowShape(b, b.In(1)), ElementType(b)));
  b.Into(0, TensorListScatterIntoExistingList(grad, ZerosLike(b.In(1)), b.In(2)));
}

void ConcatGradient(Backprop& b) {
  b.Into(0, TensorListSplit(b.Of(0), ShapeOfElements(b.In(0)), b.Out(1)));
}

void SplitGradient(Backprop& b) {
  const Output axis = gradient::Const(&b.graph(), "axis", Tensor::Scalar<int32_t>(0));
  const Output element = ConcatV2({Ints(b.graph(), {-1}), RowShape(b, b.In(0))}, axis);
  b.Into(0, TensorListConcatV2(b.Of(0), element, b.In(2), ElementType(b)).tensor);
}

void ResizeGradient(Backprop& b) {
  b.Into(0, TensorListResize(b.Of(0), TensorListLength(b.In(0))));
}

}  // namespace sluice::tensor_list

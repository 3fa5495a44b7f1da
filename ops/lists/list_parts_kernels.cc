// Kernels that read or make many elements of a list as one tensor, and kernels on tensors that
// contain lists.
#include <algorithm>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/tensor/sizes.h"
#include "ops/lists/list_input.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

DataType ElementType(const KernelContext& c) {
  return *c.node().FindAttr<DataType>("element_dtype");
}

// Stacks elements along a new first dimension to output 0. Elements that were never set are zeros.
// `shape` is that of an element, and must be fully known.
absl::Status OutputStacked(KernelContext& c, TensorShape shape, Tensors elements) {
  Tensor zeros;
  for (Tensor& e : elements) {
    if (e.IsInitialized()) continue;
    if (!zeros.IsInitialized()) {
      SLUICE_ASSIGN_OR_RETURN(zeros, ZerosOf(c, ElementType(c), shape));
    }
    e = zeros;
  }
  shape.InsertDim(0, static_cast<int64_t>(elements.size()));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  if (!elements.empty()) JoinElements(elements, out);
  return absl::OkStatus();
}

absl::Status Stack(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  const int64_t expected = c.node().AttrOr<int64_t>("num_elements", -1);
  SLUICE_INVALID_IF(expected >= 0 && expected != list->size(), "Operation expected a list with ",
                    expected, " elements but got a list with ", list->size(), " elements.");
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, ElementShapeInput(c, *list, 1));
  SLUICE_INVALID_IF(!shape.IsFullyDefined() && list->size() == 0,
                    "Tried to stack elements of an empty list with non-fully-defined "
                    "element_shape: ",
                    shape.ToString());
  SLUICE_ASSIGN_OR_RETURN(shape, ShapeOfAll(shape, list->elements()));
  SLUICE_INVALID_IF(!shape.IsFullyDefined(),
                    "Tried to stack list which only contains uninitialized tensors and has a "
                    "non-fully-defined element_shape: ",
                    shape.ToString());
  return OutputStacked(c, shape.AsShape(), list->elements());
}

absl::Status OutOfRange(const TensorList& list, int32_t i) {
  // TensorFlow's message depends on whether the element shape is known.
  if (list.element_shape().IsFullyDefined()) {
    return InvalidArgument("Index ", i, " out of range; list only has ", list.size(), " elements.");
  }
  return InvalidArgument("Trying to gather element ", i, " in a list with ", list.size(),
                         " elements.");
}

absl::Status Gather(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, ElementShapeInput(c, *list, 2));
  const auto indices = c.input(1).flat<int32_t>();
  SLUICE_INVALID_IF(
      !shape.IsFullyDefined() && indices.empty(),
      "Tried to gather 0-elements from a list with non-fully-defined shape: ", shape.ToString());
  const Tensors all = list->elements();
  Tensors chosen;
  for (int32_t i : indices) {
    if (i < 0 || i >= list->size()) return OutOfRange(*list, i);
    chosen.push_back(all[static_cast<size_t>(i)]);
  }
  SLUICE_ASSIGN_OR_RETURN(shape, ShapeOfAll(shape, chosen));
  SLUICE_INVALID_IF(!shape.IsFullyDefined(),
                    "Tried to gather uninitialized tensors from a list with non-fully-defined "
                    "element_shape: ",
                    shape.ToString());
  return OutputStacked(c, shape.AsShape(), std::move(chosen));
}

absl::Status FromTensor(KernelContext& c) {
  const Tensor& t = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const PartialShape shape, ShapeInput(c, 1));
  SLUICE_INVALID_IF(t.rank() < 1,
                    "Tensor must be at least a vector, but saw shape: ", t.shape().ToString());
  TensorShape row = t.shape();
  row.RemoveDim(0);
  SLUICE_INVALID_IF(!shape.IsCompatibleWith(row), "Specified a list with shape ", shape.ToString(),
                    " from a tensor with shape ", row.ToString());
  SLUICE_RETURN_IF_ERROR(CheckListSize(t.dim(0)));
  Tensors elements;
  for (int64_t i = 0; i < t.dim(0); ++i) elements.push_back(RowOf(t, i));
  SetListOutput(c, std::make_shared<TensorList>(ElementType(c), shape, std::move(elements)));
  return absl::OkStatus();
}

absl::Status CheckRows(const Tensor& tensor) {
  SLUICE_INVALID_IF(tensor.rank() < 1,
                    "Tensor must be at least a vector, but saw shape: ", tensor.shape().ToString());
  return absl::OkStatus();
}

// Sets the elements at `indices` to the rows of `tensor`. If `grows` is true, adds elements as
// needed.
absl::Status SetRows(const Tensor& tensor, const Tensor& indices, bool grows, Tensors* elements) {
  const auto at = indices.flat<int32_t>();
  for (size_t k = 0; k < at.size(); ++k) {
    SLUICE_INVALID_IF(at[k] < 0, "Indices in TensorListScatter must all be non-negative.");
    const auto i = static_cast<size_t>(at[k]);
    if (i >= elements->size()) {
      SLUICE_INVALID_IF(!grows, "TensorListScatter: Trying to scatter at index ", at[k],
                        " in list with size ", elements->size());
      if (i >= elements->capacity()) SLUICE_RETURN_IF_ERROR(CheckListSize(int64_t{at[k]} + 1));
      elements->resize(i + 1);
    }
    (*elements)[i] = RowOf(tensor, static_cast<int64_t>(k));
  }
  return absl::OkStatus();
}

absl::Status Scatter(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape shape, ShapeInput(c, 2));
  int32_t n = -1;
  if (c.num_inputs() > 3) {
    SLUICE_ASSIGN_OR_RETURN(n, NumberInput(c, 3));
    SLUICE_INVALID_IF(n < -1, "TensorListScatter expects num_elements >= -1, found: ", n);
  }
  const Tensor &tensor = c.input(0), &indices = c.input(1);
  SLUICE_RETURN_IF_ERROR(CheckRows(tensor));
  TensorShape row = tensor.shape();
  row.RemoveDim(0);
  SLUICE_INVALID_IF(!shape.IsCompatibleWith(row), "Specified a list with shape ", shape.ToString(),
                    " from a tensor with shape ", row.ToString());
  SLUICE_INVALID_IF(tensor.dim(0) != indices.num_elements(),
                    "Invalid number of rows in input tensor. Expected: ", indices.num_elements(),
                    " Actual: ", tensor.dim(0));
  SLUICE_RETURN_IF_ERROR(CheckListSize(std::max(n, 0)));
  Tensors elements(static_cast<size_t>(std::max(n, 0)));
  SLUICE_RETURN_IF_ERROR(SetRows(tensor, indices, n < 0, &elements));
  SetListOutput(c, std::make_shared<TensorList>(ElementType(c), shape, std::move(elements)));
  return absl::OkStatus();
}

absl::Status ScatterInto(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  const Tensor &tensor = c.input(1), &indices = c.input(2);
  SLUICE_RETURN_IF_ERROR(CheckRows(tensor));
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(indices, 1, "Expected indices to be a vector, but received shape: "));
  SLUICE_INVALID_IF(tensor.dim(0) != indices.num_elements(),
                    "Expected len(indices) == tensor.shape[0], but saw: ", indices.num_elements(),
                    " vs. ", tensor.dim(0));
  Tensors elements = list->elements();
  SLUICE_RETURN_IF_ERROR(SetRows(tensor, indices, /*grows=*/true, &elements));
  SetListOutput(c, list->With(std::move(elements)));
  return absl::OkStatus();
}

PartialShape WithoutFirst(const PartialShape& shape) {
  if (shape.rank() < 1) return PartialShape();
  return PartialShape(shape.dims().subspan(1));
}

struct ConcatShape {
  int64_t first = -1;  // first size of elements that were never set, or -1
  PartialShape rest;   // the other sizes, which all elements share
};

// Merges the shapes of the elements into `shape`. If `first` is not set in it, elements may differ
// in their first size.
absl::Status MergeElements(const Tensors& elements, ConcatShape* shape) {
  bool is_common = true;
  int64_t common = -1;
  for (size_t i = 0; i < elements.size(); ++i) {
    const Tensor& e = elements[i];
    if (!e.IsInitialized()) continue;
    SLUICE_INVALID_IF(e.rank() < 1, "Concat saw a scalar shape at index ", i,
                      " but requires at least vectors.");
    SLUICE_ASSIGN_OR_RETURN(shape->rest, MergedShape(shape->rest, WithoutFirst(e.shape())));
    SLUICE_INVALID_IF(shape->first >= 0 && shape->first != e.dim(0),
                      "First entry of element_shape input does not match the first dim of list "
                      "element at index: ",
                      i, " Expected: ", shape->first, " Actual: ", e.dim(0));
    is_common = is_common && (common < 0 || common == e.dim(0));
    common = e.dim(0);
  }
  if (shape->first < 0 && is_common) shape->first = common;
  SLUICE_INVALID_IF(!shape->rest.IsFullyDefined(),
                    "Trying to concat list with only uninitialized tensors but "
                    "element_shape_except_first_dim is not fully defined: ",
                    shape->rest.ToString());
  return absl::OkStatus();
}

// Replaces elements that were never set by zeros. Element i gets `leading_dims[i]` rows, or
// `shape.first` rows if `leading_dims` is shorter.
absl::Status FillUnset(KernelContext& c, const ConcatShape& shape,
                       absl::Span<const int64_t> leading_dims, Tensors* elements) {
  for (size_t i = 0; i < elements->size(); ++i) {
    Tensor& e = (*elements)[i];
    if (e.IsInitialized()) continue;
    const int64_t rows = i < leading_dims.size() ? leading_dims[i] : shape.first;
    SLUICE_INVALID_IF(rows < 0, "List contains uninitialized tensor at index ", i,
                      " but leading_dims has only ", leading_dims.size(), " elements.");
    TensorShape full = shape.rest.AsShape();
    full.InsertDim(0, rows);
    SLUICE_ASSIGN_OR_RETURN(e, ZerosOf(c, ElementType(c), full));
  }
  return absl::OkStatus();
}

absl::Status Concat(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  const bool is_v2 = c.num_inputs() > 1;
  PartialShape known;
  if (is_v2) {
    SLUICE_ASSIGN_OR_RETURN(known, ElementShapeInput(c, *list, 1));
  } else {
    SLUICE_ASSIGN_OR_RETURN(
        known, MergedShape(c.node().AttrOr<PartialShape>("element_shape", PartialShape()),
                           list->element_shape()));
  }
  SLUICE_INVALID_IF(known.rank() == 0,
                    "Concat requires elements to be at least vectors, found scalars ", "instead.");
  ConcatShape shape{.first = known.rank() > 0 ? known.dim(0) : -1, .rest = WithoutFirst(known)};
  SLUICE_INVALID_IF(list->size() == 0 && !shape.rest.IsFullyDefined(),
                    "All except the first dimension must be fully defined when concating an empty "
                    "tensor list. element_shape: ",
                    shape.rest.ToString());
  Tensors elements = list->elements();
  SLUICE_RETURN_IF_ERROR(MergeElements(elements, &shape));
  absl::Span<const int64_t> leading_dims;
  if (is_v2) leading_dims = c.input(2).flat<int64_t>();
  SLUICE_RETURN_IF_ERROR(FillUnset(c, shape, leading_dims, &elements));
  SLUICE_ASSIGN_OR_RETURN(Tensor * lengths, c.AllocateOutput(1, {list->size()}));
  int64_t rows = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    lengths->data<int64_t>()[i] = elements[i].dim(0);
    rows = SaturatedSum(rows, elements[i].dim(0));
  }
  TensorShape full = shape.rest.AsShape();
  full.InsertDim(0, rows);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, full));
  JoinElements(elements, out);
  return absl::OkStatus();
}

absl::Status Split(KernelContext& c) {
  const Tensor& t = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const PartialShape shape, ShapeInput(c, 1));
  const Tensor& lengths = c.input(2);
  SLUICE_INVALID_IF(t.rank() < 1,
                    "Tensor must be at least a vector, but saw shape: ", t.shape().ToString());
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(lengths, 1, "Expected lengths to be a vector, received shape: "));
  SLUICE_INVALID_IF(!WithoutFirst(shape).IsCompatibleWith(WithoutFirst(t.shape())), "tensor shape ",
                    t.shape().ToString(), " is not compatible with element_shape ",
                    shape.ToString());
  Tensors elements;
  int64_t begin = 0;
  for (int64_t n : lengths.flat<int64_t>()) {
    SLUICE_INVALID_IF(n < 0, "Invalid value in lengths: ", n);
    SLUICE_INVALID_IF(n > t.dim(0) - begin, "Attempting to slice [", begin, ", ",
                      SaturatedSum(begin, n), "] from tensor with length ", t.dim(0));
    elements.push_back(t.SliceRows(begin, begin + n));
    begin += n;
  }
  SLUICE_INVALID_IF(begin != t.dim(0), "Unused values in tensor. Length of tensor: ", t.dim(0),
                    " Values used: ", begin);
  SetListOutput(c, std::make_shared<TensorList>(ElementType(c), shape, std::move(elements)));
  return absl::OkStatus();
}

absl::StatusOr<const TensorList*> ListAt(const KernelContext& c, const Tensor& t, int64_t i) {
  const auto* list = t.data<Variant>()[i].get<TensorList>();
  SLUICE_INVALID_IF(list == nullptr, "Input handle is not a list. Saw: '",
                    t.data<Variant>()[i].TypeName(), "'");
  SLUICE_INVALID_IF(list->dtype() != ElementType(c), "Invalid data types; op elements ",
                    DataTypeName(ElementType(c)), " but list elements ",
                    DataTypeName(list->dtype()));
  return list;
}

absl::Status ConcatLists(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  SLUICE_INVALID_IF(!(a.shape() == b.shape()),
                    "Incompatible input TensorList tensor shapes: ", a.shape().ToString(), " vs. ",
                    b.shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, a.shape()));
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(const TensorList* first, ListAt(c, a, i));
    SLUICE_ASSIGN_OR_RETURN(const TensorList* second, ListAt(c, b, i));
    SLUICE_INVALID_IF(!(first->element_shape() == second->element_shape()),
                      "input_a and input_b TensorList element shapes are not identical at index ",
                      i, ". Saw ", first->element_shape().ToString(), " vs. ",
                      second->element_shape().ToString());
    Tensors all = first->elements();
    const Tensors more = second->elements();
    all.insert(all.end(), more.begin(), more.end());
    out->data<Variant>()[i] = Variant(
        std::make_shared<TensorList>(first->dtype(), first->element_shape(), std::move(all)));
  }
  return absl::OkStatus();
}

absl::Status PushBackBatch(KernelContext& c) {
  const Tensor &lists = c.input(0), &rows = c.input(1);
  const int rank = lists.rank();
  bool fits = rows.rank() >= rank;
  for (int d = 0; fits && d < rank; ++d) fits = rows.dim(d) == lists.dim(d);
  SLUICE_INVALID_IF(!fits, "tensor must have shape ", lists.shape().ToString(), " in front, got ",
                    rows.shape().ToString());
  TensorShape element;
  for (int d = rank; d < rows.rank(); ++d) element.AddDim(rows.dim(d));
  TensorShape flat = element;
  flat.InsertDim(0, lists.num_elements());
  const Tensor by_list = rows.Reshaped(flat);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, lists.shape()));
  for (int64_t i = 0; i < lists.num_elements(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListAt(c, lists, i));
    SLUICE_INVALID_IF(!list->element_shape().IsCompatibleWith(element),
                      "Tried to append a tensor with incompatible shape to a list. Op "
                      "element shape: ",
                      element.ToString(), " list shape: ", list->element_shape().ToString());
    out->data<Variant>()[i] = Variant(list->WithPushed(RowOf(by_list, i)));
  }
  return absl::OkStatus();
}

KERNEL(TensorListStack, FunctionKernel<Stack>);
KERNEL(TensorListGather, FunctionKernel<Gather>);
KERNEL(TensorListFromTensor, FunctionKernel<FromTensor>);
KERNEL(TensorListScatter, FunctionKernel<Scatter>);
KERNEL(TensorListScatterV2, FunctionKernel<Scatter>);
KERNEL(TensorListScatterIntoExistingList, FunctionKernel<ScatterInto>);
KERNEL(TensorListConcat, FunctionKernel<Concat>);
KERNEL(TensorListConcatV2, FunctionKernel<Concat>);
KERNEL(TensorListSplit, FunctionKernel<Split>);
KERNEL(TensorListConcatLists, FunctionKernel<ConcatLists>);
KERNEL(TensorListPushBackBatch, FunctionKernel<PushBackBatch>);

}  // namespace
}  // namespace sluice

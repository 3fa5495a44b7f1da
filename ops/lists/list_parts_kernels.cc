// Kernels that read or make many elements of a list as one tensor, and kernels on tensors of lists.
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

// Stacks the elements along a new first dimension to output 0.
absl::Status OutputStacked(KernelContext& c, const PartialShape& known, const char* what,
                           Tensors elements) {
  if (elements.empty()) {
    SLUICE_INVALID_IF(
        !known.IsFullyDefined(), "Tried to ", what,
        " elements of an empty list with non-fully-defined element_shape: ", known.ToString());
    TensorShape shape = known.AsShape();
    shape.InsertDim(0, 0);
    return c.AllocateOutput(0, shape).status();
  }
  SLUICE_RETURN_IF_ERROR(FillUnset(c, known, what, &elements));
  TensorShape shape = elements[0].shape();
  shape.InsertDim(0, static_cast<int64_t>(elements.size()));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  JoinElements(elements, out);
  return absl::OkStatus();
}

absl::Status Stack(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  const int64_t expected = c.node().AttrOr<int64_t>("num_elements", -1);
  SLUICE_INVALID_IF(expected >= 0 && expected != list->size(), "Operation expected a list with ",
                    expected, " elements but got a list with ", list->size(), " elements.");
  SLUICE_ASSIGN_OR_RETURN(const PartialShape given, ShapeInput(c, 1));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape known, list->element_shape().MergeWith(given));
  return OutputStacked(c, known, "stack", list->elements());
}

absl::Status Gather(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape given, ShapeInput(c, 2));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape known, list->element_shape().MergeWith(given));
  const Tensors all = list->elements();
  Tensors chosen;
  for (int32_t i : c.input(1).flat<int32_t>()) {
    SLUICE_INVALID_IF(i < 0 || i >= list->size(), "Index ", i, " out of range; list only has ",
                      list->size(), " elements.");
    chosen.push_back(all[static_cast<size_t>(i)]);
  }
  return OutputStacked(c, known, "gather", std::move(chosen));
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

// Sets the elements at `indices` to the rows of `tensor`. With `grows`, adds elements as needed.
absl::Status SetRows(const Tensor& tensor, const Tensor& indices, const PartialShape& shape,
                     bool grows, Tensors* elements) {
  SLUICE_INVALID_IF(tensor.rank() < 1 || tensor.dim(0) != indices.num_elements(),
                    "Invalid number of rows in input tensor. Expected: ", indices.num_elements(),
                    " Actual: ", tensor.rank() < 1 ? 0 : tensor.dim(0));
  TensorShape row = tensor.shape();
  row.RemoveDim(0);
  SLUICE_INVALID_IF(!shape.IsCompatibleWith(row), "Specified a list with shape ", shape.ToString(),
                    " from a tensor with shape ", row.ToString());
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
  SLUICE_RETURN_IF_ERROR(CheckListSize(std::max(n, 0)));
  Tensors elements(static_cast<size_t>(std::max(n, 0)));
  SLUICE_RETURN_IF_ERROR(SetRows(c.input(0), c.input(1), shape, n < 0, &elements));
  SetListOutput(c, std::make_shared<TensorList>(ElementType(c), shape, std::move(elements)));
  return absl::OkStatus();
}

absl::Status ScatterInto(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  Tensors elements = list->elements();
  SLUICE_RETURN_IF_ERROR(
      SetRows(c.input(1), c.input(2), list->element_shape(), /*grows=*/true, &elements));
  SetListOutput(c, list->With(std::move(elements)));
  return absl::OkStatus();
}

PartialShape WithoutFirst(const PartialShape& shape) {
  if (shape.rank() < 1) return PartialShape();
  return PartialShape(shape.dims().subspan(1));
}

// The shape of all elements without their first size.
absl::StatusOr<PartialShape> CommonRest(const PartialShape& known, const Tensors& elements) {
  PartialShape rest = WithoutFirst(known);
  for (size_t i = 0; i < elements.size(); ++i) {
    const Tensor& e = elements[i];
    if (!e.IsInitialized()) continue;
    SLUICE_INVALID_IF(e.rank() < 1, "Concat saw a scalar shape at index ", i,
                      " but requires at least vectors.");
    absl::StatusOr<PartialShape> merged = rest.MergeWith(WithoutFirst(e.shape()));
    SLUICE_INVALID_IF(!merged.ok(),
                      "Tried to concat tensors with unequal shapes: ", rest.ToString(), " vs ",
                      e.shape().ToString());
    rest = *std::move(merged);
  }
  return rest;
}

absl::Status Concat(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  const bool is_v2 = c.num_inputs() > 1;
  PartialShape given = c.node().AttrOr<PartialShape>("element_shape", PartialShape());
  if (is_v2) {
    SLUICE_ASSIGN_OR_RETURN(given, ShapeInput(c, 1));
  }
  SLUICE_ASSIGN_OR_RETURN(const PartialShape known, list->element_shape().MergeWith(given));
  SLUICE_INVALID_IF(known.rank() == 0,
                    "Concat requires elements to be at least vectors, found scalars ", "instead.");
  Tensors elements = list->elements();
  SLUICE_ASSIGN_OR_RETURN(const PartialShape rest, CommonRest(known, elements));
  SLUICE_ASSIGN_OR_RETURN(Tensor * lengths, c.AllocateOutput(1, {list->size()}));
  int64_t rows = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    Tensor& e = elements[i];
    if (!e.IsInitialized()) {
      int64_t length = known.rank() > 0 ? known.dim(0) : -1;
      if (is_v2 && static_cast<int64_t>(i) < c.input(2).num_elements()) {
        length = c.input(2).data<int64_t>()[i];
      }
      SLUICE_INVALID_IF(
          length < 0 || !rest.IsFullyDefined(), "List contains uninitialized tensor at index ", i,
          " but leading_dims has only ", is_v2 ? c.input(2).num_elements() : 0, " elements.");
      TensorShape shape = rest.AsShape();
      shape.InsertDim(0, length);
      SLUICE_ASSIGN_OR_RETURN(e, ZerosOf(c, list->dtype(), shape));
    }
    lengths->data<int64_t>()[i] = e.dim(0);
    rows = SaturatedSum(rows, e.dim(0));
  }
  SLUICE_INVALID_IF(elements.empty() && !rest.IsFullyDefined(),
                    "All except the first dimension must be fully defined when ",
                    "concatenating an empty tensor list. element_shape: ", known.ToString());
  TensorShape shape = rest.AsShape();
  shape.InsertDim(0, rows);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
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
    SLUICE_ASSIGN_OR_RETURN(PartialShape shape,
                            first->element_shape().MergeWith(second->element_shape()));
    Tensors all = first->elements();
    const Tensors more = second->elements();
    all.insert(all.end(), more.begin(), more.end());
    out->data<Variant>()[i] =
        Variant(std::make_shared<TensorList>(first->dtype(), shape, std::move(all)));
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

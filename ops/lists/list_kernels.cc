// Kernels that make lists and access single elements, and kernels that add variants.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/data/optional.h"
#include "ops/lists/list_input.h"
#include "ops/loops/arithmetic.h"
#include "ops/loops/int_tensor.h"
#include "ops/ragged/ragged_variant.h"
#include "ops/state/arguments.h"

namespace sluice {
namespace {

DataType ElementType(const KernelContext& c) {
  return *c.node().FindAttr<DataType>("element_dtype");
}

absl::Status EmptyList(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape shape, ShapeInput(c, 0));
  SLUICE_INVALID_IF(!c.input(1).shape().IsScalar(), "max_num_elements expected to be a scalar ",
                    "but got shape: ", c.input(1).shape().ToString());
  SetListOutput(c, std::make_shared<TensorList>(ElementType(c), shape, Tensors(),
                                                c.input(1).scalar<int32_t>()));
  return absl::OkStatus();
}

absl::Status Reserve(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape shape, ShapeInput(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const int32_t n, NumberInput(c, 1));
  SLUICE_INVALID_IF(n < 0, "The num_elements to reserve must be a non negative number, but got ",
                    n);
  SLUICE_RETURN_IF_ERROR(CheckListSize(n));
  SetListOutput(c, std::make_shared<TensorList>(ElementType(c), shape, Tensors(n)));
  return absl::OkStatus();
}

absl::Status PushBack(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  const Tensor& value = c.input(1);
  SLUICE_INVALID_IF(!list->element_shape().IsCompatibleWith(value.shape()),
                    "Tried to append a tensor with incompatible shape to a list. Op element "
                    "shape: ",
                    value.shape().ToString(), " list shape: ", list->element_shape().ToString());
  SLUICE_INVALID_IF(list->max_num_elements() >= 0 && list->size() >= list->max_num_elements(),
                    "Tried to push item into a full list list size: ", list->size(),
                    " max_num_elements: ", list->max_num_elements());
  SetListOutput(c, list->WithPushed(value));
  return absl::OkStatus();
}

absl::Status PopBack(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  SLUICE_INVALID_IF(list->size() == 0, "Trying to pop from an empty list.");
  Tensor last = list->element(list->size() - 1);
  if (!last.IsInitialized()) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape shape, ElementShapeInput(c, *list, 1));
    SLUICE_INVALID_IF(!shape.IsFullyDefined(),
                      "Trying to read an uninitialized tensor but element_shape is not fully "
                      "defined.",
                      shape.rank_known() ? shape.ToString() : "<unknown>");
    SLUICE_ASSIGN_OR_RETURN(last, ZerosOf(c, list->dtype(), shape.AsShape()));
  }
  c.set_output(1, std::move(last));
  SetListOutput(c, list->WithoutLast());
  return absl::OkStatus();
}

// Outputs an element, or zeros if it was never set. If the inputs do not determine the shape of the
// zeros, they have the shape of the other elements.
absl::Status GetItem(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const int32_t i, NumberInput(c, 1));
  SLUICE_INVALID_IF(i < 0 || i >= list->size(), "Trying to access element ", i, " in a list with ",
                    list->size(), " elements.");
  Tensor value = list->element(i);
  if (!value.IsInitialized()) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape shape, ElementShapeInput(c, *list, 2));
    if (!shape.IsFullyDefined()) {
      SLUICE_ASSIGN_OR_RETURN(shape, ShapeOfAll(shape, list->elements()));
    }
    SLUICE_INVALID_IF(!shape.IsFullyDefined(),
                      "Trying to read an uninitialized tensor but element_shape is not fully "
                      "defined: ",
                      shape.ToString(), " and no list element is set.");
    SLUICE_ASSIGN_OR_RETURN(value, ZerosOf(c, list->dtype(), shape.AsShape()));
  }
  c.set_output(0, std::move(value));
  return absl::OkStatus();
}

absl::Status SetItem(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const int32_t i, NumberInput(c, 1));
  const Tensor& value = c.input(2);
  const bool resize = c.node().AttrOr<bool>("resize_if_index_out_of_bounds", false);
  SLUICE_INVALID_IF(i < 0 || (i >= list->size() && !resize), "Trying to modify element ", i,
                    " in a list with ", list->size(), " elements.");
  SLUICE_INVALID_IF(!list->element_shape().IsCompatibleWith(value.shape()),
                    "Tried to set a tensor with incompatible shape at a list index. Item "
                    "element shape: ",
                    value.shape().ToString(), " list shape: ", list->element_shape().ToString());
  Tensors elements = list->elements();
  if (i >= list->size()) SLUICE_RETURN_IF_ERROR(CheckListSize(int64_t{i} + 1));
  if (i >= list->size()) elements.resize(static_cast<size_t>(i) + 1);
  elements[static_cast<size_t>(i)] = value;
  SetListOutput(c, list->With(std::move(elements)));
  return absl::OkStatus();
}

absl::Status Length(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  return SetScalarOutput(c, static_cast<int32_t>(list->size()));
}

absl::Status ElementShape(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  const PartialShape& shape = list->element_shape();
  const TensorShape out_shape = shape.rank_known() ? TensorShape({shape.rank()}) : TensorShape();
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, out_shape));
  if (!shape.rank_known()) SetIntAt(*out, 0, -1);
  for (int d = 0; d < shape.rank(); ++d) SetIntAt(*out, d, shape.dim(d));
  return absl::OkStatus();
}

absl::Status Resize(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorList* list, ListInput(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const int32_t n, NumberInput(c, 1));
  SLUICE_INVALID_IF(n < 0, "TensorListSlice expects size to be non-negative. Got: ", n);
  SLUICE_RETURN_IF_ERROR(CheckListSize(n));
  Tensors elements = list->elements();
  elements.resize(static_cast<size_t>(n));
  SetListOutput(c, list->With(std::move(elements)));
  return absl::OkStatus();
}

// Computes ZerosLike of variants, which gradients of lists, ragged tensors and optionals need.
absl::Status ZerosLikeVariant(KernelContext& c) {
  const Tensor& in = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    if (const auto* ragged = in.data<Variant>()[i].get<RaggedVariant>()) {
      const Tensor& values = ragged->values;
      SLUICE_ASSIGN_OR_RETURN(Tensor zeros, ZerosOf(c, values.dtype(), values.shape()));
      out->data<Variant>()[i] =
          Variant(std::make_shared<RaggedVariant>(ragged->splits, std::move(zeros)));
      continue;
    }
    if (const auto* optional = in.data<Variant>()[i].get<OptionalVariant>()) {
      std::optional<Tensors> value = optional->value;
      for (size_t k = 0; value.has_value() && k < value->size(); ++k) {
        Tensor& t = (*value)[k];
        SLUICE_ASSIGN_OR_RETURN(t, ZerosOf(c, t.dtype(), t.shape()));
      }
      out->data<Variant>()[i] = Variant(std::make_shared<OptionalVariant>(std::move(value)));
      continue;
    }
    const auto* list = in.data<Variant>()[i].get<TensorList>();
    if (list == nullptr) continue;
    Tensors zeros = list->elements();
    for (Tensor& e : zeros) {
      if (!e.IsInitialized()) continue;
      SLUICE_ASSIGN_OR_RETURN(e, ZerosOf(c, e.dtype(), e.shape()));
    }
    out->data<Variant>()[i] = Variant(list->With(std::move(zeros)));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> SumOf(KernelContext& c, const Tensor& a, const Tensor& b) {
  if (!a.IsInitialized()) return b;
  if (!b.IsInitialized()) return a;
  SLUICE_INVALID_IF(a.dtype() != b.dtype(), "Trying to add tensors of different dtypes. One is ",
                    DataTypeName(a.dtype()), " and other is ", DataTypeName(b.dtype()));
  SLUICE_INVALID_IF(!(a.shape() == b.shape()),
                    "Trying to add two tensors with incompatible element shapes. One is ",
                    a.shape().ToString(), " and other is ", b.shape().ToString());
  const ArithmeticRow add = FindArithmetic(ArithmeticOp::kAdd, a.dtype());
  SLUICE_INVALID_IF(add == nullptr, "lists of ", DataTypeName(a.dtype()), " cannot be added");
  SLUICE_ASSIGN_OR_RETURN(Tensor sum, a.Clone(*c.step().allocator));
  add(sum.raw(), b.raw(), b.num_elements());
  return sum;
}

absl::StatusOr<Variant> SumOf(KernelContext& c, const TensorList& a, const TensorList& b) {
  SLUICE_INVALID_IF(a.dtype() != b.dtype(),
                    "Trying to add two lists of tensors of different dtypes. One is ",
                    DataTypeName(a.dtype()), " and other is ", DataTypeName(b.dtype()));
  SLUICE_INVALID_IF(a.size() != b.size(),
                    "Trying to add two lists of tensors with different lengths. One is ", a.size(),
                    " and the other is ", b.size());
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, a.element_shape().MergeWith(b.element_shape()));
  Tensors elements = a.elements();
  const Tensors others = b.elements();
  for (size_t e = 0; e < elements.size(); ++e) {
    SLUICE_ASSIGN_OR_RETURN(elements[e], SumOf(c, elements[e], others[e]));
  }
  return Variant(std::make_shared<TensorList>(a.dtype(), shape, std::move(elements)));
}

// Adds ragged tensors, whose rows must have equal lengths.
absl::StatusOr<Variant> SumOf(KernelContext& c, const RaggedVariant& a, const RaggedVariant& b) {
  SLUICE_INVALID_IF(a.values.dtype() != b.values.dtype() || a.splits.size() != b.splits.size(),
                    "Can't add RaggedTensorVariants of different dtype or ragged_rank");
  SLUICE_ASSIGN_OR_RETURN(Tensor sum, SumOf(c, a.values, b.values));
  return Variant(std::make_shared<RaggedVariant>(a.splits, std::move(sum)));
}

// Adds optionals. Either both or neither must have a value.
absl::StatusOr<Variant> SumOf(KernelContext& c, const OptionalVariant& a,
                              const OptionalVariant& b) {
  SLUICE_INVALID_IF(a.value.has_value() != b.value.has_value(),
                    "Cannot add optionals because one has a value and the other doesn't.");
  std::optional<Tensors> sum = a.value;
  SLUICE_INVALID_IF(sum.has_value() && sum->size() != b.value->size(),
                    "Cannot add optionals because they have different numbers of components (",
                    sum->size(), " vs. ", b.value->size(), ").");
  for (size_t i = 0; sum.has_value() && i < sum->size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN((*sum)[i], SumOf(c, (*sum)[i], (*b.value)[i]));
  }
  return Variant(std::make_shared<OptionalVariant>(std::move(sum)));
}

absl::StatusOr<Variant> SumOf(KernelContext& c, const Variant& a, const Variant& b) {
  const auto *list_a = a.get<TensorList>(), *list_b = b.get<TensorList>();
  if (list_a != nullptr && list_b != nullptr) return SumOf(c, *list_a, *list_b);
  const auto *ragged_a = a.get<RaggedVariant>(), *ragged_b = b.get<RaggedVariant>();
  if (ragged_a != nullptr && ragged_b != nullptr) return SumOf(c, *ragged_a, *ragged_b);
  const auto *optional_a = a.get<OptionalVariant>(), *optional_b = b.get<OptionalVariant>();
  if (optional_a != nullptr && optional_b != nullptr) return SumOf(c, *optional_a, *optional_b);
  return InvalidArgument(
      "only lists of tensors, ragged tensors and optionals can be added among variants");
}

absl::Status AddVariants(KernelContext& c) {
  Tensor sum = c.input(0);
  for (int n = 1; n < c.num_inputs(); ++n) {
    const Tensor& other = c.input(n);
    SLUICE_INVALID_IF(!(other.shape() == sum.shape()), "expected variants of shape ",
                      sum.shape().ToString(), ", got ", other.shape().ToString());
    SLUICE_ASSIGN_OR_RETURN(Tensor next, c.AllocateTemp(DT_VARIANT, sum.shape()));
    for (int64_t i = 0; i < sum.num_elements(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(next.data<Variant>()[i],
                              SumOf(c, sum.data<Variant>()[i], other.data<Variant>()[i]));
    }
    sum = std::move(next);
  }
  c.set_output(0, std::move(sum));
  return absl::OkStatus();
}

KERNEL(EmptyTensorList, CheapFunctionKernel<EmptyList>);
KERNEL(TensorListReserve, CheapFunctionKernel<Reserve>);
KERNEL(TensorListPushBack, CheapFunctionKernel<PushBack>);
KERNEL(TensorListPopBack, CheapFunctionKernel<PopBack>);
KERNEL(TensorListGetItem, CheapFunctionKernel<GetItem>);
KERNEL(TensorListSetItem, CheapFunctionKernel<SetItem>);
KERNEL(TensorListLength, CheapFunctionKernel<Length>);
KERNEL(TensorListElementShape, CheapFunctionKernel<ElementShape>);
KERNEL(TensorListResize, CheapFunctionKernel<Resize>);
KERNEL(ZerosLike, CheapFunctionKernel<ZerosLikeVariant>, {"T", DT_VARIANT});
KERNEL(AddN, CheapFunctionKernel<AddVariants>, {"T", DT_VARIANT});

}  // namespace
}  // namespace sluice

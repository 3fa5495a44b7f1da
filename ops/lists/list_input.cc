#include "ops/lists/list_input.h"

#include <cstring>

#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/room.h"
#include "ops/loops/int_tensor.h"

namespace sluice {

absl::StatusOr<const TensorList*> ListInput(const KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  SLUICE_RETURN_IF_ERROR(ExpectRank(t, 0, "Input list must be a scalar saw: "));
  const auto* list = t.scalar<Variant>().get<TensorList>();
  SLUICE_INVALID_IF(list == nullptr, "Input handle is not a list. Saw: '",
                    t.scalar<Variant>().TypeName(), "'");
  const auto* dtype = c.node().FindAttr<DataType>("element_dtype");
  SLUICE_INVALID_IF(dtype != nullptr && *dtype != list->dtype(), "Invalid data types; op elements ",
                    DataTypeName(*dtype), " but list elements ", DataTypeName(list->dtype()));
  return list;
}

absl::StatusOr<PartialShape> ShapeInput(const KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  if (t.shape().IsScalar()) {
    if (IntAt(t, 0) == -1) return PartialShape();
    return InvalidArgument("The only valid scalar shape tensor is the fully unknown shape ",
                           "specified as -1.");
  }
  SLUICE_RETURN_IF_ERROR(ExpectRank(t, 1, "expected a shape as a vector, got shape "));
  const Ints dims = IntsOf(t);
  for (int64_t d : dims) {
    SLUICE_INVALID_IF(d < -1, "a size of a shape must be at least -1, got ", d);
  }
  return PartialShape(absl::MakeConstSpan(dims));
}

absl::StatusOr<PartialShape> ElementShapeInput(const KernelContext& c, const TensorList& list,
                                               int i) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape given, ShapeInput(c, i));
  return MergedShape(given, list.element_shape());
}

absl::StatusOr<PartialShape> MergedShape(const PartialShape& a, const PartialShape& b) {
  absl::StatusOr<PartialShape> merged = a.MergeWith(b);
  SLUICE_INVALID_IF(!merged.ok(), "Incompatible shapes during merge: ", a.ToString(), " vs. ",
                    b.ToString());
  return merged;
}

absl::StatusOr<int32_t> NumberInput(const KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  SLUICE_INVALID_IF(t.num_elements() != 1, "expected a scalar as input ", i, ", got shape ",
                    t.shape().ToString());
  return t.scalar<int32_t>();
}

absl::Status CheckListSize(int64_t size) {
  return CheckRoom(size, sizeof(Tensor), "elements of a list");
}

void SetListOutput(KernelContext& c, std::shared_ptr<const TensorList> list) {
  c.set_output(0, Tensor::Scalar(Variant(std::move(list))));
}

absl::StatusOr<Tensor> ZerosOf(KernelContext& c, DataType dtype, const TensorShape& shape) {
  SLUICE_ASSIGN_OR_RETURN(Tensor zeros, c.AllocateTemp(dtype, shape));
  if (IsPlainBytes(dtype) && zeros.bytes() > 0) std::memset(zeros.raw(), 0, zeros.bytes());
  return zeros;
}

Tensor RowOf(const Tensor& tensor, int64_t i) {
  TensorShape shape = tensor.shape();
  shape.RemoveDim(0);
  return tensor.SliceRows(i, i + 1).Reshaped(shape);
}

absl::StatusOr<PartialShape> ShapeOfAll(const PartialShape& known, const Tensors& elements) {
  PartialShape shape = known;
  for (const Tensor& e : elements) {
    if (!e.IsInitialized()) continue;
    SLUICE_ASSIGN_OR_RETURN(shape, MergedShape(shape, e.shape()));
  }
  return shape;
}

}  // namespace sluice

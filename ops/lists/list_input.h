// Inputs and outputs of kernels on tensor lists, and functions that these kernels share.
#ifndef SLUICE_OPS_LISTS_LIST_INPUT_H_
#define SLUICE_OPS_LISTS_LIST_INPUT_H_

#include <memory>

#include "executor/kernel/context.h"
#include "ops/lists/tensor_list.h"

namespace sluice {

// The list in input i, which lives as long as the input. INVALID_ARGUMENT if the input is not a
// list or if the list's type is not the op's element_dtype.
absl::StatusOr<const TensorList*> ListInput(const KernelContext& c, int i);
// Input i as a shape. A scalar -1 stands for an unknown rank.
absl::StatusOr<PartialShape> ShapeInput(const KernelContext& c, int i);
// The shape in input i, merged with that of the list's elements. INVALID_ARGUMENT if the shapes are
// not compatible.
absl::StatusOr<PartialShape> ElementShapeInput(const KernelContext& c, const TensorList& list,
                                               int i);
// The shape with the known sizes of both. INVALID_ARGUMENT "Incompatible shapes during merge" if
// known sizes differ.
absl::StatusOr<PartialShape> MergedShape(const PartialShape& a, const PartialShape& b);
absl::StatusOr<int32_t> NumberInput(const KernelContext& c, int i);
// RESOURCE_EXHAUSTED if there is no memory for a list of `size` elements.
absl::Status CheckListSize(int64_t size);
void SetListOutput(KernelContext& c, std::shared_ptr<const TensorList> list);

// A tensor of zeros or empty strings.
absl::StatusOr<Tensor> ZerosOf(KernelContext& c, DataType dtype, const TensorShape& shape);
// Row i of `tensor`. Shares its buffer.
Tensor RowOf(const Tensor& tensor, int64_t i);
// `known`, merged with the shapes of all elements that are set.
absl::StatusOr<PartialShape> ShapeOfAll(const PartialShape& known, const Tensors& elements);

}  // namespace sluice

#endif  // SLUICE_OPS_LISTS_LIST_INPUT_H_

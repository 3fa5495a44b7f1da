// Inputs and outputs of kernels on tensor lists, and functions that these kernels share.
#ifndef SLUICE_OPS_LISTS_LIST_INPUT_H_
#define SLUICE_OPS_LISTS_LIST_INPUT_H_

#include <memory>

#include "executor/kernel/context.h"
#include "ops/lists/tensor_list.h"

namespace sluice {

// The list in input i, which lives as long as the input. INVALID_ARGUMENT if it is not a list or if
// its type is not the op's element_dtype.
absl::StatusOr<const TensorList*> ListInput(const KernelContext& c, int i);
// Input i as a shape. A scalar -1 stands for an unknown rank.
absl::StatusOr<PartialShape> ShapeInput(const KernelContext& c, int i);
absl::StatusOr<int32_t> NumberInput(const KernelContext& c, int i);
// RESOURCE_EXHAUSTED if there is no memory for a list of `size` elements.
absl::Status CheckListSize(int64_t size);
void SetListOutput(KernelContext& c, std::shared_ptr<const TensorList> list);

// A tensor of zeros or empty strings.
absl::StatusOr<Tensor> ZerosOf(KernelContext& c, DataType dtype, const TensorShape& shape);
// Row i of `tensor`. Shares its buffer.
Tensor RowOf(const Tensor& tensor, int64_t i);
// Sets elements that were never set to zeros. Their shape is `known` merged with the shapes of the
// other elements. Errors begin with "Tried to <what>".
absl::Status FillUnset(KernelContext& c, const PartialShape& known, const char* what,
                       Tensors* elements);

}  // namespace sluice

#endif  // SLUICE_OPS_LISTS_LIST_INPUT_H_

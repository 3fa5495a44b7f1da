// What kernels on tensor lists take from their inputs, and what they share.
#ifndef SLUICE_OPS_LISTS_LIST_INPUT_H_
#define SLUICE_OPS_LISTS_LIST_INPUT_H_

#include <memory>

#include "executor/kernel/context.h"
#include "ops/lists/tensor_list.h"

namespace sluice {

// The list that input i is; it lives as long as the input. INVALID_ARGUMENT, also where the op's
// element_dtype is another.
absl::StatusOr<const TensorList*> ListInput(const KernelContext& c, int i);
// Input i as a shape; a scalar -1 says nothing.
absl::StatusOr<PartialShape> ShapeInput(const KernelContext& c, int i);
absl::StatusOr<int32_t> NumberInput(const KernelContext& c, int i);
// RESOURCE_EXHAUSTED where a list of `size` elements has no room.
absl::Status CheckListSize(int64_t size);
void GiveList(KernelContext& c, std::shared_ptr<const TensorList> list);

// Zeros, empty strings.
absl::StatusOr<Tensor> ZerosOf(KernelContext& c, DataType dtype, const TensorShape& shape);
// Row i of `tensor`, which shares its memory.
Tensor RowOf(const Tensor& tensor, int64_t i);
// Elements that were never set become zeros of the shape that list, op and other elements say.
absl::Status FillUnset(KernelContext& c, const PartialShape& known, const char* what,
                       Tensors* elements);

}  // namespace sluice

#endif  // SLUICE_OPS_LISTS_LIST_INPUT_H_

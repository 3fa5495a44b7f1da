// Tensors as NumPy arrays and back.
//
// Types map one to one, but for: strings come from 'S' (bytes) and 'U' (to UTF-8) and go to 'S',
// where NumPy drops zero bytes at the end; bfloat16, which NumPy lacks, goes to and comes from
// float32; quantised types are their integers.
//
// Thread safety: functions share nothing.
// Errors: INVALID_ARGUMENT where there is no such array type (resource, variant, float8, …) or no
// such tensor type.
#ifndef SLUICE_TOOLS_NPZ_TENSOR_NPY_H_
#define SLUICE_TOOLS_NPZ_TENSOR_NPY_H_

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "tools/npz/npz.h"

namespace sluice {

absl::StatusOr<NpyArray> NpyFromTensor(const Tensor& tensor);

// `wanted` is the type that the reader needs where it is known (else DT_INVALID); it decides
// between types that share an array type: float32 or bfloat16, int8 or qint8. Where it does not
// fit, the tensor has the array's own type.
absl::StatusOr<Tensor> TensorFromNpy(const NpyArray& array, DataType wanted = DT_INVALID);

}  // namespace sluice

#endif  // SLUICE_TOOLS_NPZ_TENSOR_NPY_H_

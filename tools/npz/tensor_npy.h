// Converts tensors to NumPy arrays and back.
//
// Types map one to one, with these exceptions:
// - Strings are read from 'S' (bytes) and 'U' (converted to UTF-8), and written as 'S', in which
//   NumPy drops zero bytes at the end.
// - bfloat16, which NumPy lacks, is converted from and to float32.
// - Quantized types are converted to integers.
//
// Thread safety: functions share nothing.
// Errors: INVALID_ARGUMENT if there is no such array type (resource, variant, float8, …) or no such
// tensor type. RESOURCE_EXHAUSTED if there is no memory for the tensor.
#ifndef SLUICE_TOOLS_NPZ_TENSOR_NPY_H_
#define SLUICE_TOOLS_NPZ_TENSOR_NPY_H_

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "tools/npz/npz.h"

namespace sluice {

absl::StatusOr<NpyArray> NpyFromTensor(const Tensor& tensor);

// The second argument is the type that the caller needs, or DT_INVALID. It decides between types
// that share an array type: float32 or bfloat16, int8 or qint8. If it does not fit, the tensor has
// the array's own type.
absl::StatusOr<Tensor> TensorFromNpy(const NpyArray& array, DataType wanted = DT_INVALID);

}  // namespace sluice

#endif  // SLUICE_TOOLS_NPZ_TENSOR_NPY_H_

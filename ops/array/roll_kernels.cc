#include "executor/kernel/context.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/strided_copy.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

// Returns, for each dimension, the number of places by which the elements move.
absl::StatusOr<Ints> PlacesOf(const Tensor& in, const Tensor& shift, const Tensor& axis) {
  Ints moved(in.rank(), 0);
  for (int64_t i = 0; i < axis.num_elements(); ++i) {
    int64_t d = IntAt(axis, i);
    if (d < 0) d += in.rank();
    SLUICE_INVALID_IF(d < 0 || d >= in.rank(), "axis ", IntAt(axis, i),
                      " is out of range for a tensor of rank ", in.rank());
    if (in.num_elements() == 0) continue;
    const int64_t size = in.dim(static_cast<int>(d));
    moved[d] = ((moved[d] + IntAt(shift, i) % size) % size + size) % size;
  }
  return moved;
}

absl::Status CheckRoll(const Tensor& in, const Tensor& shift, const Tensor& axis) {
  SLUICE_INVALID_IF(in.rank() < 1, "input must be 1-D or higher, got shape []");
  SLUICE_INVALID_IF(shift.rank() > 1,
                    "shift must be a scalar or a 1-D vector. Found: ", shift.shape().ToString());
  SLUICE_INVALID_IF(axis.rank() > 1,
                    "axis must be a scalar or a 1-D vector. Found: ", axis.shape().ToString());
  SLUICE_INVALID_IF(shift.num_elements() != axis.num_elements(),
                    "shift and axis must have the same size, got ", shift.num_elements(), " and ",
                    axis.num_elements());
  return absl::OkStatus();
}

absl::Status Roll(KernelContext& c) {
  const Tensor &in = c.input(0), &shift = c.input(1), &axis = c.input(2);
  SLUICE_RETURN_IF_ERROR(CheckRoll(in, shift, axis));
  SLUICE_ASSIGN_OR_RETURN(const Ints moved, PlacesOf(in, shift, axis));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
  if (in.num_elements() == 0) return absl::OkStatus();
  // Each axis that is rolled has two blocks. Copies all combinations of blocks, so that each
  // element is copied once.
  const auto strides = RowMajorStrides(in.shape());
  absl::InlinedVector<int, 8> axes;
  for (int d = 0; d < in.rank(); ++d) {
    if (moved[d] != 0) axes.push_back(d);
  }
  for (uint64_t part = 0; part < (uint64_t{1} << axes.size()); ++part) {
    CopyBox box;
    for (int d = 0; d < in.rank(); ++d) box.dims.push_back({in.dim(d), strides[d], strides[d]});
    for (size_t k = 0; k < axes.size(); ++k) {
      const int d = axes[k];
      const int64_t wrapped = moved[d], kept = in.dim(d) - moved[d];
      if ((part >> k) & 1) {
        box.dims[d].size = wrapped;
        box.from_offset += kept * strides[d];
      } else {
        box.dims[d].size = kept;
        box.to_offset += wrapped * strides[d];
      }
    }
    CopyStrided(c, in.dtype(), in.raw(), out->raw(), std::move(box));
  }
  return absl::OkStatus();
}
KERNEL(Roll, FunctionKernel<Roll>);

template <typename T>
absl::Status Cross(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  SLUICE_INVALID_IF(!(a.shape() == b.shape()),
                    "Both inputs must be of same shape: ", a.shape().ToString(), " vs. ",
                    b.shape().ToString());
  if (a.rank() < 1 || a.dim(a.rank() - 1) != 3) {
    return absl::FailedPreconditionError(StrCat(
        "Cross-products are only defined for 3-element vectors, got shape ", a.shape().ToString()));
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, a.shape()));
  const T *u = a.data<T>(), *v = b.data<T>();
  T* w = out->data<T>();
  for (int64_t i = 0; i < a.num_elements(); i += 3) {
    for (int k = 0; k < 3; ++k) {
      const int64_t p = i + (k + 1) % 3, q = i + (k + 2) % 3;
      w[i + k] = WrappingSubtract(WrappingMultiply(u[p], v[q]), WrappingMultiply(u[q], v[p]));
    }
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(Cross, "T", Cross, RealList);

}  // namespace
}  // namespace sluice

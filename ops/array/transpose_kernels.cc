#include <complex>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

absl::StatusOr<Ints> ReadPermutation(const Tensor& x, const Tensor& perm) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(perm, 1, "perm must be rank 1, got shape "));
  SLUICE_INVALID_IF(perm.dim(0) != x.rank(), "transpose expects a vector of size ", x.rank(),
                    ". But input(1) is a vector of size ", perm.dim(0));
  Ints order = IntsOf(perm);
  absl::InlinedVector<bool, 8> seen(order.size(), false);
  const int64_t rank = x.rank();
  for (int64_t& d : order) {
    SLUICE_INVALID_IF(d < 0 || d >= rank, d, " is out of range [0 .. ", rank, ")");
    seen[d] = true;
  }
  for (int64_t d = 0; d < rank; ++d) {
    SLUICE_INVALID_IF(!seen[d], d, " is missing from {", perm.SummarizeValues(-1), "}.");
  }
  return order;
}

// Returns whether all dimensions with more than one element keep their order, so that no element
// moves.
bool KeepsElements(const TensorShape& shape, const Ints& order) {
  int64_t last = -1;
  for (int64_t d : order) {
    if (shape.dim(static_cast<int>(d)) == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

template <typename T>
void ConjugateAll(KernelContext& c, Tensor* t) {
  T* to = t->data<T>();
  c.ParallelFor(t->num_elements(), 1, [to](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = std::conj(to[i]);
  });
}

template <bool kConjugate>
absl::Status TransposeWith(KernelContext& c) {
  const Tensor& x = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const Ints order, ReadPermutation(x, c.input(1)));
  TensorShape shape;
  for (int64_t d : order) shape.AddDim(x.dim(static_cast<int>(d)));
  const bool conjugate = kConjugate && IsComplex(x.dtype());
  if (!conjugate && KeepsElements(x.shape(), order)) {
    c.set_output(0, x.Reshaped(shape));
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  const auto from = RowMajorStrides(x.shape());
  const auto to = RowMajorStrides(shape);
  CopyBox box;
  for (int d = 0; d < shape.rank(); ++d) box.dims.push_back({shape.dim(d), from[order[d]], to[d]});
  CopyStrided(c, x.dtype(), x.raw(), out->raw(), std::move(box));
  if (conjugate && x.dtype() == DT_COMPLEX64) ConjugateAll<complex64>(c, out);
  if (conjugate && x.dtype() == DT_COMPLEX128) ConjugateAll<complex128>(c, out);
  return absl::OkStatus();
}

absl::Status InvertPermutation(KernelContext& c) {
  const Tensor& x = c.input(0);
  SLUICE_INVALID_IF(x.rank() != 1, "invert_permutation expects a 1D vector.");
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, x.shape()));
  const int64_t n = x.dim(0);
  for (int64_t i = 0; i < n; ++i) SetIntAt(*out, i, -1);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t d = IntAt(x, i);
    SLUICE_INVALID_IF(d < 0 || d >= n, d, " is not between 0 and ", n);
    SLUICE_INVALID_IF(IntAt(*out, d) != -1, d, " is duplicated in the input.");
    SetIntAt(*out, d, i);
  }
  return absl::OkStatus();
}

// Reverses each dimension d for which backwards[d] is true.
absl::Status ReverseDims(KernelContext& c, const absl::InlinedVector<bool, 8>& backwards) {
  const Tensor& in = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
  const auto strides = RowMajorStrides(in.shape());
  CopyBox box;
  for (int d = 0; d < in.rank(); ++d) {
    box.dims.push_back({in.dim(d), backwards[d] ? -strides[d] : strides[d], strides[d]});
    if (backwards[d]) box.from_offset += (in.dim(d) - 1) * strides[d];
  }
  CopyStrided(c, in.dtype(), in.raw(), out->raw(), std::move(box));
  return absl::OkStatus();
}

absl::Status CheckReverseRank(int rank) {
  if (rank <= 8) return absl::OkStatus();
  return absl::UnimplementedError("reverse is not implemented for tensors of rank > 8.");
}

absl::Status Reverse(KernelContext& c) {
  const Tensor& in = c.input(0);
  const Tensor& dims = c.input(1);
  SLUICE_INVALID_IF(in.rank() > 0 && dims.rank() != 1, "'dims' must be 1-dimension, not ",
                    dims.rank());
  SLUICE_INVALID_IF(in.rank() != dims.num_elements(),
                    "'dims' must have the same number of values as 'input' has dimensions. "
                    "'input' has ",
                    in.rank(), "'dims' has ", dims.num_elements(), " values");
  SLUICE_RETURN_IF_ERROR(CheckReverseRank(in.rank()));
  const auto flags = dims.flat<bool>();
  return ReverseDims(c, absl::InlinedVector<bool, 8>(flags.begin(), flags.end()));
}

absl::Status ReverseV2(KernelContext& c) {
  const Tensor& in = c.input(0);
  const Tensor& axes = c.input(1);
  SLUICE_INVALID_IF(axes.rank() != 1, "'dims' must be 1-dimension, not ", axes.rank());
  SLUICE_RETURN_IF_ERROR(CheckReverseRank(in.rank()));
  absl::InlinedVector<bool, 8> backwards(in.rank(), false);
  for (int64_t axis : IntsOf(axes)) {
    const int64_t d = axis < 0 ? axis + in.rank() : axis;
    SLUICE_INVALID_IF(d < 0 || d >= in.rank(), "'axis'[", axis, "] = ", axis,
                      " is out of valid range [0, ", in.rank() - 1);
    SLUICE_INVALID_IF(backwards[d], "axis ", d, " specified more than once.");
    backwards[d] = true;
  }
  return ReverseDims(c, backwards);
}

constexpr TypeSet kPlain = RealTypes() | ComplexTypes() | TypeSet{DT_BOOL, DT_STRING};
constexpr TypeSet kTransposed =
    kPlain | TypeSet{DT_RESOURCE, DT_VARIANT, DT_FLOAT8_E5M2, DT_FLOAT8_E4M3FN};
KERNEL(Transpose, FunctionKernel<TransposeWith<false>>, {"T", kTransposed});
KERNEL(ConjugateTranspose, FunctionKernel<TransposeWith<true>>, {"T", kTransposed});
using InvertPermutationKernel = CheapFunctionKernel<InvertPermutation>;
KERNEL(InvertPermutation, InvertPermutationKernel);
KERNEL(Reverse, FunctionKernel<Reverse>, {"T", kPlain});
KERNEL(ReverseV2, FunctionKernel<ReverseV2>, {"T", kPlain});

}  // namespace
}  // namespace sluice

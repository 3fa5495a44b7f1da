#include <algorithm>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/constant_element.h"
#include "ops/loops/elements.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/row_index.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

bool StartsWith(const TensorShape& shape, const TensorShape& prefix) {
  if (shape.rank() < prefix.rank()) return false;
  return std::equal(prefix.dims().begin(), prefix.dims().end(), shape.dims().begin());
}

TensorShape RowsOf(int64_t rows, const TensorShape& shape, int prefix_rank) {
  TensorShape out({rows});
  for (int d = prefix_rank; d < shape.rank(); ++d) out.AddDim(shape.dim(d));
  return out;
}

absl::Status DynamicPartition(KernelContext& c) {
  const Tensor& data = c.input(0);
  const Tensor& partitions = c.input(1);
  SLUICE_INVALID_IF(
      !StartsWith(data.shape(), partitions.shape()),
      "data.shape must start with partitions.shape, got data.shape = ", data.shape().ToString(),
      ", partitions.shape = ", partitions.shape().ToString());
  const int count = c.num_outputs();
  std::vector<int64_t> sizes(count, 0);
  const auto part_of = partitions.flat<int32_t>();
  for (size_t i = 0; i < part_of.size(); ++i) {
    SLUICE_INVALID_IF(part_of[i] < 0 || part_of[i] >= count, "partitions[",
                      PositionText(partitions.shape(), i), "] = ", part_of[i], " is not in [0, ",
                      count, ")");
    ++sizes[part_of[i]];
  }
  std::vector<void*> next(count);
  int64_t row = 1;
  for (int d = partitions.rank(); d < data.rank(); ++d) row = SaturatedProduct(row, data.dim(d));
  for (int p = 0; p < count; ++p) {
    SLUICE_ASSIGN_OR_RETURN(Tensor * out,
                            c.AllocateOutput(p, RowsOf(sizes[p], data.shape(), partitions.rank())));
    next[p] = out->raw();
  }
  if (row == 0) return absl::OkStatus();
  WithElement(data.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(data.raw());
    for (int32_t p : part_of) {
      next[p] = std::copy_n(from, row, static_cast<T*>(next[p]));
      from += row;
    }
  });
  return absl::OkStatus();
}

// Returns the shape of the output. Checks that all data have rows of equal shapes.
absl::StatusOr<TensorShape> StitchedShape(KernelContext& c, int n) {
  int64_t greatest = -1;
  for (int i = 0; i < n; ++i) {
    const Tensor& indices = c.input(i);
    const Tensor& data = c.input(n + i);
    SLUICE_INVALID_IF(!StartsWith(data.shape(), indices.shape()), "data[", i,
                      "].shape = ", data.shape().ToString(), " does not start with indices[", i,
                      "].shape = ", indices.shape().ToString());
    const TensorShape row = RowsOf(0, data.shape(), indices.rank());
    SLUICE_INVALID_IF(row != RowsOf(0, c.input(n).shape(), c.input(0).rank()),
                      "Need data[0].shape[", c.input(0).rank(), ":] = data[", i, "].shape[",
                      indices.rank(), ":], got data[0].shape = ", c.input(n).shape().ToString(),
                      ", data[", i, "].shape = ", data.shape().ToString());
    for (int32_t at : indices.flat<int32_t>()) {
      SLUICE_INVALID_IF(at < 0, "indices[", i, "] is out of range: ", at);
      greatest = std::max<int64_t>(greatest, at);
    }
  }
  absl::InlinedVector<int64_t, 8> dims = {greatest + 1};
  const TensorShape& first = c.input(n).shape();
  dims.insert(dims.end(), first.dims().begin() + c.input(0).rank(), first.dims().end());
  return TensorShape::Make(dims);
}

absl::Status DynamicStitch(KernelContext& c) {
  const int n = c.num_inputs() / 2;
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, StitchedShape(c, n));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  if (shape.num_elements() == 0) return absl::OkStatus();
  // Fills the output with zeros, because no index may refer to some of its rows.
  const Tensor zero = ZeroElement(out->dtype(), *c.step().allocator);
  FillElements(c, out->dtype(), zero.raw(), out->raw(), shape.num_elements());
  const int64_t row = shape.num_elements() / shape.dim(0);
  WithElement(out->dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = static_cast<T*>(out->raw());
    for (int i = 0; i < n; ++i) {
      const T* from = static_cast<const T*>(c.input(n + i).raw());
      for (int32_t at : c.input(i).flat<int32_t>()) {
        std::copy_n(from, row, to + at * row);
        from += row;
      }
    }
  });
  return absl::OkStatus();
}

constexpr TypeSet kPlain = RealTypes() | ComplexTypes() | TypeSet{DT_BOOL, DT_STRING, DT_VARIANT};
constexpr TypeSet kStitched = kPlain | TypeSet{DT_QINT8, DT_QUINT8, DT_QINT32};
KERNEL(DynamicPartition, FunctionKernel<DynamicPartition>, {"T", kPlain | TypeSet{DT_RESOURCE}});
KERNEL(DynamicStitch, FunctionKernel<DynamicStitch>, {"T", kStitched});
KERNEL(ParallelDynamicStitch, FunctionKernel<DynamicStitch>, {"T", kStitched});

}  // namespace
}  // namespace sluice

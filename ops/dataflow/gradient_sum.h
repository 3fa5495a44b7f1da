// Sums of gradients as they arrive: dense ones, and gradients of some rows.
//
// Thread safety: none; the accumulator's lock guards it. Buffers are taken over where nobody else
// holds them.
#ifndef SLUICE_OPS_DATAFLOW_GRADIENT_SUM_H_
#define SLUICE_OPS_DATAFLOW_GRADIENT_SUM_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// KernelContext::ParallelFor, or something that runs the whole range here. Passed on by reference:
// copies, on the stack, would wait for each other.
using Parallel =
    absl::FunctionRef<void(int64_t total, double cost, absl::FunctionRef<void(int64_t, int64_t)>)>;

enum class Reduction { kMean, kSum };

// A gradient, or the sum of some: dense {tensor}, of some rows {indices, values, shape}.
using GradientTensors = absl::InlinedVector<Tensor, 1>;

// A tensor of a gradient that is handed in: read where it lies, shared only by who keeps it.
class GivenTensor {
 public:
  GivenTensor() = default;
  // `own`: the same tensor, where it may be moved from; else null.
  GivenTensor(const Tensor& tensor, Tensor* own) : tensor_(&tensor), own_(own) {}
  const Tensor& operator*() const { return *tensor_; }
  const Tensor* operator->() const { return tensor_; }
  Tensor Take() const { return own_ != nullptr ? std::move(*own_) : *tensor_; }

 private:
  const Tensor* tensor_ = nullptr;
  Tensor* own_ = nullptr;
};
using GivenGradient = absl::Span<const GivenTensor>;
// To move all from.
inline absl::InlinedVector<GivenTensor, 3> Give(GradientTensors& tensors) {
  absl::InlinedVector<GivenTensor, 3> given;
  for (Tensor& t : tensors) given.emplace_back(t, &t);
  return given;
}

class GradientSum {
 public:
  virtual ~GradientSum() = default;
  // INVALID_ARGUMENT where `gradient` does not fit what was added before, or the declared shape.
  virtual absl::Status Check(GivenGradient gradient, bool has_known_shape) const = 0;
  // After Check; the gradient may be moved from. RESOURCE_EXHAUSTED; the sum is then as before.
  virtual absl::Status Add(GivenGradient gradient, Allocator& allocator,
                           const Parallel& parallel) = 0;
  // The sum of the `count` gradients that were added, or their mean; empty again afterwards.
  struct Taken {
    GradientTensors sum;
    std::vector<int32_t> row_counts;  // sparse: how many gradients had the row
    int64_t count = 0;
  };
  virtual void Take(int64_t count, Taken* taken) = 0;
  // Divides what was taken, without the accumulator's lock.
  virtual absl::StatusOr<GradientTensors> Finish(Taken&& taken, Reduction reduction,
                                                 Allocator& allocator,
                                                 const Parallel& parallel) const = 0;
};

// Gradients are {tensor}; `shape` may be partial.
std::unique_ptr<GradientSum> MakeDenseSum(DataType dtype, PartialShape shape);
// Gradients are {indices, values, shape}: row indices[i] has values[i, :].
std::unique_ptr<GradientSum> MakeSparseSum(DataType dtype, PartialShape shape);

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_GRADIENT_SUM_H_

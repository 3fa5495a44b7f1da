// Adds up dense or sparse gradients for a ConditionalAccumulator.
//
// Thread safety: none. The lock of the accumulator guards a sum.
// Memory: buffers that have no other owner are moved into the sum, not copied.
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

// A function that divides [0, total) into ranges and calls its last argument for each, perhaps on
// several threads. `cost` is the rough number of nanoseconds per element. The function is
// KernelContext::ParallelFor, or one that runs the whole range in the calling thread.
using Parallel =
    absl::FunctionRef<void(int64_t total, double cost, absl::FunctionRef<void(int64_t, int64_t)>)>;

enum class Reduction { kMean, kSum };

// A gradient or a sum of gradients: {tensor} if dense, {indices, values, shape} if sparse.
using GradientTensors = absl::InlinedVector<Tensor, 1>;

// A tensor of a gradient that is passed to the accumulator, which may move from some tensors.
class GivenTensor {
 public:
  GivenTensor() = default;
  // `own` points to the same tensor if it may be moved from. Otherwise it is null.
  GivenTensor(const Tensor& tensor, Tensor* own) : tensor_(&tensor), own_(own) {}
  const Tensor& operator*() const { return *tensor_; }
  const Tensor* operator->() const { return tensor_; }
  Tensor Take() const { return own_ != nullptr ? std::move(*own_) : *tensor_; }

 private:
  const Tensor* tensor_ = nullptr;
  Tensor* own_ = nullptr;
};
using GivenGradient = absl::Span<const GivenTensor>;
// Returns `tensors` as a gradient from which all tensors may be moved.
inline absl::InlinedVector<GivenTensor, 3> Give(GradientTensors& tensors) {
  absl::InlinedVector<GivenTensor, 3> given;
  for (Tensor& t : tensors) given.emplace_back(t, &t);
  return given;
}

class GradientSum {
 public:
  virtual ~GradientSum() = default;
  // INVALID_ARGUMENT if the type or shape of the gradient differs from the declared ones, or from
  // those of the gradients in the sum. `has_known_shape` means that the third tensor of a sparse
  // gradient has to be checked, too.
  virtual absl::Status Check(GivenGradient gradient, bool has_known_shape) const = 0;
  // Adds a gradient that passed Check. May move from it. If there is no memory, returns
  // RESOURCE_EXHAUSTED and leaves the sum unchanged.
  virtual absl::Status Add(GivenGradient gradient, Allocator& allocator,
                           const Parallel& parallel) = 0;
  struct Taken {
    GradientTensors sum;
    std::vector<int32_t> row_counts;  // sparse: per row of the sum, how many gradients have it
    int64_t count = 0;
  };
  // Moves the sum of all `count` gradients into `taken`. Afterwards, the sum is empty.
  virtual void Take(int64_t count, Taken* taken) = 0;
  // Computes the mean or sum from a sum that was taken. Runs without the lock of the accumulator.
  virtual absl::StatusOr<GradientTensors> Finish(Taken&& taken, Reduction reduction,
                                                 Allocator& allocator,
                                                 const Parallel& parallel) const = 0;
};

// A sum of gradients {tensor}, whose declared `shape` may be partial.
std::unique_ptr<GradientSum> MakeDenseSum(DataType dtype, PartialShape shape);
// A sum of gradients {indices, values, shape}, where row indices[i] is values[i, :].
std::unique_ptr<GradientSum> MakeSparseSum(DataType dtype, PartialShape shape);

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_GRADIENT_SUM_H_

// Adds up dense gradients for conditional accumulators (gradient_sum.h).
#include "graph/status.h"
#include "ops/dataflow/gradient_sum.h"
#include "ops/dataflow/scale.h"
#include "ops/loops/arithmetic.h"

namespace sluice {
namespace {

constexpr double kAddCost = 0.3;

class DenseSum : public GradientSum {
 public:
  DenseSum(DataType dtype, PartialShape shape)
      : dtype_(dtype), add_(FindArithmetic(ArithmeticOp::kAdd, dtype)), shape_(std::move(shape)) {}

  absl::Status Check(GivenGradient gradient, bool) const override {
    const Tensor& g = *gradient[0];
    SLUICE_INVALID_IF(g.dtype() != dtype_, "expected gradients of type ", DataTypeName(dtype_),
                      ", got ", DataTypeName(g.dtype()));
    SLUICE_INVALID_IF(sum_.IsInitialized() && !(sum_.shape() == g.shape()),
                      "Shape mismatch: expected ", sum_.shape().ToString(), ", got ",
                      g.shape().ToString());
    SLUICE_INVALID_IF(!shape_.IsCompatibleWith(g.shape()), "Shape mismatch: expected ",
                      shape_.ToString(), ", got ", g.shape().ToString());
    return absl::OkStatus();
  }

  absl::Status Add(GivenGradient gradient, Allocator& allocator,
                   const Parallel& parallel) override {
    if (!sum_.IsInitialized()) {
      sum_ = gradient[0].Take();
      return absl::OkStatus();
    }
    if (!sum_.BufferIsUnique()) {
      SLUICE_ASSIGN_OR_RETURN(sum_, sum_.Clone(allocator));
    }
    const size_t size = DataTypeSize(dtype_);
    char* to = static_cast<char*>(sum_.raw());
    const char* from = static_cast<const char*>(gradient[0]->raw());
    parallel(sum_.num_elements(), kAddCost, [=, add = add_](int64_t begin, int64_t end) {
      add(to + begin * size, from + begin * size, end - begin);
    });
    return absl::OkStatus();
  }

  void Take(int64_t count, Taken* taken) override {
    taken->count = count;
    taken->sum.clear();
    taken->sum.push_back(std::move(sum_));
    sum_.Clear();
  }

  absl::StatusOr<GradientTensors> Finish(Taken&& taken, Reduction reduction, Allocator&,
                                         const Parallel& parallel) const override {
    // If there was more than one gradient, the sum has its own buffer, so it can be divided in
    // place. The mean of one gradient is the gradient itself.
    if (reduction == Reduction::kMean && taken.count > 1) {
      Tensor& sum = taken.sum[0];
      const size_t size = DataTypeSize(dtype_);
      char* to = static_cast<char*>(sum.raw());
      parallel(sum.num_elements(), kAddCost, [&](int64_t begin, int64_t end) {
        DivideBy(dtype_, to + begin * size, end - begin, taken.count);
      });
    }
    return std::move(taken.sum);
  }

 private:
  const DataType dtype_;
  const ArithmeticRow add_;
  const PartialShape shape_;
  Tensor sum_;  // uninitialised if empty
};

}  // namespace

std::unique_ptr<GradientSum> MakeDenseSum(DataType dtype, PartialShape shape) {
  return std::make_unique<DenseSum>(dtype, std::move(shape));
}

}  // namespace sluice

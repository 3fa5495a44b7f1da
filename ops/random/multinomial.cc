#include "ops/random/multinomial.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/random/distributions.h"

namespace sluice::random {
namespace {

// Cumulative weights exp(logit - greatest) of a row; classes whose logit is not finite have none.
template <typename T>
void Accumulate(const T* logits, std::vector<double>* sums) {
  double greatest = static_cast<double>(std::numeric_limits<T>::lowest());
  for (size_t j = 0; j < sums->size(); ++j) {
    const double logit = static_cast<double>(logits[j]);
    if (std::isfinite(logit)) greatest = std::max(greatest, logit);
  }
  double sum = 0;
  for (size_t j = 0; j < sums->size(); ++j) {
    const double logit = static_cast<double>(logits[j]);
    if (std::isfinite(logit)) sum += std::exp(logit - greatest);
    (*sums)[j] = sum;
  }
}

void AccumulateRow(const Tensor& logits, int64_t row, std::vector<double>* sums) {
  const int64_t begin = row * logits.dim(1);
  switch (logits.dtype()) {
    case DT_HALF:
      return Accumulate(logits.data<half>() + begin, sums);
    case DT_BFLOAT16:
      return Accumulate(logits.data<bfloat16>() + begin, sums);
    case DT_FLOAT:
      return Accumulate(logits.data<float>() + begin, sums);
    default:
      return Accumulate(logits.data<double>() + begin, sums);
  }
}

// One stream of numbers for all rows, in order: what TensorFlow draws on one thread.
template <typename Out>
void Draw(const Tensor& logits, Philox generator, int64_t count, Out* out) {
  SingleNumbers next(&generator);
  std::vector<double> sums(static_cast<size_t>(logits.dim(1)));
  for (int64_t row = 0; row < logits.dim(0); ++row) {
    AccumulateRow(logits, row, &sums);
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t x0 = next(), x1 = next();
      const double at = ToDouble(x0, x1) * sums.back();
      *out++ = static_cast<Out>(std::upper_bound(sums.begin(), sums.end(), at) - sums.begin());
    }
  }
}

}  // namespace

absl::Status DrawClasses(KernelContext& context,
                         absl::FunctionRef<absl::StatusOr<Philox>(int64_t)> generator) {
  const Tensor &logits = context.input(0), &samples = context.input(1);
  if (!logits.shape().IsMatrix()) {
    return InvalidArgument("logits should be a matrix, got shape ", logits.shape().ToString());
  }
  if (!samples.shape().IsScalar()) {
    return InvalidArgument("num_samples should be a scalar, got shape ",
                           samples.shape().ToString());
  }
  const int64_t count = samples.scalar<int32_t>();
  if (count < 0) return InvalidArgument("num_samples should be nonnegative, got ", count);
  if (logits.num_elements() == 0 && logits.dim(1) == 0) {
    return InvalidArgument("num_classes should be positive, got 0");
  }
  Tensor* out;
  SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, {logits.dim(0), count}, &out));
  // Samples of a row are counted in fours, and each takes two numbers.
  SLUICE_ASSIGN_OR_RETURN(const Philox start, generator(logits.dim(0) * ((count + 3) / 4 * 4) * 2));
  if (out->num_elements() == 0) return absl::OkStatus();  // there may be any number of classes
  if (out->dtype() == DT_INT32) {
    Draw(logits, start, count, out->data<int32_t>());
  } else {
    Draw(logits, start, count, out->data<int64_t>());
  }
  return absl::OkStatus();
}

}  // namespace sluice::random

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/loops/elements.h"
#include "ops/random/distributions.h"
#include "ops/random/sources.h"

namespace sluice {
namespace {

// Computes cumulative weights exp(logit - greatest logit) of a row. Classes whose logit is not
// finite have weight 0.
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

// Draws all rows from one stream of numbers, as TensorFlow does on one thread.
template <typename T, typename Out>
void Draw(const T* logits, int64_t rows, int64_t classes, int64_t samples, Philox generator,
          Out* out) {
  SingleNumbers next(&generator);
  std::vector<double> sums(static_cast<size_t>(classes));
  for (int64_t row = 0; row < rows; ++row) {
    Accumulate(logits + row * classes, &sums);
    for (int64_t i = 0; i < samples; ++i) {
      const uint32_t x0 = next(), x1 = next();
      const double at = random::ToDouble(x0, x1) * sums.back();
      *out++ = static_cast<Out>(std::upper_bound(sums.begin(), sums.end(), at) - sums.begin());
    }
  }
}

template <typename Source>
absl::Status Multinomial(KernelContext& context, Source& source) {
  const Tensor &logits = context.input(0), &samples = context.input(1);
  SLUICE_RETURN_IF_ERROR(ExpectRank(logits, 2, "logits should be a matrix, got shape "));
  SLUICE_RETURN_IF_ERROR(ExpectRank(samples, 0, "num_samples should be a scalar, got shape "));
  const int64_t rows = logits.dim(0), classes = logits.dim(1);
  const int64_t count = samples.scalar<int32_t>();
  SLUICE_INVALID_IF(count < 0, "num_samples should be non-negative, got ", count);
  SLUICE_INVALID_IF(classes == 0, "num_classes should be positive, got 0");
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, {rows, count}));
  // Like TensorFlow, rounds the samples of a row up to a multiple of four, and reserves two numbers
  // for each.
  SLUICE_ASSIGN_OR_RETURN(const Philox start,
                          source.Take(context, rows * ((count + 3) / 4 * 4) * 2));
  if (out->num_elements() == 0) return absl::OkStatus();
  WithType(logits.dtype(), FloatList(), [&](auto logit) {
    WithType(out->dtype(), IndexList(), [&](auto index) {
      Draw(logits.data<typename decltype(logit)::type>(), rows, classes, count, start,
           out->data<typename decltype(index)::type>());
    });
  });
  return absl::OkStatus();
}
KERNEL(Multinomial, FunctionKernel<Multinomial<NodeSource>>, {"T", FloatTypes()});
KERNEL(StatelessMultinomial, FunctionKernel<Multinomial<SeedSourceAt<2>>>, {"T", FloatTypes()});

}  // namespace
}  // namespace sluice

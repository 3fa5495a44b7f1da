// Draws classes 0 to range - 1 from a distribution, for candidate sampling. Samples consume the
// same random bits as in TensorFlow.
//
// Thread safety: Sample and Probability may be called from any thread. While Update runs, no other
// method may run, so the caller must hold a lock.
#ifndef SLUICE_OPS_RANDOM_CLASS_SAMPLER_H_
#define SLUICE_OPS_RANDOM_CLASS_SAMPLER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/random/philox.h"

namespace sluice {

// A uniform number in [0, n). Unlike a remainder of random bits, it does not favor small numbers.
uint64_t Below64(uint64_t n, SingleNumbers& bits);
uint32_t Below32(uint32_t n, SingleNumbers& bits);

class ClassSampler {
 public:
  explicit ClassSampler(int64_t range) : range_(range) {}
  virtual ~ClassSampler() = default;
  int64_t range() const { return range_; }
  virtual int64_t Sample(SingleNumbers& bits) const = 0;
  virtual float Probability(int64_t value) const = 0;
  // Counts the true classes of a batch, if the distribution learns from them.
  virtual void Update(absl::Span<const int64_t> classes) {}
  virtual bool learns() const { return false; }
  // The number of classes with a positive probability.
  virtual int64_t drawable() const { return range_; }

 private:
  const int64_t range_;
};

std::unique_ptr<ClassSampler> UniformClasses(int64_t range);
std::unique_ptr<ClassSampler> LogUniformClasses(int64_t range);
// Probabilities are proportional to counts, which begin at 1 and which Update increments.
// RESOURCE_EXHAUSTED if there is no memory for the counts.
absl::StatusOr<std::unique_ptr<ClassSampler>> LearnedClasses(int64_t range);

// Probabilities are proportional to weights, one per class. INVALID_ARGUMENT if `range` is 0
// or is not the number of weights.
absl::StatusOr<std::unique_ptr<ClassSampler>> WeightedClasses(int64_t range,
                                                              std::vector<float> weights);

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_CLASS_SAMPLER_H_

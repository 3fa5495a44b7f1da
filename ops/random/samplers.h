// Numbers of distributions that take as many random bits as it happens: gamma, Poisson, binomial,
// and normal between bounds. Every sample has a stretch of bits of its own, so that samples do not
// depend on how work is shared among threads; the order in which bits are taken is TensorFlow's.
//
// Thread safety: samplers are immutable. Errors: none but those of FillTruncatedNormal.
#ifndef SLUICE_OPS_RANDOM_SAMPLERS_H_
#define SLUICE_OPS_RANDOM_SAMPLERS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/tensor/tensor.h"
#include "ops/random/distributions.h"
#include "ops/random/philox.h"

namespace sluice::random {

// Element i of a tensor of floating or index type, as double and back.
double NumberAt(const Tensor& t, int64_t i);
void SetNumberAt(Tensor& t, int64_t i, double value);
// The greatest finite number of the type.
double GreatestOf(DataType dtype);

// The element that element `i` of a tensor of shape `to` reads of one of shape `from`, which
// broadcasts to it.
int64_t BroadcastIndex(const TensorShape& from, const TensorShape& to, int64_t i);

// Uniform numbers in [0, 1) one at a time; of the two that a call makes the second comes first.
class UniformsLastFirst {
 public:
  explicit UniformsLastFirst(Philox* source) : source_(source) {}
  double operator()() {
    if (left_ == 0) {
      Uniform<double>()(*source_, values_);
      left_ = 2;
    }
    return values_[--left_];
  }

 private:
  Philox* source_;
  double values_[2];
  int left_ = 0;
};

// Gamma with shape `alpha` and rate 1. Source: Marsaglia and Tsang, "A simple method for generating
// gamma variables" (2000).
class GammaSampler {
 public:
  static constexpr uint64_t kCallsPerSample = 256;
  explicit GammaSampler(double alpha);
  double operator()(Philox generator) const;

 private:
  double alpha_, d_, c_;
};

// Poisson with mean `rate`; numbers above `greatest` are drawn again. Below 10 by multiplying
// uniform numbers (Knuth), else by transformed rejection: Hörmann, "The transformed rejection
// method for generating Poisson random variables" (1993).
class PoissonSampler {
 public:
  static constexpr uint64_t kCallsPerSample = 256;
  PoissonSampler(double rate, double greatest);
  double operator()(Philox generator) const;

 private:
  double Multiply(Philox generator) const;
  double Reject(Philox generator) const;
  double rate_, greatest_;
  double exp_of_minus_rate_ = 0;
  double log_rate_ = 0, a_ = 0, b_ = 0, inverse_alpha_ = 0;
};

// Binomial: successes in `count` trials of probability `p`. Small means by adding geometric
// numbers, others by transformed rejection: Hörmann, "The generation of binomial random variates"
// (1993). `is_small` is the caller's, as it is decided in the type of the inputs.
class BinomialSampler {
 public:
  BinomialSampler(double count, double p, bool is_small);
  // Where sample number `output` begins.
  uint64_t CallsBefore(int64_t output) const {
    return static_cast<uint64_t>(output) * (is_small_ ? 42 : 256);
  }
  double operator()(Philox generator) const;

 private:
  double AddGeometric(Philox generator) const;
  double Reject(Philox generator) const;
  double count_, p_;
  bool is_small_;
};

// Normal numbers with mean and deviation, between bounds (one may be infinite), one after another
// from `generator` to out[0], out[stride], …. INVALID_ARGUMENT on bad parameters, INTERNAL where a
// thousand numbers in a row do not fit. T: half, float or double; arithmetic is that of T.
template <typename T>
struct TruncatedNormalParameters {
  T mean, deviation, least, greatest;
};
template <typename T>
absl::Status FillTruncatedNormal(TruncatedNormalParameters<T> parameters, Philox* generator,
                                 int64_t count, int64_t stride, T* out);

}  // namespace sluice::random

#endif  // SLUICE_OPS_RANDOM_SAMPLERS_H_

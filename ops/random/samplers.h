// Samplers of distributions that consume a varying number of random bits: gamma, Poisson and
// binomial. Each sample has its own part of the random stream, calls_per_sample() calls long, so
// that samples do not depend on the number of threads. Bits are consumed in TensorFlow's order.
//
// Thread safety: samplers are immutable.
#ifndef SLUICE_OPS_RANDOM_SAMPLERS_H_
#define SLUICE_OPS_RANDOM_SAMPLERS_H_

#include <cstdint>

#include "graph/tensor/tensor.h"
#include "ops/random/distributions.h"
#include "ops/random/philox.h"

namespace sluice::random {

// Reads and writes element i of a tensor of floating point or index type.
double NumberAt(const Tensor& t, int64_t i);
void SetNumberAt(Tensor& t, int64_t i, double value);
// The largest finite number of the type.
double GreatestOf(DataType dtype);

// Returns uniform numbers in [0, 1) one at a time. A call of the generator yields two numbers, of
// which the second one is returned first, as in TensorFlow.
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

// Draws gamma numbers with shape `alpha` and rate 1. Reference: Marsaglia and Tsang, "A simple
// method for generating gamma variables" (2000).
class GammaSampler {
 public:
  static constexpr double kCost = 100;  // approximate nanoseconds per sample
  static constexpr uint64_t calls_per_sample() { return 256; }
  explicit GammaSampler(double alpha);
  double operator()(Philox generator) const;

 private:
  double alpha_, d_, c_;
};

// Draws Poisson numbers with mean `rate`. Numbers above `greatest` are drawn again. If almost all
// numbers are above `greatest`, returns `greatest`. An infinite mean returns itself, or 0 if it is
// negative. If the mean is below 10, multiplies uniform numbers (Knuth). Otherwise uses transformed
// rejection: Hörmann, "The transformed rejection method for generating Poisson random variables"
// (1993).
class PoissonSampler {
 public:
  static constexpr double kCost = 100;
  static constexpr uint64_t calls_per_sample() { return 256; }
  PoissonSampler(double rate, double greatest);
  double operator()(Philox generator) const;

 private:
  double Multiply(Philox generator) const;
  double Reject(Philox generator) const;
  double rate_, greatest_;
  double exp_of_minus_rate_ = 0;
  double log_rate_ = 0, a_ = 0, b_ = 0, inverse_alpha_ = 0;
};

// Draws numbers of successes in `count` trials of probability `p`. If the expected number of the
// rarer outcome is below 10 (with the rounding of `type`, as in TensorFlow), adds geometric
// numbers. Otherwise uses transformed rejection: Hörmann, "The generation of binomial random
// variates" (1993).
class BinomialSampler {
 public:
  static constexpr double kCost = 200;
  BinomialSampler(double count, double p, DataType type);
  uint64_t calls_per_sample() const { return is_small_ ? 42 : 256; }
  double operator()(Philox generator) const;

 private:
  double AddGeometric(Philox generator) const;
  double Reject(Philox generator) const;
  const double count_, p_;
  const double q_;  // min(p, 1 - p)
  const bool is_small_;
};

}  // namespace sluice::random

#endif  // SLUICE_OPS_RANDOM_SAMPLERS_H_

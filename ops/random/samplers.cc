#include "ops/random/samplers.h"

#include <cmath>
#include <limits>

#include "ops/loops/elements.h"

namespace sluice::random {
namespace {

using NumberList = TypeList<half, bfloat16, float, double, int32_t, int64_t>;

// Returns ln k! minus Stirling's approximation.
double StirlingRest(double k) {
  static constexpr double kFirst[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                      0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                      0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                      0.00833056343336287};
  if (k <= 9) return kFirst[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Returns whether count * p < 10 in arithmetic of `type`.
bool IsSmall(DataType type, double count, double p) {
  switch (type) {
    case DT_HALF:
      return half(count) * half(p) < half(10);
    case DT_FLOAT:
      return static_cast<float>(count) * static_cast<float>(p) < 10;
    default:
      return count * p < 10;
  }
}

double OneMinus(DataType type, double p) {
  if (type == DT_HALF) return half(1) - half(p);
  return type == DT_FLOAT ? 1.0f - static_cast<float>(p) : 1 - p;
}

}  // namespace

double NumberAt(const Tensor& t, int64_t i) {
  double number = 0;
  WithType(t.dtype(), NumberList(), [&](auto tag) {
    number = static_cast<double>(t.data<typename decltype(tag)::type>()[i]);
  });
  return number;
}

void SetNumberAt(Tensor& t, int64_t i, double value) {
  WithType(t.dtype(), NumberList(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    t.data<T>()[i] = static_cast<T>(value);
  });
}

double GreatestOf(DataType dtype) {
  double greatest = 0;
  WithType(dtype, NumberList(), [&](auto tag) {
    greatest = static_cast<double>(std::numeric_limits<typename decltype(tag)::type>::max());
  });
  return greatest;
}

GammaSampler::GammaSampler(double alpha)
    : alpha_(alpha), d_(alpha + (alpha < 1 ? 2.0 / 3 : -1.0 / 3)), c_(1.0 / 3 / std::sqrt(d_)) {}

double GammaSampler::operator()(Philox generator) const {
  UniformsLastFirst uniform(&generator);
  if (alpha_ == 1) return -std::log1p(-uniform());
  double normals[2];
  int left = 0;
  for (;;) {
    if (left == 0) {
      Normal<double>()(generator, normals);
      left = 2;
    }
    const double x = normals[--left];
    const double root = 1 + c_ * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    const double u = uniform();
    // Tests a cheap condition first, which holds nine times in ten.
    if (u < 1 - 0.0331 * (x * x) * (x * x) ||
        std::log(u) < 0.5 * x * x + d_ * (1 - v + std::log(v))) {
      const double sample = d_ * v;
      return alpha_ < 1 ? sample * std::pow(uniform(), 1 / alpha_) : sample;
    }
  }
}

PoissonSampler::PoissonSampler(double rate, double greatest) : rate_(rate), greatest_(greatest) {
  if (rate < 10) {
    exp_of_minus_rate_ = std::exp(-rate);
    return;
  }
  log_rate_ = std::log(rate);
  b_ = 0.931 + 2.53 * std::sqrt(rate);
  a_ = -0.059 + 0.02483 * b_;
  inverse_alpha_ = 1.1239 + 1.1328 / (b_ - 3.4);
}

double PoissonSampler::operator()(Philox generator) const {
  if (!std::isfinite(rate_)) return rate_ < 0 ? 0 : rate_;
  if (rate_ < 10) return Multiply(generator);
  // Returns early if the mean is so far above the largest number that fewer than one in three
  // million samples is accepted. TensorFlow does not terminate then.
  constexpr double kDeviations = 5;
  if (rate_ - kDeviations * std::sqrt(rate_) > greatest_) return greatest_;
  return Reject(generator);
}

double PoissonSampler::Multiply(Philox generator) const {
  UniformsLastFirst uniform(&generator);
  double product = 1;
  for (double x = 0;; x += 1) {
    product *= uniform();
    if (product <= exp_of_minus_rate_ && x <= greatest_) return x;
  }
}

double PoissonSampler::Reject(Philox generator) const {
  UniformsLastFirst uniform(&generator);
  for (;;) {
    const double u = uniform() - 0.5;
    const double v = uniform();
    const double edge = 0.5 - std::abs(u);
    const double k = std::floor((2 * a_ / edge + b_) * u + rate_ + 0.43);
    if (k > greatest_) continue;
    // Accepts at once inside a rectangle that lies below the density.
    if (edge >= 0.07 && v <= 0.9277 - 3.6224 / (b_ - 2)) return k;
    if (k < 0 || (edge < 0.013 && v > edge)) continue;
    const double s = std::log(v * inverse_alpha_ / (a_ / (edge * edge) + b_));
    int sign;
    if (s <= -rate_ + k * log_rate_ - lgamma_r(k + 1, &sign)) return k;
  }
}

BinomialSampler::BinomialSampler(double count, double p, DataType type)
    : count_(count),
      p_(p),
      q_(p > 0.5 ? OneMinus(type, p) : p),
      is_small_(IsSmall(type, count, q_)) {}

double BinomialSampler::operator()(Philox generator) const {
  if (count_ <= 0 || p_ <= 0) return 0;
  if (p_ >= 1) return count_;
  if (std::isnan(p_)) return p_;
  const double successes = is_small_ ? AddGeometric(generator) : Reject(generator);
  return p_ > 0.5 ? count_ - successes : successes;
}

double BinomialSampler::AddGeometric(Philox generator) const {
  UniformsLastFirst uniform(&generator);
  double sum = 0;
  for (int k = 0;; ++k) {
    sum += std::ceil(std::log(uniform()) / std::log1p(-q_));
    if (!(sum <= count_)) return k;
  }
}

double BinomialSampler::Reject(Philox generator) const {
  const double deviation = std::sqrt(count_ * q_ * (1 - q_));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * q_;
  const double c = count_ * q_ + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double r = q_ / (1 - q_);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double m = std::floor((count_ + 1) * q_);
  UniformsLastFirst uniform(&generator);
  for (;;) {
    const double u0 = uniform();
    const double v = uniform();
    const double u = u0 - 0.5;
    const double edge = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / edge + b) * u + c);
    if (edge >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > count_) continue;
    const double bound = (m + 0.5) * std::log((m + 1) / (r * (count_ - m + 1))) +
                         (count_ + 1) * std::log((count_ - m + 1) / (count_ - k + 1)) +
                         (k + 0.5) * std::log(r * (count_ - k + 1) / (k + 1)) + StirlingRest(m) +
                         StirlingRest(count_ - m) - StirlingRest(k) - StirlingRest(count_ - k);
    if (std::log(v * alpha / (a / (edge * edge) + b)) <= bound) return k;
  }
}

}  // namespace sluice::random

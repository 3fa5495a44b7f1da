#include "ops/random/samplers.h"

#include <cmath>
#include <limits>

#include "graph/status.h"

namespace sluice::random {
namespace {

// Calls f with a null pointer of the elements' type.
template <typename F>
decltype(auto) WithNumberType(DataType dtype, F&& f) {
  switch (dtype) {
    case DT_HALF:
      return f(static_cast<half*>(nullptr));
    case DT_BFLOAT16:
      return f(static_cast<bfloat16*>(nullptr));
    case DT_FLOAT:
      return f(static_cast<float*>(nullptr));
    case DT_INT32:
      return f(static_cast<int32_t*>(nullptr));
    case DT_INT64:
      return f(static_cast<int64_t*>(nullptr));
    default:
      return f(static_cast<double*>(nullptr));
  }
}

// ln k! less Stirling's approximation of it.
double StirlingRest(double k) {
  static constexpr double kFirst[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                      0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                      0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                      0.00833056343336287};
  if (k <= 9) return kFirst[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

}  // namespace

double NumberAt(const Tensor& t, int64_t i) {
  return WithNumberType(t.dtype(), [&](auto* type) {
    return static_cast<double>(t.data<std::remove_pointer_t<decltype(type)>>()[i]);
  });
}

void SetNumberAt(Tensor& t, int64_t i, double value) {
  WithNumberType(t.dtype(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    t.data<T>()[i] = static_cast<T>(value);
  });
}

double GreatestOf(DataType dtype) {
  return WithNumberType(dtype, [](auto* type) {
    return static_cast<double>(std::numeric_limits<std::remove_pointer_t<decltype(type)>>::max());
  });
}

int64_t BroadcastIndex(const TensorShape& from, const TensorShape& to, int64_t i) {
  int64_t index = 0, stride = 1;
  for (int back = 1; back <= from.rank(); ++back) {
    const int64_t size = to.dim(to.rank() - back);
    const int64_t own = from.dim(from.rank() - back);
    if (own != 1) index += i % size * stride;
    stride *= own;
    i /= size;
  }
  return index;
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
    // The first comparison holds nine times in ten, and is cheap.
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
  // Of a mean so far above the greatest number that none of three million samples is kept,
  // TensorFlow's search for one does not end.
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
    // A rectangle under the curve.
    if (edge >= 0.07 && v <= 0.9277 - 3.6224 / (b_ - 2)) return k;
    if (k < 0 || (edge < 0.013 && v > edge)) continue;
    const double s = std::log(v * inverse_alpha_ / (a_ / (edge * edge) + b_));
    int sign;
    if (s <= -rate_ + k * log_rate_ - lgamma_r(k + 1, &sign)) return k;
  }
}

BinomialSampler::BinomialSampler(double count, double p, bool is_small)
    : count_(count), p_(p), is_small_(is_small) {}

double BinomialSampler::operator()(Philox generator) const {
  return is_small_ ? AddGeometric(generator) : Reject(generator);
}

double BinomialSampler::AddGeometric(Philox generator) const {
  UniformsLastFirst uniform(&generator);
  double sum = 0;
  for (int k = 0;; ++k) {
    sum += std::ceil(std::log(uniform()) / std::log1p(-p_));
    if (!(sum <= count_)) return k;
  }
}

double BinomialSampler::Reject(Philox generator) const {
  const double deviation = std::sqrt(count_ * p_ * (1 - p_));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p_;
  const double c = count_ * p_ + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double r = p_ / (1 - p_);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double m = std::floor((count_ + 1) * p_);
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

namespace {

constexpr int kMostRejections = 1000;

absl::Status NothingFits() {
  return absl::InternalError("truncated normal: no sample lies between the bounds");
}

// Functions of T, computed in float for half.
template <typename T, typename F>
T Of(T x, F f) {
  if constexpr (kIsFloat16<T>) {
    return T(f(static_cast<float>(x)));
  } else {
    return f(x);
  }
}
template <typename T>
T Exp(T x) {
  return Of(x, [](auto v) { return std::exp(v); });
}
template <typename T>
T Log(T x) {
  return Of(x, [](auto v) { return std::log(v); });
}
template <typename T>
T Sqrt(T x) {
  return Of(x, [](auto v) { return std::sqrt(v); });
}

// The places that a fill still has to write.
template <typename T>
struct Places {
  T* next;
  int64_t stride;
  int64_t left;
  int rejections = 0;

  void Put(T value) {
    *next = value;
    next += stride;
    --left;
    rejections = 0;
  }
};

// Bounds in units of the deviation from the mean.
template <typename T>
struct Bounds {
  T mean, deviation, least, greatest;
  T Value(T z) const { return z * deviation + mean; }
};

// Normal numbers, where they often lie between the bounds.
template <typename T>
absl::Status FillByNormals(const Bounds<T>& b, Philox* generator, Places<T> places) {
  T z[Normal<T>::kCount];
  while (places.left > 0) {
    Normal<T>()(*generator, z);
    for (int i = 0; i < Normal<T>::kCount && places.left > 0; ++i) {
      if (z[i] >= b.least && z[i] <= b.greatest) {
        places.Put(b.Value(z[i]));
      } else if (++places.rejections > kMostRejections) {
        return NothingFits();
      }
    }
  }
  return absl::OkStatus();
}

// Uniform numbers, taken with the normal density: narrow bounds.
template <typename T>
absl::Status FillByUniforms(const Bounds<T>& b, Philox* generator, Places<T> places) {
  const T width = b.greatest - b.least;
  const T offset = b.least < T(0) ? T(0) : b.least * b.least;
  T z[Uniform<T>::kCount], u[Uniform<T>::kCount];
  while (places.left > 0) {
    Uniform<T>()(*generator, z);
    Uniform<T>()(*generator, u);
    for (int i = 0; i < Uniform<T>::kCount && places.left > 0; ++i) {
      const T x = z[i] * width + b.least;
      if (u[i] <= Exp((offset - x * x) / T(2))) {
        places.Put(b.Value(x));
      } else if (++places.rejections >= kMostRejections) {
        return NothingFits();
      }
    }
  }
  return absl::OkStatus();
}

// Exponential numbers from the lower bound on: the tail.
template <typename T>
absl::Status FillByExponentials(const Bounds<T>& b, Philox* generator, Places<T> places) {
  const T alpha = (b.least + Sqrt(b.least * b.least + T(4))) / T(2);
  T u[Uniform<T>::kCount];
  while (places.left > 0) {
    Uniform<T>()(*generator, u);
    for (int i = 0; i < Uniform<T>::kCount && places.left > 0; i += 2) {
      const T z = -Log(u[i]) / alpha + b.least;
      const T x = b.least < alpha ? alpha - z : b.least - alpha;
      if (u[i + 1] <= Exp(-x * x / T(2)) && z < b.greatest) {
        places.Put(b.Value(z));
      } else if (++places.rejections >= kMostRejections) {
        return NothingFits();
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

template <typename T>
absl::Status FillTruncatedNormal(TruncatedNormalParameters<T> p, Philox* generator, int64_t count,
                                 int64_t stride, T* out) {
  const bool finite =
      std::isfinite(static_cast<double>(p.least)) || std::isfinite(static_cast<double>(p.greatest));
  if (!(p.deviation > T(0)) || !(p.least < p.greatest) || !finite) {
    return InvalidArgument("Invalid parameters");
  }
  // The side of the mean that has both bounds, or the finite one, is made the positive one.
  if ((std::isinf(static_cast<double>(p.least)) && p.least < T(0)) || p.greatest < p.mean) {
    std::swap(p.least, p.greatest);
    p.deviation = -p.deviation;
  }
  const Bounds<T> b{p.mean, p.deviation, (p.least - p.mean) / p.deviation,
                    (p.greatest - p.mean) / p.deviation};
  const T root = Sqrt(b.least * b.least + T(4));
  const T cutoff = T(2) * Exp(T(0.5) + b.least * (b.least - root) / T(4)) / (b.least + root);
  const T far(1.3);
  const Places<T> places{out, stride, count};
  if ((b.least < -far && b.greatest >= T(0)) || (b.greatest > far && b.least <= T(0))) {
    return FillByNormals(b, generator, places);
  }
  if (b.greatest - b.least < cutoff) return FillByUniforms(b, generator, places);
  return FillByExponentials(b, generator, places);
}
template absl::Status FillTruncatedNormal(TruncatedNormalParameters<half>, Philox*, int64_t,
                                          int64_t, half*);
template absl::Status FillTruncatedNormal(TruncatedNormalParameters<float>, Philox*, int64_t,
                                          int64_t, float*);
template absl::Status FillTruncatedNormal(TruncatedNormalParameters<double>, Philox*, int64_t,
                                          int64_t, double*);

}  // namespace sluice::random

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ops/loops/elements.h"
#include "ops/random/distributions.h"
#include "ops/random/node_generator.h"
#include "ops/random/sample_shape.h"
#include "ops/random/seeds.h"

namespace sluice {
namespace {

using random::BroadcastIndex;
using random::Normal;
using random::Uniform;

// The parameters of a distribution. T is the type of the arithmetic: half, float or double. As in
// TensorFlow on one thread, all samples of a call come from one stream of random numbers.
template <typename T>
struct Parameters {
  T mean, deviation, least, greatest;
};

constexpr int kMostRejections = 1000;

absl::Status NothingFits() {
  return absl::InternalError("truncated normal: no sample lies between the bounds");
}

template <typename T>
T Exp(T x) {
  return T(std::exp(static_cast<Wide<T>>(x)));
}
template <typename T>
T Log(T x) {
  return T(std::log(static_cast<Wide<T>>(x)));
}
template <typename T>
T Sqrt(T x) {
  return T(std::sqrt(static_cast<Wide<T>>(x)));
}

// The elements of the output that still have to be written.
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

// The bounds, as numbers of standard deviations from the mean.
template <typename T>
struct Bounds {
  T mean, deviation, least, greatest;
  T Value(T z) const { return z * deviation + mean; }
};

// Draws normal numbers until they are inside the bounds. This is efficient if much of the
// distribution is inside.
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

// Draws uniform numbers between the bounds, and accepts them in proportion to the normal density.
// This is efficient for narrow bounds.
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

// Draws exponential numbers above the lower bound, and rejects some, so that the others have a
// normal distribution. This is efficient for the tail.
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

// Writes `count` samples to out[0], out[stride], …. INTERNAL if a thousand numbers in a row lie
// outside the bounds.
template <typename T>
absl::Status FillTruncatedNormal(Parameters<T> p, Philox* generator, int64_t count, int64_t stride,
                                 T* out) {
  const bool finite =
      std::isfinite(static_cast<double>(p.least)) || std::isfinite(static_cast<double>(p.greatest));
  SLUICE_INVALID_IF(!(p.deviation > T(0)) || !(p.least < p.greatest) || !finite,
                    "Invalid parameters");
  // Mirrors the distribution if it has no lower bound or lies below the mean, because the samplers
  // of the tail start at the lower bound.
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
// Checks the parameters, and returns whether all samples have the same ones. Inputs 1 to 4 are
// means, deviations, minima and maxima. Each has one element, or one per batch.
absl::StatusOr<bool> AreAlike(const KernelContext& context, int64_t batches) {
  static constexpr std::string_view kNames[] = {"", "means", "stddevs", "minvals", "maxvals"};
  bool alike = context.input(3).rank() == 0 && context.input(4).rank() == 0;
  for (int i = 1; i <= 4; ++i) {
    const Tensor& p = context.input(i);
    SLUICE_INVALID_IF(p.rank() > 1, "Input ", kNames[i],
                      " should be a scalar or vector, got shape: ", p.shape().ToString());
    alike = alike && p.num_elements() == 1;
  }
  for (int i = 1; i <= 4 && !alike; ++i) {
    const Tensor& p = context.input(i);
    SLUICE_INVALID_IF(p.rank() == 1 && p.dim(0) != 1 && p.dim(0) != batches, "Input ", kNames[i],
                      " should have length 1 or shape[0], got shape: ", p.shape().ToString());
  }
  return alike;
}

// The parameters are scalars, or have one element per row (index of dimension 0) of the output.
template <typename T>
class ParameterizedTruncatedNormalKernel : public Kernel {
 public:
  explicit ParameterizedTruncatedNormalKernel(KernelInit& init) : generator_(init) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor& sizes = context.input(0);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, random::ShapeFromInput(sizes));
    SLUICE_INVALID_IF(shape.rank() == 0, "Shape tensor must not be empty, got []");
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, shape));
    int64_t batches = shape.dim(0);
    SLUICE_ASSIGN_OR_RETURN(const bool alike, AreAlike(context, batches));
    const int64_t size = shape.num_elements();
    if (size == 0) return absl::OkStatus();
    // If all samples have the same parameters, batches of 100 samples replace the rows.
    if (alike) batches = (size + kBatch - 1) / kBatch;
    const int64_t samples = alike ? kBatch : size / batches;
    Philox generator =
        generator_.Reserve(static_cast<uint64_t>(batches * 2 * 1000 * (samples + 3) / 4));
    for (int64_t b = 0; b < batches; ++b) {
      auto at = [&](int i) {
        const Tensor& p = context.input(i);
        return p.data<T>()[p.num_elements() == 1 ? 0 : b];
      };
      const int64_t begin = b * samples;
      SLUICE_RETURN_IF_ERROR(FillTruncatedNormal<T>({at(1), at(2), at(3), at(4)}, &generator,
                                                    std::min(samples, size - begin), 1,
                                                    out->data<T>() + begin));
    }
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kBatch = 100;
  NodeGenerator generator_;
};
KERNELS(ParameterizedTruncatedNormal, "dtype", ParameterizedTruncatedNormalKernel,
        TypeList<half, float, double>);

template <typename T>
absl::Status TruncatedNormalOfSeed(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(Philox generator, random::FromSeed(c.input(1)));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape parameters, random::BroadcastOfInputs(c, 2, 6));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, random::AllocateSamples(c, c.input(0), parameters));
  if (out->num_elements() == 0) return absl::OkStatus();
  const int64_t n = parameters.num_elements(), samples = out->num_elements() / n;
  for (int64_t p = 0; p < n; ++p) {
    auto at = [&](int i) {
      const Tensor& t = c.input(i);
      return t.data<T>()[BroadcastIndex(t.shape(), parameters, p)];
    };
    SLUICE_RETURN_IF_ERROR(FillTruncatedNormal<T>({at(2), at(3), at(4), at(5)}, &generator, samples,
                                                  n, out->data<T>() + p));
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(StatelessParameterizedTruncatedNormal, "dtype", TruncatedNormalOfSeed,
                 TypeList<half, float, double>);

}  // namespace
}  // namespace sluice

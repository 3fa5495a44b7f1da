#include <cmath>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

// The type in which kernels for T compute.
template <typename T>
using Wide = std::conditional_t<kIsFloat16<T>, float, T>;

struct Settings {
  explicit Settings(const KernelInit& init)
      : epsilon(init.attr<float>("variance_epsilon")),
        scales(init.attr<bool>("scale_after_normalization")) {}

  // Checks the images and the vectors in inputs 1 to `last`, which have one element per channel.
  absl::Status Check(KernelContext& c, int last) const {
    const Tensor& images = c.input(0);
    SLUICE_RETURN_IF_ERROR(ExpectRank(images, 4, "input must be 4-dimensional, got shape "));
    for (int i = 1; i <= last; ++i) {
      const Tensor& t = c.input(i);
      if (t.rank() == 1 && t.dim(0) == images.dim(3)) continue;
      return InvalidArgument("input ", i, " must be a vector of ", images.dim(3),
                             " elements, got shape ", t.shape().ToString());
    }
    return absl::OkStatus();
  }

  float epsilon;
  bool scales;
};

template <typename T>
class GlobalNormKernel : public Kernel {
 public:
  using F = Wide<T>;
  explicit GlobalNormKernel(KernelInit& init) : settings_(init) {}

  // The inputs are images, mean, variance, beta and gamma.
  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(settings_.Check(c, settings_.scales ? 4 : 3));
    const Tensor& images = c.input(0);
    const int64_t n = images.dim(3);
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, images.shape()));
    if (images.num_elements() == 0) return absl::OkStatus();
    std::vector<F> factor(static_cast<size_t>(n)), shift(static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k) {
      const auto at = [&](int i) { return static_cast<F>(c.input(i).data<T>()[k]); };
      factor[k] = F(1) / std::sqrt(at(2) + static_cast<F>(settings_.epsilon));
      if (settings_.scales) factor[k] *= at(4);
      shift[k] = at(3) - at(1) * factor[k];
    }
    const T* x = images.data<T>();
    T* y = out->data<T>();
    c.ParallelFor(images.num_elements() / n, 0.5 * static_cast<double>(n),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t r = begin; r < end; ++r) {
                      for (int64_t k = 0; k < n; ++k) {
                        y[r * n + k] = T(static_cast<F>(x[r * n + k]) * factor[k] + shift[k]);
                      }
                    }
                  });
    return absl::OkStatus();
  }

 private:
  const Settings settings_;
};

// Computes gradients with respect to the five inputs. Mean and variance are treated as constants.
template <typename T>
class GlobalNormGradKernel : public Kernel {
 public:
  using F = Wide<T>;
  explicit GlobalNormGradKernel(KernelInit& init) : settings_(init) {}

  // The inputs are images, mean, variance, gamma and the incoming gradients.
  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(settings_.Check(c, 3));
    const Tensor &images = c.input(0), &grad = c.input(4);
    SLUICE_INVALID_IF(!(grad.shape() == images.shape()),
                      "backprop must have the shape of the input, ", images.shape().ToString(),
                      ", got ", grad.shape().ToString());
    const int64_t n = images.dim(3);
    Tensor* vectors[4];
    SLUICE_ASSIGN_OR_RETURN(Tensor * dx, c.AllocateOutput(0, images.shape()));
    for (int i = 0; i < 4; ++i) {
      SLUICE_ASSIGN_OR_RETURN(vectors[i], c.AllocateOutput(1 + i, TensorShape({n})));
    }
    std::vector<double> sums(static_cast<size_t>(n)), products(static_cast<size_t>(n));
    std::vector<F> factor(static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k) factor[k] = Inverse(c, k) * Gamma(c, k);
    for (int64_t i = 0; i < images.num_elements(); ++i) {
      const int64_t k = i % n;
      const F g = static_cast<F>(grad.data<T>()[i]);
      sums[k] += static_cast<double>(g);
      products[k] +=
          static_cast<double>(g) * static_cast<double>(static_cast<F>(images.data<T>()[i]) -
                                                       static_cast<F>(c.input(1).data<T>()[k]));
      dx->data<T>()[i] = T(g * factor[k]);
    }
    for (int64_t k = 0; k < n; ++k) {
      const double inverse = static_cast<double>(Inverse(c, k));
      const double gamma = static_cast<double>(Gamma(c, k));
      vectors[0]->data<T>()[k] = T(static_cast<F>(-sums[k] * gamma * inverse));
      vectors[1]->data<T>()[k] =
          T(static_cast<F>(-0.5 * products[k] * gamma * inverse * inverse * inverse));
      vectors[2]->data<T>()[k] = T(static_cast<F>(sums[k]));
      vectors[3]->data<T>()[k] = T(static_cast<F>(settings_.scales ? products[k] * inverse : 0.0));
    }
    return absl::OkStatus();
  }

 private:
  F Inverse(KernelContext& c, int64_t k) const {
    return F(1) /
           std::sqrt(static_cast<F>(c.input(2).data<T>()[k]) + static_cast<F>(settings_.epsilon));
  }
  F Gamma(KernelContext& c, int64_t k) const {
    return settings_.scales ? static_cast<F>(c.input(3).data<T>()[k]) : F(1);
  }

  const Settings settings_;
};

using Types = TypeList<half, float, double>;
KERNELS(BatchNormWithGlobalNormalization, "T", GlobalNormKernel, Types);
KERNELS(BatchNormWithGlobalNormalizationGrad, "T", GlobalNormGradKernel, Types);

}  // namespace
}  // namespace sluice

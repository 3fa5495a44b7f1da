#include <unsupported/Eigen/SpecialFunctions>

#include "ops/loops/broadcast.h"

namespace sluice {
namespace {

// d sample / d alpha of a number of the gamma distribution, by its cumulative function.
struct GammaGradientFn {
  static constexpr double kCost = 300;
  template <typename T>
  T operator()(T alpha, T sample) const {
    return Eigen::numext::gamma_sample_der_alpha(alpha, sample);
  }
};
KERNELS(RandomGammaGrad, "T", Binary<GammaGradientFn>::Kernel, TypeList<float, double>);

}  // namespace
}  // namespace sluice

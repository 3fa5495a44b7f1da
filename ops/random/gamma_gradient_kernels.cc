#include <unsupported/Eigen/SpecialFunctions>

#include "ops/loops/broadcast.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

// Computes the derivative of a sample y with respect to alpha, x, from the derivative of the
// cumulative distribution function.
BINARY_KERNELS(RandomGammaGrad, FloatAndDoubleList, 300,
               Eigen::numext::gamma_sample_der_alpha(x, y));

}  // namespace
}  // namespace sluice

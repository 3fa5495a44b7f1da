#include <unsupported/Eigen/SpecialFunctions>

#include "ops/loops/broadcast.h"
#include "ops/loops/elementwise.h"
#include "ops/math/integrals.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

namespace numext = Eigen::numext;

UNARY_KERNELS(BesselI0, HalfToDoubleList, 30, numext::bessel_i0(x));
UNARY_KERNELS(BesselI0e, HalfToDoubleList, 30, numext::bessel_i0e(x));
UNARY_KERNELS(BesselI1, HalfToDoubleList, 30, numext::bessel_i1(x));
UNARY_KERNELS(BesselI1e, HalfToDoubleList, 30, numext::bessel_i1e(x));
UNARY_KERNELS(BesselJ0, HalfToDoubleList, 30, numext::bessel_j0(x));
UNARY_KERNELS(BesselJ1, HalfToDoubleList, 30, numext::bessel_j1(x));
UNARY_KERNELS(BesselK0, HalfToDoubleList, 30, numext::bessel_k0(x));
UNARY_KERNELS(BesselK0e, HalfToDoubleList, 30, numext::bessel_k0e(x));
UNARY_KERNELS(BesselK1, HalfToDoubleList, 30, numext::bessel_k1(x));
UNARY_KERNELS(BesselK1e, HalfToDoubleList, 30, numext::bessel_k1e(x));
UNARY_KERNELS(BesselY0, HalfToDoubleList, 30, numext::bessel_y0(x));
UNARY_KERNELS(BesselY1, HalfToDoubleList, 30, numext::bessel_y1(x));
UNARY_KERNELS(Ndtri, FloatAndDoubleList, 30, numext::ndtri(x));
UNARY_KERNELS(Erfinv, FloatAndDoubleList, 30,
              numext::ndtri((x + T(1)) / T(2)) * T(0.70710678118654752440));
BINARY_KERNELS(Igamma, FloatAndDoubleList, 200, numext::igamma(x, y));
BINARY_KERNELS(Igammac, FloatAndDoubleList, 200, numext::igammac(x, y));
BINARY_KERNELS(IgammaGradA, FloatAndDoubleList, 200, numext::igamma_der_a(x, y));

// These compute in double for float operands too.
UNARY_KERNELS(Dawsn, FloatAndDoubleList, 60, special::Dawsn(x));
UNARY_KERNELS(Expint, FloatAndDoubleList, 60, special::Expint(x));
UNARY_KERNELS(FresnelCos, FloatAndDoubleList, 60, special::FresnelCos(x));
UNARY_KERNELS(FresnelSin, FloatAndDoubleList, 60, special::FresnelSin(x));
UNARY_KERNELS(Spence, FloatAndDoubleList, 60, special::Spence(x));

template <typename T>
absl::Status Betainc(KernelContext& c) {
  TensorShape shape;
  for (int i = 0; i < 3; ++i) {
    const TensorShape& own = c.input(i).shape();
    if (own.rank() == 0) continue;
    SLUICE_INVALID_IF(shape.rank() != 0 && !(shape == own),
                      "Shapes of a and b are inconsistent: ", shape.ToString(), " vs. ",
                      own.ToString());
    shape = own;
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  c.ParallelFor(out->num_elements(), 300, [&](int64_t begin, int64_t end) {
    auto at = [&c](int i, int64_t k) {
      return c.input(i).data<T>()[c.input(i).rank() == 0 ? 0 : k];
    };
    for (int64_t k = begin; k < end; ++k) {
      out->data<T>()[k] = numext::betainc(at(0, k), at(1, k), at(2, k));
    }
  });
  return absl::OkStatus();
}
FUNCTION_KERNELS(Betainc, "T", Betainc, FloatAndDoubleList);

}  // namespace
}  // namespace sluice

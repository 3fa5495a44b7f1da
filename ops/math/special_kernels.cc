#include <cmath>
#include <limits>
#include <unsupported/Eigen/SpecialFunctions>

#include "ops/loops/broadcast.h"
#include "ops/loops/elementwise.h"
#include "ops/math/integrals.h"

namespace sluice {
namespace {

using FloatAndDouble = TypeList<float, double>;
using WithHalf = TypeList<half, float, double>;

struct BesselI0Fn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::bessel_i0(x);
  }
};
KERNELS(BesselI0, "T", Elementwise<BesselI0Fn>::Kernel, WithHalf);

struct BesselI0eFn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::bessel_i0e(x);
  }
};
KERNELS(BesselI0e, "T", Elementwise<BesselI0eFn>::Kernel, WithHalf);

struct BesselI1Fn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::bessel_i1(x);
  }
};
KERNELS(BesselI1, "T", Elementwise<BesselI1Fn>::Kernel, WithHalf);

struct BesselI1eFn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::bessel_i1e(x);
  }
};
KERNELS(BesselI1e, "T", Elementwise<BesselI1eFn>::Kernel, WithHalf);

struct BesselJ0Fn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::bessel_j0(x);
  }
};
KERNELS(BesselJ0, "T", Elementwise<BesselJ0Fn>::Kernel, WithHalf);

struct BesselJ1Fn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::bessel_j1(x);
  }
};
KERNELS(BesselJ1, "T", Elementwise<BesselJ1Fn>::Kernel, WithHalf);

struct BesselK0Fn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::bessel_k0(x);
  }
};
KERNELS(BesselK0, "T", Elementwise<BesselK0Fn>::Kernel, WithHalf);

struct BesselK0eFn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::bessel_k0e(x);
  }
};
KERNELS(BesselK0e, "T", Elementwise<BesselK0eFn>::Kernel, WithHalf);

struct BesselK1Fn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::bessel_k1(x);
  }
};
KERNELS(BesselK1, "T", Elementwise<BesselK1Fn>::Kernel, WithHalf);

struct BesselK1eFn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::bessel_k1e(x);
  }
};
KERNELS(BesselK1e, "T", Elementwise<BesselK1eFn>::Kernel, WithHalf);

struct BesselY0Fn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::bessel_y0(x);
  }
};
KERNELS(BesselY0, "T", Elementwise<BesselY0Fn>::Kernel, WithHalf);

struct BesselY1Fn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::bessel_y1(x);
  }
};
KERNELS(BesselY1, "T", Elementwise<BesselY1Fn>::Kernel, WithHalf);

struct NdtriFn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::ndtri(x);
  }
};
KERNELS(Ndtri, "T", Elementwise<NdtriFn>::Kernel, FloatAndDouble);

struct ErfinvFn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(T x) const {
    return Eigen::numext::ndtri((x + T(1)) / T(2)) * T(0.70710678118654752440);
  }
};
KERNELS(Erfinv, "T", Elementwise<ErfinvFn>::Kernel, FloatAndDouble);

// Of a function that is there in double precision alone.
template <double (*kFunction)(double)>
struct InDouble {
  static constexpr double kCost = 60;
  template <typename T>
  T operator()(T x) const {
    return static_cast<T>(kFunction(static_cast<double>(x)));
  }
};
KERNELS(Dawsn, "T", Elementwise<InDouble<special::Dawsn>>::Kernel, FloatAndDouble);
KERNELS(Expint, "T", Elementwise<InDouble<special::Expint>>::Kernel, FloatAndDouble);
KERNELS(FresnelCos, "T", Elementwise<InDouble<special::FresnelCos>>::Kernel, FloatAndDouble);
KERNELS(FresnelSin, "T", Elementwise<InDouble<special::FresnelSin>>::Kernel, FloatAndDouble);
KERNELS(Spence, "T", Elementwise<InDouble<special::Spence>>::Kernel, FloatAndDouble);

struct IgammaFn {
  static constexpr double kCost = 200;
  template <typename T>
  T operator()(T a, T x) const {
    return Eigen::numext::igamma(a, x);
  }
};
KERNELS(Igamma, "T", Binary<IgammaFn>::Kernel, FloatAndDouble);

struct IgammacFn {
  static constexpr double kCost = 200;
  template <typename T>
  T operator()(T a, T x) const {
    return Eigen::numext::igammac(a, x);
  }
};
KERNELS(Igammac, "T", Binary<IgammacFn>::Kernel, FloatAndDouble);

struct IgammaGradAFn {
  static constexpr double kCost = 200;
  template <typename T>
  T operator()(T a, T x) const {
    return Eigen::numext::igamma_der_a(a, x);
  }
};
KERNELS(IgammaGradA, "T", Binary<IgammaGradAFn>::Kernel, FloatAndDouble);

template <typename T>
absl::Status Betainc(KernelContext& c) {
  TensorShape shape;
  for (int i = 0; i < 3; ++i) {
    const TensorShape& own = c.input(i).shape();
    if (own.rank() == 0) continue;
    if (shape.rank() != 0 && !(shape == own)) {
      return InvalidArgument("Shapes of the arguments are inconsistent: ", shape.ToString(),
                             " vs. ", own.ToString());
    }
    shape = own;
  }
  Tensor* out;
  SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
  c.ParallelFor(out->num_elements(), 300, [&](int64_t begin, int64_t end) {
    auto at = [&c](int i, int64_t k) {
      return c.input(i).data<T>()[c.input(i).rank() == 0 ? 0 : k];
    };
    for (int64_t k = begin; k < end; ++k) {
      out->data<T>()[k] = Eigen::numext::betainc(at(0, k), at(1, k), at(2, k));
    }
  });
  return absl::OkStatus();
}
FUNCTION_KERNELS(Betainc, "T", Betainc, FloatAndDouble);

}  // namespace
}  // namespace sluice

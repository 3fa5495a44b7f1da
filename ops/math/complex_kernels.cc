#include <complex>

#include "ops/loops/broadcast.h"
#include "ops/loops/elementwise.h"

namespace sluice {
namespace {

// Registers kernels for complex64 whose results are floats, and for complex128 whose results are
// doubles.
#define SLUICE_REAL_RESULT(op, functor)                                                         \
  KERNEL(op, Elementwise<functor>::Kernel<complex64>, {"T", DT_COMPLEX64}, {"Tout", DT_FLOAT}); \
  KERNEL(op, Elementwise<functor>::Kernel<complex128>, {"T", DT_COMPLEX128}, {"Tout", DT_DOUBLE})

struct ComplexFn {
  static constexpr double kCost = 0.3;
  template <typename T>
  std::complex<T> operator()(T re, T im) const {
    return {re, im};
  }
};
KERNEL(Complex, Binary<ComplexFn>::Kernel<float>, {"T", DT_FLOAT}, {"Tout", DT_COMPLEX64});
KERNEL(Complex, Binary<ComplexFn>::Kernel<double>, {"T", DT_DOUBLE}, {"Tout", DT_COMPLEX128});

struct RealFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  T operator()(std::complex<T> x) const {
    return x.real();
  }
};
SLUICE_REAL_RESULT(Real, RealFn);

struct ImagFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  T operator()(std::complex<T> x) const {
    return x.imag();
  }
};
SLUICE_REAL_RESULT(Imag, ImagFn);

struct ComplexAbsFn {
  static constexpr double kCost = 2;
  template <typename T>
  T operator()(std::complex<T> x) const {
    return std::abs(x);
  }
};
SLUICE_REAL_RESULT(ComplexAbs, ComplexAbsFn);

struct AngleFn {
  static constexpr double kCost = 10;
  template <typename T>
  T operator()(std::complex<T> x) const {
    return std::arg(x);
  }
};
SLUICE_REAL_RESULT(Angle, AngleFn);
#undef SLUICE_REAL_RESULT

UNARY_KERNELS(Conj, ComplexList, 0.3, std::conj(x));

// Returns an error, because in TensorFlow no variant has a conjugate either.
absl::Status ConjVariant(KernelContext& c) {
  if (c.input(0).num_elements() == 0) {
    c.set_output(0, c.input(0));
    return absl::OkStatus();
  }
  return absl::InternalError(
      StrCat("No unary variant unary_op function found for op CONJ Variant type_name: ",
             c.input(0).data<Variant>()[0].TypeName(), " for device type: CPU"));
}
KERNEL(Conj, FunctionKernel<ConjVariant>, {"T", DT_VARIANT});

}  // namespace
}  // namespace sluice

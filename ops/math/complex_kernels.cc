#include <complex>

#include "ops/loops/broadcast.h"
#include "ops/loops/elementwise.h"

namespace sluice {
namespace {

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
KERNEL(Real, Elementwise<RealFn>::Kernel<complex64>, {"T", DT_COMPLEX64}, {"Tout", DT_FLOAT});
KERNEL(Real, Elementwise<RealFn>::Kernel<complex128>, {"T", DT_COMPLEX128}, {"Tout", DT_DOUBLE});

struct ImagFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  T operator()(std::complex<T> x) const {
    return x.imag();
  }
};
KERNEL(Imag, Elementwise<ImagFn>::Kernel<complex64>, {"T", DT_COMPLEX64}, {"Tout", DT_FLOAT});
KERNEL(Imag, Elementwise<ImagFn>::Kernel<complex128>, {"T", DT_COMPLEX128}, {"Tout", DT_DOUBLE});

struct ComplexAbsFn {
  static constexpr double kCost = 2;
  template <typename T>
  T operator()(std::complex<T> x) const {
    return std::abs(x);
  }
};
KERNEL(ComplexAbs, Elementwise<ComplexAbsFn>::Kernel<complex64>, {"T", DT_COMPLEX64},
       {"Tout", DT_FLOAT});
KERNEL(ComplexAbs, Elementwise<ComplexAbsFn>::Kernel<complex128>, {"T", DT_COMPLEX128},
       {"Tout", DT_DOUBLE});

struct ConjFn {
  static constexpr double kCost = 0.3;
  template <typename T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::conj(x);
  }
};
KERNELS(Conj, "T", Elementwise<ConjFn>::Kernel, ComplexList);

// No kind of variant has a conjugate, in TensorFlow neither.
absl::Status ConjVariant(KernelContext& c) {
  if (c.input(0).num_elements() == 0) {
    c.set_output(0, c.input(0));
    return absl::OkStatus();
  }
  return absl::InternalError(
      StrCat("No unary variant unary_op function found for op CONJ Variant type_name: ",
             c.input(0).data<Variant>()[0].TypeName()));
}
using ConjVariantKernel = FunctionKernel<ConjVariant>;
KERNEL(Conj, ConjVariantKernel, {"T", DT_VARIANT});

}  // namespace
}  // namespace sluice

#include "tests/oracle/same_results.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "graph/status.h"

namespace sluice::oracle {
namespace {

template <typename T>
double MagnitudeOf(T x) {
  return std::abs(static_cast<double>(x));
}
template <typename T>
double MagnitudeOf(std::complex<T> x) {
  return std::abs(x);
}

template <typename T>
bool IsNan(T x) {
  return !(x == x);
}

template <typename T>
double Distance(T a, T b) {
  return MagnitudeOf(static_cast<double>(a) - static_cast<double>(b));
}
template <typename T>
double Distance(std::complex<T> a, std::complex<T> b) {
  return MagnitudeOf(a - b);
}

// The first element that differs; -1: none.
template <typename T>
int64_t FirstDifference(const Tensor& a, const Tensor& b, double tolerance) {
  double largest = 0;
  for (const T& x : a.flat<T>()) {
    if (std::isfinite(MagnitudeOf(x))) largest = std::max(largest, MagnitudeOf(x));
  }
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const T x = a.data<T>()[i], y = b.data<T>()[i];
    const bool same = x == y || (IsNan(x) && IsNan(y)) || Distance(x, y) <= tolerance * largest;
    if (!same) return i;
  }
  return -1;
}

int64_t FirstDifference(const Tensor& a, const Tensor& b) {
  switch (a.dtype()) {
    case DT_HALF:
      return FirstDifference<half>(a, b, 1e-3);
    case DT_BFLOAT16:
      return FirstDifference<bfloat16>(a, b, 1e-2);
    case DT_FLOAT:
      return FirstDifference<float>(a, b, 1e-6);
    case DT_DOUBLE:
      return FirstDifference<double>(a, b, 1e-12);
    case DT_COMPLEX64:
      return FirstDifference<complex64>(a, b, 1e-6);
    case DT_COMPLEX128:
      return FirstDifference<complex128>(a, b, 1e-12);
    case DT_STRING:
      for (int64_t i = 0; i < a.num_elements(); ++i) {
        if (a.data<std::string>()[i] != b.data<std::string>()[i]) return i;
      }
      return -1;
    default:  // objects have no bytes to compare
      return std::memcmp(a.raw(), b.raw(), a.bytes()) == 0 ? -1 : 0;
  }
}

}  // namespace

absl::Status ExpectSame(const Tensors& expected, const Tensors& found) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const Tensor &a = expected[i], &b = found[i];
    if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) {
      return absl::InternalError(StrCat("fetch ", i, ": ", a.ToString(), " and ", b.ToString()));
    }
    const int64_t at = a.num_elements() == 0 ? -1 : FirstDifference(a, b);
    if (at >= 0) {
      return absl::InternalError(
          StrCat("fetch ", i, ", element ", at, ": ", a.ToString(20), " and ", b.ToString(20)));
    }
  }
  return absl::OkStatus();
}

}  // namespace sluice::oracle

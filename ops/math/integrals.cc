#include "ops/math/integrals.h"

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace sluice::special {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Returns C(x) + i S(x). Uses a power series if x is small. Otherwise uses the continued fraction
// of erfc, evaluated by Lentz's method.
std::complex<double> Fresnel(double signed_x) {
  using Complex = std::complex<long double>;
  const long double x = std::abs(signed_x), pi = std::numbers::pi_v<long double>;
  if (std::isnan(signed_x)) return {kNaN, kNaN};
  Complex value(0.5L, 0.5L);
  if (x < 1.6L) {
    long double sums[2] = {x, 0}, term = x;
    for (int n = 1; n < 60; ++n) {
      term *= pi / 2 * x * x / n;
      const long double part = term / (2 * n + 1);
      sums[n % 2] += (n / 2 % 2 == 0) ? part : -part;
    }
    value = {sums[0], sums[1]};
  } else if (x < 1e6L) {
    Complex b(1, -pi * x * x), c = 1e300L, d = Complex(1) / b, h = d;
    long double n = -1;
    for (int k = 2; k < 400; ++k) {
      n += 2;
      const long double a = -n * (n + 1);
      b += Complex(4);
      d = Complex(1) / (a * d + b);
      c = b + a / c;
      const Complex step = c * d;
      h *= step;
      if (std::abs(step - Complex(1)) < 1e-19L) break;
    }
    h *= Complex(x, -x);
    const Complex turn(std::cos(pi / 2 * x * x), std::sin(pi / 2 * x * x));
    value = Complex(0.5L, 0.5L) * (Complex(1) - turn * h);
  }
  const std::complex<double> result(static_cast<double>(value.real()),
                                    static_cast<double>(value.imag()));
  return signed_x < 0 ? -result : result;
}

// Returns the sum of z^k / k^2 for |z| <= 1 / 2.
long double DilogSeries(long double z) {
  long double sum = 0, power = z;
  for (int k = 1; k < 80; ++k, power *= z) sum += power / (static_cast<long double>(k) * k);
  return sum;
}

}  // namespace

// Uses Rybicki's sum over a grid around x. Its error is exp(-(pi / 2h)^2).
double Dawsn(double x) {
  if (std::isnan(x)) return x;
  const double size = std::abs(x);
  if (size < 0.2) {
    double sum = 0, term = x;
    for (int k = 0; k < 20; ++k) {
      sum += term;
      term *= -2 * x * x / (2 * k + 3);
    }
    return sum;
  }
  if (size > 1e7) return 0.5 / x;
  const double h = 0.2;
  const double even = 2 * std::round(size / (2 * h)), rest = size - even * h;
  double sum = 0;
  for (int k = -41; k <= 41; k += 2) {
    const double distance = rest - k * h;
    sum += std::exp(-distance * distance) / (even + k);
  }
  return std::copysign(sum / std::sqrt(std::numbers::pi), x);
}

double Expint(double x) {
  if (std::isnan(x) || x < 0) return kNaN;
  if (x == 0) return -kInf;
  if (x > 720) return kInf;
  const long double v = x;
  if (x < 50) {
    long double sum = 0, term = 1;
    for (int k = 1; k < 300; ++k) {
      term *= v / k;
      sum += term / k;
      if (term < sum * 1e-21L) break;
    }
    return static_cast<double>(sum + std::log(v) + std::numbers::egamma_v<long double>);
  }
  long double sum = 1, term = 1;
  for (int k = 1; k < x && term > 1e-20L; ++k) {
    term *= k / v;
    sum += term;
  }
  return static_cast<double>(std::exp(v) / v * sum);
}

double FresnelCos(double x) { return Fresnel(x).real(); }
double FresnelSin(double x) { return Fresnel(x).imag(); }

// Returns the dilogarithm of 1 - x. Transforms the argument, so that it is at most 1 / 2.
double Spence(double x) {
  if (std::isnan(x) || x < 0) return kNaN;
  const long double v = x, pi = std::numbers::pi_v<long double>;
  if (x == 0) return static_cast<double>(pi * pi / 6);
  if (std::isinf(x)) return -kInf;
  const long double log = std::log(v);
  if (x < 0.5) {
    return static_cast<double>(pi * pi / 6 - log * std::log1p(-v) - DilogSeries(v));
  }
  if (x <= 1.5) return static_cast<double>(DilogSeries(1 - v));
  if (x <= 2) {  // uses Landen's transformation
    return static_cast<double>(-DilogSeries((v - 1) / v) - log * log / 2);
  }
  const long double inverse = 1 / v;
  return static_cast<double>(-log * log / 2 -
                             (pi * pi / 6 + log * std::log1p(-inverse) - DilogSeries(inverse)));
}

}  // namespace sluice::special

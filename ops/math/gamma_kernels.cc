#include <cmath>
#include <limits>

#include "ops/loops/broadcast.h"
#include "ops/loops/elementwise.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Returns psi(x) by its asymptotic series if x >= 10. For smaller x, uses psi(x) = psi(x + 1) - 1 /
// x, and for negative x, psi(1 - x) - psi(x) = pi / tan(pi x).
double DigammaOf(double x) {
  double reflected = 0;
  if (x <= 0) {
    if (std::floor(x) == x) return kNaN;
    reflected = -M_PI / std::tan(M_PI * x);
    x = 1 - x;
  }
  double sum = reflected;
  for (; x < 10; x += 1) sum -= 1 / x;
  const double y = 1 / (x * x);
  // The coefficients are the Bernoulli numbers B(2k), divided by 2k.
  const double series =
      y * (1.0 / 12 - y * (1.0 / 120 -
                           y * (1.0 / 252 -
                                y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12))))));
  return sum + std::log(x) - 0.5 / x - series;
}

// If q is less than this, there are too many terms to add them one by one.
constexpr double kLeastSummed = -1000;

// Uses the Euler-Maclaurin formula: the sum of ten terms, then the integral of the others and
// corrections.
double ZetaOf(double x, double q) {
  if (std::isnan(x) || std::isnan(q)) return kNaN;
  if (x == 1) return kInf;
  if (x < 1) return kNaN;
  if (q <= 0) {
    if (q == std::floor(q)) return x == std::floor(x) && std::fmod(x, 2) == 0 ? kInf : kNaN;
    if (x != std::floor(x)) return kNaN;  // a power of a negative number
  }
  if (q < kLeastSummed) {
    // The sum of the terms of negative numbers is the difference of two sums over positive numbers,
    // up to the sign.
    const double part = q - std::floor(q);
    const double sign = std::fmod(x, 2) == 0 ? 1 : -1;
    return ZetaOf(x, part) + sign * ZetaOf(x, 1 - part) - sign * ZetaOf(x, 1 - q);
  }
  double sum = 0, a = q;
  for (int i = 0; i < 10 || a <= 9; ++i, a += 1) {
    const double term = std::pow(a, -x);
    sum += term;
    if (a > 0 && term < sum * std::numeric_limits<double>::epsilon() / 4) return sum;
  }
  double term = std::pow(a, -x);
  sum += a * term / (x - 1) + 0.5 * term;
  // B(2k) / (2k)!
  static constexpr double kFactors[] = {1.0 / 12,
                                        -1.0 / 720,
                                        1.0 / 30240,
                                        -1.0 / 1209600,
                                        1.0 / 47900160,
                                        -691.0 / 1307674368000,
                                        1.0 / 74724249600,
                                        -3617.0 / 10670622842880000,
                                        43867.0 / 5109094217170944000,
                                        -174611.0 / 802857662698291200000.0};
  double product = x;
  term /= a;
  for (int k = 0; k < 10; ++k) {
    const double correction = kFactors[k] * product * term;
    sum += correction;
    if (std::abs(correction) < std::abs(sum) * 1e-17) break;
    product *= (x + 2 * k + 1) * (x + 2 * k + 2);
    term /= a * a;
  }
  return sum;
}

double PolygammaOf(double n, double x) {
  if (n < 0 || n != std::floor(n)) return kNaN;
  if (n == 0) return DigammaOf(x);
  int sign;
  const double factorial = std::exp(lgamma_r(n + 1, &sign));
  return (std::fmod(n, 2) == 0 ? -1 : 1) * factorial * ZetaOf(n + 1, x);
}

// Uses lgamma_r, because lgamma stores the sign in a global variable, which would be a data race.
float LgammaOf(float x) {
  int sign;
  return lgammaf_r(x, &sign);
}
double LgammaOf(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

UNARY_KERNELS(Lgamma, HalfToDoubleList, 15, LgammaOf(x));
UNARY_KERNELS(Digamma, HalfToDoubleList, 40, DigammaOf(x));
BINARY_KERNELS(Polygamma, FloatAndDoubleList, 300, PolygammaOf(x, y));
BINARY_KERNELS(Zeta, FloatAndDoubleList, 300, ZetaOf(x, y));

}  // namespace
}  // namespace sluice

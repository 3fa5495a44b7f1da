// Functions defined by integrals that the C++ library and Eigen lack, in double precision.
#ifndef SLUICE_OPS_MATH_INTEGRALS_H_
#define SLUICE_OPS_MATH_INTEGRALS_H_

namespace sluice::special {

double Dawsn(double x);
double Expint(double x);  // NaN for x < 0
double FresnelCos(double x);
double FresnelSin(double x);
double Spence(double x);  // NaN for x < 0

}  // namespace sluice::special

#endif  // SLUICE_OPS_MATH_INTEGRALS_H_

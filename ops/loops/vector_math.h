// Declares functions of <cmath> so that the compiler vectorizes loops over them.
//
// With glibc on x86-64, the declarations name the vector forms in libmvec (SSE, AVX2 and AVX-512,
// within 4 ulp). Without them, loops call the scalar functions.
#ifndef SLUICE_OPS_LOOPS_VECTOR_MATH_H_
#define SLUICE_OPS_LOOPS_VECTOR_MATH_H_

#include <cmath>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__) && \
    __GLIBC_PREREQ(2, 35)
#define SLUICE_SIMD_UNARY(name)                                                   \
  extern "C" __attribute__((simd("notinbranch"))) double name(double x) noexcept; \
  extern "C" __attribute__((simd("notinbranch"))) float name##f(float x) noexcept;
#define SLUICE_SIMD_BINARY(name)                                                            \
  extern "C" __attribute__((simd("notinbranch"))) double name(double x, double y) noexcept; \
  extern "C" __attribute__((simd("notinbranch"))) float name##f(float x, float y) noexcept;
SLUICE_SIMD_UNARY(acos)
SLUICE_SIMD_UNARY(acosh)
SLUICE_SIMD_UNARY(asin)
SLUICE_SIMD_UNARY(asinh)
SLUICE_SIMD_UNARY(atan)
SLUICE_SIMD_UNARY(atanh)
SLUICE_SIMD_UNARY(cos)
SLUICE_SIMD_UNARY(cosh)
SLUICE_SIMD_UNARY(erf)
SLUICE_SIMD_UNARY(erfc)
SLUICE_SIMD_UNARY(exp)
SLUICE_SIMD_UNARY(expm1)
SLUICE_SIMD_UNARY(log)
SLUICE_SIMD_UNARY(log1p)
SLUICE_SIMD_UNARY(sin)
SLUICE_SIMD_UNARY(sinh)
SLUICE_SIMD_UNARY(tan)
SLUICE_SIMD_UNARY(tanh)
SLUICE_SIMD_BINARY(atan2)
SLUICE_SIMD_BINARY(pow)
#undef SLUICE_SIMD_UNARY
#undef SLUICE_SIMD_BINARY
#endif

#endif  // SLUICE_OPS_LOOPS_VECTOR_MATH_H_

// Support for functions that need AVX-512: they are marked SLUICE_AVX512 and are called only if
// HasAvx512() is true.
#ifndef SLUICE_EXECUTOR_CPU_AVX512_H_
#define SLUICE_EXECUTOR_CPU_AVX512_H_

#include <cstdlib>

namespace sluice {

// Whether the machine has AVX-512 and the environment variable SLUICE_NO_AVX512, with which tests
// run the code for other machines, is not set.
#if defined(__x86_64__) && defined(__GNUC__)
#define SLUICE_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma")))
inline bool HasAvx512() {
  static const bool has = __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma") &&
                          std::getenv("SLUICE_NO_AVX512") == nullptr;
  return has;
}
#else
#define SLUICE_AVX512
inline bool HasAvx512() { return false; }
#endif

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_AVX512_H_

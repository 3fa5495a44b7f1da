// Functions for AVX-512 alone: they say so (SLUICE_AVX512), and are called where HasAvx512.
#ifndef SLUICE_EXECUTOR_CPU_AVX512_H_
#define SLUICE_EXECUTOR_CPU_AVX512_H_

#include <cstdlib>

namespace sluice {

// Whether the machine has AVX-512, and SLUICE_NO_AVX512 is not set: tests run what other machines
// do.
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

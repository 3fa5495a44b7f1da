// Support for functions that need AVX-512: they are marked SLUICE_AVX512 and are called only if
// HasAvx512() is true.
#ifndef SLUICE_EXECUTOR_CPU_AVX512_H_
#define SLUICE_EXECUTOR_CPU_AVX512_H_

namespace sluice {

// Whether the machine has AVX-512, and SLUICE_CPU (instruction_sets.h) does not exclude it.
#if defined(__x86_64__) && defined(__GNUC__)
#define SLUICE_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma")))
inline bool HasAvx512() {
  static const bool has = __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma");
  return has;
}
#else
#define SLUICE_AVX512
inline bool HasAvx512() { return false; }
#endif

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_AVX512_H_

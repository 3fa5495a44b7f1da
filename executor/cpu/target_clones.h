// SLUICE_TARGET_CLONES before a function compiles it for AVX-512, AVX2 and plain x86-64, and picks
// the best one that the running machine has when the program starts. For loops over arrays that the
// compiler vectorises.
//
// It applies to the function's own body and to what is inlined into it, so keep the loop in the
// function itself, and mark what it calls SLUICE_INLINE_IN_CLONES. Functions, static members and
// templates may be cloned; lambdas may not. Empty with sanitizers, whose run time is not ready when
// resolvers run, and with other compilers. Use it in libraries with `loops = True` (bazel/cc.bzl):
// without -O3 little is vectorised.
#ifndef SLUICE_EXECUTOR_CPU_TARGET_CLONES_H_
#define SLUICE_EXECUTOR_CPU_TARGET_CLONES_H_

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(SLUICE_NO_TARGET_CLONES)
#define SLUICE_TARGET_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SLUICE_TARGET_CLONES
#endif

#define SLUICE_INLINE_IN_CLONES inline __attribute__((always_inline))

#endif  // SLUICE_EXECUTOR_CPU_TARGET_CLONES_H_

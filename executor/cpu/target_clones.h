// SLUICE_TARGET_CLONES before a function compiles it for AVX-512, AVX2 and plain x86-64. The
// program picks the best version for the machine at its start. The macro is for functions with
// loops over arrays, which the compiler vectorises.
//
// It applies to the function's body and to functions inlined into it. So keep the loop in the
// function itself, and mark the functions that it calls SLUICE_INLINE_IN_CLONES. Functions, static
// members and templates can be cloned, lambdas cannot. The macro is empty with other compilers, and
// with sanitizers, because their runtime library is not ready yet when the program picks versions.
// Use the macro in libraries with `loops = True` (bazel/cc.bzl), because g++ vectorises little
// without -O3.
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

// Reads the environment variable SLUICE_CPU, which limits the instruction sets that a program uses.
//
// A program that links this library obeys the limit: __builtin_cpu_supports returns false for the
// sets beyond it, and SLUICE_TARGET_CLONES selects no version that needs them. Tests set SLUICE_CPU
// to run code for older processors. Libraries that examine the processor themselves are not
// limited.
//
// Thread safety: all functions may be called from any thread.
#ifndef SLUICE_EXECUTOR_CPU_INSTRUCTION_SETS_H_
#define SLUICE_EXECUTOR_CPU_INSTRUCTION_SETS_H_

namespace sluice {

// Each value includes the instruction sets of the values before it.
enum class InstructionSets {
  kNone,    // SLUICE_CPU=none: x86-64 with SSE2, which all processors have
  kSse4,    // SLUICE_CPU=sse4: x86-64-v2
  kAvx2,    // SLUICE_CPU=avx2: x86-64-v3, with FMA
  kAvx512,  // SLUICE_CPU=avx512: x86-64-v4 and further AVX-512 sets, without AMX
  kAll,     // SLUICE_CPU is not set
};

// The limit when the process started. An unknown value of SLUICE_CPU sets no limit, and is reported
// on stderr.
InstructionSets InstructionSetLimit();

// The largest set up to kAvx512 that the processor has and the limit permits. kNone on other
// processors than x86-64.
InstructionSets UsableInstructionSets();

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_INSTRUCTION_SETS_H_

// The shortest loop that is worth sharing between threads.
#ifndef SLUICE_EXECUTOR_CPU_LOOP_COSTS_H_
#define SLUICE_EXECUTOR_CPU_LOOP_COSTS_H_

namespace sluice {

// A loop of fewer nanoseconds runs in its caller even if a thread looks for loops, because joining
// it takes that thread 0.3 us.
inline constexpr double kWorthSharingNs = 2e3;

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_LOOP_COSTS_H_

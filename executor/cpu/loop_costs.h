// From which time on loops are worth cutting.
#ifndef SLUICE_EXECUTOR_CPU_LOOP_COSTS_H_
#define SLUICE_EXECUTOR_CPU_LOOP_COSTS_H_

namespace sluice {

// A loop that takes less, in nanoseconds, runs in its caller, even if a thread looks for loops:
// that takes 0.3 us to join it.
inline constexpr double kWorthSharingNs = 2e3;

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_LOOP_COSTS_H_

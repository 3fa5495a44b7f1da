// The shortest loop that is worth sharing between threads.
#ifndef SLUICE_EXECUTOR_CPU_LOOP_COSTS_H_
#define SLUICE_EXECUTOR_CPU_LOOP_COSTS_H_

namespace sluice {

// A loop that takes less time runs in its caller, even if a pool thread spins and looks for loops:
// that thread needs 0.3 us to join a loop.
inline constexpr double kWorthSharingNs = 2e3;

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_LOOP_COSTS_H_

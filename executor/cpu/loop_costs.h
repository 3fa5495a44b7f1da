// The duration above which a loop is shared between threads.
#ifndef SLUICE_EXECUTOR_CPU_LOOP_COSTS_H_
#define SLUICE_EXECUTOR_CPU_LOOP_COSTS_H_

namespace sluice {

// The duration in nanoseconds. A shorter loop runs on its caller's thread alone: even a thread that
// already spins needs a noticeable part of this time to join a loop.
inline constexpr double kWorthSharingNs = 2e3;

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_LOOP_COSTS_H_

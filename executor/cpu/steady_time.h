// The steady clock as a number.
#ifndef SLUICE_EXECUTOR_CPU_STEADY_TIME_H_
#define SLUICE_EXECUTOR_CPU_STEADY_TIME_H_

#include <chrono>
#include <cstdint>

namespace sluice {

// Nanoseconds since an unspecified moment.
inline int64_t SteadyNowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_STEADY_TIME_H_

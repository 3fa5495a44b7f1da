// Repeated timing of one thing, and what the rest of the machine did meanwhile.
#ifndef SLUICE_BENCHMARKS_GRAPHS_TIMING_H_
#define SLUICE_BENCHMARKS_GRAPHS_TIMING_H_

#include <functional>

namespace sluice {

struct Timing {
  double min = 0, median = 0, max = 0;  // seconds a call
  long calls_a_repetition = 0;
  double cores_used = 0;     // this process's CPU time over wall time
  double other_cpu_pct = 0;  // of everyone else; 100 = one core
};

double SecondsNow();

// Warms up for 0.3 s, then calls `once` for about `seconds`, `repetitions` times. Stops early where
// `once` returns false.
Timing TimeCalls(const std::function<bool()>& once, double seconds, int repetitions);

}  // namespace sluice

#endif  // SLUICE_BENCHMARKS_GRAPHS_TIMING_H_

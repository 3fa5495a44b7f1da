// Measures the time of one function repeatedly, and the load of other processes meanwhile.
#ifndef SLUICE_BENCHMARKS_GRAPHS_TIMING_H_
#define SLUICE_BENCHMARKS_GRAPHS_TIMING_H_

#include <functional>

namespace sluice {

struct Timing {
  double min = 0, median = 0, max = 0;  // seconds per call
  long calls_a_repetition = 0;
  double cores_used = 0;     // this process's CPU time divided by the wall time
  double other_cpu_pct = 0;  // of all other processes; 100 = one core
};

double SecondsNow();

// Calls `once` for 0.3 s to warm up, then measures `repetitions` times for about `seconds` each. If
// `once` returns false, stops and returns zeros.
Timing TimeCalls(const std::function<bool()>& once, double seconds, int repetitions);

}  // namespace sluice

#endif  // SLUICE_BENCHMARKS_GRAPHS_TIMING_H_

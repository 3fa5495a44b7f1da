// The distribution of a worker's time per gradient, after "Revisiting Distributed Synchronous SGD"
// (Chen et al., arXiv 1604.00981, section 2.1). In the paper, with 100 workers, the 98th gradient
// arrived within 2 s in 80 % of the steps, and the last one in 30 %. One gradient took 310 s. In
// this model most gradients take a little more than a second. One in 74 takes more than two
// seconds, with a heavy tail. This gives 84 % and 26 % instead of 80 % and 30 %.
#ifndef SLUICE_TESTS_SIMULATE_STRAGGLERS_H_
#define SLUICE_TESTS_SIMULATE_STRAGGLERS_H_

#include <algorithm>
#include <cmath>

namespace sluice {

// Returns the seconds for one gradient. `which` and `how_long` are random numbers in [0, 1).
inline double StragglerSeconds(double which, double how_long) {
  const double u = std::max(1 - how_long, 1e-9);
  if (which < 1.0 / 74) return std::min(2.0 * std::pow(u, -1 / 1.2), 310.0);
  return std::min(1.0 - 0.15 * std::log(u), 2.0);
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_STRAGGLERS_H_

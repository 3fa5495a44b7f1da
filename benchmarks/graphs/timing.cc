#include "benchmarks/graphs/timing.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace sluice {
namespace {

double OwnCpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// CPU time without idle time and I/O waits, from the first line of /proc/stat.
double MachineCpuSeconds() {
  std::ifstream stat("/proc/stat");
  std::string label;
  stat >> label;
  double busy = 0, ticks = 0;
  for (int column = 0; column < 8 && stat >> ticks; ++column) {
    if (column != 3 && column != 4) busy += ticks;
  }
  return busy / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Timing TimeCalls(const std::function<bool()>& once, double seconds, int repetitions) {
  const double begin = SecondsNow();
  int warm = 0;
  while (warm < 3 || (SecondsNow() - begin < 0.3 && warm < 100000)) {
    if (!once()) return {};
    ++warm;
  }
  const double one = SecondsNow();
  if (!once()) return {};
  const double estimate =
      std::min(SecondsNow() - one, (SecondsNow() - begin) / static_cast<double>(warm + 1));
  Timing timing;
  timing.calls_a_repetition =
      std::max(1L, static_cast<long>(std::ceil(seconds / std::max(estimate, 1e-7))));
  const double cpu = OwnCpuSeconds(), machine = MachineCpuSeconds(), wall = SecondsNow();
  std::vector<double> times;
  for (int r = 0; r < repetitions; ++r) {
    const double start = SecondsNow();
    for (long i = 0; i < timing.calls_a_repetition; ++i) {
      if (!once()) return {};
    }
    times.push_back((SecondsNow() - start) / static_cast<double>(timing.calls_a_repetition));
  }
  const double own = OwnCpuSeconds() - cpu, all = SecondsNow() - wall;
  timing.cores_used = own / all;
  timing.other_cpu_pct = 100 * std::max(0.0, MachineCpuSeconds() - machine - own) / all;
  std::sort(times.begin(), times.end());
  timing.min = times.front();
  timing.median = times[times.size() / 2];
  timing.max = times.back();
  return timing;
}

}  // namespace sluice

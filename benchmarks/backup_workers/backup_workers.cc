// Measures the throughput of synchronous training by number of backup workers. A parameter server
// and 200 workers run in one process and use the real protocol over a simulated network.
//
//   bazel run //benchmarks/backup_workers -- [workers] [updates] > TABLE
//   gnuplot -c benchmarks/backup_workers/plot.gnuplot TABLE > docs/pictures/backup_workers.svg
//
// Next to each measured value is the value expected if all workers begin each step at the same
// time: an update then takes as long as its (workers - backups)-th fastest worker.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "tests/simulate/cluster_world.h"
#include "tests/simulate/stragglers.h"

namespace sluice {
namespace {

constexpr int kRounds = 2000;

int64_t ComputeUs(Simulation& world) {
  const double which = world.Uniform();
  return static_cast<int64_t>(StragglerSeconds(which, world.Uniform()) * 1e6);
}

// Mean seconds until the first, second, … of `workers` workers arrives.
std::vector<double> MeanArrivals(int workers) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> sums(workers), seconds(workers);
  for (int round = 0; round < kRounds; ++round) {
    for (double& s : seconds) {
      const double which = uniform(random);
      s = StragglerSeconds(which, uniform(random));
    }
    std::sort(seconds.begin(), seconds.end());
    for (int i = 0; i < workers; ++i) sums[i] += seconds[i] / kRounds;
  }
  return sums;
}

// Updates per second; 0 after an error.
double Measure(int workers, int backups, int updates) {
  ClusterWorld world({.aggregate = workers - backups,
                      .replicas = workers,
                      .updates = updates,
                      .has_faults = false,
                      .attempts = 2 * updates + 2,
                      .compute_us = ComputeUs,
                      .saves = false,
                      .uses_masters = false,
                      .time_limit_us = int64_t{1} << 50});
  const Verdict verdict =
      world.status().ok() ? world.Train(1) : Verdict{.failure = world.status().ToString()};
  if (!verdict.failure.empty() || verdict.updates_us.size() < 2) {
    std::fprintf(stderr, "%d backups: %s\n", backups, verdict.failure.c_str());
    return 0;
  }
  const int64_t microseconds = verdict.updates_us.back() - verdict.updates_us.front();
  return static_cast<double>(verdict.updates_us.size() - 1) * 1e6 /
         static_cast<double>(microseconds);
}

int Run(int workers, int updates) {
  const std::vector<double> arrivals = MeanArrivals(workers);
  std::printf("workers,backups,updates_per_s,gradients_per_s,expected_updates_per_s\n");
  for (const int backups : {0, 1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
    if (backups >= workers) break;
    const double rate = Measure(workers, backups, updates);
    if (rate == 0) return 1;
    std::printf("%d,%d,%.4f,%.2f,%.4f\n", workers, backups, rate, rate * (workers - backups),
                1 / arrivals[workers - backups - 1]);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  return sluice::Run(argc > 1 ? std::atoi(argv[1]) : 200, argc > 2 ? std::atoi(argv[2]) : 100);
}

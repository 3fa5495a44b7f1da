// The benefit of backup workers. benchmarks/backup_workers shows it with 200 workers.
#include <map>

#include "gtest/gtest.h"
#include "tests/simulate/cluster_world.h"
#include "tests/simulate/stragglers.h"

namespace sluice {
namespace {

constexpr int kWorkers = 40;

// Applied gradients per second.
double Throughput(int backups) {
  ClusterWorld world({.aggregate = kWorkers - backups,
                      .replicas = kWorkers,
                      .updates = 30,
                      .has_faults = false,
                      .attempts = 62,
                      .compute_us =
                          [](Simulation& simulation) {
                            const double which = simulation.Uniform();
                            return static_cast<int64_t>(
                                1e6 * StragglerSeconds(which, simulation.Uniform()));
                          },
                      .saves = false,
                      .uses_masters = false,
                      .time_limit_us = int64_t{1} << 50});
  const Verdict verdict = world.Train(1);
  EXPECT_EQ(verdict.failure, "");
  EXPECT_EQ(verdict.updates_us.size(), 30u);
  const int64_t microseconds = verdict.updates_us.back() - verdict.updates_us.front();
  return 29e6 * (kWorkers - backups) / static_cast<double>(microseconds);
}

TEST(BackupWorkers, AFewMakeTrainingFasterAndManyAreAWaste) {
  const double none = Throughput(0);
  const double few = Throughput(2);
  const double many = Throughput(20);
  EXPECT_GT(few, 1.3 * none);
  EXPECT_GT(few, 1.3 * many);
}

}  // namespace
}  // namespace sluice

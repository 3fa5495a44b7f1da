// The invariants of synchronous training on a cluster whose network loses messages and whose tasks
// crash and return. //tests/simulate:seeds runs any number of further seeds.
#include <cstdio>

#include "gtest/gtest.h"
#include "tests/simulate/cluster_seeds.h"
#include "tests/simulate/cluster_world.h"

namespace sluice {
namespace {

constexpr uint64_t kSeeds = 1000;

class ClusterSimulation : public ::testing::TestWithParam<uint64_t> {};

TEST_P(ClusterSimulation, KeepsTheInvariants) {
  ClusterWorld world(kJobs[GetParam()]);
  ASSERT_TRUE(world.status().ok()) << world.status();
  int64_t seeds = 0, trained = 0, crashes = 0, calls = 0, time_us = 0;
  for (uint64_t seed = GetParam(); seed < kSeeds; seed += kNumJobs) {
    const Verdict verdict = world.Train(seed);
    ASSERT_EQ(verdict.failure, "") << "bazel run //tests/simulate:seeds -- --story=" << seed << "\n"
                                   << verdict.story;
    ++seeds;
    trained += verdict.is_trained ? 1 : 0;
    crashes += verdict.crashes;
    calls += verdict.calls;
    time_us += verdict.time_us;
  }
  std::printf("%lld seeds: %lld calls, %lld tasks crashed, %.0f s of simulated time\n",
              static_cast<long long>(seeds), static_cast<long long>(calls),
              static_cast<long long>(crashes), static_cast<double>(time_us) / 1e6);
  EXPECT_EQ(trained, seeds) << "faults end, and so must every training";
}

INSTANTIATE_TEST_SUITE_P(Jobs, ClusterSimulation, ::testing::Range(uint64_t{0}, kNumJobs),
                         [](const auto& info) { return NameOf(kJobs[info.param]); });

TEST(ClusterReplay, TheSameSeedTellsTheSameStory) {
  ClusterWorld first(kJobs[0]);
  ClusterWorld second(kJobs[0]);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Verdict a = first.Train(seed);
    const Verdict b = second.Train(seed);
    EXPECT_EQ(a.story, b.story) << "seed " << seed;
    EXPECT_EQ(a.fingerprint, b.fingerprint) << "seed " << seed;
  }
}

TEST(ClusterReplay, AnotherSeedTellsAnother) {
  ClusterWorld world(kJobs[0]);
  EXPECT_NE(world.Train(1).fingerprint, world.Train(2).fingerprint);
}

// Whether one of 1,000 seeds finds a violation of the invariant.
bool Finds(Bug bug, Form form, const std::string& invariant) {
  ClusterWorld world({.form = form, .aggregate = 2, .replicas = 3, .bug = bug});
  EXPECT_TRUE(world.status().ok()) << world.status();
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    const Verdict verdict = world.Train(seed);
    if (!verdict.failure.starts_with(invariant + ": ")) continue;
    const Verdict again = world.Train(seed);
    EXPECT_EQ(again.failure, verdict.failure);
    EXPECT_EQ(again.story, verdict.story);
    std::printf("found with seed %llu: %s\n", static_cast<unsigned long long>(seed),
                verdict.failure.c_str());
    return true;
  }
  return false;
}

TEST(ClusterPlantedBug, ATokenThatIsLostIsFound) {
  EXPECT_TRUE(Finds(Bug::kLostToken, Form::kAccumulators, "S2"));
  EXPECT_TRUE(Finds(Bug::kLostToken, Form::kQueues, "S2"));
}

TEST(ClusterPlantedBug, AStaleGradientThatIsLetThroughIsFound) {
  EXPECT_TRUE(Finds(Bug::kStaleGradient, Form::kAccumulators, "S1"));
  EXPECT_TRUE(Finds(Bug::kStaleGradient, Form::kQueues, "S1"));
}

// Invariant S7 (docs/simulator.md).
TEST(ClusterJob, ThatCanNeverMakeAnUpdateIsRefused) {
  const ClusterWorld none({.aggregate = 0, .replicas = 2});
  EXPECT_NE(none.status().message().find("no update could ever be made"), std::string::npos)
      << none.status();
  const ClusterWorld undecided({.aggregate = 2, .replicas = 3, .deterministic = true});
  EXPECT_NE(undecided.status().message().find("no backup replicas"), std::string::npos)
      << undecided.status();
}

}  // namespace
}  // namespace sluice

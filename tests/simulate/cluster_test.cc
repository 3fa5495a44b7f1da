// The invariants of synchronous training on a cluster whose wire loses messages and whose tasks
// crash and come back.
//
//   bazel test //tests/simulate:cluster_test                          40 seeds, as in CI
//   SLUICE_SEEDS=100000 bazel-bin/tests/simulate/cluster_test         as many as one likes
//   SLUICE_SEED=n …                                                   one again, with its story
#include <cstdio>
#include <cstdlib>

#include "graph/strings.h"
#include "gtest/gtest.h"
#include "tests/simulate/cluster_world.h"

namespace sluice {
namespace {

uint64_t Number(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

const ClusterOptions kWorlds[] = {
    {.form = Form::kAccumulators, .aggregate = 2, .replicas = 3},
    {.form = Form::kQueues, .aggregate = 2, .replicas = 3},
    {.form = Form::kAccumulators, .aggregate = 2, .replicas = 2},
    {.form = Form::kQueues, .aggregate = 2, .replicas = 2},
};

std::string Describe(const ClusterOptions& o, uint64_t seed) {
  return StrCat(o.form == Form::kQueues ? "queues" : "accumulators", ", ", o.aggregate, " of ",
                o.replicas, " replicas; SLUICE_SEED=", seed);
}

TEST(ClusterSimulation, KeepsTheInvariants) {
  const uint64_t one = Number("SLUICE_SEED", 0);
  const uint64_t seeds = Number("SLUICE_SEEDS", 40);
  std::vector<std::unique_ptr<ClusterWorld>> worlds;
  for (const ClusterOptions& options : kWorlds) {
    worlds.push_back(std::make_unique<ClusterWorld>(options));
    ASSERT_TRUE(worlds.back()->status().ok()) << worlds.back()->status();
  }
  int64_t crashes = 0, calls = 0, time_us = 0;
  for (uint64_t seed = one == 0 ? 1 : one; seed <= (one == 0 ? seeds : one); ++seed) {
    ClusterWorld& world = *worlds[seed % worlds.size()];
    const Verdict verdict = world.Train(seed);
    if (one != 0) std::fputs(verdict.story.c_str(), stderr);
    ASSERT_EQ(verdict.failure, "") << Describe(world.options(), seed) << "\n" << verdict.story;
    crashes += verdict.crashes;
    calls += verdict.calls;
    time_us += verdict.time_us;
  }
  std::printf("%llu seeds: %lld calls, %lld tasks that ended, %.0f s of simulated time\n",
              static_cast<unsigned long long>(one == 0 ? seeds : 1), static_cast<long long>(calls),
              static_cast<long long>(crashes), static_cast<double>(time_us) / 1e6);
}

TEST(ClusterSimulation, TheSameSeedTellsTheSameStory) {
  ClusterWorld first(kWorlds[0]);
  ClusterWorld second(kWorlds[0]);
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Verdict a = first.Train(seed);
    const Verdict b = second.Train(seed);
    EXPECT_EQ(a.story, b.story) << "seed " << seed;
    EXPECT_EQ(a.calls, b.calls);
    EXPECT_EQ(a.time_us, b.time_us);
  }
}

// Whether one of 1,000 seeds finds that the invariant does not hold.
bool Finds(Bug bug, Form form, const std::string& invariant) {
  ClusterWorld world({.form = form, .aggregate = 2, .replicas = 3, .bug = bug});
  EXPECT_TRUE(world.status().ok()) << world.status();
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    const Verdict verdict = world.Train(seed);
    if (verdict.failure.find(invariant + ": ") != 0) continue;
    EXPECT_EQ(world.Train(seed).failure, verdict.failure);  // exactly so again
    std::printf("found with seed %llu: %s\n", static_cast<unsigned long long>(seed),
                verdict.failure.c_str());
    return true;
  }
  return false;
}

TEST(ClusterSimulation, ATokenThatIsLostIsFound) {
  EXPECT_TRUE(Finds(Bug::kLostToken, Form::kAccumulators, "S2"));
  EXPECT_TRUE(Finds(Bug::kLostToken, Form::kQueues, "S2"));
}

TEST(ClusterSimulation, AStaleGradientThatIsLetThroughIsFound) {
  EXPECT_TRUE(Finds(Bug::kStaleGradient, Form::kAccumulators, "S1"));
}

}  // namespace
}  // namespace sluice

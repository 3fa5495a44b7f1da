// The code of docs/simulator.md.
#include <cstdio>

#include "gtest/gtest.h"
#include "tests/simulate/cluster_world.h"

namespace sluice {
namespace {

TEST(Simulator, TrainsAClusterBySeed) {
  // [train]
  ClusterWorld world({.form = Form::kAccumulators, .aggregate = 2, .replicas = 3, .updates = 5});
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Verdict verdict = world.Train(seed);
    if (verdict.failure.empty()) continue;
    std::printf("seed %d: %s\n%s", static_cast<int>(seed), verdict.failure.c_str(),
                verdict.story.c_str());
  }
  // [/train]
  EXPECT_EQ(world.Train(1).failure, "");
}

TEST(Simulator, IsAWorldOfActorsAndEvents) {
  std::string letter;
  // [world]
  Simulation world(/*seed=*/7);
  world.Spawn([&] {
    world.Wait(&letter);  // until somebody wakes this key
    world.Tell("got " + letter);
  });
  world.At(world.Draw(10'000), [&] {  // microseconds from now
    letter = "a letter";
    world.Wake(&letter);
  });
  const int times_stuck = world.Run({.time_limit = 1'000'000});
  // [/world]
  EXPECT_EQ(times_stuck, 0);
  EXPECT_NE(world.story().find(" ms  got a letter\n"), std::string::npos) << world.story();
}

}  // namespace
}  // namespace sluice

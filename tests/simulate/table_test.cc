// The invariants of embedding tables whose keys are admitted and evicted while workers train them,
// and whose servers restart in other numbers. //tests/simulate:table_seeds runs further seeds.
#include <cstdio>

#include "graph/strings.h"
#include "gtest/gtest.h"
#include "tests/simulate/table_seeds.h"
#include "tests/simulate/table_world.h"

namespace sluice {
namespace {

constexpr uint64_t kSeeds = 1000;

class TableSimulation : public ::testing::TestWithParam<uint64_t> {};

TEST_P(TableSimulation, KeepsTheInvariants) {
  const TableJob& job = kTableJobs[GetParam()].job;
  const TableWorld world(job);
  int64_t lookups = 0, updates = 0, admitted = 0, evicted = 0, restores = 0;
  for (uint64_t seed = GetParam(); seed < kSeeds; seed += kNumTableJobs) {
    const TableVerdict verdict = world.Train(seed);
    ASSERT_EQ(verdict.failure, "")
        << "bazel run //tests/simulate:table_seeds -- --story=" << seed << "\n"
        << verdict.story;
    lookups += verdict.lookups;
    updates += verdict.updates;
    admitted += verdict.admitted;
    evicted += verdict.evicted;
    restores += verdict.restores;
  }
  std::printf("%s\n", StrCat(lookups, " lookups, ", updates, " updates, ", admitted, " admitted, ",
                             evicted, " evicted, ", restores, " restores")
                          .c_str());
  // The seeds reach the cases that this test is for.
  EXPECT_GT(restores, 30);
  EXPECT_GT(admitted, 1000);
  EXPECT_EQ(evicted > 100, job.eviction != EvictionRule());
}

INSTANTIATE_TEST_SUITE_P(Jobs, TableSimulation, ::testing::Range(uint64_t{0}, kNumTableJobs),
                         [](const auto& info) { return kTableJobs[info.param].name; });

TEST(TableReplay, TheSameSeedTellsTheSameStory) {
  for (uint64_t seed = 0; seed < 2 * kNumTableJobs; ++seed) {
    const TableWorld world(kTableJobs[seed % kNumTableJobs].job);
    const TableVerdict a = world.Train(seed), b = world.Train(seed);
    EXPECT_EQ(a.story, b.story) << "seed " << seed;
    EXPECT_EQ(a.time_us, b.time_us) << "seed " << seed;
    EXPECT_EQ(a.updates, b.updates) << "seed " << seed;
  }
}

// The first violation that one of 1,000 seeds finds.
std::string Finds(TableJob job, TableBug bug) {
  job.bug = bug;
  const TableWorld world(job);
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    const TableVerdict verdict = world.Train(seed);
    if (verdict.failure.empty()) continue;
    EXPECT_EQ(world.Train(seed).failure, verdict.failure);
    std::printf("found with seed %d: %s\n", static_cast<int>(seed), verdict.failure.c_str());
    return verdict.failure;
  }
  return "";
}

TEST(TablePlantedBug, CountsThatARestoreForgetsAreFound) {
  const std::string found = Finds(kTableJobs[1].job, TableBug::kForgottenCounts);
  EXPECT_TRUE(found.starts_with("E4: ") || found.starts_with("E6: ")) << found;
}

TEST(TablePlantedBug, ALookupInAReplacedServerIsFound) {
  EXPECT_EQ(Finds(kTableJobs[2].job, TableBug::kFormerServer).substr(0, 4), "E2: ");
}

TEST(TablePlantedBug, ASaveDuringUpdatesIsFound) {
  EXPECT_EQ(Finds(kTableJobs[0].job, TableBug::kSaveDuringUpdates).substr(0, 4), "E5: ");
}

}  // namespace
}  // namespace sluice

#include "executor/step/sharing_trial.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace sluice {
namespace {

// Passes steps to a SharingTrial. Their durations with and without helpers are given.
struct Steps {
  SharingTrial trial{1};
  int64_t shared_ns = 0, alone_ns = 0;
  int64_t shared = 0, alone = 0, timed = 0;

  int64_t Run(int64_t count) {
    const int64_t alone_before = alone;
    for (int64_t i = 0; i < count; ++i) {
      const bool is_timed = trial.Begins();
      ++(trial.shares() ? shared : alone);
      const int64_t ns = trial.shares() ? shared_ns : alone_ns;
      if (is_timed) trial.Took(ns);
      timed += is_timed ? 1 : 0;
    }
    return alone - alone_before;
  }
};

TEST(SharingTrial, StaysWithWhatIsQuicker) {
  Steps steps{.shared_ns = 100'000, .alone_ns = 180'000};
  const int64_t alone = steps.Run(1'000'000);
  EXPECT_TRUE(steps.trial.shares());
  EXPECT_GT(alone, 0);
  // Each trial step loses 0.8 of a step.
  EXPECT_LT(static_cast<double>(alone) * 0.8 / 1e6, 0.006);
}

TEST(SharingTrial, GoesAloneWhereThatIsQuicker) {
  Steps steps{.shared_ns = 420'000, .alone_ns = 245'000};
  steps.Run(1'200);
  EXPECT_FALSE(steps.trial.shares());
  EXPECT_GT(steps.Run(100'000), 98'000);
}

TEST(SharingTrial, FollowsChanges) {
  Steps steps{.shared_ns = 180'000, .alone_ns = 245'000};
  steps.Run(1'000);
  for (int round = 0; round < 5; ++round) {
    steps.shared_ns = 420'000;
    steps.Run(2'000);
    EXPECT_GT(steps.Run(3'000), 2'900);
    steps.shared_ns = 180'000;
    steps.Run(2'000);
    EXPECT_LT(steps.Run(3'000), 100);
  }
}

TEST(SharingTrial, LeavesWhatIsAlikeAsItIs) {
  Steps steps{.shared_ns = 100'000, .alone_ns = 95'000};
  steps.Run(10'000);
  EXPECT_LT(steps.alone, 400);
  EXPECT_LT(steps.timed, 700);
}

TEST(SharingTrial, DoesNotTryLongSteps) {
  Steps steps{.shared_ns = 1'000'000'000, .alone_ns = 1'900'000'000};
  EXPECT_EQ(steps.Run(2'000), 0);
}

TEST(SharingTrial, LosesLittleWhereThereAreManyThreads) {
  Steps steps{.trial = SharingTrial(63), .shared_ns = 100'000, .alone_ns = 6'400'000};
  for (int i = 0; i < 200'000; ++i) {
    steps.Run(1);
    ASSERT_LT(static_cast<double>(steps.alone) * 63, 0.011 * (i + 1) + 0.5) << i;
  }
  EXPECT_GT(steps.alone, 0);
}

TEST(SharingTrial, StepsOfManySizesDoNotDecide) {
  Steps steps;
  uint32_t random = 1;
  for (int i = 0; i < 200'000; ++i) {
    random = random * 1664525 + 1013904223;
    steps.shared_ns = 20'000 + (random >> 8) % 200'000;
    steps.alone_ns = steps.shared_ns * 3 / 2;
    steps.Run(1);
  }
  EXPECT_LT(steps.alone, 4'000);
}

TEST(SharingTrial, OneInterruptionDoesNotDecide) {
  Steps steps{.shared_ns = 100'000, .alone_ns = 150'000};
  while (!steps.trial.Begins()) {
  }
  steps.trial.Took(5'000'000);
  steps.Run(50);
  EXPECT_TRUE(steps.trial.shares());
  EXPECT_EQ(steps.alone, 2);  // enough to see that they are slower
}

TEST(SharingTrial, GoesOnAsBeforeAfterAFailure) {
  Steps steps{.shared_ns = 100'000, .alone_ns = 150'000};
  while (steps.trial.shares()) steps.Run(1);
  EXPECT_TRUE(steps.trial.Begins());
  steps.trial.Failed();
  EXPECT_TRUE(steps.trial.shares());
  EXPECT_EQ(steps.Run(150), 0);
}

}  // namespace
}  // namespace sluice

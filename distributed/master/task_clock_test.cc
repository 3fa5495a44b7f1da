#include "distributed/master/task_clock.h"

#include "gtest/gtest.h"

namespace sluice {
namespace {

// Returns the trace of two nodes. The first begins at `begin` and takes 10 ns. The second begins 5
// ns after the end of the first and takes 20 ns.
StepStats Traced(int64_t begin) {
  NodeExecStats first, second;
  first.all_start_nanos = begin;
  first.all_end_rel_nanos = 10;
  second.all_start_nanos = begin + 15;
  second.all_end_rel_nanos = 20;
  second.scheduled_nanos = begin + 12;
  return {{{"/job:ps/task:0/device:CPU:0", {first, second}}}};
}
int64_t BeginOf(const StepStats& stats) {
  const auto& nodes = stats.dev_stats[0].node_stats;
  EXPECT_EQ(nodes[1].all_start_nanos - nodes[0].all_start_nanos, 15);
  EXPECT_EQ(nodes[1].scheduled_nanos - nodes[0].all_start_nanos, 12);
  return nodes[0].all_start_nanos;
}

TEST(TaskClock, WhatFitsStaysWhereItIs) {
  for (const int64_t begin : {1000, 1030, 1065}) {
    StepStats stats = Traced(begin);
    MoveBetween(1000, 1100, &stats);
    EXPECT_EQ(BeginOf(stats), begin);
  }
}

TEST(TaskClock, AnotherClockIsMovedBetweenCallAndAnswer) {
  for (const int64_t begin : {0, 999, 1066, 5'000'000}) {
    StepStats stats = Traced(begin);
    MoveBetween(1000, 1100, &stats);
    EXPECT_EQ(BeginOf(stats), 1032);  // 35 ns in the middle of 100
  }
  StepStats longer = Traced(0);
  MoveBetween(1000, 1010, &longer);
  EXPECT_EQ(BeginOf(longer), 1000);
  StepStats none;
  MoveBetween(1000, 1100, &none);
}

}  // namespace
}  // namespace sluice

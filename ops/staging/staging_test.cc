#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/staging/staging_area.h"
#include "ops/staging/staging_map.h"

namespace sluice {
namespace {

using Floats = std::vector<float>;

Tensors Tuple(Floats values) { return {Tensor::Vector<float>(values)}; }

Caller CallerWith(CancellationManager* cancellation, Stalls* stalls = nullptr) {
  return {.cancellation = cancellation, .stalls = stalls, .node = "n", .op = "Unstage"};
}

// A caller that waits, and the result of its call.
struct Putting {
  Attempts::Done Done() {
    return [this](absl::Status s) { status = std::move(s); };
  }
  bool IsOk() const { return status.has_value() && status->ok(); }
  std::optional<absl::Status> status;
};

struct Taking {
  StagingArea::Taken Done() {
    return [this](absl::StatusOr<Tensors> t) {
      status = t.status();
      if (t.ok()) value = (*t)[0].data<float>()[0];
    };
  }
  StagingMap::Taken EntryDone() {
    return [this](absl::StatusOr<StagingMap::Entry> e) {
      status = e.status();
      if (!e.ok()) return;
      value = e->values[0].data<float>()[0];
      key = e->key;
    };
  }
  std::optional<absl::Status> status;
  std::optional<float> value;
  int64_t key = 0;
};

TEST(StagingAreaTest, APutWaitsForAPlaceAndATakeForATuple) {
  auto area = std::make_shared<StagingArea>("s", StagingLimits{.tuples = 1});
  Putting first, second;
  Taking a, b, c;
  area->Put({}, Tuple({1}), first.Done());
  area->Put({}, Tuple({2}), second.Done());
  EXPECT_TRUE(first.IsOk());
  EXPECT_FALSE(second.status);
  area->Take({}, {DT_FLOAT}, a.Done());
  EXPECT_EQ(a.value, 1);
  EXPECT_TRUE(second.IsOk());
  area->Take({}, {DT_FLOAT}, b.Done());
  area->Take({}, {DT_FLOAT}, c.Done());
  EXPECT_EQ(b.value, 2);
  EXPECT_FALSE(c.status);
  Putting third;
  area->Put({}, Tuple({3}), third.Done());
  EXPECT_EQ(c.value, 3);
  EXPECT_EQ(area->size(), 0);
}

TEST(StagingAreaTest, APutWaitsForMemoryAndKeepsItsTurn) {
  auto area = std::make_shared<StagingArea>("s", StagingLimits{.bytes = 8});
  Putting one, two, small;
  area->Put({}, Tuple({1}), one.Done());
  area->Put({}, Tuple({2, 2}), two.Done());
  area->Put({}, Tuple({3}), small.Done());
  EXPECT_TRUE(one.IsOk());
  EXPECT_FALSE(two.status || small.status);
  Taking taking;
  area->Take({}, {DT_FLOAT}, taking.Done());
  EXPECT_TRUE(two.IsOk());
  EXPECT_FALSE(small.status);
  area->Clear();
  EXPECT_TRUE(small.IsOk());
}

TEST(StagingAreaTest, APeekWaitsForItsPlaceAndTakesNothing) {
  auto area = std::make_shared<StagingArea>("s", StagingLimits{});
  Taking peek;
  area->Peek({}, 1, {DT_FLOAT}, peek.Done());
  Putting a, b;
  area->Put({}, Tuple({1}), a.Done());
  EXPECT_FALSE(peek.status);
  area->Put({}, Tuple({2}), b.Done());
  EXPECT_EQ(peek.value, 2);
  EXPECT_EQ(area->size(), 2);
}

// In TensorFlow, ops that wait block their threads, so that a cancelled step never ends.
TEST(StagingAreaTest, WhatWaitsCanBeCancelled) {
  auto area = std::make_shared<StagingArea>("s", StagingLimits{.tuples = 1});
  CancellationManager cancellation;
  Taking take, peek;
  area->Take(CallerWith(&cancellation), {DT_FLOAT}, take.Done());
  area->Peek(CallerWith(&cancellation), 0, {DT_FLOAT}, peek.Done());
  cancellation.StartCancel();
  EXPECT_EQ(take.status, absl::CancelledError("Unstage operation was cancelled"));
  EXPECT_TRUE(absl::IsCancelled(*peek.status));
  CancellationManager other;
  Putting full, blocked;
  area->Put({}, Tuple({1}), full.Done());
  area->Put(CallerWith(&other), Tuple({2}), blocked.Done());
  EXPECT_TRUE(full.IsOk());
  EXPECT_FALSE(blocked.status);
  other.StartCancel();
  EXPECT_TRUE(absl::IsCancelled(*blocked.status));
  EXPECT_EQ(area->size(), 1);
}

TEST(StagingAreaTest, OtherTypesAreRefusedAndTheTupleStays) {
  auto area = std::make_shared<StagingArea>("s", StagingLimits{});
  Putting put;
  Taking wrong, more;
  area->Put({}, Tuple({1}), put.Done());
  area->Take({}, {DT_INT32}, wrong.Done());
  EXPECT_EQ(wrong.status->message(),
            "Mismatch stage/unstage: component 0 is float, asked for int32");
  area->Take({}, {DT_FLOAT, DT_FLOAT}, more.Done());
  EXPECT_EQ(more.status->message(), "Mismatch stage/unstage: 1 vs. 2");
  EXPECT_EQ(area->size(), 1);
}

TEST(StagingAreaTest, AWaitIsShown) {
  auto area = std::make_shared<StagingArea>("s", StagingLimits{});
  Stalls stalls;
  CancellationManager cancellation;
  Taking take;
  area->Take(CallerWith(&cancellation, &stalls), {DT_FLOAT}, take.Done());
  const std::vector<Stalls::Report> reports = stalls.Describe();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].resource, "staging area 's'");
  EXPECT_EQ(reports[0].state, "0 tuples, 0 bytes, 1 waiting");
  cancellation.StartCancel();
  EXPECT_TRUE(stalls.Describe().empty());
}

TEST(StagingMapTest, ATakeWaitsForItsKeyToBeWhole) {
  auto map = std::make_shared<StagingMap>("m", StagingLimits{}, 2);
  Taking other, taking;
  map->Take({}, 7, {0}, {DT_FLOAT}, taking.EntryDone());
  map->Take({}, 8, {0}, {DT_FLOAT}, other.EntryDone());
  Putting part, rest;
  map->Put({}, 7, {0}, Tuple({1}), part.Done());
  EXPECT_EQ(map->incomplete_size(), 1);
  EXPECT_FALSE(taking.status);
  map->Put({}, 7, {1}, Tuple({2}), rest.Done());
  EXPECT_EQ(taking.value, 1);
  EXPECT_FALSE(other.status);
  EXPECT_EQ(map->size(), 1);  // it still has part 1
}

TEST(StagingMapTest, APutWaitsForAPlace) {
  auto map = std::make_shared<StagingMap>("m", StagingLimits{.tuples = 1}, 1);
  Putting first, second;
  map->Put({}, 2, {0}, Tuple({1}), first.Done());
  map->Put({}, 1, {0}, Tuple({2}), second.Done());
  EXPECT_FALSE(second.status);
  Taking taking;
  map->TakeFirst({}, {0}, {DT_FLOAT}, taking.EntryDone());
  EXPECT_EQ(taking.key, 2);
  EXPECT_TRUE(second.IsOk());
}

TEST(StagingMapTest, WhatWaitsCanBeCancelled) {
  auto map = std::make_shared<StagingMap>("m", StagingLimits{.bytes = 4}, 1);
  CancellationManager cancellation;
  Putting full, blocked;
  Taking take, first, peek;
  map->Take(CallerWith(&cancellation), 9, {0}, {DT_FLOAT}, take.EntryDone());
  map->TakeFirst(CallerWith(&cancellation), {0}, {DT_FLOAT}, first.EntryDone());
  map->Peek(CallerWith(&cancellation), 9, {0}, {DT_FLOAT}, peek.EntryDone());
  cancellation.StartCancel();
  EXPECT_TRUE(absl::IsCancelled(*take.status));
  EXPECT_TRUE(absl::IsCancelled(*first.status));
  EXPECT_TRUE(absl::IsCancelled(*peek.status));
  CancellationManager other;
  map->Put({}, 1, {0}, Tuple({1}), full.Done());
  map->Put(CallerWith(&other), 2, {0}, Tuple({1}), blocked.Done());
  EXPECT_FALSE(blocked.status);
  other.StartCancel();
  EXPECT_TRUE(absl::IsCancelled(*blocked.status));
}

// In TensorFlow, a failed check ends the process.
TEST(StagingMapTest, MoreIndicesThanOutputsAreRefused) {
  auto map = std::make_shared<StagingMap>("m", StagingLimits{}, 2);
  Taking taking;
  map->Take({}, 1, {0, 1}, {DT_FLOAT}, taking.EntryDone());
  EXPECT_EQ(taking.status->message(), "output/indices size mismatch: 1 vs. 2");
  Putting put;
  map->Put({}, 1, {0, 1}, Tuple({1}), put.Done());
  EXPECT_EQ(put.status->message(), "Expected a value for each of 2 indices, got 1");
}

}  // namespace
}  // namespace sluice

#include "ops/dataflow/gradient_queue.h"

#include <limits>

#include "executor/wait/stalls.h"
#include "gmock/gmock.h"
#include "graph/tensor/limited_heap.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GradientQueueTest : public ::testing::Test {
 protected:
  std::shared_ptr<GradientLedger> ledger_ = std::make_shared<GradientLedger>("ledger", 3);
  const ReplicaGradients told_ = {.replicas = 3, .at_most = 2, .ledger = ledger_};
  std::shared_ptr<GradientQueue> dense_ = std::make_shared<GradientQueue>(
      QueueSpec{
          .kind = "FIFOQueue", .name = "w:0", .types = {DT_FLOAT}, .shapes = {PartialShape({1})}},
      told_);
  std::shared_ptr<GradientQueue> rows_ = std::make_shared<GradientQueue>(
      QueueSpec{.kind = "FIFOQueue", .name = "e:0", .types = {DT_FLOAT, DT_INT64}, .shapes = {}},
      told_);

  void Put(int64_t replica, int64_t step, float value) {
    dense_->Enqueue({}, {Tensor::Vector<float>({value}), Tensor::Vector<int64_t>({replica, step})},
                    [](absl::Status status) { EXPECT_TRUE(status.ok()) << status; });
  }
  std::vector<float> Take(int64_t n) {
    std::vector<float> got = {-1};
    dense_->DequeueMany({}, n, [&](absl::StatusOr<Tensors> batch) {
      ASSERT_TRUE(batch.ok()) << batch.status();
      ASSERT_EQ(batch->size(), 1u);
      const auto flat = (*batch)[0].flat<float>();
      got.assign(flat.begin(), flat.end());
    });
    return got;
  }
  std::vector<int64_t> Totals() {
    const Tensor totals = ledger_->Totals();
    return {totals.data<int64_t>(), totals.data<int64_t>() + totals.num_elements()};
  }
};

TEST_F(GradientQueueTest, ABatchIsInReplicaOrderAndWithoutOrigins) {
  Put(2, 0, 20);
  Put(0, 0, 10);
  EXPECT_THAT(Take(2), ElementsAre(10, 20));
  EXPECT_EQ(dense_->step(), 1);
}

TEST_F(GradientQueueTest, GradientsOfOneReplicaStayInTheirOrder) {
  Put(1, 0, 1);
  Put(1, 0, 2);
  EXPECT_THAT(Take(2), ElementsAre(1, 2));
}

// Tests a race that occurs in TensorFlow's first form of synchronous training: a gradient passes
// the check at step 0, then an update happens, and only then the gradient is enqueued.
TEST_F(GradientQueueTest, AGradientThatWasOvertakenByAnUpdateIsDroppedAsStale) {
  Put(0, 0, 1);
  Put(1, 0, 2);
  Take(2);
  Put(2, 0, 3);
  EXPECT_EQ(dense_->size(), 0);
  EXPECT_THAT(Totals(), ElementsAre(1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0));
}

TEST_F(GradientQueueTest, WhatAnUpdateDidNotNeedIsDroppedAsSurplus) {
  Put(0, 0, 1);
  Put(1, 0, 2);
  Put(2, 0, 3);
  EXPECT_THAT(Take(2), ElementsAre(1, 2));
  EXPECT_EQ(dense_->size(), 0);
  EXPECT_THAT(Totals(), ElementsAre(1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0));
}

TEST_F(GradientQueueTest, AGradientOfTheNextStepIsKept) {
  Put(0, 0, 1);
  Put(1, 0, 2);
  Put(0, 1, 3);
  Take(2);
  EXPECT_EQ(dense_->size(), 1);
}

// The lost chief had dequeued a batch from this queue, but not yet from the queue of another
// variable.
TEST_F(GradientQueueTest, AGlobalStepThatIsToldTakesABatchBack) {
  Put(0, 0, 1);
  Put(1, 0, 2);
  Take(2);
  dense_->SetGlobalStep(0);
  Put(0, 0, 3);
  Put(1, 0, 4);
  EXPECT_THAT(Take(2), ElementsAre(3, 4));
  EXPECT_THAT(Totals(), ElementsAre(1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0));
}

TEST_F(GradientQueueTest, NothingIsKeptOfUpdatesThatAreUndone) {
  for (int64_t step : {0, 1, 2}) {
    Put(0, step, 1);
    Put(1, step, 2);
    Take(2);
  }
  Put(0, 3, 7);
  dense_->SetGlobalStep(1);
  EXPECT_EQ(dense_->size(), 0);
  Put(1, 3, 8);  // a gradient that arrives late
  EXPECT_EQ(dense_->size(), 0);
  for (int64_t step : {1, 2, 3}) {
    Put(0, step, 10);
    Put(1, step, 20);
    EXPECT_THAT(Take(2), ElementsAre(10, 20)) << step;
  }
}

TEST_F(GradientQueueTest, WhatWaitsOfTheSameStepIsKept) {
  Put(0, 0, 1);
  dense_->SetGlobalStep(0);
  EXPECT_EQ(dense_->size(), 1);
}

TEST_F(GradientQueueTest, WhoWaitsToTakeEndsWhereAChiefStarts) {
  Put(0, 0, 1);
  absl::Status ended;
  dense_->DequeueMany({}, 2, [&](absl::StatusOr<Tensors> batch) { ended = batch.status(); });
  dense_->SetGlobalStep(0);
  EXPECT_EQ(ended, absl::FailedPreconditionError(
                       "queue 'w:0': another chief has started, and takes the gradients"));
  Put(1, 0, 2);
  EXPECT_THAT(Take(2), ElementsAre(1, 2)) << "what he held is back";
}

TEST_F(GradientQueueTest, AReplicaNumberThatIsTooLargeIsUnknown) {
  Put(int64_t{1} << 32, 0, 1);
  Put((int64_t{1} << 32) + 1, 0, 2);
  EXPECT_THAT(Take(2), ElementsAre(1, 2));
  EXPECT_THAT(Totals(), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0));
}

TEST_F(GradientQueueTest, TokensOfLaterStepsGo) {
  FifoQueue tokens(QueueSpec{
      .kind = "FIFOQueue", .name = "q", .types = {DT_INT64}, .shapes = {PartialShape::Scalar()}});
  for (int64_t step : {3, 4, 5}) {
    tokens.Enqueue({}, {Tensor::Scalar(step)}, [](absl::Status) {});
  }
  tokens.SetGlobalStep(4);
  EXPECT_EQ(tokens.size(), 2);
}

TEST_F(GradientQueueTest, RowsOfAllGradientsStandOneAfterTheOther) {
  const auto put = [&](int64_t replica, Tensor values, Tensor indices) {
    rows_->Enqueue({}, {values, indices, Tensor::Vector<int64_t>({replica, 0})},
                   [](absl::Status status) { EXPECT_TRUE(status.ok()) << status; });
  };
  put(1, Tensor::Of<float>({2, 2}, {1, 2, 3, 4}), Tensor::Vector<int64_t>({5, 6}));
  put(0, Tensor::Of<float>({1, 2}, {7, 8}), Tensor::Vector<int64_t>({9}));
  Tensors got;
  rows_->DequeueMany({}, 2, [&](absl::StatusOr<Tensors> batch) {
    ASSERT_TRUE(batch.ok()) << batch.status();
    got = *std::move(batch);
  });
  ASSERT_EQ(got.size(), 2u);
  EXPECT_THAT(got[0].flat<float>(), ElementsAre(7, 8, 1, 2, 3, 4));
  EXPECT_THAT(got[1].flat<int64_t>(), ElementsAre(9, 5, 6));
}

TEST_F(GradientQueueTest, RowsOfDifferentShapesAreRefused) {
  const auto put = [&](int64_t replica, Tensor values) {
    rows_->Enqueue({},
                   {values, Tensor::Vector<int64_t>({5}), Tensor::Vector<int64_t>({replica, 0})},
                   [](absl::Status) {});
  };
  put(0, Tensor::Of<float>({1, 2}, {1, 2}));
  put(1, Tensor::Of<float>({1, 3}, {1, 2, 3}));
  absl::Status status;
  rows_->DequeueMany({}, 2, [&](absl::StatusOr<Tensors> batch) { status = batch.status(); });
  EXPECT_EQ(status, absl::InvalidArgumentError("expected gradients of some rows of one shape, got "
                                               "[1,3] beside [1,2]"));
}

TEST_F(GradientQueueTest, TheReportSaysWhoseGradientIsMissing) {
  Stalls stalls;
  Put(1, 0, 1);
  dense_->DequeueMany({.stalls = &stalls, .node = "take", .op = "QueueDequeueManyV2"}, 2,
                      [](absl::StatusOr<Tensors>) {});
  EXPECT_THAT(stalls.ToString(), HasSubstr("has 1 of 2 for step 0; none yet of replicas 0, 2"));
  EXPECT_THAT(Stalls::AllToString(), HasSubstr("queue 'w:0'"));
  Put(0, 0, 1);
}

TEST(GradientLedgerTest, TellsOfEachUpdateAndReplica) {
  GradientLedger ledger("l", 2);
  ledger.Enter(5, 0, GradientLedger::kApplied);
  ledger.Enter(5, 1, GradientLedger::kSurplus, 2);
  ledger.Enter(6, -1, GradientLedger::kStale);
  const Tensor updates = ledger.Updates(4, 3);
  EXPECT_THAT(updates.flat<int64_t>(), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                                   1, 0, 0, 0, 0, 2, 0, 0, 0,  //
                                                   0, 0, 0, 0, 0, 0, 0, 1, 0));
  EXPECT_EQ(ledger.DebugString(),
            "gradient ledger 'l': 1 applied, 1 stale, 2 surplus; replica 0: 1 applied, 0 stale, 0 "
            "surplus; replica 1: 0 applied, 0 stale, 2 surplus");
}

TEST(GradientLedgerTest, CountsThatAreUndoneSaturate) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  GradientLedger ledger("l", 1);
  ledger.Enter(5, 0, GradientLedger::kStale, kMax);
  ledger.Enter(5, 0, GradientLedger::kApplied, 2);
  ledger.Undo(5);
  EXPECT_THAT(ledger.Totals().flat<int64_t>(), ElementsAre(0, kMax, 0, 0, 0, 0));
  EXPECT_THAT(ledger.Updates(5, 1).flat<int64_t>(), ElementsAre(0, kMax, 0, 0, 0, 0));
}

TEST(GradientLedgerTest, KeepsTotalsForEverAndUpdatesForAWhile) {
  GradientLedger ledger("l", 1);
  for (int64_t step = 0; step < GradientLedger::kUpdatesKept + 10; ++step) {
    ledger.Enter(step, 0, GradientLedger::kApplied);
  }
  EXPECT_EQ(ledger.Totals().data<int64_t>()[0], GradientLedger::kUpdatesKept + 10);
  EXPECT_EQ(ledger.Updates(0, 1).data<int64_t>()[0], 0);
  EXPECT_EQ(ledger.Updates(10, 1).data<int64_t>()[0], 1);
}

TEST(GradientLedgerTest, WithoutMemoryTheTablesAreUninitialized) {
  const GradientLedger ledger("l", 4096);
  SetHeapRoom([](size_t, RoomFor) { return false; });
  const Tensor totals = ledger.Totals(), updates = ledger.Updates(0, 1);
  SetHeapRoom(nullptr);
  EXPECT_FALSE(totals.IsInitialized());
  EXPECT_FALSE(updates.IsInitialized());
  EXPECT_TRUE(ledger.Totals().IsInitialized());
}

}  // namespace
}  // namespace sluice

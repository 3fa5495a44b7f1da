#include "distributed/rendezvous/step_rendezvous.h"

#include <string>
#include <utility>
#include <vector>

#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

constexpr char kOwn[] = "/job:worker/replica:0/task:0";
constexpr char kOther[] = "/job:ps/replica:0/task:0";

std::string KeyFrom(const std::string& task) {
  return task + "/device:CPU:0;0000000000000001;" + kOwn + "/device:CPU:0;edge_1_a;0:0";
}

// Collects the results of receives.
class StepRendezvousTest : public ::testing::Test {
 protected:
  std::shared_ptr<StepRendezvous> Find(int64_t step_id) {
    auto found = table_.Find(step_id);
    EXPECT_TRUE(found.ok()) << found.status();
    return *found;
  }
  Rendezvous::Done Collect() {
    return [this](const absl::Status& status, const Tensor& value, bool is_dead) {
      results_.push_back(!status.ok() ? status.ToString(absl::StatusToStringMode::kWithNoExtraData)
                         : is_dead    ? "dead"
                                      : value.SummarizeValues(9));
    };
  }

  struct Request {
    std::string task, key;
    int64_t step_id;
    CancellationManager* cancellation;
    Rendezvous::Done done;
  };
  std::vector<Request> requests_;  // to other tasks
  StepRendezvousTable table_{
      kOwn, [this](const std::string& task, int64_t step_id, const std::string& key,
                   CancellationManager* cancellation, Rendezvous::Done done) {
        requests_.push_back({task, key, step_id, cancellation, std::move(done)});
      }};
  std::vector<std::string> results_;
};

TEST_F(StepRendezvousTest, ATensorOfThisTaskServesReceiversHereAndElsewhere) {
  const auto step = Find(1);
  step->RecvAsync(KeyFrom(kOwn), nullptr, Collect());
  ASSERT_TRUE(step->Send(KeyFrom(kOwn), Tensor::Scalar(2.0f), false).ok());
  ASSERT_TRUE(step->Send(KeyFrom(kOwn), Tensor(), /*is_dead=*/true).ok());
  step->RecvLocalAsync(KeyFrom(kOwn), nullptr, Collect());
  EXPECT_THAT(results_, ElementsAre("2", "dead"));
  EXPECT_TRUE(requests_.empty());
}

TEST_F(StepRendezvousTest, ATensorOfAnotherTaskIsFetchedWhenItIsRequested) {
  Find(7)->RecvAsync(KeyFrom(kOther), nullptr, Collect());
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].task, kOther);
  EXPECT_EQ(requests_[0].step_id, 7);
  EXPECT_EQ(requests_[0].key, KeyFrom(kOther));
  EXPECT_THAT(results_, ElementsAre());
  requests_[0].done(absl::OkStatus(), Tensor::Scalar(3.0f), false);
  EXPECT_THAT(results_, ElementsAre("3"));
}

TEST_F(StepRendezvousTest, TheReceiversCancellationCancelsTheFetch) {
  CancellationManager cancellation;
  Find(1)->RecvAsync(KeyFrom(kOther), &cancellation, Collect());
  EXPECT_FALSE(requests_[0].cancellation->IsCancelled());
  cancellation.StartCancel();
  EXPECT_TRUE(requests_[0].cancellation->IsCancelled());
  requests_[0].done(absl::CancelledError("fetch"), Tensor(), false);
  Find(1)->RecvAsync(KeyFrom(kOther), &cancellation, Collect());
  EXPECT_THAT(results_,
              ElementsAre("CANCELLED: fetch", "CANCELLED: RecvFromRemoteAsync is cancelled."));
  EXPECT_EQ(requests_.size(), 1u);
}

TEST_F(StepRendezvousTest, TheErrorOfAnAbortedStepIsTheReasonOfTheAbort) {
  const auto step = Find(1);
  step->RecvAsync(KeyFrom(kOther), nullptr, Collect());
  step->RecvAsync(KeyFrom(kOwn), nullptr, Collect());
  step->StartAbort(absl::InternalError("boom"));
  EXPECT_TRUE(requests_[0].cancellation->IsCancelled());
  requests_[0].done(absl::CancelledError("fetch"), Tensor(), false);
  step->RecvAsync(KeyFrom(kOther), nullptr, Collect());
  EXPECT_THAT(results_, ElementsAre("INTERNAL: boom", "INTERNAL: boom", "INTERNAL: boom"));
}

TEST_F(StepRendezvousTest, AStepThatHasEndedDoesNotBeginAgain) {
  EXPECT_EQ(Find(1), Find(1));
  Find(1)->RecvAsync(KeyFrom(kOwn), nullptr, Collect());
  table_.End(1);
  EXPECT_THAT(results_, ElementsAre("CANCELLED: Cleanup 1"));
  EXPECT_EQ(table_.Find(1).status(), absl::AbortedError("Cleanup 1"));
  table_.End(2);  // before it began
  EXPECT_EQ(table_.Find(2).status(), absl::AbortedError("Cleanup 2"));
  EXPECT_TRUE(table_.Find(3).ok());
}

TEST_F(StepRendezvousTest, AbortAllEndsPresentAndLaterSteps) {
  Find(1)->RecvAsync(KeyFrom(kOwn), nullptr, Collect());
  table_.AbortAll(absl::CancelledError("stops"));
  EXPECT_THAT(results_, ElementsAre("CANCELLED: stops"));
  EXPECT_EQ(table_.Find(2).status(), absl::CancelledError("stops"));
}

TEST_F(StepRendezvousTest, AReceiverMayArriveBeforeItsStep) {
  CancellationManager leaves;
  table_.RecvLocalAsync(1, KeyFrom(kOwn), &leaves, Collect());
  table_.RecvLocalAsync(1, KeyFrom(kOwn), nullptr, Collect());
  leaves.StartCancel();
  ASSERT_TRUE(Find(1)->Send(KeyFrom(kOwn), Tensor::Scalar(2.0f), false).ok());
  EXPECT_THAT(results_, ElementsAre("CANCELLED: RecvAsync is cancelled.", "2"));
  // What was sent is kept, also without a receiver.
  ASSERT_TRUE(Find(1)->Send(KeyFrom(kOwn), Tensor::Scalar(3.0f), false).ok());
  table_.RecvLocalAsync(1, KeyFrom(kOwn), nullptr, Collect());
  EXPECT_EQ(results_.back(), "3");
  EXPECT_EQ(table_.num_steps(), 1);
  table_.End(1);
  table_.RecvLocalAsync(1, KeyFrom(kOwn), nullptr, Collect());
  EXPECT_EQ(results_.back(), "ABORTED: Cleanup 1");
  EXPECT_EQ(table_.num_steps(), 0);
}

// A master that died between a step and its CleanupGraph left what was sent here.
TEST_F(StepRendezvousTest, TheStepsOfASessionEndWithIt) {
  for (const int step : {1, 2, 3}) {
    const auto found = table_.Find(step, nullptr, step == 2 ? "other" : "lost");
    ASSERT_TRUE(found.ok());
    ASSERT_TRUE((*found)->Send(KeyFrom(kOwn), Tensor::Scalar(1.0f), false).ok());
  }
  Find(4)->RecvAsync(KeyFrom(kOwn), nullptr, Collect());  // of this task's master
  table_.EndStepsOf("lost");
  EXPECT_EQ(table_.num_steps(), 2);
  EXPECT_EQ(table_.Find(1).status(), absl::AbortedError("Cleanup 1"));
  EXPECT_TRUE(table_.Find(2, nullptr, "other").ok());
  EXPECT_TRUE(results_.empty());
}

// A peer that requested tensors of unknown steps filled the memory: each step stayed for ever.
TEST_F(StepRendezvousTest, AStepThatNeverRunsIsForgottenWithItsLastReceiver) {
  constexpr int kSteps = 1000;
  CancellationManager calls;
  for (int step = 1; step <= kSteps; ++step) {
    table_.RecvLocalAsync(step, KeyFrom(kOwn), &calls, Collect());
    table_.RecvLocalAsync(step, KeyFrom(kOther), &calls, Collect());
  }
  EXPECT_EQ(table_.num_steps(), kSteps);
  calls.StartCancel();
  EXPECT_EQ(results_.size(), 2u * kSteps);
  EXPECT_EQ(table_.num_steps(), 0);
  // It is no step that has ended.
  EXPECT_TRUE(table_.Find(1).ok());
}

TEST(RecentIds, RemembersTheLastOnes) {
  RecentIds ids(2);
  EXPECT_TRUE(ids.IsNew(5) && ids.IsNew(6));
  EXPECT_FALSE(ids.IsNew(5) || ids.IsNew(6));
  EXPECT_TRUE(ids.IsNew(7));  // in place of 5
  EXPECT_TRUE(ids.Contains(6) && ids.Contains(7));
  EXPECT_FALSE(ids.Contains(5));
  EXPECT_TRUE(ids.IsNew(0) && ids.IsNew(0));
}

}  // namespace
}  // namespace sluice

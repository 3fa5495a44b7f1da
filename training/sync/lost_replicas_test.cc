// Tests the options for the loss of a replica that an update needs: training waits for it,
// continues with fewer gradients, or ends.
#include "training/sync/lost_replicas.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>

#include "executor/session/session.h"
#include "executor/testing/await_report.h"
#include "executor/wait/stalls.h"
#include "gmock/gmock.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "training/loop/log.h"
#include "training/sync/legacy_sync_replicas_optimizer.h"
#include "training/sync/sync_replicas_hook.h"
#include "training/sync/sync_replicas_optimizer.h"
#include "training/testing/sync.h"

namespace sluice {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kWho[] = "/job:worker/replica:0/task:2";

// Has a chief of three replicas, whose hook runs. The test reports the losses of replicas.
class LostReplicasTest : public ::testing::Test {
 protected:
  ~LostReplicasTest() override {
    if (coordinator_ != nullptr) {
      coordinator_->RequestStop();
      coordinator_->Join().IgnoreError();
    }
    SetLogSink(before_);
  }
  void Start(OnLostReplica action) {
    SyncReplicasOptions options{.replicas_to_aggregate = 3,
                                .replica_id = 0,
                                .on_lost_replica = action,
                                .watch = [this](auto hear) {
                                  hear_ = hear;
                                  return std::shared_ptr<void>();
                                }};
    world_ = std::make_unique<World<SyncReplicasOptimizer>>(options);
    tokens_left_ = world_->optimizer.token_queue().Size();
    ledger_ = world_->optimizer.LedgerTotals();
    catch_up_ = world_->optimizer.LocalInitOp(/*is_chief=*/false);
    hook_ = std::make_unique<SyncReplicasHook>(world_->optimizer, /*is_chief=*/true);
    ASSERT_TRUE(hook_->Begin(world_->g).ok());
    const Operation init = InitializeVariables(world_->g);
    ASSERT_TRUE(world_->g.status().ok()) << world_->g.status();
    session_ = std::make_unique<Session>(world_->g);
    coordinator_ = std::make_unique<Coordinator>();
    ASSERT_TRUE(session_->Run({init}).ok());
    const absl::Status started = hook_->AfterCreateSession(*session_, *coordinator_);
    ASSERT_TRUE(started.ok()) << started;
    Hear(ReplicaNews::kThere);
  }
  void Hear(ReplicaNews::State state) {
    hear_({2, state, kWho, state == ReplicaNews::kLost ? "nothing was heard from it" : ""});
  }
  // Pushes a gradient, and takes the next token as soon as there is one.
  void Push(float gradient) {
    const absl::Status status = world_->Push(*session_, gradient);
    ASSERT_TRUE(status.ok()) << status;
  }
  // Pushes a gradient for the global step. Push alone might be too late: the replica's token may be
  // of an earlier step, because an update replaces the tokens of earlier ones.
  void PushInTime(float gradient) {
    ASSERT_TRUE(session_->Run({catch_up_}).ok());
    Push(gradient);
  }
  Tensor Read(Output output) {
    absl::StatusOr<Tensors> read = session_->Run({}, {output}, {});
    EXPECT_TRUE(read.ok()) << read.status();
    return (*read)[0];
  }
  int64_t Step() { return Read(world_->step_value).scalar<int64_t>(); }
  void AwaitStep(int64_t step) {
    while (Step() < step) std::this_thread::yield();
  }
  // Waits until the update at global step `step` waits for all of its `gradients` gradients. Then
  // all earlier tokens are in the queue.
  void AwaitUpdate(int gradients, int64_t step) {
    AwaitReport(*session_, {StrCat("0 of ", gradients, " gradients for step ", step)});
  }
  // Waits until the chief has adapted updates to `replicas` replicas.
  void AwaitFit(int replicas) {
    while (hook_->lost()->num_fit() != replicas) std::this_thread::yield();
  }
  int64_t Applied() {
    const Tensor totals = Read(ledger_);
    int64_t applied = 0;
    for (int64_t row = 0; row < totals.dim(0); ++row) applied += totals.data<int64_t>()[3 * row];
    return applied;
  }

  const LogSink before_ = SetLogSink([](LogSeverity, const std::string&) {});
  std::function<void(const ReplicaNews&)> hear_;
  std::unique_ptr<World<SyncReplicasOptimizer>> world_;
  Output tokens_left_, ledger_;
  Operation catch_up_;
  std::unique_ptr<SyncReplicasHook> hook_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Coordinator> coordinator_;
};

TEST_F(LostReplicasTest, AnUpdateThatWaitsTakesWhatThoseGiveWhoAreLeft) {
  Start(OnLostReplica::kShrink);
  AwaitFit(3);
  Push(1);
  Push(3);
  AwaitReport(*session_, {"2 of 3 gradients"});
  Hear(ReplicaNews::kLost);
  AwaitStep(1);
  EXPECT_EQ(world_->Value(*session_), 5 - 0.5f * 2);  // minus 0.5 * the mean
  while (Step() < 5) Push(0);
  AwaitReport(*session_, {" of 2 gradients"});
  EXPECT_EQ(Applied(), 2 * Step());
}

// If a lost replica has taken the last token, a replica that waits for a token gets another one.
TEST_F(LostReplicasTest, ATokenThatIsLostWithItsReplicaIsMadeUpFor) {
  Start(OnLostReplica::kShrink);
  AwaitFit(3);
  Hear(ReplicaNews::kLost);
  AwaitFit(2);
  Push(0);
  Push(0);
  AwaitUpdate(2, 1);
  Hear(ReplicaNews::kThere);
  AwaitFit(3);
  const Output token = world_->optimizer.token_queue().Dequeue()[0];
  const int32_t left = Read(tokens_left_).scalar<int32_t>();
  EXPECT_THAT(left, AnyOf(1, 2));
  // Takes all tokens, as if the lost replica had taken them.
  for (int i = 0; i < left; ++i) EXPECT_EQ(Read(token).scalar<int64_t>(), 1);
  Hear(ReplicaNews::kLost);
  AwaitFit(2);
  while (Step() < 4) Push(0);
}

TEST_F(LostReplicasTest, AReplicaThatComesBackIsNeededAfterTheNextUpdate) {
  Start(OnLostReplica::kShrink);
  AwaitFit(3);
  Hear(ReplicaNews::kLost);
  AwaitFit(2);
  PushInTime(0);
  PushInTime(0);
  AwaitUpdate(2, 1);
  Hear(ReplicaNews::kThere);
  AwaitFit(3);
  // The current update needs two gradients, and three tokens follow it.
  PushInTime(0);
  PushInTime(0);
  AwaitUpdate(3, 2);
  EXPECT_THAT(Read(tokens_left_).scalar<int32_t>(), AnyOf(2, 3));
  PushInTime(0);
  PushInTime(0);
  AwaitReport(*session_, {"2 of 3 gradients"});
  EXPECT_EQ(Step(), 2);
  PushInTime(0);
  AwaitStep(3);
}

TEST_F(LostReplicasTest, TrainingThatWaitsNamesWhoIsLostAndWhy) {
  Start(OnLostReplica::kWait);
  Push(0);
  Push(0);
  Hear(ReplicaNews::kLost);
  AwaitReport(*session_, {"2 of 3 gradients"});
  const std::string report = Stalls::AllToString();
  EXPECT_THAT(report, HasSubstr("replica 2 (/job:worker/replica:0/task:2)"));
  EXPECT_THAT(report, HasSubstr("lost: nothing was heard from it"));
  EXPECT_EQ(Step(), 0);
  Hear(ReplicaNews::kThere);
  EXPECT_THAT(Stalls::AllToString(), Not(HasSubstr("task:2")));
  Push(0);
  AwaitStep(1);
}

TEST_F(LostReplicasTest, TrainingThatEndsNamesWhoIsLost) {
  Start(OnLostReplica::kFail);
  Push(0);
  Hear(ReplicaNews::kLost);
  EXPECT_EQ(coordinator_->Join(),
            absl::FailedPreconditionError(
                "sync_replicas ends, as on_lost_replica asks: replica 2 "
                "(/job:worker/replica:0/task:2) is lost: nothing was heard from it; 2 of 3 "
                "replicas are left"));
  coordinator_.reset();
}

TEST_F(LostReplicasTest, WhoWasNeverThereOrHasLeftIsNotLost) {
  Start(OnLostReplica::kFail);
  hear_({1, ReplicaNews::kLost, "/job:worker/replica:0/task:1", "not started"});
  Hear(ReplicaNews::kLeft);
  Hear(ReplicaNews::kLost);
  for (int i = 0; i < 3; ++i) Push(0);
  AwaitStep(1);
  EXPECT_FALSE(coordinator_->ShouldStop());
}

// The replicas of the chief wait for tokens that the previous chief would have put into the queue.
TEST(LostReplicas, AChiefThatGoesOnGivesOutTokensAsAfterAnUpdate) {
  World<SyncReplicasOptimizer> world({.replicas_to_aggregate = 2, .total_num_replicas = 3});
  const Output left = world.optimizer.token_queue().Size();
  const Output token = world.optimizer.token_queue().Dequeue()[0];
  const Operation restore = world.step.Assign(Constant(world.g, int64_t{7}));
  SyncReplicasHook hook(world.optimizer, /*is_chief=*/true);
  ASSERT_TRUE(hook.Begin(world.g).ok());
  Session session(world.g);
  ASSERT_TRUE(world.Start(session, /*tokens=*/0).ok());
  ASSERT_TRUE(session.Run({restore}).ok());
  Coordinator coordinator;
  ASSERT_TRUE(hook.AfterCreateSession(session, coordinator).ok());
  EXPECT_EQ((*session.Run({}, {left}, {}))[0].scalar<int32_t>(), 3);
  EXPECT_EQ((*session.Run({}, {token}, {}))[0].scalar<int64_t>(), 7);
  coordinator.RequestStop();
  EXPECT_TRUE(coordinator.Join().ok());
}

TEST(LostReplicas, ShrinkingIsForAccumulatorsInNoOrder) {
  const auto error = [](auto form, bool deterministic) {
    Graph g;
    const Variable step = GlobalStep(g);
    const Variable w(g, "w", 1.0f);
    typename decltype(form)::type optimizer(Momentum({.learning_rate = 0.1f, .momentum = 0.0f}),
                                            {.replicas_to_aggregate = 2,
                                             .replica_id = 0,
                                             .deterministic = deterministic,
                                             .on_lost_replica = OnLostReplica::kShrink});
    return Message(
        optimizer.ApplyGradients({{Constant(g, 1.0f), w}}, {.global_step = &step}).status());
  };
  EXPECT_EQ(error(std::type_identity<LegacySyncReplicasOptimizer>(), false),
            "sync_replicas: on_lost_replica = shrink is for accumulators of gradients, got queues");
  EXPECT_EQ(error(std::type_identity<SyncReplicasOptimizer>(), true),
            "sync_replicas: on_lost_replica = shrink is not for deterministic training: when a "
            "replica is lost would decide");
  EXPECT_EQ(error(std::type_identity<SyncReplicasOptimizer>(), false), "");
  EXPECT_EQ(ParseOnLostReplica("shrnk").status().message(),
            "on_lost_replica: expected wait, shrink or fail, got 'shrnk'");
}

}  // namespace
}  // namespace sluice

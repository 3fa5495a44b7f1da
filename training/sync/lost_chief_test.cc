// If a chief is lost, or returns to an older model, nothing that it leaves behind may block or
// disturb its successor. tests/simulate covers every point in time.
#include <thread>

#include "executor/session/session.h"
#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "ops/array/builders.h"
#include "ops/sugar.h"
#include "training/sync/legacy_sync_replicas_optimizer.h"
#include "training/sync/sync_replicas_optimizer.h"
#include "training/testing/sync.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

template <typename W>
class ALostChief : public ::testing::Test {};
using Forms = ::testing::Types<World<SyncReplicasOptimizer>, World<LegacySyncReplicasOptimizer>>;
TYPED_TEST_SUITE(ALostChief, Forms);

// Runs the ops that the hook of a chief's MonitoredSession runs at its start.
template <typename W>
absl::Status StartAgain(W& world, Session& session, int tokens = -1) {
  SLUICE_ASSIGN_OR_RETURN(const Operation init_tokens, world.optimizer.InitTokensOp(tokens));
  SLUICE_RETURN_IF_ERROR(session.Run({world.optimizer.LocalInitOp(true)}));
  SLUICE_RETURN_IF_ERROR(session.Run({world.optimizer.ForgetUndoneTokensOp()}));
  return session.Run({init_tokens});
}

// The chief is killed after it has taken the gradients of one variable, while it waits for those of
// another one. In the queue form, the first queue once rejected every later gradient as stale, and
// training never continued.
TYPED_TEST(ALostChief, GradientsThatALostChiefTookAreMadeAnew) {
  TypeParam world({.replicas_to_aggregate = 2, .total_num_replicas = 2, .replica_id = 0});
  const Output totals = world.optimizer.LedgerTotals();
  const Output taken = world.optimizer.aggregated_gradients()[0].grad.dense();
  Session session(world.g);
  ASSERT_TRUE(world.Start(session).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(world.Push(session, 100).ok());
  ASSERT_TRUE(session.Run({}, {taken}, {}).ok());  // by the lost chief
  ASSERT_TRUE(StartAgain(world, session).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(world.Push(session, 1).ok());
  const absl::Status update =
      session.Run({}, {}, {world.optimizer.sync_op()}, {.timeout_ms = 10'000}).status();
  ASSERT_TRUE(update.ok()) << update;
  EXPECT_GT(world.Value(session), 3);  // 5 - 0.5 * (1 + 1), or with their mean
  const Tensor books = (*session.Run({}, {totals}, {}))[0];
  EXPECT_EQ(books.data<int64_t>()[0], 2) << "applied";
  EXPECT_EQ(books.data<int64_t>()[1], 2) << "stale: those that were lost with the chief";
}

// A restarted chief restores its last checkpoint, so the parameter server returns to an older step.
// Gradient queues once kept the newer step, and dropped all new gradients.
TYPED_TEST(ALostChief, AnOlderModelThatIsRestoredIsTrainedOn) {
  TypeParam world({.replica_id = 0});
  const Operation restore = world.step.Assign(Constant(world.g, int64_t{1}));
  const Operation a_token = *world.optimizer.InitTokensOp(1);
  const Output local_step = world.optimizer.LocalStep();
  const Output tokens = world.optimizer.token_queue().Size();
  Session session(world.g);
  const auto update = [&] {
    CancellationManager cancellation;
    std::thread replica([&] { world.Push(session, 1, &cancellation).IgnoreError(); });
    const absl::Status updated =
        session.Run({}, {}, {world.optimizer.sync_op()}, {.timeout_ms = 10'000}).status();
    if (!updated.ok()) cancellation.StartCancel();
    replica.join();
    return updated;
  };
  ASSERT_TRUE(world.Start(session, 0).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(update().ok());
  ASSERT_TRUE(session.Run({a_token}).ok());
  ASSERT_TRUE(session.Run({restore}).ok());
  ASSERT_TRUE(StartAgain(world, session, 0).ok());
  EXPECT_EQ((*session.Run({}, {tokens}, {}))[0].template scalar<int32_t>(), 0)
      << "the token of step 3 is of an update that was undone";
  for (int64_t step = 1; step < 5; ++step) {
    EXPECT_EQ((*session.Run({}, {local_step}, {}))[0].template scalar<int64_t>(), step);
    const absl::Status updated = update();
    ASSERT_TRUE(updated.ok()) << updated;
    EXPECT_EQ((*session.Run({}, {world.step_value}, {}))[0].template scalar<int64_t>(), step + 1);
  }
}

// If the waiting chief did not end, both would take gradients, and its step could still apply an
// update.
TYPED_TEST(ALostChief, AChiefThatWaitsEndsWhereAnotherStarts) {
  TypeParam world({.replica_id = 0});
  Session session(world.g);
  ASSERT_TRUE(world.Start(session).ok());
  absl::Status ended;
  std::thread first([&] { ended = session.Run({world.optimizer.sync_op()}); });
  while (session.StallReport().empty()) std::this_thread::yield();
  ASSERT_TRUE(StartAgain(world, session).ok());
  first.join();
  EXPECT_TRUE(absl::IsFailedPrecondition(ended)) << ended;
  EXPECT_THAT(Message(ended), HasSubstr("another chief has started, and takes the gradients"));
}

}  // namespace
}  // namespace sluice

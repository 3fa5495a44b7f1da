// Tests what both forms of synchronous training guarantee: texts, bounds, tokens, closing, hooks
// and reports. tests/simulate tests invariants, and tests/structure tests nodes.
#include "training/sync/sync_replicas_optimizer.h"

#include <set>
#include <thread>

#include "executor/device/device_set.h"
#include "executor/session/session.h"
#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "ops/array/builders.h"
#include "ops/sugar.h"
#include "training/optimizer/gradient_descent.h"
#include "training/optimizer/momentum.h"
#include "training/sync/check_progress.h"
#include "training/sync/legacy_sync_replicas_optimizer.h"
#include "training/sync/sync_replicas_hook.h"
#include "training/testing/sync.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Sync = World<SyncReplicasOptimizer>;
using Legacy = World<LegacySyncReplicasOptimizer>;

template <typename W>
class BothForms : public ::testing::Test {};
using Forms = ::testing::Types<Sync, Legacy>;
TYPED_TEST_SUITE(BothForms, Forms);

// --- arguments, texts, bounds

TYPED_TEST(BothForms, NeedVariablesAndAGlobalStep) {
  TypeParam world({});
  EXPECT_EQ(world.optimizer.ApplyGradients({}, {.global_step = &world.step}).status(),
            absl::InvalidArgumentError("Must supply at least one variable"));
  EXPECT_EQ(world.optimizer.ApplyGradients({{world.grad, world.w}}).status(),
            absl::InvalidArgumentError("Global step is required to check staleness"));
}

TYPED_TEST(BothForms, RefuseToTellTooEarly) {
  using O = decltype(TypeParam::optimizer);
  O optimizer(GradientDescent({.learning_rate = 0.1f}), {});
  EXPECT_EQ(optimizer.ChiefQueueRunner().status(),
            absl::FailedPreconditionError("Should be called after apply_gradients()."));
  EXPECT_EQ(optimizer.InitTokensOp().status(),
            absl::FailedPreconditionError(
                "get_init_tokens_op() should be called after apply_gradients()."));
  EXPECT_FALSE(optimizer.LedgerTotals());
  EXPECT_FALSE(optimizer.CloseTokensOp() || optimizer.GiveTokensOp());
  EXPECT_TRUE(absl::IsFailedPrecondition(optimizer.MakeResize().status()));
  Graph g;
  EXPECT_EQ(optimizer.MakeSessionRunHook(true)->Begin(g),
            absl::FailedPreconditionError(
                "SyncReplicasOptimizer.apply_gradient should be called before using the hook."));
}

// As in TensorFlow, the wrapper has an option use_locking, and the wrapped optimizer has another.
TYPED_TEST(BothForms, KeepWhetherTheyLock) {
  EXPECT_FALSE(TypeParam({}).optimizer.use_locking());
  EXPECT_TRUE(TypeParam({.use_locking = true}).optimizer.use_locking());
}

TYPED_TEST(BothForms, TokensFollowFromTheNumbersOfReplicas) {
  TypeParam backups({.replicas_to_aggregate = 2, .total_num_replicas = 3});
  EXPECT_EQ(backups.optimizer.tokens_per_step(), 3);
  TypeParam batches({.replicas_to_aggregate = 5, .total_num_replicas = 2});
  EXPECT_EQ(batches.optimizer.tokens_per_step(), 5);
  TypeParam same({.replicas_to_aggregate = 4});
  EXPECT_EQ(same.optimizer.total_num_replicas(), 4);
}

TYPED_TEST(BothForms, InitialTokensHaveALowerBound) {
  TypeParam world({.replicas_to_aggregate = 5, .total_num_replicas = 2});
  EXPECT_EQ(world.optimizer.InitTokensOp(2).status(),
            absl::InvalidArgumentError(
                "Too few tokens to finish the first step: 2 (given) vs 3 (needed)"));
  EXPECT_TRUE(world.optimizer.InitTokensOp(3).ok());
  TypeParam enough({.replicas_to_aggregate = 2});
  EXPECT_EQ(enough.optimizer.InitTokensOp(0)->name(), "no_init_tokens");
}

TYPED_TEST(BothForms, DefaultInitialTokensAreAsManyAsGradientsAreAggregated) {
  TypeParam world({.replicas_to_aggregate = 3, .total_num_replicas = 2});
  Session session(world.g);
  const Output left = world.optimizer.token_queue().Size();
  ASSERT_TRUE(world.Start(session).ok());
  absl::StatusOr<Tensors> got = session.Run({}, {left}, {});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)[0].template scalar<int32_t>(), 3);
}

TYPED_TEST(BothForms, RefuseOptionsThatCannotGoTogether) {
  const auto error = [](SyncReplicasOptions options) {
    Graph g;
    const Variable step = GlobalStep(g);
    const Variable w(g, "w", 1.0f);
    decltype(TypeParam::optimizer) optimizer(GradientDescent({.learning_rate = 0.1f}), options);
    return Message(
        optimizer.ApplyGradients({{Constant(g, 1.0f), w}}, {.global_step = &step}).status());
  };
  EXPECT_EQ(error({.replicas_to_aggregate = 0}),
            "sync_replicas: expected at least one replica and one gradient to aggregate, got "
            "total_num_replicas 0 and replicas_to_aggregate 0: no update could ever be made");
  EXPECT_EQ(error({.replicas_to_aggregate = 2, .replica_id = 2}),
            "sync_replicas: expected a replica_id in [0, 2), got 2");
  EXPECT_EQ(error({.replicas_to_aggregate = 2,
                   .total_num_replicas = 3,
                   .replica_id = 0,
                   .deterministic = true}),
            "sync_replicas: expected no backup replicas in deterministic training, got 3 replicas "
            "of which 2 are aggregated: which come first would decide");
}

TYPED_TEST(BothForms, SlotsAreTheInnerOptimizers) {
  TypeParam world({});
  ASSERT_TRUE(world.optimizer.GetSlot(world.w, "momentum").has_value());
  EXPECT_EQ(world.optimizer.GetSlot(world.w, "momentum")->name(), "w/Momentum");
  EXPECT_FALSE(world.optimizer.GetSlot(world.w, "other").has_value());
  EXPECT_THAT(world.optimizer.GetSlotNames(), ElementsAre("momentum"));
  EXPECT_THAT(world.optimizer.Variables(), SizeIs(1)) << "the local step is not one of them";
}

// --- training

// Runs the chief's queue runner until it goes out of scope.
class Updates {
 public:
  Updates(Session& session, Operation sync_op)
      : thread_([this, &session, sync_op] {
          while (session.Run({}, {}, {sync_op}, {.cancellation = &cancellation_}).ok()) {
          }
        }) {}
  ~Updates() {
    cancellation_.StartCancel();
    thread_.join();
  }

 private:
  CancellationManager cancellation_;
  std::thread thread_;
};

// See row 16 of docs/demands.md.
TYPED_TEST(BothForms, OneReplicaIsTheInnerOptimizerBitForBit) {
  TypeParam world({}, 0.1f);
  Session session(world.g);
  ASSERT_TRUE(world.Start(session, 0).ok());
  Graph plain;
  const Variable w(plain, "w", 5.0f);
  const Output grad = Placeholder(plain, DT_FLOAT, PartialShape::Scalar(), "grad");
  Momentum momentum({.learning_rate = 0.1f, .momentum = 0.0f});
  const Operation update = momentum.ApplyGradients({{grad, w}}).value();
  const Output value = w.Read();
  const Operation init = InitializeVariables(plain);
  Session alone(plain);
  ASSERT_TRUE(alone.Run({init}).ok());
  Updates updates(session, world.optimizer.sync_op());
  for (const float g : {0.1f, -0.7f, 1e-3f, 3.3f}) {
    ASSERT_TRUE(world.Push(session, g).ok());
    ASSERT_TRUE(alone.Run({{grad, Tensor::Scalar(g)}}, {}, {update}).ok());
    EXPECT_EQ(world.Value(session), (*alone.Run({}, {value}, {}))[0].template scalar<float>());
  }
}

// Returns the result of an update that consists of two batches of one replica. Accumulators give
// their mean, and queues their sum.
template <typename W>
float AfterTwoBatches() {
  W world({.replicas_to_aggregate = 2, .total_num_replicas = 1});
  Session session(world.g);
  EXPECT_TRUE(world.Start(session, 1).ok());
  Updates updates(session, world.optimizer.sync_op());
  EXPECT_TRUE(world.Push(session, 1).ok());
  EXPECT_TRUE(world.Push(session, 3).ok());
  return world.Value(session);
}
TEST(SyncReplicas, ThePresentFormAppliesTheMean) { EXPECT_EQ(AfterTwoBatches<Sync>(), 4.0f); }
TEST(SyncReplicas, TheLegacyFormAppliesTheSum) { EXPECT_EQ(AfterTwoBatches<Legacy>(), 3.0f); }

// The aggregated gradient is an ordinary tensor. See row 17 of docs/demands.md.
TYPED_TEST(BothForms, TheAggregatedGradientCanBeFetched) {
  TypeParam world({});
  Session session(world.g);
  ASSERT_TRUE(world.Start(session, 1).ok());
  ASSERT_TRUE(world.Push(session, 2).ok());
  const Output taken = world.optimizer.aggregated_gradients()[0].grad.dense();
  absl::StatusOr<Tensors> got = session.Run({}, {taken}, {world.optimizer.sync_op()});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)[0].template scalar<float>(), 2);
}

struct RecordedAverage {
  absl::StatusOr<Operation> Apply(const std::vector<Variable>& variables) {
    names.clear();
    for (const Variable& v : variables) names.push_back(v.name());
    return NoOpOf(variables[0].graph());
  }
  Operation NoOpOf(Graph& g) {
    made = Operation(Identity(Constant(g, 1.0f), {.name = "average"}));
    return made;
  }
  std::vector<std::string> names;
  Operation made;
};

TYPED_TEST(BothForms, AveragesFollowTheTokens) {
  RecordedAverage average;
  TypeParam world({.variable_averages = &average});
  EXPECT_THAT(average.names, ElementsAre("w")) << "all trainable variables";
  EXPECT_EQ(world.optimizer.sync_op(), average.made);
  ASSERT_THAT(average.made.node->input(0).node->control_inputs(), SizeIs(1));
  EXPECT_EQ(average.made.node->input(0).node->control_inputs().front()->op(), "QueueEnqueueManyV2");
}

// All reads of a reference variable share one node, which may run before the update. Tokens must
// have the step after the update even then.
const VariableOptions kRef = {.dtype = DT_INT64, .trainable = false, .use_resource = false};
TYPED_TEST(BothForms, TokensHaveTheNewStepOfAReferenceVariableToo) {
  Graph g;
  const Variable step = GlobalStep(g, kRef);
  const Variable w(g, "w", 5.0f);
  const Output grad = Placeholder(g, DT_FLOAT, PartialShape::Scalar(), "grad");
  using O = decltype(TypeParam::optimizer);
  O optimizer(GradientDescent({.learning_rate = 1.0f}), {});
  const Operation train = optimizer.ApplyGradients({{grad, w}}, {.global_step = &step}).value();
  const Operation init = InitializeVariables(g);
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  ASSERT_TRUE(session.Run({optimizer.LocalInitOp(true)}).ok());
  const Updates updates(session, optimizer.sync_op());
  for (int64_t i = 1; i <= 20; ++i) {
    absl::StatusOr<Tensors> out = session.Run(
        {{grad, Tensor::Scalar(1.0f)}}, {Operation(train).output(0)}, {}, {.timeout_ms = 10'000});
    ASSERT_TRUE(out.ok()) << out.status();
    const Tensor& local = (*out)[0];
    EXPECT_EQ(local.flat<int64_t>()[0], i);
  }
}

// --- closing

TYPED_TEST(BothForms, ClosingTheTokensEndsReplicasThatWait) {
  TypeParam world({});
  Session session(world.g);
  const Operation close = world.optimizer.CloseTokensOp();
  const Output closed = world.optimizer.TokensClosed();
  EXPECT_EQ(close.name(), "close_sync_token_queue");
  ASSERT_TRUE(world.Start(session, 0).ok());
  EXPECT_FALSE((*session.Run({}, {closed}, {}))[0].template scalar<bool>());
  absl::Status status;
  std::thread replica([&] { status = world.Push(session, 1); });
  ASSERT_TRUE(session.Run({close}).ok());
  replica.join();
  EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr("FIFOQueue 'sync_token_q' is closed and has insufficient "
                                         "elements (requested 1, current size 0)"));
  EXPECT_TRUE((*session.Run({}, {closed}, {}))[0].template scalar<bool>());
}

// Issue #11071: the tokens of two optimizers were mixed, and a worker waited forever. See row 12 of
// docs/demands.md.
TYPED_TEST(BothForms, TwoOptimizersOfAGraphHaveTheirOwnQueues) {
  using O = decltype(TypeParam::optimizer);
  Graph g;
  const Variable step = GlobalStep(g);
  const Variable other_step(g, "other_step", int64_t{0}, {.trainable = false});
  const Variable w(g, "w", 1.0f), v(g, "v", 1.0f);
  const Output grad = Placeholder(g, DT_FLOAT, PartialShape::Scalar(), "grad");
  O first(GradientDescent({.learning_rate = 1.0f}), {});
  O second(GradientDescent({.learning_rate = 1.0f}), {});
  const Operation train = first.ApplyGradients({{grad, w}}, {.global_step = &step}).value();
  const Operation other =
      second.ApplyGradients({{grad, w}, {grad, v}}, {.global_step = &other_step}).value();
  EXPECT_EQ(first.token_queue().name(), "sync_token_q");
  EXPECT_EQ(second.token_queue().name(), "sync_token_q_1");
  std::set<std::string> shared;
  for (const Node* node : g.nodes()) {
    if (node->FindAttr<int64_t>("_gradients") == nullptr) continue;
    EXPECT_TRUE(shared.insert(node->AttrOr<std::string>("shared_name", "")).second);
  }
  const Operation init = InitializeVariables(g);
  const OutputList values = {w.Read(), v.Read(), step.Read(), other_step.Read()};
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  for (O* optimizer : {&first, &second}) {
    ASSERT_TRUE(session.Run({optimizer->LocalInitOp(true)}).ok());
  }
  {
    Updates updates(session, first.sync_op());
    Updates other_updates(session, second.sync_op());
    for (int i = 0; i < 5; ++i) {
      for (const Operation& op : {train, other}) {
        ASSERT_TRUE(session.Run({{grad, Tensor::Scalar(1.0f)}}, {}, {op}).ok());
      }
    }
  }
  absl::StatusOr<Tensors> got = session.Run({}, values, {});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)[0].template scalar<float>(), -9);
  EXPECT_EQ((*got)[1].template scalar<float>(), -4);
  EXPECT_EQ((*got)[2].template scalar<int64_t>(), 5);
  EXPECT_EQ((*got)[3].template scalar<int64_t>(), 5);
}

// --- reports

TYPED_TEST(BothForms, AStallNamesTheOpTheQueueTheCountsAndWhoIsMissing) {
  TypeParam world({.replicas_to_aggregate = 2, .replica_id = 0});
  Session session(world.g);
  ASSERT_TRUE(world.Start(session, 2).ok());
  ASSERT_TRUE(world.Push(session, 1).ok());
  absl::StatusOr<Tensors> late =
      session.Run({}, {}, {world.optimizer.sync_op()}, {.timeout_ms = 20});
  EXPECT_TRUE(absl::IsDeadlineExceeded(late.status()));
  EXPECT_THAT(Message(late.status()), HasSubstr("1 of 2"));
  EXPECT_THAT(Message(late.status()), HasSubstr("for step 0; none yet of replica 1"));
}

TYPED_TEST(BothForms, StallsCanBeAskedWhileAStepWaitsAndAreWarnedOfOnce) {
  TypeParam world({.replicas_to_aggregate = 2, .replica_id = 0});
  Mutex mutex;
  CondVar warned;
  std::vector<std::string> warnings;
  Session session(world.g, {.warn =
                                [&](const std::string& text) {
                                  ScopedLock lock(&mutex);
                                  warnings.push_back(text);
                                  warned.NotifyAll();
                                },
                            .stall_warning_ms = 1});
  ASSERT_TRUE(world.Start(session, 0).ok());
  EXPECT_THAT(session.Stalls(), IsEmpty());
  CancellationManager cancellation;
  std::thread step([&] {
    session.Run({}, {}, {world.optimizer.sync_op()}, {.cancellation = &cancellation}).IgnoreError();
  });
  {
    ScopedLock lock(&mutex);
    while (warnings.empty()) warned.Wait(&mutex);
  }
  ASSERT_THAT(session.Stalls(), SizeIs(1));
  EXPECT_THAT(session.Stalls()[0].state, HasSubstr("none yet of replicas 0, 1"));
  EXPECT_THAT(session.StallReport(), HasSubstr("has waited"));
  cancellation.StartCancel();
  step.join();
  EXPECT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0], HasSubstr(" waits: '"));
  EXPECT_THAT(session.StallReport(), "");
}

TYPED_TEST(BothForms, TheLedgerTellsWhereEveryGradientWent) {
  TypeParam world({.replicas_to_aggregate = 1, .total_num_replicas = 2, .replica_id = 1});
  const Output totals = world.optimizer.LedgerTotals();
  const Output updates = world.optimizer.LedgerUpdates(2);
  Session session(world.g);
  ASSERT_TRUE(world.Start(session, 4).ok());
  ASSERT_TRUE(world.Push(session, 1).ok());
  ASSERT_TRUE(world.Push(session, 1).ok());  // in time, but surplus: one is enough
  ASSERT_TRUE(session.Run({world.optimizer.sync_op()}).ok());
  ASSERT_TRUE(world.Push(session, 1).ok());  // stale: of step 0, at step 1
  absl::StatusOr<Tensors> got = session.Run({}, {totals, updates}, {});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT((*got)[0].template flat<int64_t>(), ElementsAre(0, 0, 0, 1, 1, 1, 0, 0, 0));
  EXPECT_THAT((*got)[1].template flat<int64_t>(),
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0,    // before the first update
                          0, 0, 0, 1, 0, 1, 0, 0, 0));  // the update of step 0
  EXPECT_EQ(LedgerText((*got)[0]),
            "1 gradients applied, 1 dropped as stale, 1 dropped as surplus; replica 0: 0 applied, "
            "0 stale, 0 surplus; replica 1: 1 applied, 1 stale, 1 surplus");
}

// --- liveness

TYPED_TEST(BothForms, TrainingThatCanNeverGoOnIsRefused) {
  TypeParam world({.replicas_to_aggregate = 3, .total_num_replicas = 2});
  const Operation tokens = *world.optimizer.InitTokensOp(1);
  EXPECT_TRUE(
      CheckProgress(world.optimizer, {.init_tokens = tokens, .runs_queue_runner = true}).ok());
  EXPECT_EQ(CheckProgress(world.optimizer, {.init_tokens = tokens}),
            absl::InvalidArgumentError(
                "sync_replicas can never make an update: the chief's queue runner is not started "
                "(ChiefQueueRunner, or the hook of the chief)"));
  EXPECT_EQ(CheckProgress(world.optimizer, {.runs_queue_runner = true}),
            absl::InvalidArgumentError(
                "sync_replicas can never make the first update: it needs 3 gradients, and 2 "
                "replicas give 2 (one each, and one for each of 0 initial tokens); missing are 1 "
                "initial tokens (InitTokensOp) or as many replicas"));
  EXPECT_THAT(
      Message(CheckProgress(world.optimizer,
                            {.init_tokens = tokens, .runs_queue_runner = true, .replicas = 1})),
      HasSubstr("1 replicas give 2"));
}

// Sets the capacity of the token queues and, in the legacy form, of the gradient queues.
void SetCapacities(const Graph& g, int64_t capacity) {
  for (Node* node : g.nodes()) {
    if (node->op() == "FIFOQueueV2") node->SetAttr("capacity", capacity);
  }
}

TYPED_TEST(BothForms, QueuesWithoutRoomAreRefused) {
  TypeParam world({.replicas_to_aggregate = 2});
  const Operation tokens = *world.optimizer.InitTokensOp();
  SetCapacities(world.g, 0);
  EXPECT_THAT(
      Message(CheckProgress(world.optimizer, {.init_tokens = tokens, .runs_queue_runner = true})),
      ::testing::MatchesRegex("sync_replicas can never make progress: queue '.*' has room for no "
                              "(token|gradient)"));
}

// A capacity of one is enough: a dequeue of three gradients keeps the first two, and an enqueue of
// three tokens waits for dequeues.
TYPED_TEST(BothForms, RoomForOneIsEnoughForAnUpdateOfThree) {
  TypeParam world({.replicas_to_aggregate = 3, .total_num_replicas = 1});
  const Operation tokens = *world.optimizer.InitTokensOp(2);
  SetCapacities(world.g, 1);
  ASSERT_TRUE(
      CheckProgress(world.optimizer, {.init_tokens = tokens, .runs_queue_runner = true}).ok());
  const Operation init = InitializeVariables(world.g);
  const Operation local_init = world.optimizer.LocalInitOp(true);
  Session session(world.g);
  ASSERT_TRUE(session.Run({init}).ok());
  ASSERT_TRUE(session.Run({local_init}).ok());
  CancellationManager end;
  std::thread put([&] { EXPECT_TRUE(session.Run({tokens}).ok()); });
  std::thread chief([&] {
    while (session.Run({}, {}, {world.optimizer.sync_op()}, {.cancellation = &end}).ok()) {
    }
  });
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(world.Push(session, 1).ok());
  put.join();
  end.StartCancel();
  chief.join();
  const int gradients = std::is_same_v<TypeParam, Legacy> ? 3 : 1;  // their sum, or their mean
  EXPECT_EQ(world.Value(session), 5 - 2 * 0.5f * gradients);
}

TYPED_TEST(BothForms, DeterministicTrainingNeedsEveryReplica) {
  TypeParam world({.replicas_to_aggregate = 2, .replica_id = 0, .deterministic = true});
  const Operation tokens = *world.optimizer.InitTokensOp();
  EXPECT_THAT(
      Message(CheckProgress(world.optimizer,
                            {.init_tokens = tokens, .runs_queue_runner = true, .replicas = 1})),
      HasSubstr("can never make the first update: it needs 2 gradients"));
}

// --- the hook

TYPED_TEST(BothForms, TheHookStartsEverything) {
  TypeParam world({});
  std::string report;
  SyncReplicasHook hook(world.optimizer, /*is_chief=*/true, 0,
                        [&](const std::string& text) { report = text; });
  ASSERT_TRUE(hook.Begin(world.g).ok());
  const Operation init = InitializeVariables(world.g);
  world.g.Finalize();
  Session session(world.g);
  Coordinator coordinator;
  const absl::Status early = hook.AfterCreateSession(session, coordinator);
  EXPECT_TRUE(absl::IsFailedPrecondition(early));
  EXPECT_THAT(Message(early),
              HasSubstr("Init operations did not make model ready for SyncReplicasOptimizer "
                        "local_init. Init op: "));
  EXPECT_THAT(Message(early), HasSubstr(", error: Variables not initialized: global_step, w"));
  ASSERT_TRUE(session.Run({init}).ok());
  ASSERT_TRUE(hook.AfterCreateSession(session, coordinator).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.Push(session, 1).ok());
  ASSERT_TRUE(hook.End(session).ok());
  coordinator.RequestStop();
  EXPECT_TRUE(coordinator.Join().ok());
  EXPECT_THAT(report, HasSubstr("3 gradients applied, 0 dropped as stale"));
  EXPECT_EQ(world.Value(session), 3.5f);
}

// Issue #20342: replicas without more data kept their tokens, and the others waited forever. See
// row 9 of docs/demands.md.
TYPED_TEST(BothForms, AReplicaThatEndsGivesItsTokenBack) {
  TypeParam world({});
  auto hook = world.optimizer.MakeSessionRunHook(/*is_chief=*/false);
  ASSERT_TRUE(hook->Begin(world.g).ok());
  const Output left = world.optimizer.token_queue().Size();
  Session session(world.g);
  ASSERT_TRUE(world.Start(session, 0).ok());
  ASSERT_TRUE(hook->End(session).ok());
  EXPECT_EQ((*session.Run({}, {left}, {}))[0].template scalar<int32_t>(), 1);
}

}  // namespace
}  // namespace sluice

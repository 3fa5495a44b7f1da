// Tests what only the queue form guarantees. The other tests are in
// sync_replicas_optimizer_test.cc.
#include "training/sync/legacy_sync_replicas_optimizer.h"

#include <thread>

#include "gmock/gmock.h"
#include "graph/build/scopes.h"
#include "gtest/gtest.h"
#include "training/optimizer/gradient_descent.h"
#include "training/testing/sync.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Legacy = World<LegacySyncReplicasOptimizer>;

TEST(LegacySyncReplicas, MakesWhatTheSeedMakes) {
  Graph g;
  Variable step, w, e, u;
  {
    DeviceScope on(g, "/job:ps/task:1");
    step = GlobalStep(g);
    w = Variable(g, "w", {3, 2}, Zeros());
  }
  {
    DeviceScope on(g, "/job:ps/task:0");
    e = Variable(g, "e", {10, 2}, Zeros());
    u = Variable(g, "u", 1.0f);
  }
  DeviceScope on(g, "/job:worker/task:2");
  const IndexedSlices rows = {.values = Placeholder(g, DT_FLOAT, {-1, 2}, "values"),
                              .indices = Placeholder(g, DT_INT64, {-1}, "indices"),
                              .dense_shape = {}};
  LegacySyncReplicasOptimizer optimizer(
      GradientDescent({.learning_rate = 0.1f}),
      {.replicas_to_aggregate = 2, .total_num_replicas = 3, .replica_id = 2});
  EXPECT_EQ(
      optimizer.CleanUpOp().status(),
      absl::FailedPreconditionError("get_clean_up_op() should be called after apply_gradients()."));
  absl::StatusOr<Operation> train = optimizer.ApplyGradients(
      {{Placeholder(g, DT_FLOAT, {3, 2}, "grad"), w}, {rows, e}, {Grad(), u}},
      {.global_step = &step});
  ASSERT_TRUE(train.ok()) << train.status();

  const Variable& local_steps = *optimizer.local_steps();
  EXPECT_EQ(local_steps.name(), "local_steps");
  EXPECT_EQ(local_steps.shape(), PartialShape({3}));
  EXPECT_EQ(local_steps.dtype(), DT_INT64);
  EXPECT_FALSE(local_steps.trainable());
  EXPECT_EQ(local_steps.device(), "/job:ps/task:1");
  ASSERT_NE(g.Find("get_local_step"), nullptr);
  EXPECT_EQ(g.Find("get_local_step")->input(0), local_steps.Ref());

  const Node* dense = nullptr;
  const Node* sparse = nullptr;
  for (const Node* node : g.nodes()) {
    if (node->op() != "FIFOQueueV2") continue;
    const std::string name = node->AttrOr<std::string>("shared_name", "");
    if (name == "w:0") dense = node;
    if (name == "sparse_grad_q_e:0") sparse = node;
    EXPECT_NE(name, "u:0") << "None is passed through";
  }
  ASSERT_NE(dense, nullptr);
  ASSERT_NE(sparse, nullptr);
  EXPECT_EQ(dense->AttrOr<int64_t>("capacity", 0), 6);
  EXPECT_EQ(*dense->FindAttr<std::vector<DataType>>("component_types"),
            (std::vector<DataType>{DT_FLOAT}));
  EXPECT_EQ(*dense->FindAttr<std::vector<PartialShape>>("shapes"),
            (std::vector<PartialShape>{{3, 2}}));
  EXPECT_THAT(dense->device(), HasSubstr("/job:ps/task:1"));
  EXPECT_EQ(*sparse->FindAttr<std::vector<DataType>>("component_types"),
            (std::vector<DataType>{DT_FLOAT, DT_INT64}));
  EXPECT_THAT(sparse->device(), HasSubstr("/job:ps/task:0"));

  const Node* dequeue = optimizer.aggregated_gradients()[0].grad.dense().node;
  EXPECT_EQ(dequeue->op(), "Sum");
  EXPECT_EQ(dequeue->input(0).node->op(), "QueueDequeueManyV2");
  EXPECT_EQ(dequeue->input(0).node->input(0).node, dense);
  EXPECT_TRUE(optimizer.aggregated_gradients()[2].grad.is_none());

  const Node* dummy = g.Find("dummy_queue");
  ASSERT_NE(dummy, nullptr);
  EXPECT_EQ(dummy->AttrOr<int64_t>("capacity", 0), 1);
  EXPECT_EQ(dummy->AttrOr<std::string>("shared_name", ""), "dummy_queue");
  EXPECT_EQ(optimizer.ChiefQueueRunner()->queue_name, "dummy_queue");
  EXPECT_EQ(optimizer.token_queue().name(), "sync_token_q");
  EXPECT_EQ(Operation(optimizer.token_queue().handle()).node->AttrOr<int64_t>("capacity", 0), -1);

  EXPECT_EQ(train->node->op(), "ScatterUpdate");
  EXPECT_EQ(train->device(), "/job:ps/task:1");
  const Node* abort = optimizer.CleanUpOp()->node;
  EXPECT_EQ(abort->op(), "Abort");
  EXPECT_EQ(abort->AttrOr<std::string>("error_msg", ""), "From sync_replicas");
  EXPECT_EQ(abort->device(), "/job:ps/task:1");
  EXPECT_NE(g.Find("sync_replicas/cond/no_grad_enqueue"), nullptr);

  // The tokens must depend on the update.
  const Node* put = optimizer.sync_op().node;
  EXPECT_EQ(put->op(), "QueueEnqueueManyV2");
  const Node* dims = put->input(1).node->input(0).node;
  ASSERT_THAT(dims->control_inputs(), SizeIs(1));
  EXPECT_EQ(dims->control_inputs().front()->op(), "AssignAddVariableOp");
}

// TensorFlow's code comments this: "Note that ref() is used to avoid reading from the identity with
// old the step."
TEST(LegacySyncReplicas, TokensAreFilledFromTheReferenceOfTheStep) {
  Graph g;
  const VariableOptions ref = {.dtype = DT_INT64, .trainable = false, .use_resource = false};
  const Variable step = GlobalStep(g, ref);
  const Variable w(g, "w", 5.0f);
  LegacySyncReplicasOptimizer optimizer(GradientDescent({.learning_rate = 1.0f}),
                                        {.replicas_to_aggregate = 1});
  const Operation train =
      optimizer.ApplyGradients({{Constant(g, 2.0f), w}}, {.global_step = &step}).value();
  const Output tokens = optimizer.sync_op().node->input(1);
  ASSERT_EQ(tokens.node->op(), "Fill");
  EXPECT_EQ(tokens.node->input(1), step.Ref());
  const Operation init = InitializeVariables(g);
  const Output local_step = optimizer.LocalStep();
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  for (int64_t update = 1; update <= 3; ++update) {
    std::thread replica([&] { EXPECT_TRUE(session.Run({train}).ok()); });
    EXPECT_TRUE(session.Run({optimizer.sync_op()}).ok());
    replica.join();
    EXPECT_EQ((*session.Run({}, {local_step}, {}))[0].scalar<int64_t>(), update);
  }
}

// Once, a checkpoint contained the local steps of replicas that waited for their tokens. When
// training continued, their first gradients were dropped as stale. Deterministic training, which
// has no spare tokens, then waited forever.
TEST(LegacySyncReplicas, ADeterministicReplicaStartsAtTheGlobalStep) {
  Legacy world({.replica_id = 0, .deterministic = true});
  const Operation restored = world.step.Assign(Constant(world.g, int64_t{7}));
  const Output local_step = world.optimizer.LocalStep();
  const Operation init = InitializeVariables(world.g);
  Session session(world.g);
  ASSERT_TRUE(session.Run({init}).ok());
  ASSERT_TRUE(session.Run({restored}).ok());
  EXPECT_EQ((*session.Run({}, {local_step}, {}))[0].scalar<int64_t>(), 0);
  ASSERT_TRUE(session.Run({world.optimizer.LocalInitOp(true)}).ok());
  EXPECT_EQ((*session.Run({}, {local_step}, {}))[0].scalar<int64_t>(), 7);
}

TEST(LegacySyncReplicas, TheCleanUpOpEndsItsStep) {
  Legacy world({});
  Session session(world.g);
  const absl::Status status = session.Run({*world.optimizer.CleanUpOp()});
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_THAT(Message(status), HasSubstr("From sync_replicas"));
}

// In TensorFlow, the enqueues are created outside the branch, so a stale gradient is added anyway.
TEST(LegacySyncReplicas, AStaleGradientIsReallyDropped) {
  Legacy world({.replica_id = 0});
  const Output totals = world.optimizer.LedgerTotals();
  Session session(world.g);
  ASSERT_TRUE(world.Start(session, 3).ok());
  ASSERT_TRUE(world.Push(session, 1).ok());
  ASSERT_TRUE(session.Run({world.optimizer.sync_op()}).ok());
  ASSERT_TRUE(world.Push(session, 100).ok());  // its token is of step 0
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      session.Run({}, {}, {world.optimizer.sync_op()}, {.timeout_ms = 20}).status()));
  EXPECT_EQ(world.Value(session), 4.5f);
  EXPECT_EQ((*session.Run({}, {totals}, {}))[0].data<int64_t>()[1], 1);
}

TEST(LegacySyncReplicas, RowsThatRepeatAreSummedBeforeTheyAreApplied) {
  Graph g;
  const Variable step = GlobalStep(g);
  const Variable e(g, "e", {3, 1}, Zeros());
  const IndexedSlices rows = {.values = Placeholder(g, DT_FLOAT, {-1, 1}, "values"),
                              .indices = Placeholder(g, DT_INT32, {-1}, "indices"),
                              .dense_shape = {}};
  LegacySyncReplicasOptimizer optimizer(GradientDescent({.learning_rate = 1.0f}),
                                        {.replicas_to_aggregate = 2, .total_num_replicas = 1});
  const Operation train = optimizer.ApplyGradients({{rows, e}}, {.global_step = &step}).value();
  const Operation tokens = optimizer.InitTokensOp(2).value();
  const Operation init = InitializeVariables(g);
  const Output value = e.Read();
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  ASSERT_TRUE(session.Run({tokens}).ok());
  const auto push = [&](std::initializer_list<int32_t> ids, std::initializer_list<float> values) {
    return session
        .Run({{rows.indices, Tensor::Vector<int32_t>(ids)},
              {rows.values, Tensor::Of<float>({static_cast<int64_t>(values.size()), 1}, values)}},
             {}, {train})
        .status();
  };
  ASSERT_TRUE(push({2, 0, 2}, {1, 2, 3}).ok());
  ASSERT_TRUE(push({2}, {10}).ok());
  ASSERT_TRUE(session.Run({optimizer.sync_op()}).ok());
  EXPECT_THAT((*session.Run({}, {value}, {}))[0].flat<float>(), ElementsAre(-2, 0, -14));
}

}  // namespace
}  // namespace sluice

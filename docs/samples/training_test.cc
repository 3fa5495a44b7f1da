// The code in docs/training.md.

#include <memory>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

TEST(TrainingSamples, Minimize) {
  Graph g;
  Variable w(g, "w", 5.0f);
  Output loss = Square(w - 2.0f);
  // [minimize]
  Variable step = GlobalStep(g);
  Momentum optimizer({.learning_rate = 0.1f, .momentum = 0.5f});
  Operation train = optimizer.Minimize(loss, {.global_step = &step});
  // [/minimize]
  Output value = w;
  Session session(g);
  ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(session.Run({train}).ok());
  const auto out = session.Run({}, {value});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_NEAR((*out)[0].scalar<float>(), 2, 1e-3);
}

TEST(TrainingSamples, ClippedGradients) {
  Graph g;
  Variable w(g, "w", 5.0f);
  Output loss = Square(w);
  // [clip]
  GradientDescent optimizer({.learning_rate = 0.1f});
  GradientsAndVariables pairs = optimizer.ComputeGradients(loss).value();
  Output norm = ClipByGlobalNorm(pairs, 1.0f);  // what it was before
  Operation train = optimizer.ApplyGradients(pairs).value();
  // [/clip]
  Output value = w;
  Session session(g);
  ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
  ASSERT_TRUE(session.Run({train}).ok());
  const auto out = session.Run({}, {value, norm});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_NEAR((*out)[0].scalar<float>(), 4.9, 1e-5);
  EXPECT_NEAR((*out)[1].scalar<float>(), 2 * 4.9, 1e-5);
}

TEST(TrainingSamples, Constraint) {
  Graph g;
  // [constraint]
  Variable w(g, "w", {3}, Ones());
  Constrain(w, [](Output value) { return Relu(value); });
  // [/constraint]
  Operation train = GradientDescent({.learning_rate = 2.0f}).Minimize(ReduceSum(w));
  Output value = w;
  Session session(g);
  ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
  ASSERT_TRUE(session.Run({train}).ok());
  EXPECT_EQ((*session.Run({}, {value}))[0].data<float>()[0], 0);
}

TEST(TrainingSamples, Schedule) {
  Graph g;
  Variable w(g, "w", 5.0f);
  Output loss = Square(w - 2.0f);
  // [schedule]
  Variable step = GlobalStep(g);
  Output rate = CosineDecay(0.1f, step, 1000);
  AdamW optimizer({.learning_rate = rate, .exclude_from_weight_decay = {"bias"}});
  Operation train = optimizer.Minimize(loss, {.global_step = &step});
  // [/schedule]
  Session session(g);
  ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(session.Run({train}).ok());
  EXPECT_NEAR((*session.Run({}, {rate}))[0].scalar<float>(), 0.05f, 1e-5);
}

TEST(TrainingSamples, MovingAverage) {
  Graph g;
  Variable w(g, "w", 5.0f);
  Output loss = Square(w - 2.0f);
  // [average]
  Variable step = GlobalStep(g);
  Operation train = Adam({.learning_rate = 0.1f}).Minimize(loss, {.global_step = &step});
  ExponentialMovingAverage average(0.99f, {.num_updates = step});
  Operation follow;  // run this one
  {
    ControlDependencies after(g, {train});
    follow = average.Apply(TrainableVariables(g)).value();
  }
  // [/average]
  EXPECT_EQ(average.Average(w)->name(), "w/ExponentialMovingAverage");
  Session session(g);
  ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(session.Run({follow}).ok());
  EXPECT_NEAR((*session.Run({}, {average.Average(w)->snapshot()}))[0].scalar<float>(), 2, 0.2);
}

TEST(TrainingSamples, Mirrored) {
  Graph g;
  Output batch = Constant(g, {1.0f, 2.0f, 3.0f, 6.0f});
  // [mirrored]
  MirroredStrategy strategy(g, {"/device:CPU:0", "/device:CPU:1"});
  GradientDescent optimizer({.learning_rate = 0.25f});
  auto replica = [&](ReplicaContext& r) -> absl::StatusOr<Operation> {
    Variable w = strategy.MakeVariable("w", PartialShape::Scalar(), Zeros());
    Output share = Slice(batch, {2 * r.replica()}, {2});
    Output loss = ReduceMean(Square(w - share));
    SLUICE_ASSIGN_OR_RETURN(GradientsAndVariables pairs,
                            optimizer.ComputeGradients(loss, {.var_list = {w}}));
    return optimizer.ApplyGradients(pairs);
  };
  absl::StatusOr<PerReplica<Operation>> train = strategy.Run<Operation>(replica);
  // [/mirrored]
  ASSERT_TRUE(train.ok()) << train.status();
  Session session(g, {.cpu_devices = 2});
  ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(session.Run({(*train)[0]}).ok());
  EXPECT_NEAR((*session.Run({}, {Variable::Find(g, "w")->snapshot()}))[0].scalar<float>(), 3, 1e-4);
}

// [replica]
// One copy of the model: its own graph and device, the variables on the device that all share.
struct Replica {
  Replica(int index, int replicas, std::shared_ptr<DeviceSet> devices)
      : optimizer(GradientDescent({.learning_rate = 0.05f}),
                  {.replicas_to_aggregate = replicas - 1, .total_num_replicas = replicas}) {
    DeviceScope place(graph, [index](const NodeSpec& spec) -> std::string {
      if (!spec.device.empty()) return spec.device;  // a scope inside said where
      return spec.op == "VarHandleOp" ? "/device:CPU:0" : StrCat("/device:CPU:", index + 1);
    });
    Variable step = GlobalStep(graph);
    Variable w(graph, "w", 5.0f);
    train = optimizer.Minimize(Square(w - 2.0f), {.global_step = &step});
    tokens = optimizer.InitTokensOp().value_or(Operation());
    init = InitializeVariables(graph);
    value = w;
    session = std::make_unique<Session>(graph, SessionOptions{.devices = std::move(devices)});
  }

  SyncReplicasOptimizer optimizer;
  Graph graph;
  Operation train, tokens, init;
  Output value;
  std::unique_ptr<Session> session;
};
// [/replica]

absl::Status TrainTogether(std::vector<std::unique_ptr<Replica>>& replicas) {
  // [together]
  Replica& chief = *replicas[0];
  SLUICE_RETURN_IF_ERROR(chief.session->Run({chief.init}));
  SLUICE_RETURN_IF_ERROR(chief.session->Run({chief.optimizer.chief_init_op()}));
  SLUICE_RETURN_IF_ERROR(chief.session->Run({chief.tokens}));
  for (auto& replica : replicas) {
    SLUICE_RETURN_IF_ERROR(replica->session->Run({replica->optimizer.local_step_init_op()}));
  }
  Coordinator coordinator;
  SLUICE_ASSIGN_OR_RETURN(QueueRunner updates, chief.optimizer.ChiefQueueRunner());
  updates.Start(*chief.session, coordinator);
  for (auto& replica : replicas) {
    coordinator.Start("replica", [&replica, &coordinator]() -> absl::Status {
      for (int i = 0; i < 60 && !coordinator.ShouldStop(); ++i) {
        SLUICE_RETURN_IF_ERROR(replica->session->Run({replica->train}));
      }
      coordinator.RequestStop();
      return absl::OkStatus();
    });
  }
  return coordinator.Join();
  // [/together]
}

TEST(TrainingSamples, SynchronousReplicas) {
  constexpr int kReplicas = 3;
  auto devices = DeviceSet::Cpus(kReplicas + 1);
  std::vector<std::unique_ptr<Replica>> replicas;
  for (int i = 0; i < kReplicas; ++i) {
    replicas.push_back(std::make_unique<Replica>(i, kReplicas, devices));
    ASSERT_TRUE(replicas.back()->graph.status().ok()) << replicas.back()->graph.status();
  }
  const absl::Status status = TrainTogether(replicas);
  EXPECT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
  const auto out = replicas[0]->session->Run({}, {replicas[0]->value});
  ASSERT_TRUE(out.ok()) << out.status();
  // The first replica to end has pushed 60 gradients, and three make an update. So there are at
  // least 20 updates.
  EXPECT_NEAR((*out)[0].scalar<float>(), 2, 0.5);
}

}  // namespace
}  // namespace sluice

// The code in docs/training.md.

#include <memory>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
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
  for (GradientAndVariable& pair : pairs) {
    if (pair.grad.is_dense()) pair.grad = Minimum(pair.grad.dense(), Constant(g, 1.0f));
  }
  Operation train = optimizer.ApplyGradients(pairs).value();
  // [/clip]
  Output value = w;
  Session session(g);
  ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
  ASSERT_TRUE(session.Run({train}).ok());
  const auto out = session.Run({}, {value});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_NEAR((*out)[0].scalar<float>(), 4.9, 1e-5);
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
      for (int i = 0; i < 50 && !coordinator.ShouldStop(); ++i) {
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
  EXPECT_NEAR((*out)[0].scalar<float>(), 2, 0.5);
}

}  // namespace
}  // namespace sluice

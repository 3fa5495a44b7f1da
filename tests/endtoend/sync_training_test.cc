// Synchronous replicas give what one replica with the whole batch gives.
#include <barrier>
#include <memory>
#include <random>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

constexpr int64_t kBatch = 24;
constexpr int kSteps = 50;
constexpr int64_t kFeatures = 6;

struct Batch {
  Tensor x;
  Tensor y;
};

Batch BatchOf(int step) {
  std::mt19937 random(static_cast<uint32_t>(step) + 7);
  std::normal_distribution<float> normal;
  Batch batch{Tensor(DT_FLOAT, {kBatch, kFeatures}), Tensor(DT_FLOAT, {kBatch, 1})};
  for (float& v : batch.x.flat<float>()) v = normal(random);
  for (float& v : batch.y.flat<float>()) v = normal(random);
  return batch;
}

// A small network of two layers.
struct Net {
  Output x, y, loss;
  std::vector<Variable> variables;
};

Net BuildNet(Graph& g, bool use_resource) {
  Net net;
  net.x = Placeholder(g, DT_FLOAT, {-1, kFeatures}, "x");
  net.y = Placeholder(g, DT_FLOAT, {-1, 1}, "y");
  const VariableOptions options = {.use_resource = use_resource};
  Variable w(g, "w", {kFeatures, 4}, RandomNormalInit(0, 0.5, 11), options);
  Variable b(g, "b", {4}, Zeros(), options);
  Variable v(g, "v", {4, 1}, RandomNormalInit(0, 0.5, 12), options);
  const Output hidden = Tanh(MatMul(net.x, w) + b);
  net.loss = ReduceMean(Square(MatMul(hidden, v) - net.y));
  net.variables = {w, b, v};
  return net;
}

absl::StatusOr<std::vector<Tensor>> TrainAlone(bool use_resource) {
  Graph g;
  Net net = BuildNet(g, use_resource);
  Operation train = GradientDescent({.learning_rate = 0.1f}).Minimize(net.loss);
  const Operation init = InitializeVariables(g);
  const OutputList reads(net.variables.begin(), net.variables.end());
  Session session(g);
  SLUICE_RETURN_IF_ERROR(session.Run({init}));
  for (int step = 0; step < kSteps; ++step) {
    const Batch batch = BatchOf(step);
    SLUICE_RETURN_IF_ERROR(session.Run({{net.x, batch.x}, {net.y, batch.y}}, {}, {train}).status());
  }
  return session.Run({}, reads, {});
}

struct Replica {
  explicit Replica(int index, int replicas, bool use_resource, std::shared_ptr<DeviceSet> devices)
      : optimizer(GradientDescent({.learning_rate = 0.1f}),
                  {.replicas_to_aggregate = replicas, .total_num_replicas = replicas}) {
    const std::string own = StrCat("/device:CPU:", index + 1);
    DeviceScope place(graph, [own](const NodeSpec& spec) -> std::string {
      if (!spec.device.empty()) return spec.device;
      return spec.op == "VariableV2" || spec.op == "VarHandleOp" ? "/device:CPU:0" : own;
    });
    Variable step = GlobalStep(graph);
    net = BuildNet(graph, use_resource);
    train = optimizer.Minimize(net.loss, {.global_step = &step});
    init = InitializeVariables(graph);
    reads = OutputList(net.variables.begin(), net.variables.end());
    session = std::make_unique<Session>(graph, SessionOptions{.devices = std::move(devices)});
  }
  SyncReplicasOptimizer optimizer;
  Graph graph;
  Net net;
  Operation train, init;
  OutputList reads;
  std::unique_ptr<Session> session;
};

absl::StatusOr<std::vector<Tensor>> TrainTogether(int replicas, bool use_resource) {
  auto devices = DeviceSet::Cpus(replicas + 1);
  std::vector<std::unique_ptr<Replica>> all;
  for (int i = 0; i < replicas; ++i) {
    all.push_back(std::make_unique<Replica>(i, replicas, use_resource, devices));
    SLUICE_RETURN_IF_ERROR(all.back()->graph.status());
  }
  Replica& chief = *all[0];
  SLUICE_RETURN_IF_ERROR(chief.session->Run({chief.init}));
  SLUICE_RETURN_IF_ERROR(chief.session->Run({chief.optimizer.chief_init_op()}));
  for (auto& replica : all) {
    SLUICE_RETURN_IF_ERROR(replica->session->Run({replica->optimizer.local_step_init_op()}));
  }
  Coordinator coordinator;
  SLUICE_ASSIGN_OR_RETURN(QueueRunner runner, chief.optimizer.ChiefQueueRunner());
  runner.Start(*chief.session, coordinator);
  std::vector<std::thread> threads;
  std::vector<absl::Status> statuses(replicas);
  // A replica that is fast may take two tokens of one step, and its gradient then stands for a
  // slower one's. Here each is to give one gradient to every step, so they start it together.
  std::barrier together(replicas);
  for (int i = 0; i < replicas; ++i) {
    threads.emplace_back([&, i] {
      Replica& replica = *all[i];
      const int64_t share = kBatch / replicas;
      for (int step = 0; step < kSteps && statuses[i].ok(); ++step) {
        together.arrive_and_wait();
        const Batch batch = BatchOf(step);
        statuses[i] = replica.session
                          ->Run({{replica.net.x, batch.x.SliceRows(i * share, (i + 1) * share)},
                                 {replica.net.y, batch.y.SliceRows(i * share, (i + 1) * share)}},
                                {}, {replica.train})
                          .status();
      }
      together.arrive_and_drop();
    });
  }
  for (std::thread& t : threads) t.join();
  for (const absl::Status& s : statuses) SLUICE_RETURN_IF_ERROR(s);
  coordinator.RequestStop();
  SLUICE_RETURN_IF_ERROR(coordinator.Join());
  return chief.session->Run({}, chief.reads, {});
}

class SyncTrainingTest : public ::testing::TestWithParam<bool> {};

TEST_P(SyncTrainingTest, ReplicasOnPartsEqualOneOnTheWholeBatch) {
  absl::StatusOr<std::vector<Tensor>> alone = TrainAlone(GetParam());
  ASSERT_TRUE(alone.ok()) << alone.status();
  for (int replicas : {1, 2, 4}) {
    absl::StatusOr<std::vector<Tensor>> together = TrainTogether(replicas, GetParam());
    ASSERT_TRUE(together.ok()) << together.status();
    for (size_t v = 0; v < alone->size(); ++v) {
      for (int64_t i = 0; i < (*alone)[v].num_elements(); ++i) {
        EXPECT_NEAR((*together)[v].data<float>()[i], (*alone)[v].data<float>()[i], 1e-5)
            << replicas << " replicas, variable " << v << ", element " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(RefAndResource, SyncTrainingTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Resource" : "Ref"; });

}  // namespace
}  // namespace sluice

// Workers without parameter servers, in processes on loopback, give the same result as one process
// with the whole batch.
#include <cmath>
#include <string>
#include <vector>

#include "distributed/cluster/cluster_spec.h"
#include "distributed/server/server.h"
#include "distributed/testing/free_port.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/endtoend/process.h"
#include "tests/endtoend/sync_training.h"
#include "training/strategy/multi_worker_mirrored_strategy.h"

namespace sluice {
namespace {

constexpr int kWorkers = 3;
constexpr int kLocalReplicas = 2;
constexpr int kReplicas = kWorkers * kLocalReplicas;
constexpr int64_t kRows = 7;

// A table, whose gradients are rows, and a layer. The rows of a replica, and their number, differ
// between steps.
struct Net {
  Output ids, y, loss;
};

Net BuildNet(Graph& g, const Variable& table, const Variable& w) {
  Net net;
  net.ids = Placeholder(g, DT_INT64, {-1}, "ids");
  net.y = Placeholder(g, DT_FLOAT, {-1, 1}, "y");
  net.loss = ReduceMean(Square(MatMul(Tanh(Gather(table, net.ids)), w) - net.y));
  return net;
}

const Initializer kTableInit = RandomNormalInit(0, 0.5, 21);
const Initializer kWeightInit = RandomNormalInit(0, 0.5, 22);

Tensor IdsOf(int step, int begin, int end) {
  Tensor ids(DT_INT64, {end - begin});
  for (int i = begin; i < end; ++i) ids.data<int64_t>()[i - begin] = (i * i + step * i) % kRows;
  return ids;
}
Tensor LabelsOf(int step, int begin, int end) {
  Tensor y(DT_FLOAT, {end - begin, 1});
  for (int i = begin; i < end; ++i) {
    y.data<float>()[i - begin] = std::sin(static_cast<float>(i + 3 * step));
  }
  return y;
}

absl::StatusOr<std::vector<float>> Alone() {
  Graph g;
  const Variable table(g, "table", {kRows, 3}, kTableInit);
  const Variable w(g, "w", {3, 1}, kWeightInit);
  const Net net = BuildNet(g, table, w);
  const Operation train = Adam({.learning_rate = 0.02f}).Minimize(net.loss);
  const Operation init = InitializeVariables(g);
  const OutputList reads = {table.Read(), w.Read()};
  Session session(g);
  SLUICE_RETURN_IF_ERROR(session.Run({init}));
  for (int step = 0; step < kSyncSteps; ++step) {
    const std::vector<Feed> feeds = {{net.ids, IdsOf(step, 0, kSyncBatch)},
                                     {net.y, LabelsOf(step, 0, kSyncBatch)}};
    SLUICE_RETURN_IF_ERROR(session.Run(feeds, {}, {train}).status());
  }
  std::vector<float> all;
  SLUICE_ASSIGN_OR_RETURN(const Tensors values, session.Run({}, reads, {}));
  for (const Tensor& t : values)
    all.insert(all.end(), t.flat<float>().begin(), t.flat<float>().end());
  return all;
}

absl::Status RunWorker(const Cluster& cluster, Process& self) {
  const int index = cluster.task.index;
  SLUICE_ASSIGN_OR_RETURN(auto server, Server::Start({.cluster = cluster, .cpus = kLocalReplicas}));
  Graph g;
  MultiWorkerOptions options{.workers = kWorkers, .worker = index};
  for (int i = 0; i < kLocalReplicas; ++i) {
    options.devices.push_back(StrCat(cluster.task.ToString(), "/device:CPU:", i));
  }
  DeviceScope here(g, cluster.task.ToString());
  MultiWorkerMirroredStrategy strategy(g, options);
  // Only worker 0's initial values may matter.
  const auto noise = [index](const Initializer& init) -> Initializer {
    return [=](Graph& graph, const TensorShape& shape, DataType dtype) {
      return init(graph, shape, dtype) + 100.0f * static_cast<float>(index);
    };
  };
  Adam optimizer({.learning_rate = 0.02f});
  std::vector<Net> nets(kLocalReplicas);
  SLUICE_ASSIGN_OR_RETURN(
      const PerReplica<Operation> train,
      strategy.Run<Operation>([&](ReplicaContext& r) -> absl::StatusOr<Operation> {
        const Variable table = strategy.MakeVariable("table", {kRows, 3}, noise(kTableInit));
        const Variable w = strategy.MakeVariable("w", {3, 1}, noise(kWeightInit));
        nets[r.replica()] = BuildNet(g, table, w);
        SLUICE_ASSIGN_OR_RETURN(
            GradientsAndVariables pairs,
            optimizer.ComputeGradients(nets[r.replica()].loss, {.var_list = {table, w}}));
        return optimizer.ApplyGradients(pairs);
      }));
  const Operation broadcast = strategy.BroadcastVariables();
  const Variable w = *Variable::Find(g, "w");
  const Operation forget = w.Assign(w.Read() * 0.0f);
  OutputList reads;
  for (const char* name : {"table", "w", "table/replica_1", "w/replica_1"}) {
    reads.push_back(Variable::Find(g, name)->Read());
  }
  const Operation init = InitializeVariables(g);
  SLUICE_RETURN_IF_ERROR(g.status());
  SLUICE_ASSIGN_OR_RETURN(auto session, server->NewSession(g, {}, {cluster.task.ToString()}));
  SLUICE_RETURN_IF_ERROR(session->Run({init}));
  for (int step = 0; step < kSyncSteps; ++step) {
    std::vector<Feed> feeds;
    constexpr int kShare = kSyncBatch / kReplicas;
    for (int i = 0; i < kLocalReplicas; ++i) {
      const int begin = strategy.GlobalReplica(i) * kShare;
      feeds.push_back({nets[i].ids, IdsOf(step, begin, begin + kShare)});
      feeds.push_back({nets[i].y, LabelsOf(step, begin, begin + kShare)});
    }
    SLUICE_RETURN_IF_ERROR(session->Run(feeds, {}, {train[0]}).status());
  }
  // A worker that lost its values gets those of the others.
  if (index == kWorkers - 1) SLUICE_RETURN_IF_ERROR(session->Run({forget}));
  SLUICE_RETURN_IF_ERROR(session->Run({broadcast}));
  SLUICE_ASSIGN_OR_RETURN(const Tensors values, session->Run({}, reads, {}));
  for (const Tensor& t : values) {
    if (!self.Write(t.raw(), t.bytes())) return absl::AbortedError("the test has ended");
  }
  self.Meet();
  session.reset();
  return absl::OkStatus();
}

TEST(MultiWorkerTest, ProcessesOnLoopbackEqualOneOnTheWholeBatch) {
  ClusterSpec spec;
  for (int i = 0; i < kWorkers; ++i) {
    spec.SetAddress({"worker", i}, StrCat("127.0.0.1:", FreePort()));
  }
  std::vector<Process> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back([&, i](Process& self) { return RunWorker({spec, {"worker", i}}, self); });
  }
  const absl::StatusOr<std::vector<float>> alone = Alone();
  ASSERT_TRUE(alone.ok()) << alone.status();
  for (Process& worker : workers) {
    for (int replica = 0; replica < kLocalReplicas; ++replica) {
      std::vector<float> together(alone->size());
      ASSERT_TRUE(worker.Read(together.data(), together.size() * sizeof(float)));
      for (size_t e = 0; e < together.size(); ++e) EXPECT_NEAR(together[e], (*alone)[e], 1e-5);
    }
  }
  for (Process& worker : workers) {
    char byte = 0;
    EXPECT_TRUE(worker.Read(&byte, 1) && worker.Write(&byte, 1));
  }
  for (Process& worker : workers) EXPECT_EQ(worker.Wait(), 0);
}

}  // namespace
}  // namespace sluice

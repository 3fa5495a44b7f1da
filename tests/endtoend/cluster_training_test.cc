// Two parameter servers and four workers, each a process of its own on loopback, give what one
// process with the whole batch gives.
#include <string>
#include <vector>

#include "distributed/cluster/cluster_spec.h"
#include "distributed/cluster/replica_devices.h"
#include "distributed/server/server.h"
#include "distributed/testing/free_port.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "tests/endtoend/process.h"
#include "tests/endtoend/sync_training.h"

namespace sluice {
namespace {

constexpr int kServers = 2;
constexpr int kWorkers = 4;

absl::Status RunParameterServer(const Cluster& cluster, Process& self) {
  SLUICE_ASSIGN_OR_RETURN(auto server, Server::Start({.cluster = cluster}));
  char byte;
  self.Read(&byte, 1);  // until the test says so
  return absl::OkStatus();
}

absl::Status RunWorker(const Cluster& cluster, Process& self) {
  const int index = cluster.task.index;
  SLUICE_ASSIGN_OR_RETURN(auto server, Server::Start({.cluster = cluster}));
  auto loads = std::make_shared<PsLoads>();
  SyncReplica replica(kWorkers, /*use_resource=*/true, ReplicaDevices(cluster, loads));
  SLUICE_RETURN_IF_ERROR(replica.graph.status());
  for (const int64_t bytes : loads->of_task) {
    if (bytes == 0) return absl::InternalError("a parameter server has no variables");
  }
  SLUICE_ASSIGN_OR_RETURN(
      replica.session, server->NewSession(replica.graph, {}, {"/job:ps", cluster.task.ToString()}));
  Session& session = *replica.session;
  const auto gone = [] { return absl::AbortedError("the test has ended"); };
  if (index == 0) {
    SLUICE_RETURN_IF_ERROR(session.Run({replica.init}));
    SLUICE_RETURN_IF_ERROR(session.Run({replica.optimizer.chief_init_op()}));
  }
  if (!self.Meet()) return gone();
  SLUICE_RETURN_IF_ERROR(session.Run({replica.optimizer.local_step_init_op()}));
  Coordinator coordinator;
  if (index == 0) {
    SLUICE_ASSIGN_OR_RETURN(QueueRunner runner, replica.optimizer.ChiefQueueRunner());
    runner.Start(session, coordinator);
  }
  for (int step = 0; step < kSyncSteps; ++step) {
    if (!self.Meet()) return gone();
    SLUICE_RETURN_IF_ERROR(TrainStep(replica, step, index, kWorkers));
  }
  if (!self.Meet()) return gone();
  coordinator.RequestStop();
  SLUICE_RETURN_IF_ERROR(coordinator.Join());
  SLUICE_ASSIGN_OR_RETURN(const Tensors values, session.Run({}, replica.reads, {}));
  for (const Tensor& value : values) {
    if (!self.Write(value.raw(), value.bytes())) return gone();
  }
  self.Meet();
  replica.session.reset();
  return absl::OkStatus();
}

TEST(ClusterTraining, ProcessesOnLoopbackEqualOneOnTheWholeBatch) {
  ClusterSpec spec;
  for (int i = 0; i < kServers; ++i) {
    spec.SetAddress({"ps", i}, StrCat("127.0.0.1:", FreePort()));
  }
  for (int i = 0; i < kWorkers; ++i) {
    spec.SetAddress({"worker", i}, StrCat("127.0.0.1:", FreePort()));
  }
  // Before this process has any threads.
  std::vector<Process> servers;
  for (int i = 0; i < kServers; ++i) {
    servers.emplace_back([&, i](Process& self) {
      return RunParameterServer({spec, {"ps", i}}, self);
    });
  }
  std::vector<Process> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back([&, i](Process& self) { return RunWorker({spec, {"worker", i}}, self); });
  }
  const auto meet = [&workers] {
    char byte = 0;
    bool ok = true;
    for (Process& worker : workers) ok = worker.Read(&byte, 1) && ok;
    for (Process& worker : workers) ok = worker.Write(&byte, 1) && ok;
    return ok;
  };
  bool ok = true;
  for (int i = 0; i < kSyncSteps + 2 && ok; ++i) ok = meet();
  ASSERT_TRUE(ok) << "a worker has ended";
  absl::StatusOr<Tensors> alone = TrainAlone(/*use_resource=*/true);
  ASSERT_TRUE(alone.ok()) << alone.status();
  for (int i = 0; i < kWorkers; ++i) {
    for (const Tensor& expected : *alone) {
      std::vector<float> together(expected.num_elements());
      ASSERT_TRUE(workers[i].Read(together.data(), expected.bytes()));
      for (size_t e = 0; e < together.size(); ++e) {
        EXPECT_NEAR(together[e], expected.data<float>()[e], 1e-5);
      }
    }
  }
  EXPECT_TRUE(meet());
  for (Process& worker : workers) EXPECT_EQ(worker.Wait(), 0);
  char stop = 0;
  for (Process& server : servers) {
    EXPECT_TRUE(server.Write(&stop, 1));
    EXPECT_EQ(server.Wait(), 0);
  }
}

}  // namespace
}  // namespace sluice

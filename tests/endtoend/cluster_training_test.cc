// Two parameter servers and four workers, in processes on loopback or on separate hosts, give the
// same result as one process with the whole batch.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "distributed/cluster/cluster_spec.h"
#include "distributed/cluster/replica_devices.h"
#include "distributed/server/server.h"
#include "distributed/testing/free_port.h"
#include "gmock/gmock.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "tests/endtoend/hosts.h"
#include "tests/endtoend/process.h"
#include "tests/endtoend/sync_training.h"

namespace sluice {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

constexpr int kServers = 2;
constexpr int kWorkers = 4;

absl::Status TestHasEnded() { return absl::AbortedError("the test has ended"); }

absl::StatusOr<std::unique_ptr<Server>> StartServer(const Cluster& cluster) {
  SLUICE_ASSIGN_OR_RETURN(const std::string address, cluster.spec.Address(cluster.task));
  return Server::Start(
      {.cluster = cluster, .bind = address.substr(0, address.rfind(':')), .insecure = true});
}

absl::Status RunParameterServer(const Cluster& cluster, Process& self) {
  SLUICE_ASSIGN_OR_RETURN(auto server, StartServer(cluster));
  char byte;
  self.Read(&byte, 1);  // until the test continues
  return absl::OkStatus();
}

bool Write(const Tensors& values, Process& self) {
  return std::all_of(values.begin(), values.end(), [&self](const Tensor& value) {
    return self.Write(value.raw(), value.bytes());
  });
}

// Writes the number of values, and then the values.
absl::Status RunAlone(Process& self) {
  SLUICE_ASSIGN_OR_RETURN(const Tensors values, TrainAlone(/*use_resource=*/true));
  int64_t count = 0;
  for (const Tensor& value : values) count += value.num_elements();
  if (!self.Write(&count, sizeof(count)) || !Write(values, self)) return TestHasEnded();
  return absl::OkStatus();
}

absl::Status RunWorker(const Cluster& cluster, Process& self) {
  const int index = cluster.task.index;
  SLUICE_ASSIGN_OR_RETURN(auto server, StartServer(cluster));
  auto loads = std::make_shared<PsLoads>();
  SyncReplica replica(kWorkers, /*use_resource=*/true, ReplicaDevices(cluster, loads));
  SLUICE_RETURN_IF_ERROR(replica.graph.status());
  for (const int64_t bytes : loads->of_task) {
    if (bytes == 0) return absl::InternalError("a parameter server has no variables");
  }
  SLUICE_ASSIGN_OR_RETURN(
      replica.session, server->NewSession(replica.graph, {}, {"/job:ps", cluster.task.ToString()}));
  Session& session = *replica.session;
  if (index == 0) {
    SLUICE_RETURN_IF_ERROR(session.Run({replica.init}));
    SLUICE_RETURN_IF_ERROR(session.Run({replica.optimizer.chief_init_op()}));
  }
  if (!self.Meet()) return TestHasEnded();
  SLUICE_RETURN_IF_ERROR(session.Run({replica.optimizer.local_step_init_op()}));
  Coordinator coordinator;
  if (index == 0) {
    SLUICE_ASSIGN_OR_RETURN(QueueRunner runner, replica.optimizer.ChiefQueueRunner());
    runner.Start(session, coordinator);
  }
  for (int step = 0; step < kSyncSteps; ++step) {
    if (!self.Meet()) return TestHasEnded();
    SLUICE_RETURN_IF_ERROR(TrainStep(replica, step, index, kWorkers));
  }
  if (!self.Meet()) return TestHasEnded();
  coordinator.RequestStop();
  SLUICE_RETURN_IF_ERROR(coordinator.Join());
  SLUICE_ASSIGN_OR_RETURN(const Tensors values, session.Run({}, replica.reads, {}));
  if (!Write(values, self)) return TestHasEnded();
  self.Meet();
  replica.session.reset();
  return absl::OkStatus();
}

// `enter` moves a task's process to the host of its address.
void ExpectEqualOneOnTheWholeBatch(const std::function<std::string(int)>& address,
                                   const std::function<absl::Status(int)>& enter) {
  ClusterSpec spec;
  for (int i = 0; i < kServers; ++i) spec.SetAddress({"ps", i}, address(i));
  for (int i = 0; i < kWorkers; ++i) spec.SetAddress({"worker", i}, address(kServers + i));
  // Processes are forked while this process has no threads.
  Process alone(RunAlone);
  std::vector<Process> servers;
  for (int i = 0; i < kServers; ++i) {
    servers.emplace_back([&, i](Process& self) {
      SLUICE_RETURN_IF_ERROR(enter(i));
      return RunParameterServer({spec, {"ps", i}}, self);
    });
  }
  std::vector<Process> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back([&, i](Process& self) {
      SLUICE_RETURN_IF_ERROR(enter(kServers + i));
      return RunWorker({spec, {"worker", i}}, self);
    });
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
  int64_t count;
  ASSERT_TRUE(alone.Read(&count, sizeof(count)));
  std::vector<float> expected(count);
  ASSERT_TRUE(alone.Read(expected.data(), count * sizeof(float)));
  for (Process& worker : workers) {
    std::vector<float> together(count);
    ASSERT_TRUE(worker.Read(together.data(), count * sizeof(float)));
    EXPECT_THAT(together, Pointwise(FloatNear(1e-5f), expected));
  }
  EXPECT_TRUE(meet());
  EXPECT_EQ(alone.Wait(), 0);
  for (Process& worker : workers) EXPECT_EQ(worker.Wait(), 0);
  char stop = 0;
  for (Process& server : servers) {
    EXPECT_TRUE(server.Write(&stop, 1));
    EXPECT_EQ(server.Wait(), 0);
  }
}

TEST(ClusterTraining, HostsEqualOneOnTheWholeBatch) {
  const Hosts hosts(kServers + kWorkers);
  if (!hosts.are_there()) GTEST_SKIP() << hosts.why_not();
  ExpectEqualOneOnTheWholeBatch(
      [](int task) { return StrCat(Hosts::Address(task), ":7000"); },
      [&](int task) {
        return hosts.Enter(task) ? absl::OkStatus() : absl::InternalError("there is no such host");
      });
}

// Repeated many times, because the order of events while connections are made differs.
TEST(ClusterTraining, ProcessesOnLoopbackEqualOneOnTheWholeBatch) {
  for (int i = 0; i < 10 && !HasFailure(); ++i) {
    ExpectEqualOneOnTheWholeBatch([](int) { return StrCat("127.0.0.1:", FreePort()); },
                                  [](int) { return absl::OkStatus(); });
  }
}

}  // namespace
}  // namespace sluice

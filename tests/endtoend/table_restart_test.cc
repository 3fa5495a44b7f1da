// An embedding table has the same bits on any number of parameter servers with any number of
// threads, also if all tasks are killed, and training continues from a checkpoint on another number
// of servers. Keys are admitted and evicted meanwhile.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "distributed/cluster/cluster_spec.h"
#include "distributed/cluster/replica_devices.h"
#include "distributed/server/server.h"
#include "distributed/testing/free_port.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/endtoend/process.h"

namespace sluice {
namespace {

constexpr int kSaveAt = 10, kKillAt = 14, kSteps = 24;
constexpr int64_t kKeys = 1500, kBatch = 300, kDim = 8;

int64_t KeyOf(int64_t i) { return i * 1'000'000'007 - 55; }

// A table and a dense variable, and the keys of a step. Must outlive its session.
struct Model {
  Model(int parts, const DeviceFunction& place) {
    DeviceScope on(g, place);
    const Variable step = GlobalStep(g);
    const EmbeddingTable table(g, "items", kDim,
                               {.initial_rows = InitialRows::Uniform(-1, 1),
                                .num_shards = parts,
                                .admission = {.after_updates = 2, .filter_counters = 1 << 13},
                                .eviction = {.idle_steps = 6}});
    ids = Placeholder(g, DT_INT64, {-1}, "ids");
    const Variable w(g, "w", {kDim}, Ones());
    const Output x = EmbeddingLookup(table, ids) * w.Read() - 0.5f;
    train = Adagrad({.learning_rate = 0.1f}).Minimize(ReduceSum(x * x), {.global_step = &step});
    std::vector<int64_t> all(static_cast<size_t>(kKeys));
    for (size_t i = 0; i < all.size(); ++i) all[i] = KeyOf(static_cast<int64_t>(i));
    values = {EmbeddingLookup(table, Constant(g, Tensor::Vector<int64_t>(all))), w.Read()};
    saver = std::make_unique<Saver>(g);
    init = InitializeVariables(g);
  }
  // Some keys are in every step, some in a few, and most in none for a while.
  Tensor KeysOf(int step) const {
    std::mt19937 random(static_cast<unsigned>(step));
    std::vector<int64_t> keys(static_cast<size_t>(kBatch));
    for (size_t i = 0; i < keys.size(); ++i) {
      const int64_t end = i % 3 == 0 ? 20 : kKeys;
      keys[i] = KeyOf(static_cast<int64_t>(random()) % end);
    }
    return Tensor::Vector<int64_t>(keys);
  }
  absl::Status Train(Session& session, int begin, int end) const {
    for (int step = begin; step < end; ++step) {
      SLUICE_RETURN_IF_ERROR(session.Run({{ids, KeysOf(step)}}, {}, {train}).status());
    }
    return absl::OkStatus();
  }

  Graph g;
  Output ids;
  Operation train, init;
  OutputList values;
  std::unique_ptr<Saver> saver;
};

bool Write(const Tensors& values, Process& self) {
  return std::all_of(values.begin(), values.end(), [&self](const Tensor& value) {
    return self.Write(value.raw(), value.bytes());
  });
}
constexpr size_t kNumbers = (kKeys + 1) * kDim;

// Trains without a cluster, a restart or threads.
absl::Status TrainAlone(Process& self) {
  Model model(1, [](const NodeSpec& node) { return node.device; });
  SLUICE_RETURN_IF_ERROR(model.g.status());
  Session session(model.g, {.intra_op_threads = 1});
  SLUICE_RETURN_IF_ERROR(session.Run({model.init}));
  SLUICE_RETURN_IF_ERROR(model.Train(session, 0, kSteps));
  SLUICE_ASSIGN_OR_RETURN(const Tensors values, session.Run({}, model.values));
  return Write(values, self) ? absl::OkStatus() : absl::AbortedError("the test has ended");
}

struct Form {
  int servers, threads;
};

absl::StatusOr<std::unique_ptr<Server>> StartServer(const Cluster& cluster, int threads) {
  ServerOptions options = {.cluster = cluster};
  options.session.intra_op_threads = threads;
  return Server::Start(options);
}

absl::Status RunWorker(const Cluster& cluster, const Form& form, const std::string& folder,
                       bool restores, Process& self) {
  SLUICE_ASSIGN_OR_RETURN(auto server, StartServer(cluster, form.threads));
  Model model(form.servers, ReplicaDevices(cluster));
  SLUICE_RETURN_IF_ERROR(model.g.status());
  SLUICE_ASSIGN_OR_RETURN(const auto session,
                          server->NewSession(model.g, {.intra_op_threads = form.threads}));
  if (restores) {
    SLUICE_ASSIGN_OR_RETURN(const std::string latest, LatestCheckpoint(folder));
    SLUICE_RETURN_IF_ERROR(model.saver->Restore(*session, latest));
    SLUICE_RETURN_IF_ERROR(model.Train(*session, kSaveAt, kSteps));
  } else {
    SLUICE_RETURN_IF_ERROR(session->Run({model.init}));
    SLUICE_RETURN_IF_ERROR(model.Train(*session, 0, kSaveAt));
    SLUICE_RETURN_IF_ERROR(model.saver->Save(*session, folder + "/m", kSaveAt).status());
    SLUICE_RETURN_IF_ERROR(model.Train(*session, kSaveAt, kKillAt));
  }
  SLUICE_ASSIGN_OR_RETURN(const Tensors values, session->Run({}, model.values));
  char byte;
  if (Write(values, self)) self.Read(&byte, 1);  // until this process is killed
  return absl::OkStatus();
}

// Starts a cluster, returns the values of the worker, and kills all tasks.
std::vector<float> TrainAndKill(const Form& form, const std::string& folder, bool restores) {
  ClusterSpec spec;
  for (int i = 0; i < form.servers; ++i) {
    spec.SetAddress({"ps", i}, StrCat("127.0.0.1:", FreePort()));
  }
  spec.SetAddress({"worker", 0}, StrCat("127.0.0.1:", FreePort()));
  std::vector<Process> tasks;
  for (int i = 0; i < form.servers; ++i) {
    tasks.emplace_back([&, i](Process& self) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(auto server, StartServer({spec, {"ps", i}}, form.threads));
      char byte;
      self.Read(&byte, 1);
      return absl::OkStatus();
    });
  }
  tasks.emplace_back([&](Process& self) {
    return RunWorker({spec, {"worker", 0}}, form, folder, restores, self);
  });
  std::vector<float> values(kNumbers);
  EXPECT_TRUE(tasks.back().Read(values.data(), kNumbers * sizeof(float)));
  for (Process& task : tasks) {
    task.Kill();
    EXPECT_TRUE(WIFSIGNALED(task.Wait()));
  }
  return values;
}

TEST(TableRestart, TheBitsDoNotDependOnServersThreadsAndRestarts) {
  Process alone(TrainAlone);
  std::vector<float> expected(kNumbers);
  ASSERT_TRUE(alone.Read(expected.data(), kNumbers * sizeof(float)));
  ASSERT_EQ(alone.Wait(), 0);
  const struct {
    Form before, after;
  } runs[] = {{{1, 1}, {2, 2}}, {{2, 4}, {4, 1}}, {{4, 2}, {1, 4}}};
  std::vector<float> killed;
  for (const auto& [before, after] : runs) {
    std::string folder = ::testing::TempDir() + "/tables_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const std::vector<float> first = TrainAndKill(before, folder, false);
    if (killed.empty()) killed = first;
    EXPECT_EQ(first, killed) << before.servers << " servers";
    EXPECT_NE(first, expected);
    EXPECT_EQ(TrainAndKill(after, folder, true), expected)
        << before.servers << " servers, then " << after.servers;
  }
}

}  // namespace
}  // namespace sluice

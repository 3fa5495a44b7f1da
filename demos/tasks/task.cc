#include "demos/tasks/task.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "demos/data/idx.h"
#include "demos/replicas/batches.h"
#include "demos/tasks/worker.h"
#include "distributed/cluster/replica_devices.h"
#include "distributed/server/server.h"
#include "graph/status.h"
#include "sluice.h"

namespace sluice::demos {
namespace {

constexpr int64_t kTestBatch = 500;
constexpr int kSummariesEvery = 20;  // updates
constexpr auto kReportEvery = std::chrono::milliseconds(200);

void Tell(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::string Text(const absl::Status& status) { return std::string(status.message()); }

class ClusterWorker {
 public:
  ClusterWorker(const TaskOptions& options, Server& server)
      : options_(options),
        server_(server),
        is_chief_(options.cluster.is_chief()),
        sync_(MakeOptimizer(options.optimizer, options.learning_rate),
              {.replicas_to_aggregate = options.replicas_to_aggregate,
               .total_num_replicas = options.cluster.spec.NumTasks("worker"),
               .replica_id = options.cluster.task.index,
               .on_lost_replica = options.on_lost_replica,
               .watch = [this](auto hear) { return WatchReplicas(std::move(hear)); },
               .whole_checkpoints = !options.checkpoint_dir.empty()}),
        async_(MakeOptimizer(options.optimizer, options.learning_rate)) {
    DeviceScope place(graph_, ReplicaDevices(options.cluster));
    global_step_ = GlobalStep(graph_);
    model_ = BuildModel(graph_, options.model, options.seed);
    Optimizer& optimizer = options.sync ? static_cast<Optimizer&>(sync_) : *async_;
    train_ = optimizer.Minimize(model_.loss, {.global_step = &*global_step_});
    step_value_ = global_step_->Read();
    if (is_chief_ && !options.summary_dir.empty()) AddSummaries();
  }

  absl::Status Run(const TrainAndTest& data) {
    SLUICE_RETURN_IF_ERROR(Train(data.train));
    if (!is_chief_) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(const double accuracy, Evaluate(data.test));
    Tell(StrCat("accuracy ", accuracy));
    return absl::OkStatus();
  }

 private:
  // Watches all workers except this one. A worker that ends normally announces it.
  std::shared_ptr<void> WatchReplicas(const std::function<void(const ReplicaNews&)>& hear) {
    auto watches = std::make_shared<std::vector<std::unique_ptr<TaskWatch>>>();
    for (const TaskName& task : options_.cluster.spec.tasks()) {
      if (task.job != "worker" || task == options_.cluster.task) continue;
      const auto tell = [hear, replica = task.index, who = task.ToString()](
                            ReplicaNews::State state, std::string why = "") {
        hear({replica, state, who, std::move(why)});
      };
      watches->push_back(server_.Watch(
          task, {.is_there = [tell] { tell(ReplicaNews::kThere); },
                 .gone = [tell](const absl::Status& why) { tell(ReplicaNews::kLost, Text(why)); },
                 .announced = [tell] { tell(ReplicaNews::kLeft); }}));
    }
    return watches;
  }

  void AddSummaries() {
    summary::Scalar("loss", model_.loss);
    const Output right = Equal(model_.predictions, Cast(model_.labels, DT_INT64));
    summary::Scalar("accuracy", ReduceMean(Cast(right, DT_FLOAT)));
    if (options_.sync) sync_.AddSummaries();
  }

  SessionRunHooks Hooks() {
    if (!options_.sync) return {StopAtStep(options_.steps)};
    std::function<void(const std::string&)> report;
    if (is_chief_) {
      report = [](std::string text) {
        std::replace(text.begin(), text.end(), '\n', ' ');
        Tell("ledger " + text);
      };
    }
    return {sync_.MakeSessionRunHook(is_chief_, -1, report)};
  }

  absl::Status Train(const Dataset& data) {
    Batches batches(data, options_.batch,
                    static_cast<uint64_t>(options_.seed * 1000 + options_.cluster.task.index));
    MonitoredTrainingSessionOptions options;
    options.is_chief = is_chief_;
    options.target = WorkerTarget(server_, options_.cluster);
    options.checkpoint_dir = options_.checkpoint_dir;
    options.save_checkpoint_steps = options_.save_checkpoint_steps;
    options.save_graph_def = false;
    options.log_step_count_steps = 0;
    options.save_summaries_steps = 0;
    if (is_chief_ && !options_.summary_dir.empty()) {
      options.summary_dir = options_.summary_dir;
      options.save_summaries_steps = kSummariesEvery;
    } else {
      options.open_events = nullptr;
    }
    options.hooks = Hooks();
    // The other replicas end when the tokens end.
    if (options_.sync) options.chief_only_hooks = {StopAtStep(options_.steps)};
    MonitoredTrainingSession session(graph_, std::move(options));
    auto reported = std::chrono::steady_clock::now() - kReportEvery;
    for (int64_t local = 0; !session.ShouldStop(); ++local) {
      const Dataset batch = batches.At(local);
      absl::StatusOr<Tensors> out =
          session.Run({{model_.images, batch.images}, {model_.labels, batch.labels}},
                      {model_.loss, step_value_}, {train_});
      if (!out.ok()) break;  // Close returns the error; the end of tokens is none
      const auto now = std::chrono::steady_clock::now();
      if (now - reported < kReportEvery) continue;
      reported = now;
      Tell(StrCat("at ", (*out)[1].scalar<int64_t>(), " ", local + 1, " ",
                  (*out)[0].scalar<float>()));
    }
    SLUICE_RETURN_IF_ERROR(session.Close());
    if (!is_chief_) server_.Announce();  // announces that this worker leaves
    return absl::OkStatus();
  }

  // Variables outlive the session that trained them.
  absl::StatusOr<double> Evaluate(const Dataset& test) {
    SLUICE_ASSIGN_OR_RETURN(auto session, NewWorkerSession(server_, options_.cluster, graph_));
    const int64_t n = test.labels.num_elements();
    int64_t right = 0;
    for (int64_t begin = 0; begin < n; begin += kTestBatch) {
      const int64_t end = std::min(begin + kTestBatch, n);
      SLUICE_ASSIGN_OR_RETURN(Tensors out,
                              session->Run({{model_.images, test.images.SliceRows(begin, end)}},
                                           {model_.predictions}, {}));
      for (int64_t i = begin; i < end; ++i) {
        right += test.labels.data<int32_t>()[i] == out[0].data<int64_t>()[i - begin] ? 1 : 0;
      }
    }
    return static_cast<double>(right) / static_cast<double>(std::max<int64_t>(n, 1));
  }

  const TaskOptions& options_;
  Server& server_;
  const bool is_chief_;
  SyncReplicasOptimizer sync_;
  std::unique_ptr<Optimizer> async_;
  Graph graph_;
  std::optional<Variable> global_step_;
  Model model_;
  Operation train_;
  Output step_value_;
};

}  // namespace

absl::Status RunTask(const TaskOptions& options) {
  ServerOptions serve;
  serve.cluster = options.cluster;
  serve.bind = options.bind;
  serve.insecure = options.insecure;
  serve.heartbeat.timeout_ms = options.heartbeat_ms;
  serve.heartbeat.interval_ms = std::max(options.heartbeat_ms / 5, 1);
  SLUICE_ASSIGN_OR_RETURN(auto server, Server::Start(serve));
  if (options.cluster.task.job == "ps") {
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    server->Stop();
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(const TrainAndTest data, LoadFashionMnist(options.data));
  ClusterWorker worker(options, *server);
  return worker.Run(data);
}

}  // namespace sluice::demos

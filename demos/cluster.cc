// Trains a network on Fashion-MNIST on a cluster of processes on this machine:
//
//   bazel run //demos:cluster -- --ps=2 --workers=4 --sync --kill_one
//
// Every process is one task: a parameter server or a worker. On several machines the program is
// started once per task with --task, by hand or by a launcher.
#include <algorithm>
#include <cstdio>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "demos/tasks/launcher.h"
#include "demos/tasks/task.h"
#include "executor/wait/stall_signal.h"
#include "graph/status.h"
#include "training/loop/log.h"

ABSL_FLAG(int, ps, 1, "parameter servers");
ABSL_FLAG(int, workers, 2, "workers");
ABSL_FLAG(bool, sync, false, "synchronous replicas; otherwise every worker updates by itself");
ABSL_FLAG(int, replicas_to_aggregate, 0,
          "gradients that make an update, the rest are backups; 0 = all workers, with --kill_one "
          "one less");
ABSL_FLAG(bool, kill_one, false, "kill the last worker during training, and restart it later");
ABSL_FLAG(std::string, model, "mlp", "mlp or cnn");
ABSL_FLAG(std::string, optimizer, "adam", "sgd, momentum, adam or adagrad");
ABSL_FLAG(double, learning_rate, 0, "0 = the optimizer's usual one");
ABSL_FLAG(int64_t, steps, 3000, "updates");
ABSL_FLAG(int64_t, batch, 64, "images per worker and step");
ABSL_FLAG(int64_t, seed, 1, "of the weights and the order of images");
ABSL_FLAG(std::string, data, "/usr/share/datasets/fashion-mnist", "folder of the IDX files");
ABSL_FLAG(std::string, on_lost_replica, "wait",
          "what the chief does when a worker is lost that an update needs: wait, shrink or fail");
ABSL_FLAG(std::string, checkpoint_dir, "",
          "folder of the chief's checkpoints; empty: saves nothing");
ABSL_FLAG(std::string, summary_dir, "",
          "folder of the chief's event files, for TensorBoard and sluice top --web; empty: none");
ABSL_FLAG(int64_t, save_checkpoint_steps, 100, "updates between two checkpoints");
ABSL_FLAG(int, heartbeat_ms, 10'000, "a task that is silent for this time counts as lost");
ABSL_FLAG(std::string, bind, "127.0.0.1", "for a single task: address to listen on");
ABSL_FLAG(bool, insecure, false, "for a single task: listens on any address, without TLS");
ABSL_FLAG(std::string, cluster, "",
          "of one task alone: {\"ps\": [\"host:port\", …], \"worker\": […]}");
ABSL_FLAG(std::string, task, "", "for a single task: \"worker:1\"");

namespace sluice::demos {
namespace {

int Aggregate() {
  const int asked = absl::GetFlag(FLAGS_replicas_to_aggregate);
  if (asked > 0) return asked;
  return absl::GetFlag(FLAGS_workers) - (absl::GetFlag(FLAGS_kill_one) ? 1 : 0);
}

absl::StatusOr<TaskOptions> TaskFromFlags() {
  TaskOptions options;
  SLUICE_ASSIGN_OR_RETURN(options.cluster.spec,
                          ClusterSpec::FromJson(absl::GetFlag(FLAGS_cluster)));
  const std::string task = absl::GetFlag(FLAGS_task);
  const size_t colon = task.find(':');
  SLUICE_INVALID_IF(colon == std::string::npos, "--task: expected job:number");
  options.cluster.task = {task.substr(0, colon), std::atoi(task.c_str() + colon + 1)};
  options.sync = absl::GetFlag(FLAGS_sync);
  options.replicas_to_aggregate = Aggregate();
  SLUICE_ASSIGN_OR_RETURN(options.model, ParseModel(absl::GetFlag(FLAGS_model)));
  SLUICE_ASSIGN_OR_RETURN(options.optimizer, ParseOptimizer(absl::GetFlag(FLAGS_optimizer)));
  options.learning_rate = static_cast<float>(absl::GetFlag(FLAGS_learning_rate));
  if (options.learning_rate <= 0) options.learning_rate = DefaultLearningRate(options.optimizer);
  options.steps = absl::GetFlag(FLAGS_steps);
  options.batch = absl::GetFlag(FLAGS_batch);
  options.seed = absl::GetFlag(FLAGS_seed);
  options.data = absl::GetFlag(FLAGS_data);
  SLUICE_ASSIGN_OR_RETURN(options.on_lost_replica,
                          ParseOnLostReplica(absl::GetFlag(FLAGS_on_lost_replica)));
  options.checkpoint_dir = absl::GetFlag(FLAGS_checkpoint_dir);
  options.summary_dir = absl::GetFlag(FLAGS_summary_dir);
  options.save_checkpoint_steps = absl::GetFlag(FLAGS_save_checkpoint_steps);
  options.heartbeat_ms = std::max(absl::GetFlag(FLAGS_heartbeat_ms), 5);
  options.bind = absl::GetFlag(FLAGS_bind);
  options.insecure = absl::GetFlag(FLAGS_insecure);
  return options;
}

absl::Status LaunchAll(const std::vector<std::string>& arguments) {
  LaunchOptions options;
  options.ps = absl::GetFlag(FLAGS_ps);
  options.workers = absl::GetFlag(FLAGS_workers);
  options.steps = absl::GetFlag(FLAGS_steps);
  options.batch = absl::GetFlag(FLAGS_batch);
  options.kill_one = absl::GetFlag(FLAGS_kill_one);
  options.command = [&](const ClusterSpec& spec, const TaskName& task) {
    std::vector<std::string> command = arguments;
    command.push_back("--cluster=" + spec.ToJson());
    command.push_back(StrCat("--task=", task.job, ":", task.index));
    return command;
  };
  SLUICE_ASSIGN_OR_RETURN(const LaunchResult result, Launch(options));
  std::printf("test accuracy %.2f %% after %lld steps, %.1f s of training\n", 100 * result.accuracy,
              static_cast<long long>(result.steps), result.seconds);
  if (result.rejoined_at > 0) {
    std::printf("worker:%d joined again at step %lld\n", options.workers - 1,
                static_cast<long long>(result.rejoined_at));
  }
  if (!result.ledger.empty()) std::printf("%s\n", result.ledger.c_str());
  return absl::OkStatus();
}

absl::Status Main(const std::vector<std::string>& arguments) {
  SetLogSink([](LogSeverity severity, const std::string& line) {
    if (severity != LogSeverity::kInfo) std::fprintf(stderr, "%s\n", line.c_str());
  });
  if (absl::GetFlag(FLAGS_task).empty()) return LaunchAll(arguments);
  SLUICE_ASSIGN_OR_RETURN(const TaskOptions options, TaskFromFlags());
  return RunTask(options);
}

}  // namespace
}  // namespace sluice::demos

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  absl::SetProgramUsageMessage("Training on Fashion-MNIST by a cluster of processes.");
  absl::ParseCommandLine(argc, argv);
  sluice::ReportStallsOnSignal();  // kill -QUIT prints all blocked operations
  if (absl::Status status = sluice::demos::Main(arguments); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}

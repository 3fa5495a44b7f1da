// The configuration of an Estimator: its folder, how often it saves, and its task in a cluster.
//
// The cluster comes from the environment, as Kubernetes operators and other launchers set it:
//
//   TF_CONFIG={"cluster": {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]},
//              "task": {"type": "worker", "index": 0}}
//
// Reference: tf.estimator.RunConfig.
#ifndef SLUICE_TRAINING_ESTIMATOR_RUN_CONFIG_H_
#define SLUICE_TRAINING_ESTIMATOR_RUN_CONFIG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/ir/scopes.h"
#include "training/session/session_target.h"
#include "training/summary/file_writer.h"

namespace sluice {

// The types of tasks in TF_CONFIG. "master" is another name for "chief".
inline constexpr std::string_view kChiefTask = "chief";
inline constexpr std::string_view kMasterTask = "master";
inline constexpr std::string_view kWorkerTask = "worker";
inline constexpr std::string_view kPsTask = "ps";
inline constexpr std::string_view kEvaluatorTask = "evaluator";

// The contents of TF_CONFIG: the cluster, and the task of this process. The defaults describe a
// process without a cluster, which is the only worker and the chief.
struct TaskConfig {
  std::map<std::string, std::vector<std::string>> cluster;  // addresses by job
  std::string task_type = "worker";
  int task_id = 0;
  bool is_chief = true;
  std::string master;  // "" = this process; otherwise "grpc://<own address>"
  // The numbers of parameter servers, and of workers including the chief. 0 for an evaluator.
  int num_ps_replicas = 0;
  int num_worker_replicas = 1;
  // Number of this task among all tasks of the cluster, in the order chief, workers, parameter
  // servers. -1 for an evaluator.
  int global_id_in_cluster = 0;

  // Parses the JSON text of TF_CONFIG. INVALID_ARGUMENT with TensorFlow's texts if it is not valid.
  static absl::StatusOr<TaskConfig> Parse(std::string_view tf_config);
  // Reads the variable TF_CONFIG. Empty is the same as not set.
  static absl::StatusOr<TaskConfig> FromEnvironment();
};

struct RunConfig {
  std::string model_dir;  // the folder of checkpoints and events. "": a new temporary folder
  // Seed of the graph's random ops. Nullopt: a different seed in each run.
  std::optional<int64_t> tf_random_seed = 1;
  int64_t save_summary_steps = 100;
  // Interval of saved checkpoints, in steps or in seconds. At most one of the two is set. If
  // neither is, the interval is 600 seconds. 0: never.
  std::optional<int64_t> save_checkpoints_steps;
  std::optional<double> save_checkpoints_secs;
  // Number of recent checkpoints that are kept, and the interval at which others are kept forever
  // (as in SaverOptions).
  int keep_checkpoint_max = 5;
  double keep_checkpoint_every_n_hours = 10000;
  int64_t log_step_count_steps = 100;
  SessionOptions session_config;
  // Creates the sessions (SessionTarget::make). Empty: task.master decides how.
  SessionFactory make_session;
  // Creates the function that places the nodes of a training graph, such as ReplicaDevices(cluster)
  // of distributed/cluster. A cluster with parameter servers needs it, so that all tasks share
  // their variables and the global step.
  std::function<DeviceFunction()> device_fn;
  // Opens the event files of summaries. Empty: no events.
  OpenEvents open_events = OpenEventFile;
  TaskConfig task;

  // The defaults, with the task from TF_CONFIG.
  static absl::StatusOr<RunConfig> FromEnvironment();
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_ESTIMATOR_RUN_CONFIG_H_

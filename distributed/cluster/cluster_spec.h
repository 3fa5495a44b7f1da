// Describes a cluster: its tasks, their addresses, and which task this process is.
//
//   absl::StatusOr<Cluster> cluster = Cluster::FromEnvironment();   // TF_CONFIG, srun or mpirun
//   SLUICE_ASSIGN_OR_RETURN(auto server, Server::Start({.cluster = *cluster}));
//
// Thread safety: these are values, without locks.
// Ownership: copies are independent.
// Errors: INVALID_ARGUMENT for text that cannot be parsed, with the text; NOT_FOUND for tasks that
// are not in the cluster.
// Reference: tf.train.ClusterSpec, TF_CONFIG.
#ifndef SLUICE_DISTRIBUTED_CLUSTER_CLUSTER_SPEC_H_
#define SLUICE_DISTRIBUTED_CLUSTER_CLUSTER_SPEC_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/format/proto/cluster.pb.h"

namespace sluice {

// The name of a task, such as job "worker", index 1. Ordered by job, then by index.
struct TaskName {
  std::string job;
  int index = 0;

  // "/job:worker/replica:0/task:1"
  std::string ToString() const;
  // Parses the name of a task or device. INVALID_ARGUMENT if it has no job or task.
  static absl::StatusOr<TaskName> Parse(std::string_view device);
  auto operator<=>(const TaskName&) const = default;
};

// The jobs of a cluster. A job has tasks with indices from 0, possibly with gaps. Each task has an
// address, whose host name is not resolved here. All tasks of a cluster use the same specification.
class ClusterSpec {
 public:
  // The address "host:port" of each task, by job and index.
  using Jobs = std::map<std::string, std::map<int, std::string>>;

  ClusterSpec() = default;
  explicit ClusterSpec(Jobs jobs) : jobs_(std::move(jobs)) {}

  // Parses {"ps": ["a:7000"], "worker": {"0": "b:7000", "3": "c:7000"}}. ToJson writes every job
  // like "worker" here, with indices.
  static absl::StatusOr<ClusterSpec> FromJson(std::string_view json);
  static absl::StatusOr<ClusterSpec> FromProto(const pb::ClusterDef& def);

  const Jobs& jobs() const { return jobs_; }
  // Sorted by job, then index.
  std::vector<TaskName> tasks() const;
  // The number of tasks of a job. 0 if there is no such job.
  int NumTasks(std::string_view job) const;
  // Returns the address "host:port" of a task. NOT_FOUND if it is not in the cluster.
  absl::StatusOr<std::string> Address(const TaskName& task) const;
  // Adds the task if it is not in the cluster.
  void SetAddress(const TaskName& task, std::string address);
  std::string ToJson() const;
  pb::ClusterDef ToProto() const;

 private:
  Jobs jobs_;
};

// A cluster, and the task in it that this process is.
struct Cluster {
  ClusterSpec spec;
  TaskName task;

  // Whether this is task 0 of job "chief" or "master", or of "worker" if the cluster has neither.
  // The chief initializes the model and saves it.
  bool is_chief() const;

  // Parses TF_CONFIG: {"cluster": {...}, "task": {"type": "worker", "index": 1}}. The index
  // defaults to 0. NOT_FOUND if the task is not in the cluster, except for type "evaluator".
  static absl::StatusOr<Cluster> FromTfConfig(std::string_view json);
  // Returns the value of an environment variable, or null, as std::getenv does.
  using Environment = std::function<const char*(const char*)>;

  // Options for turning the processes (ranks) of srun or mpirun into tasks.
  struct LaunchOptions {
    // The first `num_ps` ranks become the tasks of job "ps". The others become those of "worker".
    int num_ps = 1;
    // Port of the first task on a host; the next tasks have the next ports.
    int first_port = 7077;
  };
  // Reads srun's variables: SLURM_PROCID, SLURM_NTASKS, SLURM_STEP_NODELIST (or
  // SLURM_JOB_NODELIST), SLURM_STEP_TASKS_PER_NODE.
  static absl::StatusOr<Cluster> FromSlurm(const LaunchOptions& options, const Environment& env);
  // Reads mpirun's variables: OMPI_COMM_WORLD_RANK and _SIZE. All ranks run on this host, or on the
  // hosts of SLUICE_HOSTS ("a,b"), which get blocks of consecutive ranks, as is mpirun's default.
  static absl::StatusOr<Cluster> FromMpi(const LaunchOptions& options, const Environment& env);
  // Reads the first of TF_CONFIG, SLURM_* and OMPI_* that is set. NOT_FOUND if none is.
  static absl::StatusOr<Cluster> FromEnvironment();
  static absl::StatusOr<Cluster> FromEnvironment(const LaunchOptions& options,
                                                 const Environment& env);
};

// Expands SLURM's lists of hosts: "n[1-3,7],login" -> n1, n2, n3, n7, login. Leading zeros stay:
// "n[08-10]" -> n08, n09, n10. INVALID_ARGUMENT for other forms.
absl::StatusOr<std::vector<std::string>> ExpandHostList(std::string_view list);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_CLUSTER_CLUSTER_SPEC_H_

// The tasks of a cluster and their addresses, and the task that this process is.
//
// Thread safety: these are values, without locks.
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

struct TaskName {
  std::string job;
  int index = 0;

  // "/job:worker/replica:0/task:1"
  std::string ToString() const;
  // Parses the name of a task or device. INVALID_ARGUMENT if it has no job or task.
  static absl::StatusOr<TaskName> Parse(std::string_view device);
  auto operator<=>(const TaskName&) const = default;
};

class ClusterSpec {
 public:
  using Jobs = std::map<std::string, std::map<int, std::string>>;  // job -> task -> "host:port"

  ClusterSpec() = default;
  explicit ClusterSpec(Jobs jobs) : jobs_(std::move(jobs)) {}
  // Parses {"ps": ["a:7000"], "worker": {"0": "b:7000", "3": "c:7000"}}.
  static absl::StatusOr<ClusterSpec> FromJson(std::string_view json);
  static absl::StatusOr<ClusterSpec> FromProto(const pb::ClusterDef& def);

  const Jobs& jobs() const { return jobs_; }
  // Sorted by job, then index.
  std::vector<TaskName> tasks() const;
  int NumTasks(std::string_view job) const;
  // NOT_FOUND for a task that is not in the cluster.
  absl::StatusOr<std::string> Address(const TaskName& task) const;
  void SetAddress(const TaskName& task, std::string address);
  std::string ToJson() const;
  pb::ClusterDef ToProto() const;

 private:
  Jobs jobs_;
};

// A cluster, and the task of it that this process is.
struct Cluster {
  ClusterSpec spec;
  TaskName task;

  // Whether this is task 0 of job "chief" or "master", or of "worker" if the cluster has neither.
  bool is_chief() const;

  // Parses TF_CONFIG: {"cluster": {...}, "task": {"type": "worker", "index": 1}}.
  static absl::StatusOr<Cluster> FromTfConfig(std::string_view json);
  using Environment = std::function<const char*(const char*)>;
  struct LaunchOptions {
    int num_ps = 1;         // the first ranks become parameter servers, the others workers
    int first_port = 7077;  // plus a task's rank on its host
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

// Expands SLURM's lists of hosts: "n[1-3,7],login" -> n1, n2, n3, n7, login.
absl::StatusOr<std::vector<std::string>> ExpandHostList(std::string_view list);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_CLUSTER_CLUSTER_SPEC_H_

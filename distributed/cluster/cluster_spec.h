// The tasks of a cluster and their addresses, by job; and which of them a process is.
//
// Thread safety: values.
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
  // Of a device or a task; INVALID_ARGUMENT where job or task are missing.
  static absl::StatusOr<TaskName> Parse(std::string_view device);
  auto operator<=>(const TaskName&) const = default;
};

class ClusterSpec {
 public:
  using Jobs = std::map<std::string, std::map<int, std::string>>;  // job -> task -> "host:port"

  ClusterSpec() = default;
  explicit ClusterSpec(Jobs jobs) : jobs_(std::move(jobs)) {}
  // {"ps": ["a:7000"], "worker": {"0": "b:7000", "3": "c:7000"}}. INVALID_ARGUMENT says where it is
  // not of this form.
  static absl::StatusOr<ClusterSpec> FromJson(std::string_view json);
  static absl::StatusOr<ClusterSpec> FromProto(const pb::ClusterDef& def);

  const Jobs& jobs() const { return jobs_; }
  // By job, then index.
  std::vector<TaskName> tasks() const;
  int NumTasks(std::string_view job) const;
  // NOT_FOUND for tasks that the cluster has not.
  absl::StatusOr<std::string> Address(const TaskName& task) const;
  void SetAddress(const TaskName& task, std::string address);
  std::string ToJson() const;
  pb::ClusterDef ToProto() const;

 private:
  Jobs jobs_;
};

// A cluster as one of its tasks sees it.
struct Cluster {
  ClusterSpec spec;
  TaskName task;

  // "chief" or "master" 0 where there is one, else worker 0.
  bool is_chief() const;

  // Of TF_CONFIG: {"cluster": …, "task": {"type": "worker", "index": 1}}.
  static absl::StatusOr<Cluster> FromTfConfig(std::string_view json);
  using Environment = std::function<const char*(const char*)>;
  struct LaunchOptions {
    int num_ps = 1;         // the first ranks are parameter servers, the others workers
    int first_port = 7077;  // rank r of a host listens on first_port + its rank there
  };
  // Of what srun sets: SLURM_PROCID, SLURM_NTASKS, SLURM_STEP_NODELIST (or SLURM_JOB_NODELIST),
  // SLURM_STEP_TASKS_PER_NODE.
  static absl::StatusOr<Cluster> FromSlurm(const LaunchOptions& options, const Environment& env);
  // Of what mpirun sets: OMPI_COMM_WORLD_RANK and _SIZE; all ranks on this host, or on those of
  // SLUICE_HOSTS ("a,b": ranks are dealt to them in blocks, as mpirun does by default).
  static absl::StatusOr<Cluster> FromMpi(const LaunchOptions& options, const Environment& env);
  // The first of TF_CONFIG, SLURM_* and OMPI_* that is there. NOT_FOUND if none is.
  static absl::StatusOr<Cluster> FromEnvironment();
  static absl::StatusOr<Cluster> FromEnvironment(const LaunchOptions& options,
                                                 const Environment& env);
};

// "n[1-3,7],login" -> n1, n2, n3, n7, login: how SLURM writes lists of hosts.
absl::StatusOr<std::vector<std::string>> ExpandHostList(std::string_view list);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_CLUSTER_CLUSTER_SPEC_H_

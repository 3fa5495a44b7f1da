#include "training/estimator/run_config.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cmath>
#include <cstdlib>

#include "graph/status.h"

namespace sluice {
namespace {

using Json = google::protobuf::Struct;
using JsonValue = google::protobuf::Value;

const JsonValue* Field(const Json& object, const std::string& name) {
  const auto it = object.fields().find(name);
  return it == object.fields().end() ? nullptr : &it->second;
}

// Returns the addresses of a job. `value` is a list, or a map from index to address.
absl::StatusOr<std::vector<std::string>> Addresses(const std::string& job, const JsonValue& value) {
  std::vector<std::string> addresses;
  const auto add = [&](const JsonValue& address) -> absl::Status {
    SLUICE_INVALID_IF(address.kind_case() != JsonValue::kStringValue,
                      "TF_CONFIG: the addresses of job '", job, "' must be strings");
    addresses.push_back(address.string_value());
    return absl::OkStatus();
  };
  if (value.kind_case() == JsonValue::kListValue) {
    for (const JsonValue& address : value.list_value().values()) {
      SLUICE_RETURN_IF_ERROR(add(address));
    }
    return addresses;
  }
  SLUICE_INVALID_IF(value.kind_case() != JsonValue::kStructValue, "TF_CONFIG: job '", job,
                    "' must be a list of addresses");
  const Json& by_index = value.struct_value();
  for (int i = 0; i < static_cast<int>(by_index.fields().size()); ++i) {
    const JsonValue* address = Field(by_index, StrCat(i));
    SLUICE_INVALID_IF(address == nullptr, "TF_CONFIG: expected the indices 0 to ",
                      by_index.fields().size() - 1, " in job '", job, "', got none for task ", i);
    SLUICE_RETURN_IF_ERROR(add(*address));
  }
  return addresses;
}

absl::StatusOr<std::map<std::string, std::vector<std::string>>> Cluster(const Json& config) {
  std::map<std::string, std::vector<std::string>> cluster;
  const JsonValue* value = Field(config, "cluster");
  if (value == nullptr) return cluster;
  SLUICE_INVALID_IF(value->kind_case() != JsonValue::kStructValue,
                    "TF_CONFIG: 'cluster' must be an object");
  for (const auto& [job, addresses] : value->struct_value().fields()) {
    SLUICE_ASSIGN_OR_RETURN(cluster[job], Addresses(job, addresses));
  }
  return cluster;
}

int SizeOf(const TaskConfig& task, std::string_view job) {
  const auto it = task.cluster.find(std::string(job));
  return it == task.cluster.end() ? 0 : static_cast<int>(it->second.size());
}

absl::Status CheckCluster(const TaskConfig& task) {
  SLUICE_INVALID_IF(task.cluster.count(std::string(kEvaluatorTask)) > 0,
                    "evaluator in cluster_spec is not supported, use the task type alone");
  if (task.task_type == kEvaluatorTask) return absl::OkStatus();
  SLUICE_INVALID_IF(
      SizeOf(task, kChiefTask) > 0 && SizeOf(task, kMasterTask) > 0,
      "If `master` node exists in `cluster`, `chief` must not, and the other way round.");
  const int chiefs = SizeOf(task, kChiefTask) + SizeOf(task, kMasterTask);
  SLUICE_INVALID_IF(chiefs == 0,
                    "If \"cluster\" is set in TF_CONFIG, it must have one \"chief\" node.");
  SLUICE_INVALID_IF(chiefs > 1, "The \"cluster\" in TF_CONFIG must have only one \"chief\" node.");
  const int tasks = SizeOf(task, task.task_type);
  SLUICE_INVALID_IF(tasks == 0, task.task_type,
                    " is not a valid task_type in the cluster_spec: the TF_CONFIG "
                    "environment variable names it as this task");
  SLUICE_INVALID_IF(task.task_id >= tasks, task.task_id, " is not a valid task_id for task_type ",
                    task.task_type, " in the cluster_spec, which has ", tasks);
  return absl::OkStatus();
}

// Returns the number of a task: the chief, workers and parameter servers are numbered in this
// order. Returns -1 for an evaluator.
int GlobalId(const TaskConfig& task) {
  if (task.task_type == kEvaluatorTask) return -1;
  int before = 0;
  for (const std::string_view job : {kChiefTask, kMasterTask, kWorkerTask, kPsTask}) {
    if (task.task_type == job) return before + task.task_id;
    before += SizeOf(task, job);
  }
  return before + task.task_id;
}

int NumAddresses(const TaskConfig& task) {
  int addresses = 0;
  for (const auto& [job, list] : task.cluster) addresses += static_cast<int>(list.size());
  return addresses;
}

absl::StatusOr<int> TaskIndex(const JsonValue& index) {
  const double id = index.kind_case() == JsonValue::kStringValue
                        ? std::atof(index.string_value().c_str())
                        : index.number_value();
  SLUICE_INVALID_IF(!(id >= 0) || id > 1e9 || id != std::floor(id),
                    "Task index must be non-negative number.");
  return static_cast<int>(id);
}

absl::Status ReadTask(const Json& config, TaskConfig& task) {
  const JsonValue* value = Field(config, "task");
  if (value == nullptr || value->kind_case() != JsonValue::kStructValue) {
    if (task.cluster.empty()) return absl::OkStatus();
    return InvalidArgument(
        "If \"cluster\" is set in TF_CONFIG, task type must be set in TF_CONFIG.");
  }
  const JsonValue* type = Field(value->struct_value(), "type");
  const JsonValue* index = Field(value->struct_value(), "index");
  SLUICE_INVALID_IF(!task.cluster.empty() && type == nullptr,
                    "If \"cluster\" is set in TF_CONFIG, task type must be set in TF_CONFIG.");
  SLUICE_INVALID_IF(!task.cluster.empty() && index == nullptr,
                    "If \"cluster\" is set in TF_CONFIG, task index must be set in TF_CONFIG.");
  if (type != nullptr) task.task_type = type->string_value();
  if (index == nullptr) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(task.task_id, TaskIndex(*index));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TaskConfig> TaskConfig::Parse(std::string_view tf_config) {
  TaskConfig task;
  if (tf_config.empty()) return task;
  Json config;
  const auto parsed =
      google::protobuf::util::JsonStringToMessage({tf_config.data(), tf_config.size()}, &config);
  SLUICE_INVALID_IF(!parsed.ok(), "TF_CONFIG: no JSON object: ", tf_config);
  SLUICE_ASSIGN_OR_RETURN(task.cluster, Cluster(config));
  SLUICE_RETURN_IF_ERROR(ReadTask(config, task));
  if (task.cluster.empty()) {
    if (task.task_type == kEvaluatorTask) {
      task.is_chief = false;
      task.num_worker_replicas = 0;
      return task;
    }
    SLUICE_INVALID_IF(
        task.task_type != kWorkerTask || task.task_id != 0,
        "If \"cluster\" is not set in TF_CONFIG, task type must be \"worker\" and task index 0.");
    return task;
  }
  SLUICE_RETURN_IF_ERROR(CheckCluster(task));
  task.is_chief = task.task_type == kChiefTask || task.task_type == kMasterTask;
  task.num_ps_replicas = SizeOf(task, kPsTask);
  task.num_worker_replicas =
      SizeOf(task, kWorkerTask) + SizeOf(task, kChiefTask) + SizeOf(task, kMasterTask);
  task.global_id_in_cluster = GlobalId(task);
  if (task.task_type == kEvaluatorTask) {
    // An evaluator works alone, from saved checkpoints.
    task.num_ps_replicas = 0;
    task.num_worker_replicas = 0;
    return task;
  }
  // If the cluster has only one task, no server is needed.
  if (NumAddresses(task) > 1) {
    task.master = StrCat("grpc://", task.cluster[task.task_type][task.task_id]);
  }
  return task;
}

absl::StatusOr<TaskConfig> TaskConfig::FromEnvironment() {
  const char* config = std::getenv("TF_CONFIG");
  return Parse(config == nullptr ? "" : config);
}

absl::StatusOr<RunConfig> RunConfig::FromEnvironment() {
  RunConfig config;
  SLUICE_ASSIGN_OR_RETURN(config.task, TaskConfig::FromEnvironment());
  return config;
}

}  // namespace sluice

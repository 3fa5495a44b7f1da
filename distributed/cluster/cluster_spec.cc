#include "distributed/cluster/cluster_spec.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "graph/build/device_spec.h"
#include "graph/status.h"

namespace sluice {
namespace {

using google::protobuf::Value;

absl::StatusOr<google::protobuf::Struct> ParseJson(std::string_view json) {
  google::protobuf::Struct object;
  const auto status = google::protobuf::util::JsonStringToMessage(std::string(json), &object);
  if (status.ok()) return object;
  return InvalidArgument("cluster: expected a JSON object, got '", json, "'");
}

absl::Status AddTask(const std::string& job, int index, const Value& address,
                     ClusterSpec::Jobs* jobs) {
  const std::string& text = address.string_value();
  SLUICE_INVALID_IF(text.find(':') == std::string::npos, "cluster: task ", index, " of job '", job,
                    "': expected \"host:port\", got '", text, "'");
  (*jobs)[job][index] = text;
  return absl::OkStatus();
}

absl::Status AddJob(const std::string& job, const Value& tasks, ClusterSpec::Jobs* jobs) {
  if (tasks.has_list_value()) {
    for (int i = 0; i < tasks.list_value().values_size(); ++i) {
      SLUICE_RETURN_IF_ERROR(AddTask(job, i, tasks.list_value().values(i), jobs));
    }
    return absl::OkStatus();
  }
  SLUICE_INVALID_IF(!tasks.has_struct_value(), "cluster: job '", job,
                    "': expected a list or a map of addresses");
  for (const auto& [index, address] : tasks.struct_value().fields()) {
    int number;
    SLUICE_INVALID_IF(!absl::SimpleAtoi(index, &number) || number < 0, "cluster: job '", job,
                      "': expected a number of a task, got '", index, "'");
    SLUICE_RETURN_IF_ERROR(AddTask(job, number, address, jobs));
  }
  return absl::OkStatus();
}

absl::StatusOr<ClusterSpec> SpecFrom(const google::protobuf::Struct& object) {
  ClusterSpec::Jobs jobs;
  for (const auto& [job, tasks] : object.fields()) {
    SLUICE_RETURN_IF_ERROR(AddJob(job, tasks, &jobs));
  }
  return ClusterSpec(std::move(jobs));
}

}  // namespace

std::string TaskName::ToString() const { return StrCat("/job:", job, "/replica:0/task:", index); }

absl::StatusOr<TaskName> TaskName::Parse(std::string_view device) {
  SLUICE_ASSIGN_OR_RETURN(const DeviceSpec spec, DeviceSpec::Parse(device));
  SLUICE_INVALID_IF(!spec.job || !spec.task, "'", device, "' does not name a task");
  return TaskName{*spec.job, *spec.task};
}

absl::StatusOr<ClusterSpec> ClusterSpec::FromJson(std::string_view json) {
  SLUICE_ASSIGN_OR_RETURN(const google::protobuf::Struct object, ParseJson(json));
  return SpecFrom(object);
}

absl::StatusOr<ClusterSpec> ClusterSpec::FromProto(const pb::ClusterDef& def) {
  Jobs jobs;
  for (const pb::JobDef& job : def.job()) {
    for (const auto& [index, address] : job.tasks()) {
      SLUICE_INVALID_IF(index < 0, "cluster: job '", job.name(), "' has task ", index);
      jobs[job.name()][index] = address;
    }
  }
  return ClusterSpec(std::move(jobs));
}

std::vector<TaskName> ClusterSpec::tasks() const {
  std::vector<TaskName> all;
  for (const auto& [job, tasks] : jobs_) {
    for (const auto& [index, address] : tasks) all.push_back({job, index});
  }
  return all;
}

int ClusterSpec::NumTasks(std::string_view job) const {
  auto it = jobs_.find(std::string(job));
  return it == jobs_.end() ? 0 : static_cast<int>(it->second.size());
}

absl::StatusOr<std::string> ClusterSpec::Address(const TaskName& task) const {
  if (auto job = jobs_.find(task.job); job != jobs_.end()) {
    if (auto it = job->second.find(task.index); it != job->second.end()) return it->second;
  }
  return absl::NotFoundError(StrCat("the cluster has no task ", task.ToString()));
}

void ClusterSpec::SetAddress(const TaskName& task, std::string address) {
  jobs_[task.job][task.index] = std::move(address);
}

std::string ClusterSpec::ToJson() const {
  std::string json = "{";
  for (const auto& [job, tasks] : jobs_) {
    StrAppend(&json, json.size() > 1 ? "," : "", "\"", job, "\":{");
    const char* separator = "";
    for (const auto& [index, address] : tasks) {
      StrAppend(&json, separator, "\"", index, "\":\"", address, "\"");
      separator = ",";
    }
    json += "}";
  }
  return json + "}";
}

pb::ClusterDef ClusterSpec::ToProto() const {
  pb::ClusterDef def;
  for (const auto& [job, tasks] : jobs_) {
    pb::JobDef* proto = def.add_job();
    proto->set_name(job);
    for (const auto& [index, address] : tasks) (*proto->mutable_tasks())[index] = address;
  }
  return def;
}

bool Cluster::is_chief() const {
  for (const char* job : {"chief", "master"}) {
    if (spec.NumTasks(job) > 0) return task.job == job && task.index == 0;
  }
  return task.job == "worker" && task.index == 0;
}

absl::StatusOr<Cluster> Cluster::FromTfConfig(std::string_view json) {
  SLUICE_ASSIGN_OR_RETURN(const google::protobuf::Struct object, ParseJson(json));
  const auto& fields = object.fields();
  const auto cluster = fields.find("cluster");
  const auto task = fields.find("task");
  SLUICE_INVALID_IF(cluster == fields.end() || task == fields.end(),
                    "TF_CONFIG: expected \"cluster\" and \"task\", got '", json, "'");
  Cluster result;
  SLUICE_ASSIGN_OR_RETURN(result.spec, SpecFrom(cluster->second.struct_value()));
  const auto& of_task = task->second.struct_value().fields();
  const auto type = of_task.find("type");
  SLUICE_INVALID_IF(type == of_task.end(), "TF_CONFIG: \"task\" has no \"type\"");
  result.task.job = type->second.string_value();
  if (const auto index = of_task.find("index"); index != of_task.end()) {
    const Value& value = index->second;  // a number, or its text
    SLUICE_INVALID_IF(
        value.has_string_value() && !absl::SimpleAtoi(value.string_value(), &result.task.index),
        "TF_CONFIG: task index '", value.string_value(), "' is no number");
    if (!value.has_string_value()) {
      const double number = value.number_value();
      SLUICE_INVALID_IF(number < 0 || number > INT32_MAX || number != std::floor(number),
                        "TF_CONFIG: task index ", number, " is no number of a task");
      result.task.index = static_cast<int>(number);
    }
  }
  if (result.task.job == "evaluator") return result;  // is not part of the cluster
  SLUICE_RETURN_IF_ERROR(result.spec.Address(result.task).status());
  return result;
}

}  // namespace sluice

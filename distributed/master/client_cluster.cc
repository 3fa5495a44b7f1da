#include "distributed/master/client_cluster.h"

#include <optional>
#include <utility>

#include "graph/status.h"

namespace sluice {
namespace {

absl::StatusOr<TaskName> MasterOf(const pb::ClusterDef& cluster, const ClusterSpec& spec,
                                  const std::string& target) {
  constexpr std::string_view kProtocol = "grpc://";
  const std::string address =
      target.starts_with(kProtocol) ? target.substr(kProtocol.size()) : target;
  std::optional<TaskName> master;
  for (const TaskName& task : spec.tasks()) {
    SLUICE_ASSIGN_OR_RETURN(const TaskName parsed, TaskName::Parse(task.ToString()));
    SLUICE_INVALID_IF(parsed != task, "cluster_def: invalid name of a job: '", task.job, "'");
    SLUICE_ASSIGN_OR_RETURN(const std::string of_task, spec.Address(task));
    if (of_task != address) continue;
    SLUICE_INVALID_IF(master.has_value(),
                      "Found multiple matching tasks that correspond to to the master. Master "
                      "target: '",
                      target, "'. ClusterDef: ", cluster.ShortDebugString());
    master = task;
  }
  SLUICE_INVALID_IF(!master.has_value(),
                    "The master (current machine) is not included in the provided cluster_def. "
                    "Master target: '",
                    target, "'. ClusterDef: ", cluster.ShortDebugString());
  return *master;
}

}  // namespace

absl::StatusOr<ClusterConnection> ConnectionTo(const pb::ClusterDef& cluster,
                                               const std::string& target,
                                               const ClusterConnection& server) {
  SLUICE_ASSIGN_OR_RETURN(ClusterSpec spec, ClusterSpec::FromProto(cluster));
  SLUICE_ASSIGN_OR_RETURN(const TaskName master, MasterOf(cluster, spec, target));
  SLUICE_INVALID_IF(master == server.task,
                    "The ClusterSpec names the job and task index to be the same names that were "
                    "provided when the server booted. This is currently not allowed. Job: ",
                    master.job, ", task index: ", master.index);
  ClusterConnection connection = server;
  connection.task = master;
  SLUICE_ASSIGN_OR_RETURN(connection.address, spec.Address(master));
  connection.addresses = std::make_shared<AddressBook>(std::move(spec));
  connection.unwanted = std::make_shared<UnwantedParts>();
  connection.view = std::make_shared<TaskView>(
      TaskView{master.ToString(), ReceiveOver(connection.addresses, connection.client)});
  return connection;
}

}  // namespace sluice

#include "distributed/client/remote_session.h"

#include <utility>

#include "distributed/client/grpc_master.h"
#include "graph/status.h"

namespace sluice {

absl::StatusOr<std::unique_ptr<Session>> RemoteSession::Connect(Graph& graph,
                                                                const std::string& target,
                                                                RemoteSessionOptions options) {
  SLUICE_ASSIGN_OR_RETURN(options.session.master, GrpcMaster::Connect(target, options));
  return std::make_unique<Session>(graph, std::move(options.session));
}

absl::StatusOr<std::vector<DeviceInfo>> RemoteSession::ListDevices(const Session& session) {
  auto master = std::dynamic_pointer_cast<GrpcMaster>(session.options().master);
  SLUICE_INVALID_IF(master == nullptr, "ListDevices: the session is not on a server");
  return master->ListDevices();
}

absl::Status RemoteSession::Reset(const std::string& target,
                                  const std::vector<std::string>& containers,
                                  const Security& security) {
  return GrpcMaster::Reset(target, containers, security);
}

}  // namespace sluice

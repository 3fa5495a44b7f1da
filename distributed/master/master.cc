#include "distributed/master/master.h"

#include <cstdio>
#include <utility>

#include "distributed/master/client_cluster.h"
#include "distributed/master/session_config.h"
#include "distributed/message/device_attributes.h"
#include "distributed/message/respond.h"
#include "distributed/message/service_methods.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr TensorField kStepFeeds{pb::RunStepRequest::kFeedFieldNumber, TensorField::kNamed};
constexpr TensorField kStepFetches{pb::RunStepResponse::kTensorFieldNumber, TensorField::kNamed};
constexpr TensorField kCallableFeeds{pb::RunCallableRequest::kFeedFieldNumber, TensorField::kBare};
constexpr TensorField kCallableFetches{pb::RunCallableResponse::kFetchFieldNumber,
                                       TensorField::kBare};

constexpr char kMayHaveRestarted[] = " Possibly, this master has restarted.";

absl::Status Unknown(const std::string& session, const char* hint) {
  return absl::AbortedError(StrCat("Session ", session, " is not found.", hint));
}

}  // namespace

std::vector<RpcMethod> Master::Methods() {
  return {UnaryMethod(MasterMethod("CreateSession"), this, &Master::CreateSession),
          UnaryMethod(MasterMethod("ExtendSession"), this, &Master::ExtendSession),
          UnaryMethod(MasterMethod("PartialRunSetup"), this, &Master::PartialRunSetup),
          Method(MasterMethod("RunStep"), this, &Master::RunStep),
          Method(MasterMethod("CloseSession"), this, &Master::CloseSession),
          UnaryMethod(MasterMethod("ListDevices"), this, &Master::ListDevices),
          Method(MasterMethod("Reset"), this, &Master::Reset),
          UnaryMethod(MasterMethod("MakeCallable"), this, &Master::MakeCallable),
          Method(MasterMethod("RunCallable"), this, &Master::RunCallable),
          UnaryMethod(MasterMethod("ReleaseCallable"), this, &Master::ReleaseCallable)};
}

absl::StatusOr<std::shared_ptr<MasterSession>> Master::Find(const std::string& handle,
                                                            const char* hint) {
  ScopedLock lock(&mutex_);
  auto it = sessions_.find(handle);
  if (it != sessions_.end()) return it->second;
  return Unknown(handle, hint);
}

absl::StatusOr<std::shared_ptr<MasterSession>> Master::Remove(const std::string& handle) {
  ScopedLock lock(&mutex_);
  auto removed = sessions_.extract(handle);
  if (!removed.empty()) return std::move(removed.mapped());
  return Unknown(handle, kMayHaveRestarted);
}

absl::StatusOr<std::optional<ClusterConnection>> Master::ConnectionFor(
    const pb::CreateSessionRequest& request) const {
  const pb::ClusterDef& cluster = request.config().cluster_def();
  if (cluster.job().empty()) {
    const bool is_alone =
        options_.connection == nullptr || options_.connection->addresses->tasks().size() == 1;
    return is_alone ? std::nullopt : std::optional(*options_.connection);
  }
  if (options_.connection == nullptr) {
    return absl::UnimplementedError("ConfigProto.cluster_def: this server has no connections");
  }
  return ConnectionTo(cluster, request.target(), *options_.connection);
}

std::string Master::NewHandle() {
  ScopedLock lock(&mutex_);
  char handle[17];
  std::snprintf(handle, sizeof(handle), "%08x%08x", random_(), random_());
  return handle;
}

absl::Status Master::CreateSession(const pb::CreateSessionRequest& request,
                                   pb::CreateSessionResponse* response) {
  pb::ConfigProto config = request.config();
  SLUICE_ASSIGN_OR_RETURN(const std::optional<ClusterConnection> connection,
                          ConnectionFor(request));
  const std::string handle = NewHandle();
  SessionOptions options = WithConfig(options_.session, config);
  options.job = JobName(config, handle);
  options.devices = options_.devices;
  std::string task = options_.task;
  if (connection && connection->view != nullptr) {
    task = connection->view->task;
    options.devices = DeviceSet::Renamed(*options_.devices, task);
    config.set_isolate_session_state(
        !config.experimental().share_session_state_in_clusterspec_propagation());
  }
  if (config.isolate_session_state()) {
    options.devices = DeviceSet::WithOwnState(*options.devices);
  }
  if (connection) {
    ClusterTasks::Options tasks;
    tasks.session = handle;
    tasks.config = config;
    tasks.filters = {config.device_filters().begin(), config.device_filters().end()};
    options.remote_tasks = ClusterTasks::Connect(*connection, tasks);
  }
  auto session = std::make_shared<MasterSession>(task, options);
  SLUICE_RETURN_IF_ERROR(session->AddNodes(request.graph_def()));
  response->set_session_handle(handle);
  ScopedLock lock(&mutex_);
  sessions_.emplace(handle, std::move(session));
  return absl::OkStatus();
}

absl::Status Master::ExtendSession(const pb::ExtendSessionRequest& request,
                                   pb::ExtendSessionResponse* response) {
  SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
  SLUICE_ASSIGN_OR_RETURN(const int64_t version,
                          session->Extend(request.graph_def(), request.current_graph_version()));
  response->set_new_graph_version(version);
  return absl::OkStatus();
}

absl::Status Master::PartialRunSetup(const pb::PartialRunSetupRequest& request,
                                     pb::PartialRunSetupResponse* response) {
  SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
  SLUICE_ASSIGN_OR_RETURN(*response->mutable_partial_run_handle(),
                          session->SetUpPartialRun(request));
  return absl::OkStatus();
}

void Master::RunStep(RpcCall& call) {
  pb::RunStepRequest request;
  std::vector<NamedTensor> feeds, fetches;
  pb::RunStepResponse response;
  absl::Status status = TakeMessage(&call.request(), kStepFeeds, &request, &feeds);
  if (status.ok() && !step_ids_.IsNew(request.request_id())) {
    status =
        absl::AbortedError(StrCat("The same RunStep request was received twice: id ",
                                  request.request_id(), " of session ", request.session_handle()));
  }
  if (status.ok()) {
    auto session = Find(request.session_handle(), kMayHaveRestarted);
    status = session.ok() ? (*session)->RunStep(request, std::move(feeds), &call.cancellation(),
                                                &fetches, response.mutable_metadata())
                          : session.status();
  }
  RespondToStep(call, request, status, response, kStepFetches, fetches);
}

void Master::CloseSession(const pb::CloseSessionRequest& request, RpcCall& call) {
  const auto session = Remove(request.session_handle());
  if (!session.ok()) return call.Finish(session.status());
  (*session)->Close(RespondWhenReleased(call));
}

absl::Status Master::ListDevices(const pb::ListDevicesRequest& request,
                                 pb::ListDevicesResponse* response) {
  std::vector<DeviceInfo> devices = options_.devices->Describe();
  if (!request.session_handle().empty()) {
    SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
    devices = session->session().devices().Describe();
    if (const auto& remote = session->session().options().remote_tasks) {
      devices.insert(devices.end(), remote->devices().begin(), remote->devices().end());
    }
  }
  DevicesToProto(devices, response->mutable_local_device());
  return absl::OkStatus();
}

void Master::Reset(const pb::ResetRequest& request, RpcCall& call) {
  std::vector<std::string> containers = {request.container().begin(), request.container().end()};
  const auto clear = [this, containers = std::move(containers)](RpcCall* reset) {
    const absl::Status status = Clear(containers);
    if (!status.ok()) return reset->Finish(status);
    reset->Finish(EncodeMessage(pb::ResetResponse()));
  };
  CloseSessions(std::shared_ptr<RpcCall>(&call, clear));
}

absl::Status Master::Clear(const std::vector<std::string>& containers) {
  options_.devices->ClearContainers(containers);
  if (options_.connection == nullptr) return absl::OkStatus();
  return CleanupOthers(*options_.connection, containers);
}

absl::Status Master::MakeCallable(const pb::MakeCallableRequest& request,
                                  pb::MakeCallableResponse* response) {
  SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
  SLUICE_ASSIGN_OR_RETURN(const int64_t handle, session->MakeCallable(request.options()));
  response->set_handle(handle);
  return absl::OkStatus();
}

void Master::RunCallable(RpcCall& call) {
  pb::RunCallableRequest request;
  std::vector<NamedTensor> feeds, fetches;
  pb::RunCallableResponse response;
  absl::Status status = TakeMessage(&call.request(), kCallableFeeds, &request, &feeds);
  if (status.ok()) {
    auto session = Find(request.session_handle());
    status = session.ok() ? (*session)->RunCallable(request.handle(), feeds, &call.cancellation(),
                                                    &fetches, response.mutable_metadata())
                          : session.status();
  }
  if (!status.ok()) return call.Finish(status);
  call.Finish(EncodeFetches(call, response, kCallableFetches, fetches));
}

absl::Status Master::ReleaseCallable(const pb::ReleaseCallableRequest& request,
                                     pb::ReleaseCallableResponse*) {
  SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
  return session->ReleaseCallable(request.handle());
}

void Master::CloseSessions(const std::shared_ptr<void>& awaiting) {
  std::map<std::string, std::shared_ptr<MasterSession>> sessions;
  {
    ScopedLock lock(&mutex_);
    sessions.swap(sessions_);
  }
  for (auto& [handle, session] : sessions) session->Close(awaiting);
}

}  // namespace sluice

#include "distributed/master/master.h"

#include <cstdio>
#include <utility>

#include "distributed/master/session_config.h"
#include "distributed/wire/answer.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr TensorField kStepFeeds{pb::RunStepRequest::kFeedFieldNumber, TensorField::kNamed};
constexpr TensorField kStepFetches{pb::RunStepResponse::kTensorFieldNumber, TensorField::kNamed};
constexpr TensorField kCallableFeeds{pb::RunCallableRequest::kFeedFieldNumber, TensorField::kBare};
constexpr TensorField kCallableFetches{pb::RunCallableResponse::kFetchFieldNumber,
                                       TensorField::kBare};

void AddDevice(const DeviceInfo& device, pb::ListDevicesResponse* response) {
  pb::DeviceAttributes* attributes = response->add_local_device();
  attributes->set_name(device.name);
  attributes->set_device_type(device.spec.type.value_or("CPU"));
  attributes->set_memory_limit(int64_t{256} << 20);
  attributes->mutable_locality();
  attributes->set_incarnation(device.incarnation);
  attributes->set_xla_global_id(-1);
}

constexpr char kMayHaveRestarted[] = " Possibly, this master has restarted.";

absl::Status Unknown(const std::string& session, const char* hint) {
  return absl::AbortedError(StrCat("Session ", session, " is not found.", hint));
}

}  // namespace

Master::Master(MasterOptions options) : options_(std::move(options)) {}

std::vector<RpcMethod> Master::Methods() {
  const std::pair<const char*, Handle> methods[] = {{"CreateSession", &Master::CreateSession},
                                                    {"ExtendSession", &Master::ExtendSession},
                                                    {"PartialRunSetup", &Master::PartialRunSetup},
                                                    {"RunStep", &Master::RunStep},
                                                    {"CloseSession", &Master::CloseSession},
                                                    {"ListDevices", &Master::ListDevices},
                                                    {"Reset", &Master::Reset},
                                                    {"MakeCallable", &Master::MakeCallable},
                                                    {"RunCallable", &Master::RunCallable},
                                                    {"ReleaseCallable", &Master::ReleaseCallable}};
  std::vector<RpcMethod> result;
  for (const auto& [name, handle] : methods) {
    result.push_back({StrCat("/tensorflow.MasterService/", name),
                      [this, handle = handle](RpcCall& call) { (this->*handle)(call); }});
  }
  return result;
}

absl::StatusOr<std::shared_ptr<MasterSession>> Master::Find(const std::string& handle,
                                                            const char* hint) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = sessions_.find(handle);
  if (it != sessions_.end()) return it->second;
  return Unknown(handle, hint);
}

absl::StatusOr<std::shared_ptr<MasterSession>> Master::Take(const std::string& handle) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto taken = sessions_.extract(handle);
  if (!taken.empty()) return std::move(taken.mapped());
  return Unknown(handle, kMayHaveRestarted);
}

std::string Master::NewHandle() {
  std::lock_guard<std::mutex> lock(mutex_);
  char handle[17];
  std::snprintf(handle, sizeof(handle), "%08x%08x", random_(), random_());
  return handle;
}

absl::StatusOr<std::string> Master::NewSession(const pb::CreateSessionRequest& request) {
  const pb::ConfigProto& config = request.config();
  if (config.has_cluster_def()) {
    return absl::UnimplementedError(
        "ConfigProto.cluster_def: this server's cluster is the one that it was started with");
  }
  const std::string handle = NewHandle();
  SessionOptions options = WithConfig(options_.session, config);
  options.job = JobName(config, handle);
  options.devices = config.isolate_session_state() ? DeviceSet::WithOwnState(*options_.devices)
                                                   : options_.devices;
  if (options_.connection != nullptr) {
    ClusterTasks::Options tasks;
    tasks.session = handle;
    tasks.config = config;
    tasks.filters = {config.device_filters().begin(), config.device_filters().end()};
    options.remote_tasks = ClusterTasks::Connect(*options_.connection, tasks);
  }
  auto session = std::make_shared<MasterSession>(options_.task, options);
  SLUICE_RETURN_IF_ERROR(session->AddNodes(request.graph_def()));
  std::lock_guard<std::mutex> lock(mutex_);
  sessions_.emplace(handle, std::move(session));
  return handle;
}

void Master::CreateSession(RpcCall& call) {
  Answer<pb::CreateSessionRequest, pb::CreateSessionResponse>(
      call, [this](const auto& request, auto* response) -> absl::Status {
        SLUICE_ASSIGN_OR_RETURN(*response->mutable_session_handle(), NewSession(request));
        return absl::OkStatus();
      });
}

void Master::ExtendSession(RpcCall& call) {
  Answer<pb::ExtendSessionRequest, pb::ExtendSessionResponse>(
      call, [this](const auto& request, auto* response) -> absl::Status {
        SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
        SLUICE_ASSIGN_OR_RETURN(
            const int64_t version,
            session->Extend(request.graph_def(), request.current_graph_version()));
        response->set_new_graph_version(version);
        return absl::OkStatus();
      });
}

void Master::PartialRunSetup(RpcCall& call) {
  Answer<pb::PartialRunSetupRequest, pb::PartialRunSetupResponse>(
      call, [this](const auto& request, auto* response) -> absl::Status {
        SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
        SLUICE_ASSIGN_OR_RETURN(*response->mutable_partial_run_handle(),
                                session->SetUpPartialRun(request));
        return absl::OkStatus();
      });
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
  AnswerStep(call, request, std::move(status), response, kStepFetches, fetches);
}

void Master::CloseSession(RpcCall& call) {
  pb::CloseSessionRequest request;
  if (const absl::Status status = DecodeMessage(call.request(), &request); !status.ok()) {
    return call.Finish(status, grpc::ByteBuffer());
  }
  const auto session = Take(request.session_handle());
  if (!session.ok()) return call.Finish(session.status(), grpc::ByteBuffer());
  (*session)->Close(AnswerWhenFree(call));
}

void Master::ListDevices(RpcCall& call) {
  Answer<pb::ListDevicesRequest, pb::ListDevicesResponse>(
      call, [this](const auto& request, auto* response) -> absl::Status {
        std::vector<DeviceInfo> devices = options_.devices->Describe();
        if (!request.session_handle().empty()) {
          SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
          if (const auto& remote = session->session().options().remote_tasks) {
            devices.insert(devices.end(), remote->devices().begin(), remote->devices().end());
          }
        }
        for (const DeviceInfo& device : devices) AddDevice(device, response);
        return absl::OkStatus();
      });
}

// Once the steps of all sessions have ended, or they could make again what was cleared.
void Master::Reset(RpcCall& call) {
  pb::ResetRequest request;
  if (const absl::Status status = DecodeMessage(call.request(), &request); !status.ok()) {
    return call.Finish(status, grpc::ByteBuffer());
  }
  std::vector<std::string> containers = {request.container().begin(), request.container().end()};
  const auto clear = [this, containers = std::move(containers)](RpcCall* reset) {
    reset->Finish(Clear(containers), EncodeMessage(pb::ResetResponse()));
  };
  CloseSessions(std::shared_ptr<RpcCall>(&call, clear));
}

absl::Status Master::Clear(const std::vector<std::string>& containers) {
  options_.devices->ClearContainers(containers);
  if (options_.connection == nullptr) return absl::OkStatus();
  return CleanupOthers(*options_.connection, containers);
}

void Master::MakeCallable(RpcCall& call) {
  Answer<pb::MakeCallableRequest, pb::MakeCallableResponse>(
      call, [this](const auto& request, auto* response) -> absl::Status {
        SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
        SLUICE_ASSIGN_OR_RETURN(const int64_t handle, session->MakeCallable(request.options()));
        response->set_handle(handle);
        return absl::OkStatus();
      });
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
  absl::StatusOr<grpc::ByteBuffer> encoded = grpc::ByteBuffer();
  if (status.ok()) {
    encoded = EncodeAnswer(call, response, kCallableFetches, fetches);
    status = encoded.status();
  }
  call.Finish(status, status.ok() ? *encoded : grpc::ByteBuffer());
}

void Master::ReleaseCallable(RpcCall& call) {
  Answer<pb::ReleaseCallableRequest, pb::ReleaseCallableResponse>(
      call, [this](const auto& request, auto*) -> absl::Status {
        SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
        return session->ReleaseCallable(request.handle());
      });
}

void Master::CloseSessions(const std::shared_ptr<void>& ended) {
  std::map<std::string, std::shared_ptr<MasterSession>> sessions;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    sessions.swap(sessions_);
  }
  for (auto& [handle, session] : sessions) session->Close(ended);
}

}  // namespace sluice

#include "distributed/master/master.h"

#include <cstdio>
#include <utility>

#include "distributed/events/audit_log.h"
#include "distributed/events/event_log.h"
#include "distributed/events/sha256.h"
#include "distributed/master/client_cluster.h"
#include "distributed/master/graph_memory.h"
#include "distributed/master/session_config.h"
#include "distributed/message/device_attributes.h"
#include "distributed/message/respond.h"
#include "distributed/message/service_methods.h"
#include "executor/device/memory_account.h"
#include "executor/device/pool_allocator.h"
#include "executor/wait/out_of_memory.h"
#include "executor/wait/session_scope.h"
#include "graph/format/deterministic_bytes.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr TensorField kStepFeeds{pb::RunStepRequest::kFeedFieldNumber, TensorField::kNamed};
constexpr TensorField kStepFetches{pb::RunStepResponse::kTensorFieldNumber, TensorField::kNamed};
constexpr TensorField kCallableFeeds{pb::RunCallableRequest::kFeedFieldNumber, TensorField::kBare};
constexpr TensorField kCallableFetches{pb::RunCallableResponse::kFetchFieldNumber,
                                       TensorField::kBare};

constexpr char kMayHaveRestarted[] = " Possibly, this master has restarted.";

void AuditGraph(const char* event, EventFields fields, const pb::GraphDef& graph) {
  if (!IsAudited()) return;
  const std::string bytes = DeterministicBytes(graph);  // equal graphs have equal hashes
  fields.emplace_back("nodes", StrCat(graph.node_size()));
  fields.emplace_back("graph_bytes", StrCat(bytes.size()));
  fields.emplace_back("graph_sha256", Sha256(bytes));
  Audit(event, fields);
}

void AuditEnd(const SessionTable::Removed& removed) {
  if (!IsAudited()) return;
  Audit("session_closed", {{"session", StrCat(removed.info.number)},
                           {"client", removed.info.client},
                           {"why", removed.why}});
}

// Reads a request with feeds. The error of feeds for which there is no memory names the limit.
absl::Status TakeFeeds(RpcCall& call, TensorField field, google::protobuf::Message* request,
                       std::vector<NamedTensor>* feeds) {
  const absl::Status status =
      OrOutOfMemory([&] { return TakeMessage(&call.request(), field, request, feeds); });
  return absl::IsResourceExhausted(status) ? WithMemoryLimits(status, nullptr) : status;
}

}  // namespace

std::vector<RpcMethod> Master::Methods() {
  return {Method(MasterMethod("CreateSession"), this, &Master::CreateSession),
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

absl::Status Master::CheckNotDraining() const {
  if (!drains_.load(std::memory_order_relaxed)) return absl::OkStatus();
  return absl::UnavailableError(StrCat("the server of ", options_.task, " stops"));
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

void Master::CreateSession(const pb::CreateSessionRequest& request, RpcCall& call) {
  const absl::StatusOr<std::string> handle =
      OrOutOfMemory([&] { return AddSession(request, call.client()); });
  if (!handle.ok()) return call.Finish(handle.status());
  pb::CreateSessionResponse response;
  response.set_session_handle(*handle);
  call.Finish(EncodeMessage(response));
}

absl::StatusOr<std::string> Master::AddSession(const pb::CreateSessionRequest& request,
                                               const std::string& client) {
  SLUICE_RETURN_IF_ERROR(CheckNotDraining());
  pb::ConfigProto config = request.config();
  SLUICE_ASSIGN_OR_RETURN(const std::optional<ClusterConnection> connection,
                          ConnectionFor(request));
  const std::string handle = NewHandle();
  const int64_t number = sessions_.NewNumber();
  SessionOptions options = WithConfig(options_.session, config);
  options.job = JobName(config, handle);
  std::string task = options_.task;
  if (connection && connection->view != nullptr) {
    task = connection->view->task;
    config.set_isolate_session_state(
        !config.experimental().share_session_state_in_clusterspec_propagation());
  }
  options.devices = DeviceSet::Renamed(*options_.devices, task);
  if (config.isolate_session_state()) {
    options.devices = DeviceSet::WithOwnState(*options.devices);
  }
  options.devices->SetMemory(
      MemoryAccount::Open(PoolAllocator::Global(), options_.session_memory_bytes, number));
  if (connection) {
    ClusterTasks::Options tasks;
    tasks.session = handle;
    tasks.config = config;
    tasks.filters = {config.device_filters().begin(), config.device_filters().end()};
    options.remote_tasks = ClusterTasks::Connect(*connection, tasks);
  }
  const pb::GraphOptions& graph_options = config.graph_options();
  const CostModelSteps cost_model = {.every = graph_options.build_cost_model(),
                                     .after = graph_options.build_cost_model_after()};
  auto session = std::make_shared<MasterSession>(task, options, cost_model);
  SLUICE_RETURN_IF_ERROR(session->AddNodes(request.graph_def()));
  AuditGraph("session_created", {{"session", StrCat(number)}, {"client", client}},
             request.graph_def());
  sessions_.Add(handle, number, std::move(session), client, request.graph_def().ByteSizeLong());
  return handle;
}

absl::Status Master::ExtendSession(const pb::ExtendSessionRequest& request,
                                   pb::ExtendSessionResponse* response) {
  SLUICE_ASSIGN_OR_RETURN(auto session, sessions_.Find(request.session_handle(), ""));
  SLUICE_ASSIGN_OR_RETURN(const int64_t version,
                          session->Extend(request.graph_def(), request.current_graph_version()));
  session.AddGraphBytes(request.graph_def().ByteSizeLong());
  AuditGraph("graph_extended", {{"session", StrCat(session.number())}}, request.graph_def());
  response->set_new_graph_version(version);
  return absl::OkStatus();
}

absl::Status Master::PartialRunSetup(const pb::PartialRunSetupRequest& request,
                                     pb::PartialRunSetupResponse* response) {
  SLUICE_RETURN_IF_ERROR(CheckNotDraining());
  SLUICE_ASSIGN_OR_RETURN(auto session, sessions_.Find(request.session_handle(), ""));
  const SessionScope scope(session.number());
  SLUICE_ASSIGN_OR_RETURN(*response->mutable_partial_run_handle(),
                          session->SetUpPartialRun(request));
  return absl::OkStatus();
}

void Master::RunStep(RpcCall& call) {
  pb::RunStepRequest request;
  std::vector<NamedTensor> feeds, fetches;
  pb::RunStepResponse response;
  absl::Status status = TakeFeeds(call, kStepFeeds, &request, &feeds);
  if (status.ok() && request.partial_run_handle().empty()) status = CheckNotDraining();
  if (status.ok() && !step_ids_.IsNew(request.request_id())) {
    status =
        absl::AbortedError(StrCat("The same RunStep request was received twice: id ",
                                  request.request_id(), " of session ", request.session_handle()));
  }
  if (status.ok()) {
    auto session = sessions_.Find(request.session_handle(), call.client(), kMayHaveRestarted);
    status = session.ok() ? OrOutOfMemory([&] {
      const SessionScope scope(session->number());
      return (*session)->RunStep(request, std::move(feeds), &call.cancellation(), &fetches,
                                 response.mutable_metadata());
    })
                          : session.status();
  }
  RespondToStep(call, request, status, response, kStepFetches, fetches);
}

void Master::CloseSession(const pb::CloseSessionRequest& request, RpcCall& call) {
  const auto removed = sessions_.Remove(request.session_handle(), kMayHaveRestarted);
  if (!removed.ok()) return call.Finish(removed.status());
  AuditEnd(*removed);
  removed->session->Close(RespondWhenReleased(call));
}

absl::Status Master::ListDevices(const pb::ListDevicesRequest& request,
                                 pb::ListDevicesResponse* response) {
  std::vector<DeviceInfo> devices = options_.devices->Describe();
  if (!request.session_handle().empty()) {
    SLUICE_ASSIGN_OR_RETURN(auto session, sessions_.Find(request.session_handle(), ""));
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
  SLUICE_ASSIGN_OR_RETURN(auto session, sessions_.Find(request.session_handle(), ""));
  const SessionScope scope(session.number());
  SLUICE_ASSIGN_OR_RETURN(const int64_t handle, session->MakeCallable(request.options()));
  response->set_handle(handle);
  return absl::OkStatus();
}

void Master::RunCallable(RpcCall& call) {
  pb::RunCallableRequest request;
  std::vector<NamedTensor> feeds, fetches;
  pb::RunCallableResponse response;
  absl::Status status = TakeFeeds(call, kCallableFeeds, &request, &feeds);
  if (status.ok()) status = CheckNotDraining();
  if (status.ok()) {
    auto session = sessions_.Find(request.session_handle(), call.client());
    const SessionScope scope(session.ok() ? session->number() : 0);
    status = session.ok() ? OrOutOfMemory([&] {
      return (*session)->RunCallable(request.handle(), feeds, &call.cancellation(), &fetches,
                                     response.mutable_metadata());
    })
                          : session.status();
  }
  if (!status.ok()) return call.Finish(status);
  call.Finish(
      OrOutOfMemory([&] { return EncodeFetches(call, response, kCallableFetches, fetches); }));
}

absl::Status Master::ReleaseCallable(const pb::ReleaseCallableRequest& request,
                                     pb::ReleaseCallableResponse*) {
  SLUICE_ASSIGN_OR_RETURN(auto session, sessions_.Find(request.session_handle(), ""));
  return session->ReleaseCallable(request.handle());
}

void Master::CloseSessions(const std::shared_ptr<void>& awaiting) {
  for (const SessionTable::Removed& removed : sessions_.RemoveAll()) {
    AuditEnd(removed);
    removed.session->Close(awaiting);
  }
}

void Master::CloseExpiredSessions() {
  for (const SessionTable::Removed& expired :
       sessions_.RemoveExpired(options_.limits, options_.is_connected)) {
    LogEvent(LogLevel::kInfo, "session_closed",
             {{"session", StrCat(expired.info.number)},
              {"client", expired.info.client},
              {"why", expired.why},
              {"idle_s", StrCat(expired.info.idle.count() / 1000)}});
    AuditEnd(expired);
    expired.session->Close(nullptr);
  }
}

std::vector<SessionInfo> Master::Sessions() { return sessions_.Describe(options_.is_connected); }

}  // namespace sluice

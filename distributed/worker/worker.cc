#include "distributed/worker/worker.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distributed/master/session_config.h"
#include "distributed/message/device_attributes.h"
#include "distributed/message/respond.h"
#include "distributed/message/service_methods.h"
#include "distributed/message/tensor_response.h"
#include "executor/device/pool_allocator.h"
#include "executor/partition/partition.h"
#include "executor/trace/metrics.h"
#include "executor/trace/step_stats_proto.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/out_of_memory.h"
#include "graph/format/graph_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr TensorField kSend{pb::RunGraphRequest::kSendFieldNumber, TensorField::kNamed};
constexpr TensorField kRecv{pb::RunGraphResponse::kRecvFieldNumber, TensorField::kNamed};

absl::Status UnknownGraph(const std::string& handle) {
  return absl::AbortedError(
      StrCat("Graph handle is not found: ", handle, ". Possibly, this worker just restarted."));
}

// Returns the part's nodes of this role, _Arg or _Retval, in the order of their attribute `index`.
// INVALID_ARGUMENT unless the indices are 0, 1 and so on.
absl::StatusOr<std::vector<Output>> InOrder(const Graph& part, OpRole role) {
  std::vector<Node*> nodes;
  for (Node* node : part.nodes()) {
    if (node->role() == role) nodes.push_back(node);
  }
  std::vector<Output> ordered(nodes.size());
  for (Node* node : nodes) {
    const auto index = static_cast<uint64_t>(node->AttrOr<int64_t>("index", 0));
    SLUICE_INVALID_IF(index >= nodes.size() || ordered[index].node != nullptr, node->Describe(),
                      ": expected each index below ", nodes.size(), " once, got ",
                      static_cast<int64_t>(index));
    ordered[index] = Output(node);
  }
  return ordered;
}

}  // namespace

Worker::Worker(std::string task, std::shared_ptr<DeviceSet> devices,
               StepRendezvousTable* rendezvous, AddressBook* addresses, ReceiveFrom receive_from,
               SessionOptions session, int64_t session_memory_bytes)
    : task_(std::move(task)),
      devices_(std::move(devices)),
      rendezvous_(rendezvous),
      addresses_(addresses),
      receive_from_(std::move(receive_from)),
      options_(std::move(session)),
      session_memory_bytes_(session_memory_bytes) {}

std::vector<RpcMethod> Worker::Methods() {
  return {UnaryMethod(WorkerMethod("GetStatus"), this, &Worker::GetStatus),
          Method(WorkerMethod("CreateWorkerSession"), this, &Worker::CreateWorkerSession),
          UnaryMethod(WorkerMethod("DeleteWorkerSession"), this, &Worker::DeleteWorkerSession),
          UnaryMethod(WorkerMethod("RegisterGraph"), this, &Worker::RegisterGraph),
          UnaryMethod(WorkerMethod("DeregisterGraph"), this, &Worker::DeregisterGraph),
          Method(WorkerMethod("RunGraph"), this, &Worker::RunGraph),
          UnaryMethod(WorkerMethod("CleanupGraph"), this, &Worker::CleanupGraph, /*blocks=*/false),
          UnaryMethod(WorkerMethod("CleanupAll"), this, &Worker::CleanupAll),
          Method(WorkerMethod("RecvTensor"), this, &Worker::RecvTensor, /*blocks=*/false),
          UnaryMethod(WorkerMethod("Logging"), this, &Worker::Logging),
          UnaryMethod(WorkerMethod("Tracing"), this, &Worker::Tracing)};
}

void Worker::CancelSteps() {
  steps_.StartCancel();
  rendezvous_->AbortAll(absl::CancelledError(StrCat("the server of ", task_, " stops")));
}

absl::Status Worker::GetStatus(const pb::GetStatusRequest&, pb::GetStatusResponse* response) {
  DevicesToProto(devices_->Describe(), response->mutable_device_attributes());
  return absl::OkStatus();
}

void Worker::CreateWorkerSession(const pb::CreateWorkerSessionRequest& request, RpcCall& call) {
  const absl::Status status = AddSession(request, call.client());
  if (!status.ok()) return call.Finish(status);
  const std::shared_ptr<void> awaiting = RespondWhenReleased(call);
  for (const int64_t step_id : request.unwanted_step()) EndPart(step_id, awaiting);
  if (request.master_task().empty()) return;
  // The sessions of the master's previous process.
  const auto is_former = [&request](const WorkerSession& session) {
    return session.master == request.master_task() &&
           session.master_incarnation != request.master_incarnation();
  };
  EndSessions(is_former, awaiting);
}

absl::Status Worker::AddSession(const pb::CreateWorkerSessionRequest& request,
                                const std::string& client) {
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<const TaskView> view, ViewOf(request.server_def()));
  if (view == nullptr) SLUICE_RETURN_IF_ERROR(LearnAddress(request));
  SessionOptions options = options_;
  options.job = JobName(request.server_def().default_session_config(), request.session_handle());
  options.devices = DeviceSet::Renamed(*devices_, view == nullptr ? task_ : view->task);
  if (request.isolate_session_state()) options.devices = DeviceSet::WithOwnState(*options.devices);
  options.devices->SetMemory(MemoryAccount::Open(PoolAllocator::Global(), session_memory_bytes_));
  auto session = std::make_shared<WorkerSession>(request, view, std::move(options), client);
  ScopedLock lock(&mutex_);
  sessions_.emplace(request.session_handle(), std::move(session));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const TaskView>> Worker::ViewOf(const pb::ServerDef& server) const {
  if (server.job_name().empty()) return nullptr;
  SLUICE_ASSIGN_OR_RETURN(ClusterSpec spec, ClusterSpec::FromProto(server.cluster()));
  const TaskName task = {server.job_name(), server.task_index()};
  SLUICE_RETURN_IF_ERROR(spec.Address(task).status());
  return std::make_shared<const TaskView>(TaskView{
      task.ToString(), receive_from_(std::make_shared<const AddressBook>(std::move(spec)))});
}

// Learns the address of the session's master, which may have started later or restarted elsewhere.
absl::Status Worker::LearnAddress(const pb::CreateWorkerSessionRequest& request) {
  if (!request.server_def().has_cluster() || request.master_task().empty()) {
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(const TaskName master, TaskName::Parse(request.master_task()));
  SLUICE_ASSIGN_OR_RETURN(const ClusterSpec spec,
                          ClusterSpec::FromProto(request.server_def().cluster()));
  SLUICE_ASSIGN_OR_RETURN(const std::string address, spec.Address(master));
  addresses_->Set(master, address);
  return absl::OkStatus();
}

absl::Status Worker::DeleteWorkerSession(const pb::DeleteWorkerSessionRequest& request,
                                         pb::DeleteWorkerSessionResponse*) {
  const auto has_handle = [&request](const WorkerSession& session) {
    return session.handle == request.session_handle();
  };
  EndSessions(has_handle, nullptr);
  return absl::OkStatus();
}

void Worker::EndSessions(const std::function<bool(const WorkerSession&)>& is_ended,
                         const std::shared_ptr<void>& awaiting) {
  std::map<std::string, std::shared_ptr<WorkerSession>> sessions;  // destroyed without the lock
  std::vector<int64_t> steps;
  {
    ScopedLock lock(&mutex_);
    for (auto it = sessions_.begin(); it != sessions_.end();) {
      const auto next = std::next(it);
      if (is_ended(*it->second)) sessions.insert(sessions_.extract(it));
      it = next;
    }
    for (const auto& [step_id, part] : running_) {
      if (is_ended(*part->session)) steps.push_back(step_id);
    }
  }
  for (const int64_t step_id : steps) EndPart(step_id, awaiting);
  for (const auto& [handle, session] : sessions) rendezvous_->EndStepsOf(handle);
}

std::set<std::string> Worker::LostClients(
    const std::function<bool(const std::string& client)>& is_connected) {
  std::set<std::string> clients;
  {
    ScopedLock lock(&mutex_);
    for (const auto& [handle, session] : sessions_) clients.insert(session->client);
  }
  std::erase_if(clients, is_connected);
  return clients;
}

void Worker::EndLostSessions(std::chrono::milliseconds lost,
                             const std::function<bool(const std::string& client)>& is_connected) {
  if (lost == std::chrono::milliseconds(0)) return;
  const std::set<std::string> clients = LostClients(is_connected);
  const Time now = std::chrono::steady_clock::now();
  std::set<std::string> ended;
  {
    ScopedLock lock(&mutex_);
    std::set<const WorkerSession*> busy;
    for (const auto& [step_id, part] : running_) busy.insert(part->session.get());
    for (const auto& [handle, session] : sessions_) {
      const bool is_lost = clients.contains(session->client) && !busy.contains(session.get());
      session->lost_since = is_lost ? std::min(session->lost_since, now) : Time::max();
      if (is_lost && now - session->lost_since >= lost) ended.insert(handle);
    }
  }
  if (ended.empty()) return;
  EndSessions([&ended](const WorkerSession& s) { return ended.contains(s.handle); }, nullptr);
}

void Worker::EndPart(int64_t step_id, const std::shared_ptr<void>& awaiting) {
  rendezvous_->End(step_id);  // a part that arrives later does not run
  std::shared_ptr<RunningPart> part;
  {
    ScopedLock lock(&mutex_);
    auto it = running_.find(step_id);
    if (it == running_.end()) return;
    part = it->second;
    if (awaiting != nullptr) awaiting_.emplace(step_id, awaiting);
  }
  part->cancellation.StartCancel();
}

absl::StatusOr<std::shared_ptr<Worker::WorkerSession>> Worker::Find(const std::string& handle) {
  ScopedLock lock(&mutex_);
  return FindLocked(handle);
}

absl::StatusOr<std::shared_ptr<Worker::WorkerSession>> Worker::FindLocked(
    const std::string& handle) {
  auto it = sessions_.find(handle);
  if (it != sessions_.end()) return it->second;
  return absl::AbortedError(StrCat("Session handle is not found: ", handle,
                                   ". Possibly this worker (\"", task_, "\") just restarted."));
}

absl::Status Worker::RegisterGraph(const pb::RegisterGraphRequest& request,
                                   pb::RegisterGraphResponse* response) {
  SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
  auto graph = std::make_shared<Graph>();
  ImportOptions import;
  import.allow_internal_names = true;
  import.ignore_unknown_attrs = true;
  import.memory = session->executor.devices().memory().get();
  SLUICE_RETURN_IF_ERROR(ImportGraphDef(request.graph_def(), *graph, import).status());
  for (Node* node : graph->nodes()) node->set_assigned_device(node->device());
  SLUICE_ASSIGN_OR_RETURN(std::vector<Output> feeds, InOrder(*graph, OpRole::kFeed));
  SLUICE_RETURN_IF_ERROR(InOrder(*graph, OpRole::kFetch).status());
  auto registered = std::make_shared<RegisteredGraph>();
  ScopedLock lock(&session->mutex);
  SLUICE_ASSIGN_OR_RETURN(registered->step,
                          session->executor.Compile(std::move(graph), std::move(feeds)));
  char handle[17];
  std::snprintf(handle, sizeof(handle), "%016llx",
                static_cast<unsigned long long>(session->next_graph++));
  session->graphs.emplace(handle, std::move(registered));
  response->set_graph_handle(handle);
  return absl::OkStatus();
}

absl::Status Worker::DeregisterGraph(const pb::DeregisterGraphRequest& request,
                                     pb::DeregisterGraphResponse*) {
  SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
  ScopedLock lock(&session->mutex);
  if (session->graphs.erase(request.graph_handle()) != 0) return absl::OkStatus();
  return UnknownGraph(request.graph_handle());
}

absl::Status Worker::Run(WorkerSession& session, const pb::RunGraphRequest& request,
                         const std::vector<NamedTensor>& feeds, CancellationManager* cancellation,
                         std::vector<NamedTensor>* fetches, pb::RunGraphResponse* response) {
  std::shared_ptr<RegisteredGraph> graph;
  {
    ScopedLock lock(&session.mutex);
    auto it = session.graphs.find(request.graph_handle());
    if (it != session.graphs.end()) graph = it->second;
  }
  if (graph == nullptr) return UnknownGraph(request.graph_handle());
  static MetricCounter parts("sluice_parts_total");
  parts.Add();
  const Plan& plan = *graph->step->plan();
  const size_t num_feeds = graph->step->feeds().size();
  SLUICE_INVALID_IF(feeds.size() != num_feeds, "expected ", num_feeds, " feeds of the part, got ",
                    feeds.size());
  for (size_t i = 0; i < feeds.size(); ++i) {
    SLUICE_RETURN_IF_ERROR(graph->step->CheckFeed(static_cast<int>(i), feeds[i].value));
  }
  auto found = rendezvous_->Find(request.step_id(), session.view, session.handle);
  // A step that ended before its part began was cancelled.
  if (!found.ok()) return absl::CancelledError(std::string(found.status().message()));
  const std::shared_ptr<StepRendezvous> rendezvous = *std::move(found);
  std::vector<const Tensor*> values;
  for (const NamedTensor& feed : feeds) values.push_back(&feed.value);
  Tensors results(plan.num_fetches);
  RunOptions options;
  options.cancellation = cancellation;
  options.trace = request.exec_opts().record_timeline();
  options.check_numerics = request.check_numerics();
  RunMetadata metadata;
  SLUICE_RETURN_IF_ERROR(
      graph->step->RunPart(request.step_id(), rendezvous.get(),
                           {values, results.data(), options, options.trace ? &metadata : nullptr}));
  for (Tensor& result : results) fetches->push_back({"", std::move(result)});
  if (metadata.step_stats != nullptr) {
    StepStatsToProto(*metadata.step_stats, response->mutable_step_stats());
  }
  return absl::OkStatus();
}

absl::Status Worker::RunCancellably(const pb::RunGraphRequest& request,
                                    const std::vector<NamedTensor>& feeds, RpcCall& call,
                                    std::vector<NamedTensor>* fetches,
                                    pb::RunGraphResponse* response) {
  std::shared_ptr<RunningPart> part;
  {
    // One critical section, so that EndSessions sees all parts of a session.
    ScopedLock lock(&mutex_);
    // A master may send a request again if its connection breaks.
    if (running_.contains(request.step_id()) || !requests_.IsNew(request.request_id())) {
      return absl::AbortedError(StrCat("The same RunGraph request was received twice: step ",
                                       request.step_id(), " of session ",
                                       request.session_handle()));
    }
    SLUICE_ASSIGN_OR_RETURN(auto session, FindLocked(request.session_handle()));
    if (session->client != call.client()) session->client = call.client();
    part = std::make_shared<RunningPart>(&steps_, std::move(session));
    running_[request.step_id()] = part;
  }
  absl::Status status;
  {
    const LinkedCancellation caller(&call.cancellation(), part->cancellation);
    status = Run(*part->session, request, feeds, &part->cancellation, fetches, response);
  }
  std::vector<std::shared_ptr<void>> awaiting;  // released without the lock
  {
    ScopedLock lock(&mutex_);
    running_.erase(request.step_id());
    const auto [begin, end] = awaiting_.equal_range(request.step_id());
    for (auto it = begin; it != end; ++it) awaiting.push_back(std::move(it->second));
    awaiting_.erase(begin, end);
  }
  if (!absl::IsCancelled(status) || !steps_.IsCancelled()) return status;
  return absl::CancelledError(StrCat("the server of ", task_, " stops"));
}

void Worker::RunGraph(RpcCall& call) {
  pb::RunGraphRequest request;
  std::vector<NamedTensor> feeds, fetches;
  pb::RunGraphResponse response;
  absl::Status status =
      OrOutOfMemory([&] { return TakeMessage(&call.request(), kSend, &request, &feeds); });
  if (status.ok()) {
    status = RunCancellably(request, feeds, call, &fetches, &response);
  }
  RespondToStep(call, request, status, response, kRecv, fetches);
}

absl::Status Worker::CleanupGraph(const pb::CleanupGraphRequest& request,
                                  pb::CleanupGraphResponse*) {
  EndPart(request.step_id(), nullptr);
  return absl::OkStatus();
}

absl::Status Worker::CleanupAll(const pb::CleanupAllRequest& request, pb::CleanupAllResponse*) {
  devices_->ClearContainers({request.container().begin(), request.container().end()});
  return absl::OkStatus();
}

absl::Status Worker::CheckIncarnation(const std::string& text) const {
  SLUICE_ASSIGN_OR_RETURN(const RendezvousKey key, RendezvousKey::Parse(text));
  // The task may have another name in the session's cluster.
  const Device* device = devices_->Find(DeviceOnTask(key.src_device, task_));
  SLUICE_INVALID_IF(device == nullptr, "RecvTensor: ", task_, " has no device ", key.src_device);
  if (device->incarnation == key.src_incarnation) return absl::OkStatus();
  return absl::AbortedError(
      StrCat("RecvTensor expects a different device incarnation: ", key.src_incarnation, " vs. ",
             device->incarnation, ". Your worker job (\"", task_,
             "\") was probably restarted. Check your worker job for the reason why it was "
             "restarted."));
}

void Worker::RecvTensor(const pb::RecvTensorRequest& request, RpcCall& call) {
  const absl::Status status = CheckIncarnation(request.rendezvous_key());
  if (!status.ok()) return call.Finish(status);
  rendezvous_->RecvLocalAsync(request.step_id(), request.rendezvous_key(), &call.cancellation(),
                              [&call](const absl::Status& received, Tensor value, bool is_dead) {
                                if (!received.ok()) return call.Finish(received);
                                pb::RecvTensorResponse response;
                                response.set_is_dead(is_dead);
                                response.set_send_start_micros(absl::ToUnixMicros(absl::Now()));
                                call.Finish(EncodeTensorResponse(response, std::move(value)));
                              });
}

absl::Status Worker::Logging(const pb::LoggingRequest&, pb::LoggingResponse*) {
  return absl::OkStatus();
}

absl::Status Worker::Tracing(const pb::TracingRequest&, pb::TracingResponse*) {
  return absl::UnimplementedError("Tracing");
}

}  // namespace sluice

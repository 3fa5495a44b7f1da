#include "distributed/worker/worker.h"

#include <chrono>
#include <utility>

#include "distributed/master/session_config.h"
#include "distributed/wire/answer.h"
#include "distributed/wire/one_tensor.h"
#include "distributed/wire/worker_method.h"
#include "executor/trace/metrics.h"
#include "executor/trace/step_stats_proto.h"
#include "executor/wait/linked_cancellation.h"
#include "graph/format/graph_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr TensorField kSend{pb::RunGraphRequest::kSendFieldNumber, TensorField::kNamed};
constexpr TensorField kRecv{pb::RunGraphResponse::kRecvFieldNumber, TensorField::kNamed};

int64_t NowMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Worker::Worker(std::string task, std::shared_ptr<DeviceSet> devices,
               StepRendezvousTable* rendezvous, AddressBook* addresses, SessionOptions session)
    : task_(std::move(task)),
      devices_(std::move(devices)),
      rendezvous_(rendezvous),
      addresses_(addresses),
      options_(std::move(session)) {}

std::vector<RpcMethod> Worker::Methods() {
  const std::pair<const char*, Handle> methods[] = {
      {"GetStatus", &Worker::GetStatus},
      {"CreateWorkerSession", &Worker::CreateWorkerSession},
      {"DeleteWorkerSession", &Worker::DeleteWorkerSession},
      {"RegisterGraph", &Worker::RegisterGraph},
      {"DeregisterGraph", &Worker::DeregisterGraph},
      {"RunGraph", &Worker::RunGraph},
      {"CleanupGraph", &Worker::CleanupGraph},
      {"CleanupAll", &Worker::CleanupAll},
      {"RecvTensor", &Worker::RecvTensor},
      {"Logging", &Worker::Logging},
      {"Tracing", &Worker::Tracing}};
  std::vector<RpcMethod> result;
  for (const auto& [name, handle] : methods) {
    const bool blocks = handle != &Worker::RecvTensor && handle != &Worker::CleanupGraph;
    result.push_back({WorkerMethod(name),
                      [this, handle = handle](RpcCall& call) { (this->*handle)(call); }, blocks,
                      handle == &Worker::CleanupGraph});
  }
  return result;
}

void Worker::CancelSteps() {
  steps_.StartCancel();
  rendezvous_->AbortAll(absl::CancelledError(StrCat("the server of ", task_, " stops")));
}

void Worker::GetStatus(RpcCall& call) {
  Answer<pb::GetStatusRequest, pb::GetStatusResponse>(
      call, [this](const auto&, auto* response) -> absl::Status {
        for (const DeviceInfo& device : devices_->Describe()) {
          pb::DeviceAttributes* attributes = response->add_device_attributes();
          attributes->set_name(device.name);
          attributes->set_device_type(device.spec.type.value_or("CPU"));
          attributes->set_memory_limit(int64_t{256} << 20);
          attributes->mutable_locality();
          attributes->set_incarnation(device.incarnation);
          attributes->set_xla_global_id(-1);
        }
        return absl::OkStatus();
      });
}

void Worker::CreateWorkerSession(RpcCall& call) {
  pb::CreateWorkerSessionRequest request;
  absl::Status status = DecodeMessage(call.request(), &request);
  if (status.ok()) status = AddSession(request);
  if (!status.ok()) return call.Finish(status, grpc::ByteBuffer());
  const std::shared_ptr<void> ended = AnswerWhenFree(call);
  for (const int64_t step_id : request.unwanted_step()) EndPart(step_id, ended);
  if (request.master_task().empty()) return;
  // Those of a master that was killed.
  const auto is_former = [&request](const WorkerSession& session) {
    return session.master == request.master_task() &&
           session.master_incarnation != request.master_incarnation();
  };
  EndSessions(is_former, ended);
}

absl::Status Worker::AddSession(const pb::CreateWorkerSessionRequest& request) {
  SLUICE_RETURN_IF_ERROR(LearnAddress(request));
  SessionOptions options = options_;
  options.job = JobName(request.server_def().default_session_config(), request.session_handle());
  options.devices = request.isolate_session_state() ? DeviceSet::WithOwnState(*devices_) : devices_;
  auto session = std::make_shared<WorkerSession>(request, std::move(options));
  std::lock_guard<std::mutex> lock(mutex_);
  sessions_.emplace(request.session_handle(), std::move(session));
  return absl::OkStatus();
}

// Where the session's master is: a task that came later, or came back elsewhere, tells it.
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

void Worker::DeleteWorkerSession(RpcCall& call) {
  Answer<pb::DeleteWorkerSessionRequest, pb::DeleteWorkerSessionResponse>(
      call, [this](const auto& request, auto*) -> absl::Status {
        const auto is_meant = [&request](const WorkerSession& session) {
          return session.handle == request.session_handle();
        };
        EndSessions(is_meant, nullptr);
        return absl::OkStatus();
      });
}

void Worker::EndSessions(const std::function<bool(const WorkerSession&)>& which,
                         const std::shared_ptr<void>& ended) {
  std::map<std::string, std::shared_ptr<WorkerSession>> sessions;  // destroyed without the lock
  std::vector<int64_t> steps;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = sessions_.begin(); it != sessions_.end();) {
      const auto next = std::next(it);
      if (which(*it->second)) sessions.insert(sessions_.extract(it));
      it = next;
    }
    for (const auto& [step_id, part] : running_) {
      if (which(*part->session)) steps.push_back(step_id);
    }
  }
  for (const int64_t step_id : steps) EndPart(step_id, ended);
}

// A part that comes later finds that its step was.
void Worker::EndPart(int64_t step_id, const std::shared_ptr<void>& ended) {
  rendezvous_->End(step_id);
  std::shared_ptr<RunningPart> part;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = running_.find(step_id);
    if (it == running_.end()) return;
    part = it->second;
    if (ended != nullptr) part->awaiting.push_back(ended);
  }
  part->cancellation.StartCancel();
}

absl::StatusOr<std::shared_ptr<Worker::WorkerSession>> Worker::Find(const std::string& handle) {
  std::lock_guard<std::mutex> lock(mutex_);
  return FindLocked(handle);
}

absl::StatusOr<std::shared_ptr<Worker::WorkerSession>> Worker::FindLocked(
    const std::string& handle) {
  auto it = sessions_.find(handle);
  if (it != sessions_.end()) return it->second;
  return absl::AbortedError(StrCat("Session handle is not found: ", handle,
                                   ". Possibly this worker (\"", task_, "\") just restarted."));
}

absl::StatusOr<std::string> Worker::Register(const pb::RegisterGraphRequest& request) {
  SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
  auto graph = std::make_shared<Graph>();
  ImportOptions import;
  import.allow_internal_names = true;
  import.ignore_unknown_attrs = true;
  SLUICE_RETURN_IF_ERROR(ImportGraphDef(request.graph_def(), *graph, import).status());
  for (Node* node : graph->nodes()) node->set_assigned_device(node->device());
  auto registered = std::make_shared<RegisteredGraph>();
  std::lock_guard<std::mutex> lock(session->mutex);
  SLUICE_ASSIGN_OR_RETURN(registered->plan, session->executor.Compile(std::move(graph), {}));
  char handle[17];
  std::snprintf(handle, sizeof(handle), "%016llx",
                static_cast<unsigned long long>(session->next_graph++));
  session->graphs.emplace(handle, std::move(registered));
  return std::string(handle);
}

void Worker::RegisterGraph(RpcCall& call) {
  Answer<pb::RegisterGraphRequest, pb::RegisterGraphResponse>(
      call, [this](const auto& request, auto* response) -> absl::Status {
        SLUICE_ASSIGN_OR_RETURN(*response->mutable_graph_handle(), Register(request));
        return absl::OkStatus();
      });
}

void Worker::DeregisterGraph(RpcCall& call) {
  Answer<pb::DeregisterGraphRequest, pb::DeregisterGraphResponse>(
      call, [this](const auto& request, auto*) -> absl::Status {
        SLUICE_ASSIGN_OR_RETURN(auto session, Find(request.session_handle()));
        std::lock_guard<std::mutex> lock(session->mutex);
        if (session->graphs.erase(request.graph_handle()) != 0) return absl::OkStatus();
        return absl::AbortedError(StrCat("Graph handle is not found: ", request.graph_handle(),
                                         ". Possibly, this worker just restarted."));
      });
}

absl::Status Worker::Run(WorkerSession& session, const pb::RunGraphRequest& request,
                         const std::vector<NamedTensor>& feeds, CancellationManager* cancellation,
                         std::vector<NamedTensor>* fetches, pb::RunGraphResponse* response) {
  std::shared_ptr<RegisteredGraph> graph;
  {
    std::lock_guard<std::mutex> lock(session.mutex);
    auto it = session.graphs.find(request.graph_handle());
    if (it != session.graphs.end()) graph = it->second;
  }
  if (graph == nullptr) {
    return absl::AbortedError(StrCat("Graph handle is not found: ", request.graph_handle(),
                                     ". Possibly, this worker just restarted."));
  }
  static MetricCounter parts("sluice_parts_total");
  parts.Add();
  const Plan& plan = graph->plan->plan();
  if (feeds.size() != plan.num_feeds) {
    return InvalidArgument("expected ", plan.num_feeds, " feeds of the part, got ", feeds.size());
  }
  auto found = rendezvous_->Find(request.step_id());
  // A step that has ended before its part began was cancelled.
  if (!found.ok()) return absl::CancelledError(std::string(found.status().message()));
  const std::shared_ptr<StepRendezvous> rendezvous = *std::move(found);
  std::vector<const Tensor*> values;
  for (const NamedTensor& feed : feeds) values.push_back(&feed.value);
  Tensors results(plan.num_fetches);
  RunOptions options;
  options.cancellation = cancellation;
  options.trace = request.exec_opts().record_timeline();
  RunMetadata metadata;
  SLUICE_RETURN_IF_ERROR(session.executor.Run(*graph->plan, values, results.data(),
                                              {request.step_id(), rendezvous.get()}, options,
                                              options.trace ? &metadata : nullptr));
  for (Tensor& result : results) fetches->push_back({"", std::move(result)});
  if (metadata.step_stats != nullptr) {
    StepStatsToProto(*metadata.step_stats, response->mutable_step_stats());
  }
  return absl::OkStatus();
}

// Ends with the call, with the server, with the session, and with the step's CleanupGraph.
absl::Status Worker::RunCancellably(const pb::RunGraphRequest& request,
                                    const std::vector<NamedTensor>& feeds,
                                    CancellationManager& of_call, std::vector<NamedTensor>* fetches,
                                    pb::RunGraphResponse* response) {
  auto part = std::make_shared<RunningPart>(&steps_);
  const LinkedCancellation caller(&of_call, part->cancellation);
  {
    // At once, so that who ends a session sees all of its parts.
    std::lock_guard<std::mutex> lock(mutex_);
    SLUICE_ASSIGN_OR_RETURN(part->session, FindLocked(request.session_handle()));
    running_[request.step_id()] = part;
  }
  absl::Status status = Run(*part->session, request, feeds, &part->cancellation, fetches, response);
  std::vector<std::shared_ptr<void>> awaiting;  // let go without the lock
  {
    std::lock_guard<std::mutex> lock(mutex_);
    running_.erase(request.step_id());
    awaiting.swap(part->awaiting);
  }
  if (!absl::IsCancelled(status) || !steps_.IsCancelled()) return status;
  return absl::CancelledError(StrCat("the server of ", task_, " stops"));
}

void Worker::RunGraph(RpcCall& call) {
  pb::RunGraphRequest request;
  std::vector<NamedTensor> feeds, fetches;
  pb::RunGraphResponse response;
  absl::Status status = TakeMessage(&call.request(), kSend, &request, &feeds);
  if (status.ok())
    status = RunCancellably(request, feeds, call.cancellation(), &fetches, &response);
  AnswerStep(call, request, std::move(status), response, kRecv, fetches);
}

void Worker::CleanupGraph(RpcCall& call) {
  Answer<pb::CleanupGraphRequest, pb::CleanupGraphResponse>(
      call, [this](const auto& request, auto*) -> absl::Status {
        EndPart(request.step_id(), nullptr);
        return absl::OkStatus();
      });
}

void Worker::CleanupAll(RpcCall& call) {
  Answer<pb::CleanupAllRequest, pb::CleanupAllResponse>(
      call, [this](const auto& request, auto*) -> absl::Status {
        devices_->ClearContainers({request.container().begin(), request.container().end()});
        return absl::OkStatus();
      });
}

absl::Status Worker::CheckIncarnation(const std::string& text) const {
  SLUICE_ASSIGN_OR_RETURN(const RendezvousKey key, RendezvousKey::Parse(text));
  const Device* device = devices_->Find(key.src_device);
  if (device == nullptr) {
    return InvalidArgument("RecvTensor: ", task_, " has no device ", key.src_device);
  }
  if (device->incarnation == key.src_incarnation) return absl::OkStatus();
  return absl::AbortedError(
      StrCat("RecvTensor expects a different device incarnation: ", key.src_incarnation, " vs. ",
             device->incarnation, ". Your worker job (\"", task_,
             "\") was probably restarted. Check your worker job for the reason why it was "
             "restarted."));
}

void Worker::RecvTensor(RpcCall& call) {
  pb::RecvTensorRequest request;
  absl::Status status = DecodeMessage(call.request(), &request);
  if (status.ok()) status = CheckIncarnation(request.rendezvous_key());
  absl::StatusOr<std::shared_ptr<StepRendezvous>> step = nullptr;
  if (status.ok()) {
    step = rendezvous_->Find(request.step_id());
    status = step.status();
  }
  if (!status.ok()) return call.Finish(status, grpc::ByteBuffer());
  (*step)->RecvLocalAsync(request.rendezvous_key(), &call.cancellation(),
                          [&call, step = *step](absl::Status received, Tensor value, bool is_dead) {
                            pb::RecvTensorResponse response;
                            response.set_is_dead(is_dead);
                            response.set_send_start_micros(NowMicros());
                            absl::StatusOr<grpc::ByteBuffer> encoded = grpc::ByteBuffer();
                            if (received.ok()) {
                              encoded = EncodeOneTensor(response, std::move(value));
                              received = encoded.status();
                            }
                            call.Finish(received, received.ok() ? *encoded : grpc::ByteBuffer());
                          });
}

void Worker::Logging(RpcCall& call) {
  Answer<pb::LoggingRequest, pb::LoggingResponse>(
      call, [](const auto&, auto*) { return absl::OkStatus(); });
}

void Worker::Tracing(RpcCall& call) {
  call.Finish(absl::UnimplementedError("Tracing"), grpc::ByteBuffer());
}

}  // namespace sluice

#include "distributed/master/cluster_tasks.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "distributed/master/task_clock.h"
#include "distributed/message/device_attributes.h"
#include "distributed/message/service_methods.h"
#include "distributed/message/tensor_message.h"
#include "distributed/message/tensor_response.h"
#include "distributed/proto/worker.pb.h"
#include "executor/partition/partition.h"
#include "executor/trace/step_stats_proto.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/error_group.h"
#include "graph/build/device_spec.h"
#include "graph/format/graph_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr TensorField kSend{pb::RunGraphRequest::kSendFieldNumber, TensorField::kNamed};
constexpr TensorField kRecv{pb::RunGraphResponse::kRecvFieldNumber, TensorField::kNamed};

// Limit of the wait for a task's reaction to a cancelled step.
constexpr int64_t kCancelMs = 2'000;
// Limit of the wait for a task at the end of a step or session.
constexpr int64_t kCleanupMs = 10'000;
// A task that does not answer within this time counts as not started.
constexpr int64_t kGreetMs = 1'000;

bool MayUse(const TaskName& task, const std::vector<std::string>& filters) {
  if (filters.empty()) return true;
  const absl::StatusOr<DeviceSpec> own = DeviceSpec::Parse(task.ToString());
  return std::any_of(filters.begin(), filters.end(), [&](const std::string& filter) {
    const absl::StatusOr<DeviceSpec> wanted = DeviceSpec::Parse(filter);
    return wanted.ok() && wanted->Matches(*own);
  });
}

// The devices of a task that answered. They get the name that the task has in this cluster.
absl::StatusOr<std::vector<DeviceInfo>> DevicesOf(const std::string& task,
                                                  const absl::StatusOr<grpc::ByteBuffer>& bytes) {
  SLUICE_RETURN_IF_ERROR(bytes.status());
  pb::GetStatusResponse response;
  SLUICE_RETURN_IF_ERROR(DecodeMessage(*bytes, &response));
  std::vector<DeviceInfo> devices;
  SLUICE_RETURN_IF_ERROR(DevicesFromProto(response.device_attributes(), &devices));
  for (DeviceInfo& device : devices) {
    device.name = DeviceOnTask(device.name, task);
    SLUICE_ASSIGN_OR_RETURN(device.spec, DeviceSpec::Parse(device.name));
  }
  return devices;
}

RemoteTasks::PartResult ResultOf(const std::string& task, absl::StatusOr<grpc::ByteBuffer>& bytes,
                                 size_t num_fetches) {
  RemoteTasks::PartResult result;
  pb::RunGraphResponse response;
  std::vector<NamedTensor> fetches;
  absl::Status status = bytes.status();
  if (status.ok()) status = TakeMessage(&*bytes, kRecv, &response, &fetches);
  if (status.ok() && response.status_code() != pb::error::OK) {
    status = absl::Status(static_cast<absl::StatusCode>(response.status_code()),
                          response.status_error_message());
  }
  if (status.ok() && fetches.size() != num_fetches) {
    status = absl::InternalError(
        StrCat("expected ", num_fetches, " results of the step's part, got ", fetches.size()));
  }
  // An error that names a task was received by this part from that task.
  if (NamesTask(status)) status = DerivedError(status);
  result.status = FromTask(task, status);
  for (NamedTensor& fetch : fetches) result.fetches.push_back(std::move(fetch.value));
  if (response.has_step_stats()) result.stats = StepStatsFromProto(response.step_stats());
  return result;
}

}  // namespace

RemoteReceive ReceiveOver(std::shared_ptr<const AddressBook> addresses, RpcClient* client) {
  return [addresses = std::move(addresses), client](
             const std::string& task, int64_t step_id, const std::string& key,
             CancellationManager* cancellation, Rendezvous::Done done) {
    absl::StatusOr<std::string> address = addresses->FindByName(task);
    if (!address.ok()) return done(address.status(), Tensor(), false);
    pb::RecvTensorRequest request;
    request.set_step_id(step_id);
    request.set_rendezvous_key(key);
    client->Start({.address = *std::move(address),
                   .path = WorkerMethod("RecvTensor"),
                   .request = EncodeMessage(request),
                   .cancellation = cancellation,
                   .reconnects = true},  // the sender is up: it has got its part of the step
                  [task, done = std::move(done)](absl::StatusOr<grpc::ByteBuffer>& response) {
                    absl::StatusOr<TensorResponse> taken = TakeTensorResponse(task, response);
                    if (!taken.ok()) return done(taken.status(), Tensor(), false);
                    done(absl::OkStatus(), std::move(taken->value), taken->is_dead);
                  });
  };
}

absl::Status CleanupOthers(const ClusterConnection& connection,
                           const std::vector<std::string>& containers) {
  pb::CleanupAllRequest request;
  for (const std::string& container : containers) request.add_container(container);
  absl::Status first;
  for (const TaskName& task : connection.addresses->tasks()) {
    if (task == connection.task) continue;
    const absl::StatusOr<grpc::ByteBuffer> response =
        connection.client->Run({.address = connection.addresses->Find(task).value_or(""),
                                .path = WorkerMethod("CleanupAll"),
                                .request = EncodeMessage(request),
                                .timeout_ms = kCleanupMs});
    first.Update(FromTask(task.ToString(), response.status()));
  }
  return first;
}

std::shared_ptr<ClusterTasks> ClusterTasks::Connect(const ClusterConnection& connection,
                                                    const Options& options) {
  std::shared_ptr<ClusterTasks> tasks(new ClusterTasks(connection, options));
  std::vector<TaskName> asked;
  for (const TaskName& task : connection.addresses->tasks()) {
    if (task != connection.task && MayUse(task, options.filters)) asked.push_back(task);
  }
  std::vector<RpcClient::Call> calls;
  for (const TaskName& task : asked) {
    calls.push_back(
        tasks->CallOf(task.ToString(), "GetStatus", EncodeMessage(pb::GetStatusRequest())));
    calls.back().timeout_ms = kGreetMs;
  }
  const auto responses = connection.client->RunAll(std::move(calls));
  for (size_t i = 0; i < asked.size(); ++i) {
    const std::string presumed = StrCat(asked[i].ToString(), "/device:CPU:0");
    absl::StatusOr<std::vector<DeviceInfo>> devices = DevicesOf(asked[i].ToString(), responses[i]);
    if (!devices.ok()) devices = {{presumed, *DeviceSpec::Parse(presumed), 0}};
    for (DeviceInfo& device : *devices) tasks->devices_.push_back(std::move(device));
  }
  return tasks;
}

absl::StatusOr<std::vector<DeviceInfo>> ClusterTasks::Join(const std::string& task,
                                                           CancellationManager& cancellation) {
  {
    ScopedLock lock(&mutex_);
    auto it = joined_.find(task);
    if (it != joined_.end()) return it->second;
  }
  CancellationManager waiting(connection_.stopping);
  const LinkedCancellation caller(&cancellation, waiting);
  absl::StatusOr<std::vector<DeviceInfo>> devices = Await(task, waiting);
  if (!devices.ok()) return FromTask(task, devices.status());
  SLUICE_RETURN_IF_ERROR(FromTask(task, MakeWorkerSession(task, waiting)));
  ScopedLock lock(&mutex_);
  return joined_[task] = *std::move(devices);
}

// Returns the devices of a task, which may not have started yet.
absl::StatusOr<std::vector<DeviceInfo>> ClusterTasks::Await(
    const std::string& task, CancellationManager& cancellation) const {
  const auto ask = [&](bool waits) {
    RpcClient::Call call = CallOf(task, "GetStatus", EncodeMessage(pb::GetStatusRequest()));
    call.wait_for_ready = waits;
    call.timeout_ms = waits ? connection_.connect_timeout_ms : kGreetMs;
    call.cancellation = &cancellation;
    return DevicesOf(task, connection_.client->Run(std::move(call)));
  };
  absl::StatusOr<std::vector<DeviceInfo>> devices = ask(true);
  if (!absl::IsDeadlineExceeded(devices.status())) return devices;
  const absl::Status last = ask(false).status();  // has the reason
  return absl::UnavailableError(StrCat("no answer from ", CallOf(task, "", {}).address, " within ",
                                       connection_.connect_timeout_ms, " ms: ", last.message()));
}

absl::Status ClusterTasks::MakeWorkerSession(const std::string& task,
                                             CancellationManager& cancellation) {
  {
    ScopedLock lock(&mutex_);
    asked_.insert(task);
  }
  pb::CreateWorkerSessionRequest request;
  request.set_session_handle(session_);
  request.set_isolate_session_state(options_.config.isolate_session_state());
  pb::ServerDef& server = *request.mutable_server_def();
  *server.mutable_default_session_config() = options_.config;
  SLUICE_RETURN_IF_ERROR(DescribeCluster(task, &server));
  // In a client's own cluster, the names of tasks do not identify the master, but its address does.
  request.set_master_task(connection_.view == nullptr ? connection_.task.ToString()
                                                      : connection_.address);
  request.set_master_incarnation(static_cast<int64_t>(connection_.incarnation));
  const std::vector<int64_t> unwanted = connection_.unwanted->Of(task);
  request.mutable_unwanted_step()->Assign(unwanted.begin(), unwanted.end());
  RpcClient::Call call = CallOf(task, "CreateWorkerSession", EncodeMessage(request));
  call.timeout_ms = connection_.connect_timeout_ms;
  call.cancellation = &cancellation;
  const absl::Status status = connection_.client->Run(std::move(call)).status();
  if (status.ok()) connection_.unwanted->Remove(task, unwanted);
  if (!absl::IsDeadlineExceeded(status)) return status;
  return absl::UnavailableError(StrCat("no new session within ", connection_.connect_timeout_ms,
                                       " ms: steps of an earlier one may not have ended yet"));
}

absl::Status ClusterTasks::DescribeCluster(const std::string& task, pb::ServerDef* server) const {
  if (connection_.view == nullptr) {
    // The present address of this task, which may differ from the cluster spec's.
    ClusterSpec own;
    own.SetAddress(connection_.task, connection_.address);
    *server->mutable_cluster() = own.ToProto();
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(const TaskName name, TaskName::Parse(task));
  *server->mutable_cluster() = connection_.addresses->spec().ToProto();
  server->set_job_name(name.job);
  server->set_task_index(name.index);
  return absl::OkStatus();
}

ClusterTasks::~ClusterTasks() {
  pb::DeleteWorkerSessionRequest request;
  request.set_session_handle(session_);
  for (const std::string& task : asked_) {
    RpcClient::Call call = CallOf(task, "DeleteWorkerSession", EncodeMessage(request));
    call.timeout_ms = kCleanupMs;
    connection_.client->Start(std::move(call), [](absl::StatusOr<grpc::ByteBuffer>&) {});
  }
}

RpcClient::Call ClusterTasks::CallOf(const std::string& task, const char* method,
                                     grpc::ByteBuffer request) const {
  RpcClient::Call call;
  call.address = connection_.addresses->FindByName(task).value_or("");
  call.path = WorkerMethod(method);
  call.request = std::move(request);
  return call;
}

absl::StatusOr<std::string> ClusterTasks::Register(const std::string& task, const Graph& part,
                                                   CancellationManager& cancellation) {
  pb::RegisterGraphRequest request;
  request.set_session_handle(session_);
  request.set_create_worker_session_called(true);
  SLUICE_ASSIGN_OR_RETURN(*request.mutable_graph_def(), ExportGraphDef(part));
  RpcClient::Call call = CallOf(task, "RegisterGraph", EncodeMessage(request));
  call.cancellation = &cancellation;
  const absl::StatusOr<grpc::ByteBuffer> bytes = connection_.client->Run(std::move(call));
  if (!bytes.ok()) return FromTask(task, bytes.status());
  pb::RegisterGraphResponse response;
  SLUICE_RETURN_IF_ERROR(FromTask(task, DecodeMessage(*bytes, &response)));
  return response.graph_handle();
}

void ClusterTasks::Run(PartStep step, CancellationManager* cancellation, Done done) {
  pb::RunGraphRequest request;
  request.set_session_handle(session_);
  request.set_graph_handle(step.handle);
  request.set_step_id(step.step_id);
  request.mutable_exec_opts()->set_record_timeline(step.trace);
  request.set_check_numerics(step.check_numerics);
  request.set_store_errors_in_response_body(true);
  request.set_create_worker_session_called(true);
  std::vector<NamedTensor> feeds;
  for (Tensor& feed : step.feeds) feeds.push_back({"", std::move(feed)});
  absl::StatusOr<grpc::ByteBuffer> encoded = EncodeMessage(request, kSend, feeds);
  if (!encoded.ok()) return done({.status = encoded.status()});
  RpcClient::Call call = CallOf(step.task, "RunGraph", *std::move(encoded));
  auto abandon = std::make_shared<CancellationManager>();
  call.cancellation = abandon.get();
  call.timeout_ms = step.timeout_ms;
  const CancellationManager::Token token = cancellation->NewToken();
  const auto ask = [this, task = step.task, step_id = step.step_id, abandon] {
    connection_.unwanted->Add(task, step_id);
    AskToCancel(task, step_id, abandon);
  };
  const bool is_registered = cancellation->Register(token, ask);
  if (!is_registered) return done({.status = absl::CancelledError("the step was cancelled")});
  const int64_t asked = step.trace ? absl::GetCurrentTimeNanos() : 0;
  connection_.client->Start(
      std::move(call), [task = step.task, step_id = step.step_id, num_fetches = step.num_fetches,
                        unwanted = connection_.unwanted, done = std::move(done), cancellation,
                        token, abandon, asked](absl::StatusOr<grpc::ByteBuffer>& response) {
        const bool was_wanted = cancellation->Deregister(token);
        if (!response.ok()) {
          unwanted->Add(task, step_id);
        } else if (!was_wanted) {
          unwanted->Remove(task, {step_id});
        }
        PartResult result = ResultOf(task, response, num_fetches);
        if (asked != 0) MoveBetween(asked, absl::GetCurrentTimeNanos(), &result.stats);
        done(std::move(result));
      });
}

// Cancels the part, which then ends and responds. If the task does not react, abandons the call.
void ClusterTasks::AskToCancel(const std::string& task, int64_t step_id,
                               std::shared_ptr<CancellationManager> abandon) const {
  pb::CleanupGraphRequest request;
  request.set_step_id(step_id);
  RpcClient::Call call = CallOf(task, "CleanupGraph", EncodeMessage(request));
  call.timeout_ms = kCancelMs;
  connection_.client->Start(
      std::move(call), [abandon = std::move(abandon)](absl::StatusOr<grpc::ByteBuffer>& response) {
        if (!response.ok()) abandon->StartCancel();
      });
}

int64_t ClusterTasks::NewStepId() {
  ScopedLock lock(&mutex_);
  return static_cast<int64_t>(random_() >> 8) | 1;  // below 2^56, never 0
}

std::shared_ptr<Rendezvous> ClusterTasks::RendezvousOf(int64_t step_id) {
  absl::StatusOr<std::shared_ptr<StepRendezvous>> found =
      connection_.rendezvous->Find(step_id, connection_.view);
  return found.ok() ? *found : nullptr;
}

void ClusterTasks::EndStep(int64_t step_id, const std::vector<std::string>& tasks) {
  connection_.rendezvous->End(step_id);
  pb::CleanupGraphRequest request;
  request.set_step_id(step_id);
  for (const std::string& task : tasks) {
    RpcClient::Call call = CallOf(task, "CleanupGraph", EncodeMessage(request));
    call.timeout_ms = kCleanupMs;
    connection_.client->Notify(std::move(call));
  }
}

}  // namespace sluice

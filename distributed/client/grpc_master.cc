#include "distributed/client/grpc_master.h"

#include <map>
#include <set>
#include <utility>

#include "distributed/message/device_attributes.h"
#include "distributed/message/numerics_watch.h"
#include "distributed/message/service_methods.h"
#include "distributed/message/tensor_message.h"
#include "executor/trace/step_stats_proto.h"
#include "graph/format/graph_def.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"

namespace sluice {
namespace {

constexpr std::string_view kScheme = "grpc://";
constexpr TensorField kFeed{pb::RunStepRequest::kFeedFieldNumber, TensorField::kNamed};
constexpr TensorField kFetch{pb::RunStepResponse::kTensorFieldNumber, TensorField::kNamed};
// Limit of the wait for the server at the end of a session.
constexpr int64_t kCloseMs = 10'000;
// The call of a step ends this much later than the step, so that the server can report what the
// step waited for.
constexpr int64_t kTimeoutGraceMs = 2'000;

absl::Status CheckTarget(const std::string& target) {
  if (target.starts_with(kScheme) && target.find(':', kScheme.size()) != std::string::npos) {
    return absl::OkStatus();
  }
  return InvalidArgument("expected a target \"grpc://host:port\", got \"", target, "\"");
}

// The protocol has a way to disable all passes, but not single ones.
absl::Status CheckPasses(const std::set<std::string>& disabled) {
  for (const std::string& name : disabled) {
    if (name == "all") continue;
    return absl::UnimplementedError(
        StrCat("disabled_passes of a remote session: expected only \"all\", got \"", name, "\""));
  }
  return absl::OkStatus();
}

pb::ConfigProto ConfigOf(const RemoteSessionOptions& options) {
  const SessionOptions& session = options.session;
  pb::ConfigProto config;
  config.set_allow_soft_placement(session.allow_soft_placement);
  config.set_log_device_placement(session.log_device_placement);
  config.set_operation_timeout_in_ms(session.operation_timeout_ms);
  config.set_intra_op_parallelism_threads(session.intra_op_threads);
  config.set_inter_op_parallelism_threads(session.inter_op_threads);
  config.set_isolate_session_state(options.isolate_session_state);
  for (const std::string& filter : options.device_filters) config.add_device_filters(filter);
  if (session.disabled_passes.contains("all")) {
    config.mutable_graph_options()->mutable_optimizer_options()->set_opt_level(
        pb::OptimizerOptions::L0);
  }
  return config;
}

// Exports the nodes with ids from `first` on.
absl::StatusOr<pb::GraphDef> NodesFrom(const Graph& graph, int first) {
  SLUICE_ASSIGN_OR_RETURN(pb::GraphDef def, ExportGraphDef(graph));
  int known = 0;
  for (int id = 0; id < first; ++id) known += graph.node(id) != nullptr ? 1 : 0;
  def.mutable_node()->DeleteSubrange(0, known);
  return def;
}

void AddOptions(const RunOptions& options, pb::RunOptions* proto) {
  proto->set_timeout_in_ms(options.timeout_ms);
  if (options.trace) proto->set_trace_level(pb::RunOptions::FULL_TRACE);
  proto->set_output_partition_graphs(options.output_partition_graphs);
  if (options.check_numerics) AddNumericsWatch(*proto);
}

absl::Status TakeMetadata(const pb::RunMetadata& proto, RunMetadata* metadata) {
  if (proto.has_step_stats()) {
    metadata->step_stats =
        std::make_shared<const StepStats>(StepStatsFromProto(proto.step_stats()));
  }
  for (const pb::GraphDef& def : proto.partition_graphs()) {
    auto graph = std::make_shared<Graph>();
    ImportOptions import;
    import.allow_internal_names = true;
    import.ignore_unknown_attrs = true;
    SLUICE_RETURN_IF_ERROR(ImportGraphDef(def, *graph, import).status());
    metadata->partition_graphs.push_back(std::move(graph));
  }
  return absl::OkStatus();
}

// Sets `fetches` to the tensors with these names, which may repeat.
absl::Status TakeFetches(std::vector<NamedTensor> tensors, const std::vector<std::string>& names,
                         Tensor* fetches) {
  std::map<std::string, Tensor> by_name;
  for (NamedTensor& tensor : tensors) by_name[tensor.name] = std::move(tensor.value);
  for (size_t i = 0; i < names.size(); ++i) {
    auto it = by_name.find(names[i]);
    if (it == by_name.end()) {
      return absl::InternalError(StrCat("the server's answer has no tensor '", names[i], "'"));
    }
    fetches[i] = it->second;
  }
  return absl::OkStatus();
}

const bool kRegistered = [] {
  RemoteMaster::RegisterFactory(
      "grpc",
      [](const std::string& target,
         const SessionOptions& options) -> absl::StatusOr<std::shared_ptr<RemoteMaster>> {
        RemoteSessionOptions remote;
        remote.session = options;
        return GrpcMaster::Connect(target, remote);
      });
  return true;
}();

}  // namespace

GrpcMaster::GrpcMaster(std::string target, std::unique_ptr<RpcClient> client)
    : target_(std::move(target)),
      address_(target_.substr(kScheme.size())),
      client_(std::move(client)) {}

absl::StatusOr<grpc::ByteBuffer> GrpcMaster::Send(RpcClient::Call call) {
  call.address = address_;
  absl::StatusOr<grpc::ByteBuffer> response = client_->Run(std::move(call));
  if (absl::IsUnavailable(response.status()) || absl::IsDeadlineExceeded(response.status())) {
    response = Annotate(response.status(), StrCat("the master at ", target_, ": "));
  }
  return response;
}

template <typename Request, typename Response>
absl::Status GrpcMaster::Call(const char* method, const Request& request, Response* response,
                              int64_t timeout_ms, bool wait_for_ready) {
  SLUICE_ASSIGN_OR_RETURN(const grpc::ByteBuffer bytes, Send({.path = MasterMethod(method),
                                                              .request = EncodeMessage(request),
                                                              .timeout_ms = timeout_ms,
                                                              .wait_for_ready = wait_for_ready}));
  return DecodeMessage(bytes, response);
}

absl::StatusOr<std::shared_ptr<GrpcMaster>> GrpcMaster::Connect(
    const std::string& target, const RemoteSessionOptions& options) {
  RpcClient::Options client_options;
  client_options.security = options.security;
  client_options.grpc_message_bytes = options.grpc_message_bytes;
  SLUICE_ASSIGN_OR_RETURN(auto client, RpcClient::Make(client_options));
  return Connect(target, std::move(client), options);
}

absl::StatusOr<std::shared_ptr<GrpcMaster>> GrpcMaster::Connect(
    const std::string& target, std::unique_ptr<RpcClient> client,
    const RemoteSessionOptions& options) {
  SLUICE_RETURN_IF_ERROR(CheckTarget(target));
  SLUICE_RETURN_IF_ERROR(CheckPasses(options.session.disabled_passes));
  std::shared_ptr<GrpcMaster> master(new GrpcMaster(target, std::move(client)));
  pb::CreateSessionRequest request;
  *request.mutable_config() = ConfigOf(options);
  request.set_target(target);
  request.mutable_graph_def()->mutable_versions()->set_producer(kGraphDefVersion);
  pb::CreateSessionResponse response;
  absl::Status status = master->Call("CreateSession", request, &response,
                                     options.connect_timeout_ms, /*wait_for_ready=*/true);
  if (absl::IsDeadlineExceeded(status)) {
    status = absl::UnavailableError(
        StrCat("the master at ", target, ": no session within ", options.connect_timeout_ms,
               " ms; it, or a task of its cluster that the session may use, does not answer"));
  }
  SLUICE_RETURN_IF_ERROR(status);
  master->session_ = response.session_handle();
  master->graph_version_ = response.graph_version();
  return master;
}

GrpcMaster::~GrpcMaster() { Close().IgnoreError(); }

absl::Status GrpcMaster::Close() {
  {
    ScopedLock lock(&mutex_);
    if (std::exchange(closed_, true) || session_.empty()) return absl::OkStatus();
  }
  pb::CloseSessionRequest request;
  request.set_session_handle(session_);
  pb::CloseSessionResponse response;
  return Call("CloseSession", request, &response, kCloseMs);
}

absl::Status GrpcMaster::Update(const Graph& graph) {
  if (graph.num_node_ids() == known_nodes_) return absl::OkStatus();
  pb::ExtendSessionRequest request;
  request.set_session_handle(session_);
  request.set_current_graph_version(graph_version_);
  SLUICE_ASSIGN_OR_RETURN(*request.mutable_graph_def(), NodesFrom(graph, known_nodes_));
  const size_t size = request.ByteSizeLong();
  SLUICE_INVALID_IF(size > INT32_MAX, "a graph of ", size,
                    " bytes: a message has at most 2147483647");
  pb::ExtendSessionResponse response;
  SLUICE_RETURN_IF_ERROR(Call("ExtendSession", request, &response));
  graph_version_ = response.new_graph_version();
  known_nodes_ = graph.num_node_ids();
  return absl::OkStatus();
}

absl::Status GrpcMaster::Run(const Names& names, absl::Span<const Tensor* const> feeds,
                             Tensor* fetches, const RunOptions& options, RunMetadata* metadata,
                             const std::string& partial_run) {
  pb::RunStepRequest request;
  request.set_session_handle(session_);
  std::set<std::string_view> requested;
  for (const std::string& fetch : names.fetches) {
    if (requested.insert(fetch).second) request.add_fetch(fetch);
  }
  for (const std::string& target : names.targets) request.add_target(target);
  request.set_partial_run_handle(partial_run);
  request.set_store_errors_in_response_body(true);
  AddOptions(options, request.mutable_options());
  {
    ScopedLock lock(&mutex_);
    request.set_request_id(static_cast<int64_t>(random_() >> 1) | 1);
  }
  std::vector<NamedTensor> fed;
  for (size_t i = 0; i < feeds.size(); ++i) fed.push_back({names.feeds[i], *feeds[i]});
  RpcClient::Call call;
  call.path = MasterMethod("RunStep");
  SLUICE_ASSIGN_OR_RETURN(call.request, EncodeMessage(request, kFeed, fed));
  call.cancellation = options.cancellation;
  if (options.timeout_ms > 0) {
    call.timeout_ms = SaturatedSum(options.timeout_ms, kTimeoutGraceMs);
  }

  absl::StatusOr<grpc::ByteBuffer> bytes = Send(std::move(call));
  SLUICE_RETURN_IF_ERROR(bytes.status());
  pb::RunStepResponse response;
  std::vector<NamedTensor> tensors;
  SLUICE_RETURN_IF_ERROR(TakeMessage(&*bytes, kFetch, &response, &tensors));
  if (response.status_code() != pb::error::OK) {
    return absl::Status(static_cast<absl::StatusCode>(response.status_code()),
                        response.status_error_message());
  }
  if (metadata != nullptr) SLUICE_RETURN_IF_ERROR(TakeMetadata(response.metadata(), metadata));
  return TakeFetches(std::move(tensors), names.fetches, fetches);
}

absl::StatusOr<std::string> GrpcMaster::SetUpPartialRun(const Names& names) {
  pb::PartialRunSetupRequest request;
  request.set_session_handle(session_);
  for (const std::string& feed : names.feeds) request.add_feed(feed);
  for (const std::string& fetch : names.fetches) request.add_fetch(fetch);
  for (const std::string& target : names.targets) request.add_target(target);
  pb::PartialRunSetupResponse response;
  SLUICE_RETURN_IF_ERROR(Call("PartialRunSetup", request, &response));
  return response.partial_run_handle();
}

absl::StatusOr<std::vector<DeviceInfo>> GrpcMaster::ListDevices() {
  pb::ListDevicesRequest request;
  request.set_session_handle(session_);
  pb::ListDevicesResponse response;
  SLUICE_RETURN_IF_ERROR(Call("ListDevices", request, &response));
  std::vector<DeviceInfo> devices;
  for (const auto* list : {&response.local_device(), &response.remote_device()}) {
    SLUICE_RETURN_IF_ERROR(DevicesFromProto(*list, &devices));
  }
  return devices;
}

absl::Status GrpcMaster::Reset(const std::string& target,
                               const std::vector<std::string>& containers,
                               const Security& security) {
  SLUICE_RETURN_IF_ERROR(CheckTarget(target));
  SLUICE_ASSIGN_OR_RETURN(auto client, RpcClient::Make({.security = security}));
  pb::ResetRequest request;
  for (const std::string& container : containers) request.add_container(container);
  pb::ResetResponse response;
  return GrpcMaster(target, std::move(client)).Call("Reset", request, &response);
}

}  // namespace sluice

#include "distributed/server/server.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <random>
#include <utility>

#include "absl/strings/numbers.h"
#include "distributed/message/bytes.h"
#include "distributed/message/counters.h"
#include "distributed/message/service_methods.h"
#include "executor/device/pool_allocator.h"
#include "executor/trace/metrics.h"
#include "executor/wait/stalls.h"
#include "graph/status.h"

namespace sluice {
namespace {

bool IsLoopback(std::string_view host) {
  return host.starts_with("127.") || host == "localhost" || host == "::1" || host == "[::1]";
}

absl::Status CheckAddress(const ServerOptions& options) {
  if (options.insecure || options.security.uses_tls() || IsLoopback(options.bind)) {
    return absl::OkStatus();
  }
  return InvalidArgument(
      "listening on '", options.bind,
      "' without TLS accepts every client that reaches it: name a certificate, or "
      "say --insecure where the network is trusted");
}

absl::StatusOr<int> PortOf(const ServerOptions& options) {
  if (options.port >= 0) return options.port;
  SLUICE_ASSIGN_OR_RETURN(const std::string address,
                          options.cluster.spec.Address(options.cluster.task));
  int port;
  if (absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port) && port >= 0) return port;
  return InvalidArgument("cluster: address '", address, "' has no port");
}

double ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE));
}

// Returns the metrics of this process in Prometheus' text format. `task` is the server's.
std::string ProcessMetrics(const std::string& task) {
  std::vector<Metric> metrics = Metrics::Global().ReadAll();
  const auto add = [&](const char* name, double value) {
    metrics.push_back({name, "", "", value});
  };
  const std::string stalls = Stalls::AllToString();
  const WireCounters& wire = WireCounters::Global();
  metrics.push_back({"sluice_task_info", "task", task, 1});
  add("sluice_waiting_ops", static_cast<double>(std::count(stalls.begin(), stalls.end(), '\n')));
  add("sluice_tensor_sent_bytes_total", static_cast<double>(wire.sent.load()));
  add("sluice_tensor_received_bytes_total", static_cast<double>(wire.received.load()));
  add("sluice_resident_memory_bytes", ResidentBytes());
  add("sluice_pool_memory_bytes", static_cast<double>(PoolAllocator::Global().SystemBytes()));
  return Metrics::ToText(metrics);
}

RpcMethod TextMethod(const char* path, std::function<std::string()> text) {
  return {path, [text = std::move(text)](RpcCall& call) { call.Finish(BytesOf(text())); }};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options) {
  if (options.cluster.spec.jobs().empty()) {
    options.cluster.task = {"localhost", 0};
    options.cluster.spec.SetAddress(options.cluster.task,
                                    StrCat(options.bind, ":", std::max(options.port, 0)));
  }
  SLUICE_RETURN_IF_ERROR(CheckAddress(options));
  std::unique_ptr<Server> server(new Server(std::move(options)));
  SLUICE_RETURN_IF_ERROR(server->Init());
  return server;
}

absl::Status Server::Init() {
  const Cluster& cluster = options_.cluster;
  const std::string task = cluster.task.ToString();
  SLUICE_ASSIGN_OR_RETURN(const std::string address, cluster.spec.Address(cluster.task));
  devices_ = DeviceSet::Cpus(options_.cpus, task);
  SLUICE_ASSIGN_OR_RETURN(client_, RpcClient::Make({options_.security, options_.heartbeat,
                                                    options_.lanes, options_.grpc_message_bytes}));
  addresses_ = std::make_unique<AddressBook>(cluster.spec);
  rendezvous_ =
      std::make_unique<StepRendezvousTable>(task, ReceiveOver(addresses_.get(), client_.get()));
  connection_ = {.task = cluster.task,
                 .address = address,
                 .addresses = addresses_.get(),
                 .client = client_.get(),
                 .rendezvous = rendezvous_.get(),
                 .stopping = &stopping_,
                 .connect_timeout_ms = options_.connect_timeout_ms,
                 .incarnation = devices_->device(0).incarnation};
  worker_ = std::make_unique<Worker>(task, devices_, rendezvous_.get(), addresses_.get(),
                                     options_.session);
  const bool is_alone = cluster.spec.tasks().size() == 1;
  master_ = std::make_unique<Master>(
      MasterOptions{task, devices_, options_.session, is_alone ? nullptr : &connection_});
  SLUICE_ASSIGN_OR_RETURN(auto collectives, Collectives::Of(devices_->device(0).resources));
  collectives_ =
      std::make_unique<CollectiveService>(cluster, client_.get(), std::move(collectives));
  return StartRpc(address);
}

absl::Status Server::StartRpc(const std::string& address) {
  const Security& security = options_.security;
  SLUICE_ASSIGN_OR_RETURN(const int port, PortOf(options_));
  RpcServer::Options rpc;
  rpc.address = StrCat(options_.bind, ":", port);
  SLUICE_ASSIGN_OR_RETURN(rpc.credentials, ServerCredentials(security));
  rpc.token = security.token;
  rpc.lanes = options_.lanes && !security.uses_tls();
  rpc.lane_addresses = {address};
  rpc.max_message_bytes = options_.max_message_bytes;
  rpc.grpc_message_bytes = options_.grpc_message_bytes;
  const auto metrics = [task = options_.cluster.task.ToString()] { return ProcessMetrics(task); };
  std::vector<RpcMethod> methods = {announcements_.Method(),
                                    TextMethod(kStallsMethod, &Stalls::AllToString),
                                    TextMethod(kMetricsMethod, metrics)};
  for (std::vector<RpcMethod> of_service :
       {master_->Methods(), worker_->Methods(), collectives_->Methods()}) {
    for (RpcMethod& method : of_service) methods.push_back(std::move(method));
  }
  SLUICE_ASSIGN_OR_RETURN(rpc_, RpcServer::Start(rpc, std::move(methods)));
  if (options_.metrics_port < 0) return absl::OkStatus();
  MetricsPage::Options page;
  page.bind = options_.bind == "localhost" ? "127.0.0.1" : options_.bind;
  page.port = options_.metrics_port;
  page.token = security.token;
  SLUICE_ASSIGN_OR_RETURN(metrics_, MetricsPage::Start(page, metrics));
  return absl::OkStatus();
}

std::string Server::target() const { return StrCat("grpc://", options_.bind, ":", port()); }

absl::StatusOr<std::unique_ptr<Session>> Server::NewSession(
    Graph& graph, SessionOptions options, const std::vector<std::string>& filters) {
  options.devices = devices_;
  if (options_.cluster.spec.tasks().size() > 1) {
    std::random_device random;
    ClusterTasks::Options tasks;
    tasks.session = StrCat(target(), "/", random(), random());
    tasks.filters = filters;
    options.remote_tasks = ClusterTasks::Connect(connection_, tasks);
  }
  return std::make_unique<Session>(graph, std::move(options));
}

std::unique_ptr<TaskWatch> Server::Watch(const TaskName& task, TaskWatch::Handlers handlers) {
  return std::make_unique<TaskWatch>(task, addresses_.get(), client_.get(), std::move(handlers));
}

void Server::Stop() {
  stopping_.StartCancel();
  announcements_.Stop();
  master_->CloseSessions();
  worker_->CancelSteps();
  collectives_->Stop();
  rpc_->Stop();
  MutexLock lock(&mutex_);
  stopped_ = true;
  stopped_changed_.NotifyAll();
}

void Server::Join() {
  MutexLock lock(&mutex_);
  while (!stopped_) stopped_changed_.Wait(&mutex_);
}

Server::~Server() {
  if (rpc_ != nullptr) Stop();
}

}  // namespace sluice

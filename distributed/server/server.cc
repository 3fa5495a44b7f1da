#include "distributed/server/server.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/numbers.h"
#include "distributed/server/process_metrics.h"
#include "executor/wait/stalls.h"
#include "graph/status.h"
#include "grpcpp/support/slice.h"

namespace sluice {
namespace {

bool IsLoopback(std::string_view host) {
  return host.starts_with("127.") || host == "localhost" || host == "::1" || host == "[::1]";
}

absl::Status CheckAddress(const ServerOptions& options) {
  if (options.insecure || options.security.uses_tls() || IsLoopback(options.bind)) {
    return absl::OkStatus();
  }
  return InvalidArgument("listening on '", options.bind,
                         "' without TLS lets everyone in who reaches it: name a certificate, or "
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

void Tell(RpcCall& call, const std::string& text) {
  grpc::Slice slice(text);
  call.Finish(absl::OkStatus(), grpc::ByteBuffer(&slice, 1));
}

// Of the whole process.
void TellStalls(RpcCall& call) { Tell(call, Stalls::AllToString()); }

}  // namespace

Server::Server(ServerOptions options) : options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options) {
  if (options.cluster.spec.jobs().empty()) {
    options.cluster.task = {"localhost", 0};
    options.cluster.spec.SetAddress(options.cluster.task,
                                    StrCat(options.bind, ":", std::max(options.port, 0)));
  }
  SLUICE_RETURN_IF_ERROR(options.cluster.spec.Address(options.cluster.task).status());
  SLUICE_RETURN_IF_ERROR(CheckAddress(options));
  SLUICE_ASSIGN_OR_RETURN(const int port, PortOf(options));
  const std::string task = options.cluster.task.ToString();

  std::unique_ptr<Server> server(new Server(std::move(options)));
  server->devices_ = DeviceSet::Cpus(server->options_.cpus, task);
  const Security& security = server->options_.security;
  SLUICE_ASSIGN_OR_RETURN(server->client_,
                          RpcClient::Make(RpcClient::Options{security, server->options_.heartbeat,
                                                             server->options_.lanes,
                                                             server->options_.grpc_message_bytes}));
  const Cluster& cluster = server->options_.cluster;
  server->addresses_ = std::make_unique<AddressBook>(cluster.spec);
  server->rendezvous_ = std::make_unique<StepRendezvousTable>(
      task, ReceiveOver(server->addresses_.get(), server->client_.get()));
  SLUICE_ASSIGN_OR_RETURN(const std::string address, cluster.spec.Address(cluster.task));
  server->connection_ = {cluster.task,
                         address,
                         server->addresses_.get(),
                         server->client_.get(),
                         server->rendezvous_.get(),
                         &server->stopping_,
                         server->options_.connect_timeout_ms,
                         server->devices_->device(0).incarnation};
  const bool is_alone = server->options_.cluster.spec.tasks().size() == 1;
  server->worker_ = std::make_unique<Worker>(task, server->devices_, server->rendezvous_.get(),
                                             server->addresses_.get(), server->options_.session);
  server->master_ = std::make_unique<Master>(MasterOptions{
      task, server->devices_, server->options_.session, is_alone ? nullptr : &server->connection_});
  std::shared_ptr<Collectives> collectives;
  SLUICE_ASSIGN_OR_RETURN(collectives, server->devices_->device(0).resources.Lookup<Collectives>(
                                           Collectives::kContainer, Collectives::kName));
  server->collectives_ = std::make_unique<CollectiveService>(
      server->options_.cluster, server->client_.get(), std::move(collectives));
  RpcServer::Options rpc;
  rpc.address = StrCat(server->options_.bind, ":", port);
  SLUICE_ASSIGN_OR_RETURN(rpc.credentials, ServerCredentials(security));
  rpc.token = security.token;
  rpc.lanes = server->options_.lanes && !security.uses_tls();
  rpc.lane_addresses = {address};
  rpc.max_message_bytes = server->options_.max_message_bytes;
  rpc.grpc_message_bytes = server->options_.grpc_message_bytes;
  std::vector<RpcMethod> methods = server->master_->Methods();
  for (RpcMethod& method : server->worker_->Methods()) methods.push_back(std::move(method));
  methods.push_back({"/sluice.Monitor/Stalls", TellStalls});
  for (RpcMethod& method : server->collectives_->Methods()) methods.push_back(std::move(method));
  methods.push_back(server->announcements_.Method());
  const auto metrics = [task] { return ProcessMetrics(task); };
  methods.push_back(
      {"/sluice.Monitor/Metrics", [metrics](RpcCall& call) { Tell(call, metrics()); }});
  SLUICE_ASSIGN_OR_RETURN(server->rpc_, RpcServer::Start(rpc, std::move(methods)));
  if (server->options_.metrics_port >= 0) {
    MetricsPage::Options page;
    page.bind = server->options_.bind == "localhost" ? "127.0.0.1" : server->options_.bind;
    page.port = server->options_.metrics_port;
    page.token = security.token;
    SLUICE_ASSIGN_OR_RETURN(server->metrics_, MetricsPage::Start(page, metrics));
  }
  return server;
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
  std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
  stopped_changed_.notify_all();
}

void Server::Join() {
  std::unique_lock<std::mutex> lock(mutex_);
  stopped_changed_.wait(lock, [this] { return stopped_; });
}

Server::~Server() {
  if (rpc_ != nullptr) Stop();
}

}  // namespace sluice

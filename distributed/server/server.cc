#include "distributed/server/server.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <random>
#include <utility>

#include "absl/strings/numbers.h"
#include "distributed/cluster/address_book.h"
#include "distributed/collective/collective_service.h"
#include "distributed/master/master.h"
#include "distributed/message/bytes.h"
#include "distributed/message/counters.h"
#include "distributed/message/service_methods.h"
#include "distributed/rendezvous/step_rendezvous.h"
#include "distributed/rpc/rpc_client.h"
#include "distributed/rpc/rpc_server.h"
#include "distributed/server/announcements.h"
#include "distributed/server/metrics_page.h"
#include "distributed/server/watchdog.h"
#include "distributed/worker/worker.h"
#include "executor/device/memory_account.h"
#include "executor/device/pool_allocator.h"
#include "executor/device/unused_memory.h"
#include "executor/trace/metrics.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/stalls.h"
#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {
namespace {

// A server that accepts no connection within this time counts as stuck.
constexpr std::chrono::seconds kAcceptTime(5);

bool IsLoopback(std::string_view host) {
  return host.starts_with("127.") || host == "localhost" || host == "::1" || host == "[::1]";
}

// Rejects a bind address at which every client could connect. Callers must send `token`, if any.
absl::Status CheckAddress(const ServerOptions& options, const std::string& bind,
                          const std::string& token, bool checks_clients) {
  if (options.insecure || IsLoopback(bind)) return absl::OkStatus();
  if (!options.security.uses_tls()) {
    return InvalidArgument(
        "listening on '", bind,
        "' without TLS accepts every client that reaches it: name a certificate, or "
        "say --insecure if the network is trusted");
  }
  if (checks_clients || !token.empty()) return absl::OkStatus();
  return InvalidArgument("listening on '", bind,
                         "' with TLS but without client certificates or a token accepts every "
                         "client that reaches it: set --tls_ca or a token, or say --insecure if "
                         "the network is trusted");
}

const std::string& MetricsToken(const ServerOptions& options) {
  return options.metrics_token.empty() ? options.security.token : options.metrics_token;
}

absl::Status CheckAddresses(const ServerOptions& options) {
  SLUICE_RETURN_IF_ERROR(CheckAddress(options, options.bind, options.security.token,
                                      !options.security.ca_file.empty()));
  if (options.metrics_port < 0) return absl::OkStatus();
  return CheckAddress(options, options.metrics_bind, MetricsToken(options), false);
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

// Appends metrics of clients' sessions. Their label is the session's number and its client's
// connection.
void AddSessions(const std::vector<SessionInfo>& sessions, std::vector<Metric>* metrics) {
  const auto add = [&](const char* name, auto value_of) {
    for (const SessionInfo& session : sessions) {
      metrics->push_back({name, "session", StrCat(session.number, "@", session.client),
                          static_cast<double>(value_of(session))});
    }
  };
  metrics->push_back({"sluice_sessions", "", "", static_cast<double>(sessions.size())});
  add("sluice_session_age_seconds", [](const SessionInfo& s) { return s.age.count() / 1000; });
  add("sluice_session_connected", [](const SessionInfo& s) { return s.is_connected ? 1 : 0; });
  add("sluice_session_graph_bytes", [](const SessionInfo& s) { return s.graph_bytes; });
  add("sluice_session_memory_bytes", [](const SessionInfo& s) { return s.memory_bytes; });
  add("sluice_session_idle_seconds", [](const SessionInfo& s) { return s.idle.count() / 1000; });
  add("sluice_session_running_calls", [](const SessionInfo& s) { return s.running; });
}

// Returns the metrics of this process and of the server of `task` in Prometheus' text format.
std::string MetricsText(const std::string& task, Master& master, RpcServer& rpc,
                        bool is_accepting) {
  std::vector<Metric> metrics = Metrics::Global().ReadAll();
  const auto add = [&](const char* name, double value) {
    metrics.push_back({name, "", "", value});
  };
  const Connections::Counts connections = rpc.connections().counts();
  add("sluice_accepting_connections", is_accepting ? 1 : 0);
  add("sluice_connections", connections.open);
  add("sluice_connections_limit", rpc.connections().max());
  add("sluice_connections_accepted_total", static_cast<double>(connections.accepted));
  add("sluice_connections_refused_total", static_cast<double>(connections.refused));
  AddSessions(master.Sessions(), &metrics);
  const std::string stalls = Stalls::AllToString();
  const WireCounters& wire = WireCounters::Global();
  metrics.push_back({"sluice_task_info", "task", task, 1});
  add("sluice_waiting_ops", static_cast<double>(std::count(stalls.begin(), stalls.end(), '\n')));
  add("sluice_tensor_sent_bytes_total", static_cast<double>(wire.sent.load()));
  add("sluice_tensor_received_bytes_total", static_cast<double>(wire.received.load()));
  add("sluice_resident_memory_bytes", ResidentBytes());
  const PoolAllocator& pool = PoolAllocator::Global();
  add("sluice_pool_memory_bytes", static_cast<double>(pool.SystemBytes()));
  add("sluice_tensor_memory_bytes", static_cast<double>(pool.LimitedBytes()));
  add("sluice_tensor_memory_limit_bytes", static_cast<double>(pool.Limit()));
  return Metrics::ToText(metrics);
}

RpcMethod TextMethod(const char* path, std::function<std::string()> text) {
  return {path, [text = std::move(text)](RpcCall& call) { call.Finish(BytesOf(text())); }};
}

}  // namespace

// The parts of a server. Members are destroyed in reverse order, so each part before those that it
// uses.
struct Server::Services {
  explicit Services(ServerOptions o) : options(std::move(o)) {}
  ~Services() {
    if (rpc != nullptr) Stop();
  }
  absl::Status Start();
  absl::Status StartRpc(const std::string& address);
  void Stop();

  const ServerOptions options;
  std::shared_ptr<DeviceSet> devices;
  std::shared_ptr<AddressBook> addresses;
  CancellationManager stopping;  // cancels waiting for other tasks
  std::unique_ptr<RpcClient> client;
  std::unique_ptr<StepRendezvousTable> rendezvous;
  ClusterConnection connection;
  std::unique_ptr<CollectiveService> collectives;
  std::unique_ptr<Worker> worker;
  std::unique_ptr<Master> master;
  Announcements announcements;
  std::unique_ptr<RpcServer> rpc;
  UnusedMemory unused_memory;  // used by the watchdog's thread
  std::unique_ptr<Watchdog> watchdog;
  std::unique_ptr<MetricsPage> metrics;  // null: none
  std::atomic<bool> drains{false};
  Mutex mutex;
  CondVar stopped_changed;
  bool stopped ABSL_GUARDED_BY(mutex) = false;
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options) {
  if (options.cluster.spec.jobs().empty()) {
    options.cluster.task = {"localhost", 0};
    options.cluster.spec.SetAddress(options.cluster.task,
                                    StrCat(options.bind, ":", std::max(options.port, 0)));
  }
  SLUICE_RETURN_IF_ERROR(CheckAddresses(options));
  auto services = std::make_unique<Services>(std::move(options));
  SLUICE_RETURN_IF_ERROR(services->Start());
  return std::unique_ptr<Server>(new Server(std::move(services)));
}

Server::Server(std::unique_ptr<Services> services) : services_(std::move(services)) {}
Server::~Server() = default;

absl::Status Server::Services::Start() {
  const Cluster& cluster = options.cluster;
  const std::string task = cluster.task.ToString();
  SLUICE_ASSIGN_OR_RETURN(const std::string address, cluster.spec.Address(cluster.task));
  devices = DeviceSet::Cpus(options.cpus, task);
  if (options.memory_bytes > 0) PoolAllocator::Global().SetLimit(options.memory_bytes);
  SLUICE_ASSIGN_OR_RETURN(client, RpcClient::Make({options.security, options.heartbeat,
                                                   options.lanes, options.grpc_message_bytes}));
  addresses = std::make_shared<AddressBook>(cluster.spec);
  const auto receive_from = [client = client.get()](std::shared_ptr<const AddressBook> book) {
    return ReceiveOver(std::move(book), client);
  };
  rendezvous = std::make_unique<StepRendezvousTable>(task, receive_from(addresses));
  connection = {.task = cluster.task,
                .address = address,
                .addresses = addresses,
                .client = client.get(),
                .rendezvous = rendezvous.get(),
                .stopping = &stopping,
                .connect_timeout_ms = options.connect_timeout_ms,
                .incarnation = devices->device(0).incarnation};
  worker = std::make_unique<Worker>(task, devices, rendezvous.get(), addresses.get(), receive_from,
                                    options.session, options.session_memory_bytes);
  master = std::make_unique<Master>(
      MasterOptions{task, devices, options.session, &connection, options.session_limits,
                    options.session_memory_bytes,
                    [this](const std::string& client) { return rpc->IsConnected(client); }});
  SLUICE_ASSIGN_OR_RETURN(auto device_collectives, Collectives::Of(*devices->device(0).resources));
  collectives =
      std::make_unique<CollectiveService>(cluster, client.get(), std::move(device_collectives));
  return StartRpc(address);
}

absl::Status Server::Services::StartRpc(const std::string& address) {
  const Security& security = options.security;
  SLUICE_ASSIGN_OR_RETURN(const int port, PortOf(options));
  RpcServer::Options server;
  server.address = StrCat(options.bind, ":", port);
  SLUICE_ASSIGN_OR_RETURN(server.credentials, ServerCredentials(security));
  server.token = security.token;
  server.lanes = options.lanes && !security.uses_tls();
  server.lane_addresses = {address};
  server.max_message_bytes = options.max_message_bytes;
  server.grpc_message_bytes = options.grpc_message_bytes;
  server.max_connections = options.max_connections;
  const auto metrics_text = [this, task = options.cluster.task.ToString()] {
    return MetricsText(task, *master, *rpc, watchdog->accepting().ok());
  };
  std::vector<RpcMethod> methods = {announcements.Method(),
                                    TextMethod(kStallsMethod, &Stalls::AllToString),
                                    TextMethod(kMetricsMethod, metrics_text)};
  for (std::vector<RpcMethod> of_service :
       {master->Methods(), worker->Methods(), collectives->Methods()}) {
    for (RpcMethod& method : of_service) methods.push_back(std::move(method));
  }
  SLUICE_ASSIGN_OR_RETURN(rpc, RpcServer::Make(server, std::move(methods)));
  const Watchdog::Duties duties{[this] { return rpc->connections().CheckAccepting(kAcceptTime); },
                                [this] {
                                  master->CloseExpiredSessions();
                                  worker->EndLostSessions(
                                      options.session_limits.lost,
                                      [this](const std::string& c) { return rpc->IsConnected(c); });
                                },
                                [this] { unused_memory.Return(); }};
  SLUICE_ASSIGN_OR_RETURN(
      watchdog, Watchdog::Start(std::chrono::milliseconds(options.watch_interval_ms), duties));
  SLUICE_RETURN_IF_ERROR(rpc->Accept());
  if (options.metrics_port < 0) return absl::OkStatus();
  MetricsPage::Options page;
  page.http.bind = options.metrics_bind == "localhost" ? "127.0.0.1" : options.metrics_bind;
  page.http.port = options.metrics_port;
  page.http.token = MetricsToken(options);
  SLUICE_ASSIGN_OR_RETURN(page.http.certificate, ReadPem(security.cert_file));
  SLUICE_ASSIGN_OR_RETURN(page.http.key, ReadPem(security.key_file));
  page.live = [this] { return watchdog->accepting(); };
  page.ready = [this]() -> absl::Status {
    if (drains.load()) return absl::UnavailableError("the server stops");
    return watchdog->accepting();
  };
  SLUICE_ASSIGN_OR_RETURN(metrics, MetricsPage::Start(page, metrics_text));
  return absl::OkStatus();
}

int Server::port() const { return services_->rpc->port(); }

int Server::metrics_port() const {
  return services_->metrics == nullptr ? -1 : services_->metrics->port();
}

DeviceSet& Server::devices() const { return *services_->devices; }

void Server::Announce() { services_->announcements.Announce(); }

std::string Server::target() const {
  return StrCat("grpc://", services_->options.bind, ":", port());
}

absl::StatusOr<std::unique_ptr<Session>> Server::NewSession(
    Graph& graph, SessionOptions options, const std::vector<std::string>& filters) {
  options.devices = services_->devices;
  if (services_->options.cluster.spec.tasks().size() > 1) {
    std::random_device random;
    ClusterTasks::Options tasks;
    tasks.session = StrCat(target(), "/", random(), random());
    tasks.filters = filters;
    options.remote_tasks = ClusterTasks::Connect(services_->connection, tasks);
  }
  return std::make_unique<Session>(graph, std::move(options));
}

std::unique_ptr<TaskWatch> Server::Watch(const TaskName& task, TaskWatch::Handlers handlers) {
  return std::make_unique<TaskWatch>(task, services_->addresses.get(), services_->client.get(),
                                     std::move(handlers));
}

void Server::Stop() { services_->Stop(); }

void Server::Drain(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  services_->drains.store(true);
  services_->rpc->StopServing();
  services_->master->Drain();
  services_->master->AwaitSteps(deadline);
}

void Server::Services::Stop() {
  if (watchdog != nullptr) watchdog->Stop();
  stopping.StartCancel();
  announcements.Stop();
  master->CloseSessions();
  worker->CancelSteps();
  collectives->Stop();
  rpc->Stop();
  ScopedLock lock(&mutex);
  stopped = true;
  stopped_changed.NotifyAll();
}

void Server::Join() {
  ScopedLock lock(&services_->mutex);
  while (!services_->stopped) services_->stopped_changed.Wait(&services_->mutex);
}

}  // namespace sluice

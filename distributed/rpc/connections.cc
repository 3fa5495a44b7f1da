#include "distributed/rpc/connections.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "distributed/events/event_log.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr int kBacklog = 4096;
// A listener that can accept nothing, not even with the reserve, is tried again after this time.
constexpr int kRetryMs = 100;

int DefaultMax() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 384;
  const rlim_t files = std::min<rlim_t>(limit.rlim_cur, rlim_t{1} << 17);
  return std::max(8, static_cast<int>(files / 8 * 3));
}

// The socket's address or its peer's, as gRPC writes it. "" for other kinds of sockets.
std::string AddressOf(int fd, decltype(getpeername) get) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (get(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
    return StrCat("ipv4:", text, ":", ntohs(v4.sin_port));
  }
  if (address.ss_family != AF_INET6) return "";
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    inet_ntop(AF_INET, v6.sin6_addr.s6_addr + 12, text, sizeof(text));
    return StrCat("ipv4:", text, ":", ntohs(v6.sin6_port));
  }
  inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
  const std::string scope = v6.sin6_scope_id == 0 ? "" : StrCat("%25", v6.sin6_scope_id);
  return StrCat("ipv6:%5B", text, scope, "%5D:", ntohs(v6.sin6_port));
}

int PortOf(int fd) {
  const std::string address = AddressOf(fd, getsockname);
  return std::atoi(address.c_str() + address.rfind(':') + 1);
}

// The bytes that the socket has received so far.
int64_t ReceivedBytes(int fd) {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return static_cast<int64_t>(info.tcpi_bytes_received);
}

// An event that was fetched before its connection was closed may be handled after a new connection
// has got the descriptor. Its serial differs.
bool Watch(int epoll, int operation, int fd, uint32_t events, uint32_t serial = 0) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = uint64_t{serial} << 32 | static_cast<uint32_t>(fd);
  return epoll_ctl(epoll, operation, fd, &event) == 0;
}

// A socket that listens at the address, or -1.
int ListeningSocket(const addrinfo& address, uint16_t port) {
  const int fd = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const int on = 1, off = 0;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));  // inherited by connections
  sockaddr_storage bound = {};
  std::memcpy(&bound, address.ai_addr, address.ai_addrlen);
  if (address.ai_family == AF_INET6) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(bound);
    if (port != 0) v6.sin6_port = htons(port);
    const bool is_any = IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr);
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, is_any ? &off : &on, sizeof(on));
  } else if (port != 0) {
    reinterpret_cast<sockaddr_in&>(bound).sin_port = htons(port);
  }
  if (bind(fd, reinterpret_cast<sockaddr*>(&bound), address.ai_addrlen) == 0 &&
      listen(fd, kBacklog) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

}  // namespace

Connections::Connections(const Options& options)
    : max_(options.max > 0 ? options.max : DefaultMax()),
      max_stranger_bytes_(options.max_stranger_bytes),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      reserve_(open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

absl::StatusOr<std::unique_ptr<Connections>> Connections::Listen(const Options& options) {
  std::unique_ptr<Connections> connections(new Connections(options));
  const size_t colon = options.address.rfind(':');
  SLUICE_INVALID_IF(colon == std::string::npos, "expected \"host:port\", got \"", options.address,
                    "\"");
  std::string host = options.address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string port = options.address.substr(colon + 1);
  // getaddrinfo would take a larger number modulo 65536.
  int number;
  SLUICE_INVALID_IF(!absl::SimpleAtoi(port, &number) || number < 0 || number > UINT16_MAX,
                    "expected a port from 0 to 65535, got \"", port, "\"");
  // All IPv4 addresses: those of IPv6 too, if the host has any.
  absl::Status status = absl::UnavailableError("");
  if (host == "0.0.0.0") status = connections->ListenAt("::", port);
  if (!status.ok()) status = connections->ListenAt(host, port);
  if (!status.ok()) return status;
  if (!Watch(connections->epoll_, EPOLL_CTL_ADD, connections->wake_, EPOLLIN)) {
    return absl::UnavailableError("cannot listen: no descriptor is left");
  }
  return connections;
}

absl::Status Connections::ListenAt(const std::string& host, const std::string& port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const absl::Status failed = absl::UnavailableError(StrCat("cannot listen on ", host, ":", port));
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return failed;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    const int fd = ListeningSocket(*address, static_cast<uint16_t>(port_));
    if (fd < 0) continue;
    listeners_.push_back(fd);
    if (port_ == 0) port_ = PortOf(fd);
  }
  freeaddrinfo(found);
  return listeners_.empty() ? failed : absl::OkStatus();
}

Connections::~Connections() {
  Stop();
  ScopedLock lock(&mutex_);
  for (const auto& [serial, accepted] : waiting_) close(accepted.fd);
  for (const auto& [fd, connection] : connections_) close(fd);
  for (const int fd : {epoll_, wake_, reserve_}) {
    if (fd >= 0) close(fd);
  }
}

absl::Status Connections::Start(std::function<void(int fd)> take,
                                std::function<bool()> has_untaken) {
  take_ = std::move(take);
  has_untaken_ = std::move(has_untaken);
  for (const int fd : listeners_) Watch(epoll_, EPOLL_CTL_ADD, fd, EPOLLIN);
  SLUICE_ASSIGN_OR_RETURN(hands_over_,
                          Thread::Start("hand over", ThreadUse::kProcess, [this] { HandOver(); }));
  SLUICE_ASSIGN_OR_RETURN(accepts_,
                          Thread::Start("connections", ThreadUse::kProcess, [this] { Run(); }));
  return absl::OkStatus();
}

void Connections::Stop() {
  if (!stops_.exchange(true)) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
    accepts_.Join();
    {
      ScopedLock lock(&mutex_);
      has_waiting_.NotifyAll();
      RefuseHandedOver();
    }
    hands_over_.Join();
    for (const int fd : listeners_) close(fd);
  }
}

void Connections::Run() {
  epoll_event events[64];
  while (!stops_.load()) {
    const int count = epoll_wait(epoll_, events, 64, -1);
    for (int i = 0; i < count && !stops_.load(); ++i) {
      const int fd = static_cast<int>(events[i].data.u64 & UINT32_MAX);
      if (std::find(listeners_.begin(), listeners_.end(), fd) != listeners_.end()) {
        Accept(fd);
      } else if (fd != wake_) {
        Happened(fd, static_cast<uint32_t>(events[i].data.u64 >> 32), events[i].events);
      }
      LogEvents();
    }
  }
}

void Connections::HandOver() {
  ScopedLock lock(&mutex_);
  while (!stops_.load()) {
    if (waiting_.empty()) {
      has_waiting_.Wait(&mutex_);
      continue;
    }
    const Accepted next = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    if (next.is_probe) {
      probes_.erase(next.client);
      probed_.NotifyAll();
      close(next.fd);
      continue;
    }
    handed_over_ = next.client;
    lock.Unlock();
    take_(next.fd);
    lock.Lock();
    handed_over_.clear();
  }
}

void Connections::LogEvents() {
  std::vector<std::pair<const char*, EventFields>> events;
  {
    ScopedLock lock(&mutex_);
    events.swap(unlogged_);
  }
  for (const auto& [event, fields] : events) LogEvent(LogLevel::kWarning, event, fields);
}

void Connections::Accept(int listener) {
  const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) return Admit(fd);
  if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
    AcceptWithReserve(listener);
  }
}

void Connections::AcceptWithReserve(int listener) {
  LogEvent(LogLevel::kError, "no_descriptor_left", {{"error", std::strerror(errno)}});
  if (reserve_ >= 0) close(reserve_);
  const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) close(fd);
  reserve_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    ScopedLock lock(&mutex_);
    ++refused_;
    MakeRoom();
  }
  if (fd >= 0) return;
  // Not even the reserve helps, and the listener stays readable. Only time can help.
  pollfd stop = {wake_, POLLIN, 0};
  poll(&stop, 1, kRetryMs);
}

void Connections::Admit(int fd) {
  const std::string client = AddressOf(fd, getpeername);
  ScopedLock lock(&mutex_);
  ++accepted_;
  ++last_serial_;
  const bool is_probe = probes_.contains(client);
  if (!is_probe && !Add(fd, client)) {
    ++refused_;
    unlogged_.push_back(
        {"connection_refused", {{"client", client}, {"open", StrCat(connections_.size())}}});
    close(fd);
    return;
  }
  waiting_[last_serial_] = {fd, client, is_probe};
  has_waiting_.NotifyAll();
}

bool Connections::Add(int fd, const std::string& client) {
  if (static_cast<int>(connections_.size()) >= max_ && !MakeRoom()) return false;
  const int watched = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (watched < 0) return false;
  if (!Watch(epoll_, EPOLL_CTL_ADD, watched, EPOLLIN | EPOLLRDHUP | EPOLLET, last_serial_)) {
    close(watched);
    return false;
  }
  Connection& connection = connections_[watched];
  connection.fd = watched;
  connection.serial = last_serial_;
  connection.client = client;
  connection.accepted = connection.last_used = std::chrono::steady_clock::now();
  fds_[client] = watched;
  return true;
}

Connections::Connection* Connections::Find(int fd, uint32_t serial) {
  const auto it = connections_.find(fd);
  return it == connections_.end() || it->second.serial != serial ? nullptr : &it->second;
}

void Connections::Happened(int fd, uint32_t serial, uint32_t events) {
  {
    ScopedLock lock(&mutex_);
    Connection* const connection = Find(fd, serial);
    if (connection == nullptr) return;
    if ((events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0) return Forget(*connection);
    if (!connection->is_stranger) return;
    const int64_t bytes = ReceivedBytes(fd);
    stranger_bytes_ += bytes - connection->bytes;
    connection->bytes = bytes;
    if (!IsTooMuch(*connection, kBytesBeforeCall)) return LimitStrangers();
  }
  // Asked after the bytes were counted: a client sends so much only after gRPC has read the headers
  // of its call, which is then untaken or has arrived.
  const bool has_untaken = has_untaken_ && has_untaken_();
  ScopedLock lock(&mutex_);
  Connection* const connection = Find(fd, serial);
  if (connection == nullptr) return;
  if (IsTooMuch(*connection, has_untaken ? kBytesBeforeTaken : kBytesBeforeCall)) {
    return Refuse(*connection, "too many bytes before its first call");
  }
  LimitStrangers();
}

bool Connections::IsTooMuch(const Connection& connection, int64_t most) {
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::steady_clock::now() - connection.accepted);
  most += kBytesBeforeCallPerSecond * age.count();
  return connection.number == 0 && connection.bytes > most;
}

void Connections::LimitStrangers() {
  while (stranger_bytes_ > max_stranger_bytes_) {
    const auto most = std::max_element(connections_.begin(), connections_.end(),
                                       [](const auto& a, const auto& b) {
                                         return (a.second.is_stranger ? a.second.bytes : -1) <
                                                (b.second.is_stranger ? b.second.bytes : -1);
                                       });
    if (most == connections_.end() || !most->second.is_stranger) return;
    Refuse(most->second, "too many bytes of connections without a call");
  }
}

bool Connections::MakeRoom() {
  const Connection* victim = nullptr;
  const auto rank = [](const Connection& c) { return std::pair(!c.is_stranger, c.last_used); };
  for (const auto& [fd, connection] : connections_) {
    if (connection.open_calls > 0) continue;
    if (victim == nullptr || rank(connection) < rank(*victim)) victim = &connection;
  }
  if (victim == nullptr) return false;
  Refuse(*victim, "too many connections");
  return true;
}

void Connections::Refuse(const Connection& connection, const char* why) {
  unlogged_.push_back(
      {"connection_closed",
       {{"client", connection.client}, {"why", why}, {"bytes", StrCat(connection.bytes)}}});
  ++refused_;
  shutdown(connection.fd, SHUT_RDWR);  // gRPC then closes its descriptor
  // Without this, gRPC would first read megabytes that the socket holds.
  while (recv(connection.fd, nullptr, INT32_MAX, MSG_TRUNC | MSG_DONTWAIT) > 0) {
  }
  Forget(connection);
}

void Connections::RefuseHandedOver() {
  const auto it = fds_.find(handed_over_);
  if (it != fds_.end()) Refuse(connections_[it->second], "kept others from being accepted");
}

void Connections::Forget(const Connection& connection) {
  if (const auto it = waiting_.find(connection.serial); it != waiting_.end()) {
    close(it->second.fd);
    waiting_.erase(it);
  }
  if (connection.is_stranger) stranger_bytes_ -= connection.bytes;
  const int fd = connection.fd;
  if (const auto it = fds_.find(connection.client); it != fds_.end() && it->second == fd) {
    fds_.erase(it);
  }
  if (FindByNumber(connection.number) == &connection) fds_by_number_.erase(connection.number);
  connections_.erase(fd);
  // gRPC's descriptor keeps the socket open, and an open socket stays in epoll_ after close.
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
  close(fd);
}

void Connections::WatchEndOf(const Connection& connection) const {
  Watch(epoll_, EPOLL_CTL_MOD, connection.fd, EPOLLRDHUP | EPOLLET, connection.serial);
}

void Connections::CallArrives(const std::string& client, uint64_t number) {
  ScopedLock lock(&mutex_);
  const auto it = fds_.find(client);
  if (it == fds_.end()) return;
  Connection& connection = connections_[it->second];
  if (connection.number == number) return;
  // Connections to two addresses of this host may come from one port of the client, and so have one
  // name.
  fds_by_number_.erase(connection.number);
  connection.number = number;
  fds_by_number_[number] = it->second;
}

const Connections::Connection* Connections::FindByNumber(uint64_t number) const {
  const auto fd = fds_by_number_.find(number);
  if (fd == fds_by_number_.end()) return nullptr;
  const auto found = connections_.find(fd->second);
  return found != connections_.end() && found->second.number == number ? &found->second : nullptr;
}

bool Connections::IsStranger(uint64_t number) {
  ScopedLock lock(&mutex_);
  const Connection* const connection = FindByNumber(number);
  return connection == nullptr || connection->is_stranger;
}

void Connections::Close(uint64_t number, const char* why) {
  ScopedLock lock(&mutex_);
  if (const Connection* const connection = FindByNumber(number)) Refuse(*connection, why);
}

void Connections::CallBegins(const std::string& client) {
  ScopedLock lock(&mutex_);
  const auto it = fds_.find(client);
  if (it == fds_.end()) return;
  Connection& connection = connections_[it->second];
  ++connection.open_calls;
  if (!std::exchange(connection.is_stranger, false)) return;
  stranger_bytes_ -= connection.bytes;
  WatchEndOf(connection);
}

void Connections::CallEnds(const std::string& client) {
  ScopedLock lock(&mutex_);
  const auto it = fds_.find(client);
  if (it == fds_.end()) return;
  Connection& connection = connections_[it->second];
  connection.open_calls = std::max(0, connection.open_calls - 1);
  connection.last_used = std::chrono::steady_clock::now();
}

bool Connections::IsConnected(const std::string& client) {
  ScopedLock lock(&mutex_);
  return fds_.contains(client);
}

Connections::Counts Connections::counts() {
  ScopedLock lock(&mutex_);
  return {static_cast<int>(connections_.size()), accepted_, refused_};
}

absl::Status Connections::CheckAccepting(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  const absl::Status failed = absl::UnavailableError(
      StrCat("the server accepted no connection within ", limit.count(), " ms"));
  if (listeners_.empty() ||
      getsockname(listeners_[0], reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return failed;
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address);
  if (address.ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr)) {
    // The listener takes IPv4 too, and the host may have no IPv6.
    sockaddr_in v4 = {};
    v4.sin_family = AF_INET;
    v4.sin_port = v6->sin6_port;
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size = sizeof(v4);
    std::memcpy(&address, &v4, size);
  }
  const int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return absl::UnavailableError(StrCat("no connection: ", std::strerror(errno)));
  std::string probe;
  ScopedLock lock(&mutex_);  // so that the probe is known when it is accepted
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0 || errno == EINPROGRESS) {
    probe = AddressOf(fd, getsockname);
    probes_.insert(probe);
  }
  while (!probe.empty() && probes_.contains(probe) && probed_.WaitUntil(&mutex_, deadline)) {
  }
  const bool accepted = !probe.empty() && probes_.erase(probe) == 0;
  if (!accepted) RefuseHandedOver();
  close(fd);
  return accepted ? absl::OkStatus() : failed;
}

}  // namespace sluice

#include "distributed/rpc/connections.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>

#include "distributed/events/event_log.h"
#include "gmock/gmock.h"
#include "graph/mutex.h"
#include "graph/strings.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::seconds kLong(20);

// A client's socket.
class Client {
 public:
  explicit Client(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    socklen_t size = sizeof(address);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    name_ = StrCat("ipv4:127.0.0.1:", ntohs(address.sin_port));
  }
  ~Client() { Close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  void Send(size_t bytes) {
    const std::string text(bytes, 'x');
    EXPECT_EQ(write(fd_, text.data(), bytes), static_cast<ssize_t>(bytes));
  }
  // Sends bytes that are read from `server`, the server's end. False if the connection is closed.
  bool SendTo(int server, int64_t bytes) {
    char block[16 << 10] = {};
    for (int64_t unread = 0; bytes > 0; bytes -= sizeof(block)) {
      unread = send(fd_, block, sizeof(block), MSG_NOSIGNAL);
      while (unread > 0) {
        pollfd input = {server, POLLIN, 0};
        poll(&input, 1, -1);
        const ssize_t count = recv(server, block, sizeof(block), 0);
        if (count <= 0) return false;
        unread -= count;
      }
      if (unread < 0) return false;
    }
    return true;
  }
  // Blocks until the server has closed the connection.
  bool IsClosed() {
    char byte;
    return read(fd_, &byte, 1) <= 0;
  }
  const std::string& name() const { return name_; }

 private:
  int fd_;
  std::string name_;
};

// Takes connections as gRPC does, and closes each when its peer does, or when the test ends.
class ConnectionsTest : public ::testing::Test {
 protected:
  void Listen(Connections::Options options, const std::string& address = "127.0.0.1:0") {
    options.address = address;
    auto connections = Connections::Listen(options);
    ASSERT_TRUE(connections.ok()) << connections.status();
    connections_ = *std::move(connections);
    const auto take = [this](int fd) {
      ScopedLock lock(&mutex_);
      taken_.push_back(fd);
      changed_.NotifyAll();
      while (takes_no_more_) changed_.Wait(&mutex_);
    };
    const absl::Status started = connections_->Start(take, [this] { return has_untaken_.load(); });
    ASSERT_TRUE(started.ok()) << started;
  }
  // Returns the next connection that was taken.
  int Take() {
    ScopedLock lock(&mutex_);
    const auto deadline = std::chrono::steady_clock::now() + kLong;
    while (taken_.empty() && changed_.WaitUntil(&mutex_, deadline)) {
    }
    if (taken_.empty()) return -1;
    const int fd = taken_.front();
    taken_.pop_front();
    return fd;
  }
  // While true, the next hand-over does not return.
  void SetTakesNoMore(bool value) {
    ScopedLock lock(&mutex_);
    takes_no_more_ = value;
    changed_.NotifyAll();
  }
  // Waits until the events of all connections so far have been handled.
  void Settle() {
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(connections_->CheckAccepting(kLong).ok());
  }

  Mutex mutex_;
  CondVar changed_;
  std::deque<int> taken_ ABSL_GUARDED_BY(mutex_);
  bool takes_no_more_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> has_untaken_{false};  // the answer to Connections' question for rule 3
  std::unique_ptr<Connections> connections_;
};

TEST_F(ConnectionsTest, KnowsWhichClientsAreConnected) {
  Listen({});
  Client client(connections_->port());
  const int fd = Take();
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(connections_->IsConnected(client.name()));
  EXPECT_EQ(connections_->counts().open, 1);
  client.Close();
  Settle();
  EXPECT_FALSE(connections_->IsConnected(client.name()));
  EXPECT_EQ(connections_->counts().open, 0);
  close(fd);
}

TEST_F(ConnectionsTest, AnAddressThatIsTakenIsAnError) {
  Listen({});
  const auto second = Connections::Listen({.address = StrCat("127.0.0.1:", connections_->port())});
  EXPECT_TRUE(absl::IsUnavailable(second.status()));
  EXPECT_THAT(second.status().message(), HasSubstr("cannot listen on 127.0.0.1:"));
  EXPECT_TRUE(absl::IsUnavailable(Connections::Listen({.address = "no.such.host.:1"}).status()));
  // Port 70000 became port 4464.
  for (const char* port : {"70000", "-1", "x", ""}) {
    EXPECT_EQ(
        Connections::Listen({.address = StrCat("127.0.0.1:", port)}).status(),
        absl::InvalidArgumentError(StrCat("expected a port from 0 to 65535, got \"", port, "\"")));
  }
}

TEST_F(ConnectionsTest, ListensAtAllAddresses) {
  Listen({}, "0.0.0.0:0");
  Client client(connections_->port());
  EXPECT_GE(Take(), 0);
  EXPECT_TRUE(connections_->IsConnected(client.name()));
}

TEST_F(ConnectionsTest, OneMoreThanTheLimitReplacesTheOldestStranger) {
  Listen({.max = 3});
  Client working(connections_->port()), idle(connections_->port()), stranger(connections_->port());
  for (int i = 0; i < 3; ++i) ASSERT_GE(Take(), 0);
  connections_->CallBegins(working.name());
  connections_->CallBegins(idle.name());
  connections_->CallEnds(idle.name());
  Client second(connections_->port());
  ASSERT_GE(Take(), 0);
  EXPECT_TRUE(stranger.IsClosed());
  connections_->CallBegins(second.name());
  // No stranger is left: the connection without a call is closed.
  Client third(connections_->port());
  ASSERT_GE(Take(), 0);
  EXPECT_TRUE(idle.IsClosed());
  connections_->CallBegins(third.name());
  // All have calls: the new one is closed.
  Client fourth(connections_->port());
  EXPECT_TRUE(fourth.IsClosed());
  EXPECT_EQ(connections_->counts().open, 3);
  EXPECT_EQ(connections_->counts().refused, 3);
  EXPECT_TRUE(connections_->IsConnected(working.name()));
}

TEST_F(ConnectionsTest, StrangersMaySendSoMuchTogether) {
  Listen({.max_stranger_bytes = 1000});
  Client first(connections_->port()), second(connections_->port());
  ASSERT_GE(Take(), 0);
  ASSERT_GE(Take(), 0);
  connections_->CallBegins(second.name());
  second.Send(5000);  // not limited: its connection has a call
  first.Send(900);
  Client third(connections_->port());
  ASSERT_GE(Take(), 0);
  third.Send(200);
  EXPECT_TRUE(first.IsClosed());  // the stranger that sent most
  EXPECT_TRUE(connections_->IsConnected(second.name()));
  EXPECT_TRUE(connections_->IsConnected(third.name()));
}

TEST_F(ConnectionsTest, AConnectionMaySendSoMuchBeforeItsFirstCall) {
  Listen({});
  Client calls(connections_->port());
  const int calling = Take();
  connections_->CallArrives(calls.name(), /*number=*/7);
  EXPECT_TRUE(calls.SendTo(calling, Connections::kBytesBeforeCall * 2));
  Client asks_for_health(connections_->port());
  EXPECT_TRUE(asks_for_health.SendTo(Take(), Connections::kBytesBeforeCall));
  Client stranger(connections_->port());
  EXPECT_FALSE(stranger.SendTo(Take(), int64_t{1} << 30));
  Settle();
  EXPECT_TRUE(connections_->IsConnected(calls.name()));
  EXPECT_TRUE(connections_->IsConnected(asks_for_health.name()));
  EXPECT_FALSE(connections_->IsConnected(stranger.name()));
}

// A client's first message of some megabytes was taken for a flood if the server was busy.
TEST_F(ConnectionsTest, TheFirstMessageMayBeLongWhileItsCallIsNotTaken) {
  Listen({});
  has_untaken_ = true;
  Client client(connections_->port());
  const int server = Take();
  EXPECT_TRUE(client.SendTo(server, Connections::kBytesBeforeTaken / 2));
  Settle();
  connections_->CallArrives(client.name(), 1);
  has_untaken_ = false;
  EXPECT_TRUE(client.SendTo(server, Connections::kBytesBeforeTaken));
  Settle();
  EXPECT_TRUE(connections_->IsConnected(client.name()));
  has_untaken_ = true;
  Client stranger(connections_->port());
  EXPECT_FALSE(stranger.SendTo(Take(), int64_t{1} << 30));
  Settle();
  EXPECT_FALSE(connections_->IsConnected(stranger.name()));
}

TEST_F(ConnectionsTest, AConnectionIsAStrangerBeforeItsFirstMessage) {
  Listen({});
  Client client(connections_->port());
  ASSERT_GE(Take(), 0);
  EXPECT_TRUE(connections_->IsStranger(1));  // unknown
  connections_->CallArrives(client.name(), 1);
  EXPECT_TRUE(connections_->IsStranger(1));
  connections_->CallBegins(client.name());
  EXPECT_FALSE(connections_->IsStranger(1));
  connections_->CallEnds(client.name());
  EXPECT_FALSE(connections_->IsStranger(1));
  connections_->Close(1, "test");
  EXPECT_TRUE(connections_->IsStranger(1));
}

// Two connections of one host may have the same name, if they lead to two addresses of the server.
TEST_F(ConnectionsTest, ANumberThatAnotherOneReplacesNamesNoConnection) {
  Listen({.max = 1});
  Client client(connections_->port());
  ASSERT_GE(Take(), 0);
  connections_->CallArrives(client.name(), 1);
  connections_->CallArrives(client.name(), 2);
  connections_->CallBegins(client.name());
  EXPECT_TRUE(connections_->IsStranger(1));
  EXPECT_FALSE(connections_->IsStranger(2));
  connections_->Close(1, "test");
  EXPECT_TRUE(connections_->IsConnected(client.name()));
  connections_->CallEnds(client.name());
  client.Close();
  Settle();
  EXPECT_TRUE(connections_->IsStranger(1));
  EXPECT_EQ(connections_->counts().open, 0);
}

TEST_F(ConnectionsTest, ClosesTheConnectionWithANumber) {
  Listen({});
  Client first(connections_->port()), second(connections_->port());
  const int fd = Take();
  ASSERT_GE(fd, 0);
  ASSERT_GE(Take(), 0);
  connections_->CallArrives(first.name(), 1);
  connections_->CallArrives(second.name(), 2);
  first.Send(1000);
  Settle();
  connections_->Close(1, "test");
  connections_->Close(3, "test");  // there is none
  EXPECT_TRUE(first.IsClosed());
  char byte;
  EXPECT_EQ(recv(fd, &byte, 1, 0), 0);  // what the client sent is discarded
  EXPECT_FALSE(connections_->IsConnected(first.name()));
  EXPECT_TRUE(connections_->IsConnected(second.name()));
  EXPECT_EQ(connections_->counts().refused, 1);
}

// The new connection gets the descriptor of the one that it replaces. The end of that one was
// reported before, and a client was then taken for lost.
TEST_F(ConnectionsTest, TheEndOfAReplacedConnectionIsNotThatOfItsSuccessor) {
  Listen({.max = 1});
  // The thread that accepts stands still at its first event for the log.
  bool has_logged = false, goes_on = false;
  SetEventLog({.sink = [&](const std::string&) {
    ScopedLock lock(&mutex_);
    has_logged = true;
    changed_.NotifyAll();
    while (!goes_on) changed_.Wait(&mutex_);
  }});
  Client replaced(connections_->port());
  Client first(connections_->port());
  ASSERT_TRUE(replaced.IsClosed());
  {
    ScopedLock lock(&mutex_);
    while (!has_logged) changed_.Wait(&mutex_);
  }
  Client second(connections_->port());
  first.Close();
  {  // both events arrive at once, that of the listener first
    ScopedLock lock(&mutex_);
    goes_on = true;
    changed_.NotifyAll();
  }
  Settle();
  EXPECT_TRUE(connections_->IsConnected(second.name()));
  EXPECT_EQ(connections_->counts().open, 1);
  connections_.reset();
  SetEventLog({});
}

// gRPC reads on the thread that hands a connection over, as long as the client sends.
TEST_F(ConnectionsTest, LimitsAStrangerThatIsStillBeingHandedOver) {
  Listen({.max_stranger_bytes = 1000});
  SetTakesNoMore(true);
  Client client(connections_->port());
  ASSERT_GE(Take(), 0);
  client.Send(5000);
  EXPECT_TRUE(client.IsClosed());
  EXPECT_EQ(connections_->counts().refused, 1);
  SetTakesNoMore(false);
}

TEST_F(ConnectionsTest, ClosesAConnectionWhoseHandOverDoesNotEnd) {
  Listen({});
  SetTakesNoMore(true);
  Client client(connections_->port());
  ASSERT_GE(Take(), 0);
  Client waiting(connections_->port());
  EXPECT_EQ(connections_->CheckAccepting(std::chrono::milliseconds(20)).message(),
            "the server accepted no connection within 20 ms");
  EXPECT_TRUE(client.IsClosed());
  SetTakesNoMore(false);
  EXPECT_GE(Take(), 0);
  Settle();
  EXPECT_TRUE(connections_->IsConnected(waiting.name()));
}

TEST_F(ConnectionsTest, ForgetsClientsThatLeaveBeforeTheyAreHandedOver) {
  Listen({});
  SetTakesNoMore(true);
  Client client(connections_->port());
  const int fd = Take();
  ASSERT_GE(fd, 0);
  { Client left(connections_->port()); }
  Client waiting(connections_->port());
  SetTakesNoMore(false);
  const int next = Take();
  Settle();
  EXPECT_TRUE(connections_->IsConnected(waiting.name()));
  EXPECT_EQ(connections_->counts().open, 2);
  close(fd);
  close(next);
}

// gRPC's own listener accepts nothing any more once descriptors were exhausted.
TEST_F(ConnectionsTest, AcceptsAgainWhenDescriptorsAreFree) {
  Listen({.max = 100});
  Client before(connections_->port());
  ASSERT_GE(Take(), 0);
  connections_->CallBegins(before.name());
  rlimit saved;
  getrlimit(RLIMIT_NOFILE, &saved);
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  // A client's own descriptor is the last one that is free.
  rlimit none = saved;
  none.rlim_cur = static_cast<rlim_t>(next) + 1;
  close(next);
  setrlimit(RLIMIT_NOFILE, &none);
  {
    Client refused(connections_->port());
    EXPECT_TRUE(refused.IsClosed());
  }
  setrlimit(RLIMIT_NOFILE, &saved);
  Client after(connections_->port());
  EXPECT_GE(Take(), 0);
  EXPECT_GE(connections_->counts().refused, 1);
  EXPECT_TRUE(connections_->IsConnected(before.name()));
}

TEST_F(ConnectionsTest, ReportsThatNothingIsAccepted) {
  auto idle = Connections::Listen({.address = "127.0.0.1:0"});
  ASSERT_TRUE(idle.ok());
  EXPECT_EQ((*idle)->CheckAccepting(std::chrono::milliseconds(20)).message(),
            "the server accepted no connection within 20 ms");
  Listen({});
  EXPECT_TRUE(connections_->CheckAccepting(kLong).ok());
  EXPECT_EQ(connections_->counts().open, 0);
}

}  // namespace
}  // namespace sluice

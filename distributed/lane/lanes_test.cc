// Tests calls of a LaneClient to a LaneServer.
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <thread>

#include "distributed/lane/lane_client.h"
#include "distributed/lane/lane_server.h"
#include "distributed/lane/lane_socket.h"
#include "distributed/message/bytes.h"
#include "distributed/message/counters.h"
#include "distributed/testing/rpc_methods.h"
#include "executor/device/pool_allocator.h"
#include "executor/step/outbox.h"
#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "graph/strings.h"
#include "graph/tensor/buffer.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// A listener that lets the test act as the server of a lane.
class LaneByHand {
 public:
  LaneByHand() : address_(StrCat("by-hand:", getpid())), listener_(ListenLane(address_)) {
    EXPECT_GE(listener_, 0);
  }
  ~LaneByHand() { close(listener_); }
  const std::string& address() const { return address_; }
  std::unique_ptr<LaneSocket> Accept() {
    return std::make_unique<LaneSocket>(accept(listener_, nullptr, nullptr));
  }
  // Accepts a client. Returns the frames that arrive with the end of its greeting, such as calls.
  static std::vector<LaneFrame> Welcome(LaneSocket& socket) {
    std::vector<LaneFrame> frames;
    std::string token;
    EXPECT_TRUE(socket.Receive(&frames) && socket.TakeGreeting(frames[0].text, &token));
    socket.Send({.kind = LaneFrame::kWelcome, .text = LaneSocket::Greeting("")});
    frames.clear();
    EXPECT_TRUE(socket.Receive(&frames) && frames[0].kind == LaneFrame::kReady);
    return frames;
  }

 private:
  const std::string address_;
  const int listener_;
};

class LanesTest : public ::testing::Test {
 protected:
  void Start(std::vector<RpcMethod> methods, int64_t max_message_bytes = INT32_MAX) {
    methods_ = std::move(methods);
    methods_.push_back(Echo());
    server_ = std::make_unique<LaneServer>(methods_, "word", max_message_bytes);
    const std::string address = NewAddress();
    server_->ListenAt(address);
    MakeClient(address, "word");
    AwaitLane();
  }
  static std::string NewAddress() {
    static int next = 0;
    return StrCat("lanes_test:", getpid(), ":", next++);
  }
  void MakeClient(const std::string& address, const std::string& token,
                  const Heartbeat& heartbeat = {}) {
    address_ = address;
    client_ = std::make_unique<LaneClient>(token, heartbeat);
  }
  // Waits until calls go over the lane.
  void AwaitLane() {
    std::string response;
    while (Call("/a.B/Echo", "", &response).code() == absl::StatusCode::kNotFound) {
    }
  }
  // Returns NOT_FOUND if there is no lane.
  absl::Status Call(const std::string& path, const std::string& request, std::string* response,
                    CancellationManager* cancellation = nullptr, int64_t timeout_ms = 0) {
    std::promise<absl::Status> ended;
    LaneClient::Done done = [&](const absl::StatusOr<grpc::ByteBuffer>& result) {
      if (result.ok()) *response = TextOf(*result);
      ended.set_value(result.status());
    };
    if (!client_->Start(address_, path, BytesOf(request), cancellation, timeout_ms, done)) {
      return absl::NotFoundError("no lane");
    }
    return ended.get_future().get();
  }

  std::vector<RpcMethod> methods_;
  std::unique_ptr<LaneServer> server_;
  std::string address_;
  std::unique_ptr<LaneClient> client_;
};

TEST_F(LanesTest, AnswersByPath) {
  Start({Fails()});
  std::string response;
  ASSERT_TRUE(Call("/a.B/Echo", "hello", &response).ok());
  EXPECT_EQ(response, "hello");
  EXPECT_EQ(Call("/a.B/Fail", "", &response), absl::OutOfRangeError("no more"));
  EXPECT_EQ(Call("/a.B/None", "", &response).code(), absl::StatusCode::kUnimplemented);
}

TEST_F(LanesTest, LargeBytesAreCopiedOnceAWay) {
  Start({});
  const std::string large(10 << 20, 'x');
  const int64_t before = WireCounters::Global().copied;
  std::string response;
  ASSERT_TRUE(Call("/a.B/Echo", large, &response).ok());
  EXPECT_TRUE(response == large);
  EXPECT_LE(WireCounters::Global().copied - before, 2 * static_cast<int64_t>(large.size()));
}

// The bytes are part of a shared block. The receiver reports the copy with its next message, so the
// sender keeps the bytes until then.
TEST_F(LanesTest, WhatFetchesSmallBytesReleasesThemWithItsNextMessage) {
  PeerMemory::Invitation();
  constexpr size_t kBytes = 40 << 10;
  std::promise<void> released;
  const auto lend = [&](RpcCall& call) {
    struct Lent {
      BufferRef buffer;
      std::promise<void>* released;
    };
    auto* lent = new Lent{
        BufferRef(Buffer::New(PoolAllocator::Global(), DT_UINT8, int64_t{kBytes})), &released};
    std::memset(lent->buffer->data(), 'x', kBytes);
    const auto let_go = [](void* owner) {
      std::unique_ptr<Lent> lent(static_cast<Lent*>(owner));
      lent->released->set_value();
    };
    const grpc::Slice slice(lent->buffer->data(), kBytes, let_go, lent);
    call.Finish(grpc::ByteBuffer(&slice, 1));
  };
  Start({{"/a.B/Lend", lend}});
  std::string response;
  const int64_t before = WireCounters::Global().copied;
  ASSERT_TRUE(Call("/a.B/Lend", "", &response).ok());
  EXPECT_EQ(response, std::string(kBytes, 'x'));
  EXPECT_EQ(WireCounters::Global().copied - before, static_cast<int64_t>(kBytes));
  ASSERT_TRUE(Call("/a.B/Echo", "", &response).ok());
  released.get_future().wait();
}

// If only shared blocks can be read, other bodies go through the socket, and their sender waits
// until they are read. The reader also has to report copied blocks through the socket. It must not
// wait for the sender to read the report, because both would wait forever.
TEST(LaneSocketTest, BothSidesMaySendLargeBodiesThroughTheSocketAtATime) {
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  LaneSocket sides[] = {LaneSocket(fds[0]), LaneSocket(fds[1])};
  for (LaneSocket& side : sides) {
    std::string word;
    ASSERT_TRUE(side.TakeGreeting(LaneSocket::Greeting("word"), &word));
    ASSERT_EQ(word, "word");
    ASSERT_TRUE(side.reach().blocks);
    side.SetPeersReach({.blocks = true, .all = false});
  }
  constexpr size_t kSmall = 40 << 10, kLarge = 10 << 20;
  const BufferRef block(Buffer::New(PoolAllocator::Global(), DT_UINT8, int64_t{kSmall}));
  const grpc::Slice small(block->data(), kSmall, grpc::Slice::STATIC_SLICE);
  const grpc::Slice large(std::string(kLarge, 'x'));
  std::vector<std::thread> threads;
  for (LaneSocket& side : sides) {
    threads.emplace_back([&] {
      for (uint64_t call = 1; call <= 20; ++call) {
        for (const grpc::Slice& slice : {small, large}) {
          ASSERT_TRUE(side.Send(
              {.kind = LaneFrame::kRequest, .call = call, .body = grpc::ByteBuffer(&slice, 1)}));
        }
      }
    });
    threads.emplace_back([&] {
      std::vector<LaneFrame> frames;
      while (frames.size() < 40) ASSERT_TRUE(side.Receive(&frames));
      for (size_t i = 0; i < 40; ++i) {
        EXPECT_EQ(frames[i].body.Length(), i % 2 == 0 ? kSmall : kLarge);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(LanesTest, RequestsThatAreTooLargeAreRefusedAndTheNextIsNot) {
  Start({}, 1 << 20);
  std::string response;
  for (const size_t pieces : {1, 100}) {
    const absl::Status status = Call("/a.B/Echo", std::string((1 << 20) + pieces, 'x'), &response);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(status.message(), HasSubstr("larger than max (1048576)"));
  }
  ASSERT_TRUE(Call("/a.B/Echo", "hello", &response).ok());
  EXPECT_EQ(response, "hello");
}

TEST_F(LanesTest, ManyCallsAtATime) {
  Start({});
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 200; ++i) {
        const std::string text = StrCat(caller, " ", i) + std::string(i * 400, 'x');
        std::string response;
        ASSERT_TRUE(Call("/a.B/Echo", text, &response).ok());
        ASSERT_TRUE(response == text);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST_F(LanesTest, ACallerThatGivesUpIsHeardOf) {
  CancellationManager cancellation;
  std::promise<void> begun;
  Start({Waits([&] { begun.set_value(); })});
  std::thread canceller([&] {
    begun.get_future().wait();
    cancellation.StartCancel();
  });
  std::string response;
  EXPECT_EQ(Call("/a.B/Wait", "", &response, &cancellation).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Call("/a.B/Wait", "", &response, &cancellation).code(), absl::StatusCode::kCancelled);
  canceller.join();
  server_->Stop();  // returns, because the call was finished
}

// Parts of steps do this: the CancellationManager of a part is a child of the step's.
TEST_F(LanesTest, WhoHearsThatACallWasCancelledMayWaitForTheCanceller) {
  CancellationManager step;
  auto part = std::make_unique<CancellationManager>(&step);
  std::promise<void> begun;
  Start({Waits([&] { begun.set_value(); })});
  std::thread canceller([&] {
    begun.get_future().wait();
    step.StartCancel();
  });
  std::promise<absl::StatusCode> ended;
  LaneClient::Done done = [&](const absl::StatusOr<grpc::ByteBuffer>& response) {
    part.reset();  // waits for running callbacks of `step`
    ended.set_value(response.status().code());
  };
  ASSERT_TRUE(client_->Start(address_, "/a.B/Wait", BytesOf(""), &step, 0, done));
  EXPECT_EQ(ended.get_future().get(), absl::StatusCode::kCancelled);
  canceller.join();
  server_->Stop();  // no handler uses local variables any more
}

TEST_F(LanesTest, ADeadlineEndsACall) {
  Start({Waits([] {})});
  std::string response;
  EXPECT_EQ(Call("/a.B/Wait", "", &response, nullptr, 20).code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(LanesTest, ACallMayEndAndFreeItsManagerBeforeStartReturns) {
  Start({Waits([] {})});
  constexpr int kCalls = 200;
  std::atomic<int> ended{0};
  for (int i = 0; i < kCalls; ++i) {
    auto* const own = new CancellationManager;
    LaneClient::Done done = [&, own](const absl::StatusOr<grpc::ByteBuffer>&) {
      delete own;
      ++ended;
    };
    ASSERT_TRUE(client_->Start(address_, "/a.B/Wait", BytesOf(""), own, /*timeout_ms=*/1, done));
  }
  client_.reset();  // waits for the calls
  EXPECT_EQ(ended, kCalls);
}

TEST_F(LanesTest, StoppingEndsWhatIsUnderWayAndTheLane) {
  std::promise<void> begun;
  Start({Waits([&] { begun.set_value(); })});
  std::thread stopper([&] {
    begun.get_future().wait();
    server_->Stop();
  });
  std::string response;
  EXPECT_FALSE(Call("/a.B/Wait", "", &response).ok());
  stopper.join();
  absl::Status status;
  while ((status = Call("/a.B/Echo", "", &response)).code() != absl::StatusCode::kNotFound) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  }
}

TEST_F(LanesTest, WithoutTheTokenThereIsNoLane) {
  Start({});
  MakeClient(address_, "other");
  std::string response;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (std::chrono::steady_clock::now() < until) {
    ASSERT_EQ(Call("/a.B/Echo", "", &response).code(), absl::StatusCode::kNotFound);
  }
}

TEST_F(LanesTest, APeerThatAnswersNothingIsGoneAfterTheSetTime) {
  LaneByHand peer;
  MakeClient(peer.address(), "", {.interval_ms = 20, .timeout_ms = 100});
  std::unique_ptr<LaneSocket> socket;
  std::thread accepter([&] {
    socket = peer.Accept();
    LaneByHand::Welcome(*socket);
  });
  AwaitLane();  // its call hangs until the timeout
  std::string response;
  accepter.join();
  const auto begin = std::chrono::steady_clock::now();
  absl::Status status = Call("/a.B/Echo", "", &response);
  if (absl::IsNotFound(status)) return;  // the call of AwaitLane has ended the connection
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(LanesTest, APeerThatAnswersPingsMayTakeItsTime) {
  LaneByHand peer;
  MakeClient(peer.address(), "", {.interval_ms = 20, .timeout_ms = 200});
  std::thread server([&] {
    const std::unique_ptr<LaneSocket> socket = peer.Accept();
    std::vector<LaneFrame> frames = LaneByHand::Welcome(*socket);
    uint64_t call = 0;
    for (int pings = 0; pings < 20;) {
      for (const LaneFrame& frame : frames) {
        if (frame.kind == LaneFrame::kRequest) call = frame.call;
        if (frame.kind != LaneFrame::kPing) continue;
        ++pings;
        socket->Send({.kind = LaneFrame::kPong});
      }
      frames.clear();
      ASSERT_TRUE(socket->Receive(&frames));
    }
    socket->Send({.kind = LaneFrame::kResponse, .call = call, .body = BytesOf("late")});
    while (socket->Receive(&frames)) {  // until the client disconnects
    }
  });
  std::string response;
  absl::Status status;
  while (absl::IsNotFound(status = Call("/a.B/Echo", "", &response))) {
  }
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(response, "late");
  client_.reset();
  server.join();
}

TEST_F(LanesTest, CallsOfAnOutboxGoOutTogether) {
  const std::string address = StrCat("together:", getpid());
  const int listener = ListenLane(address);
  ASSERT_GE(listener, 0);
  MakeClient(address, "");
  LaneClient::Done done = [](absl::StatusOr<grpc::ByteBuffer>&) {};
  EXPECT_FALSE(client_->Start(address_, "/a.B/Echo", BytesOf(""), nullptr, 0, done));
  auto socket = std::make_unique<LaneSocket>(accept(listener, nullptr, nullptr));
  LaneByHand::Welcome(*socket);
  {
    const Outbox outbox;
    for (int begun = 0; begun < 3;) {
      LaneClient::Done none = [](absl::StatusOr<grpc::ByteBuffer>&) {};
      if (client_->Start(address_, "/a.B/Echo", BytesOf("x"), nullptr, 0, none)) ++begun;
    }
    EXPECT_FALSE(socket->HasInput());
  }
  std::vector<LaneFrame> frames;
  ASSERT_TRUE(socket->Receive(&frames));
  EXPECT_EQ(frames.size(), 3);
  socket.reset();  // ends the calls
  close(listener);
}

TEST_F(LanesTest, WhatIsToldComesWithTheNextCallOrAHeartbeat) {
  std::atomic<int> told{0};
  std::promise<void> twice;
  Start({{"/a.B/Tell",
          [&](RpcCall& c) {
            EXPECT_EQ(TextOf(c.request()), "news");
            if (++told == 2) twice.set_value();
            c.Finish(BytesOf(""));
          },
          /*blocks=*/false, /*is_one_way=*/true}});
  ASSERT_TRUE(client_->Notify(address_, "/a.B/Tell", BytesOf("news")));
  std::string response;
  ASSERT_TRUE(Call("/a.B/Echo", "", &response).ok());
  EXPECT_EQ(told, 1);
  ASSERT_TRUE(client_->Notify(address_, "/a.B/Tell", BytesOf("news")));
  twice.get_future().wait();
}

TEST_F(LanesTest, ACancellationThatComesWithItsCallReachesIt) {
  Start({Waits([] {})});
  LaneSocket caller(ConnectLane(address_));
  std::vector<LaneFrame> frames;
  ASSERT_TRUE(caller.Send({.kind = LaneFrame::kHello, .text = LaneSocket::Greeting("word")}));
  ASSERT_TRUE(caller.Receive(&frames));
  ASSERT_TRUE(caller.Keep({.kind = LaneFrame::kReady}));
  for (uint64_t call : {1, 2}) {
    ASSERT_TRUE(caller.Keep({.kind = LaneFrame::kRequest, .call = call, .text = "/a.B/Wait"}));
    ASSERT_TRUE(caller.Keep({.kind = LaneFrame::kCancel, .call = call}));
  }
  ASSERT_TRUE(caller.SendKept());
  frames.clear();
  while (frames.size() < 2) ASSERT_TRUE(caller.Receive(&frames));
  for (const LaneFrame& frame : frames) EXPECT_EQ(frame.code, absl::StatusCode::kCancelled);
}

std::chrono::microseconds ProcessorTime() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// The listener stays readable while a connection waits. The server tried to accept it without
// pause.
TEST_F(LanesTest, AServerWithoutDescriptorsAcceptsLater) {
  Start({});
  const int next = dup(STDERR_FILENO);
  close(next);
  rlimit former = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &former), 0);
  const rlimit one_more = {static_cast<rlim_t>(next) + 1, former.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &one_more), 0);
  LaneSocket caller(ConnectLane(address_));  // takes the last descriptor
  const auto before = ProcessorTime();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto used = ProcessorTime() - before;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &former), 0);
  EXPECT_LT(used, std::chrono::milliseconds(200));
  std::vector<LaneFrame> frames;
  ASSERT_TRUE(caller.Send({.kind = LaneFrame::kHello, .text = LaneSocket::Greeting("word")}));
  ASSERT_TRUE(caller.Receive(&frames));
  EXPECT_EQ(frames[0].kind, LaneFrame::kWelcome);
}

// Nothing waits for the end of a one-way call, so the call must have ended when its handler
// returns.
TEST_F(LanesTest, OnlyWhatEndsAtOnceCanBeTold) {
  Start({});
  LaneSocket caller(ConnectLane(address_));
  std::vector<LaneFrame> frames;
  ASSERT_TRUE(caller.Send({.kind = LaneFrame::kHello, .text = LaneSocket::Greeting("word")}));
  ASSERT_TRUE(caller.Receive(&frames));
  ASSERT_EQ(frames[0].code, absl::StatusCode::kOk);
  ASSERT_TRUE(caller.Send({.kind = LaneFrame::kReady}));
  ASSERT_TRUE(
      caller.Send({.kind = LaneFrame::kRequest, .call = LaneFrame::kOneWay, .text = "/a.B/Echo"}));
  EXPECT_FALSE(caller.Receive(&frames));
}

// The second call took the place of the first one, which was freed while its handler used it.
TEST_F(LanesTest, TwoOpenCallsWithOneIdEndTheConnection) {
  std::atomic<int> begun{0};
  Start({Waits([&] { ++begun; })});
  for (const bool at_once : {false, true}) {
    LaneSocket caller(ConnectLane(address_));
    std::vector<LaneFrame> frames;
    ASSERT_TRUE(caller.Send({.kind = LaneFrame::kHello, .text = LaneSocket::Greeting("word")}));
    ASSERT_TRUE(caller.Receive(&frames));
    ASSERT_TRUE(caller.Send({.kind = LaneFrame::kReady}));
    const LaneFrame call = {.kind = LaneFrame::kRequest, .call = 1, .text = "/a.B/Wait"};
    ASSERT_TRUE(at_once ? caller.Keep(call) : caller.Send(call));
    while (!at_once && begun == 0) std::this_thread::yield();
    ASSERT_TRUE(caller.Send(call));
    EXPECT_FALSE(caller.Receive(&frames));
  }
  EXPECT_EQ(begun, 1);
  server_->Stop();  // returns: the first call has ended
}

TEST_F(LanesTest, WhatIsNoFrameEndsTheConnectionOnly) {
  Start({});
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n and some more of it"), std::string(24, '\xff'),
        std::string("\x04\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0x", 25)}) {
    const int fd = ConnectLane(address_);
    ASSERT_GE(fd, 0);
    ASSERT_GT(write(fd, bytes.data(), bytes.size()), 0);
    char byte;
    EXPECT_LE(read(fd, &byte, 1), 0);
    close(fd);
  }
  std::string response;
  EXPECT_TRUE(Call("/a.B/Echo", "hello", &response).ok());
}

}  // namespace
}  // namespace sluice

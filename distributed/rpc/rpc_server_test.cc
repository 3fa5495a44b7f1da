#include "distributed/rpc/rpc_server.h"

#include <chrono>
#include <future>
#include <latch>
#include <thread>

#include "absl/strings/escaping.h"
#include "distributed/message/bytes.h"
#include "distributed/rpc/chunks.h"
#include "distributed/rpc/grpc_support.h"
#include "distributed/rpc/rpc_client.h"
#include "distributed/security/security.h"
#include "distributed/security/task_credentials.h"
#include "distributed/testing/fake_call.h"
#include "distributed/testing/free_port.h"
#include "distributed/testing/rpc_methods.h"
#include "executor/device/pool_allocator.h"
#include "gmock/gmock.h"
#include "graph/strings.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

class RpcServerTest : public ::testing::Test {
 protected:
  void Start(std::vector<RpcMethod> methods, RpcServer::Options options = {}) {
    options.address = "127.0.0.1:0";
    options.credentials = *ServerCredentials({});
    auto server = RpcServer::Start(options, std::move(methods));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = grpc::CreateChannel("127.0.0.1:" + std::to_string(server_->port()),
                                   grpc::InsecureChannelCredentials());
  }

  absl::Status Call(const std::string& path, const std::string& request, std::string* response,
                    grpc::ClientContext* context = nullptr) {
    grpc::ClientContext own;
    if (context == nullptr) context = &own;
    grpc::CompletionQueue queue;
    grpc::GenericStub stub(channel_);
    grpc::ByteBuffer bytes, reply;
    bytes = BytesOf(request);
    auto call = stub.PrepareUnaryCall(context, path, bytes, &queue);
    call->StartCall();
    grpc::Status status;
    call->Finish(&reply, &status, nullptr);
    void* tag;
    bool ok;
    queue.Next(&tag, &ok);
    if (status.ok()) *response = TextOf(reply);
    return FromGrpc(status);
  }

  std::unique_ptr<RpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(RpcServerTest, AnswersByPath) {
  Start({Echo(), Fails()});
  std::string reply;
  ASSERT_TRUE(Call("/a.B/Echo", "hello", &reply).ok());
  EXPECT_EQ(reply, "hello");
  EXPECT_EQ(Call("/a.B/Fail", "", &reply), absl::OutOfRangeError("no more"));
  EXPECT_EQ(Call("/a.B/None", "", &reply).code(), absl::StatusCode::kUnimplemented);
}

// A channel that failed to connect waits at least 50 ms before it tries again.
TEST(RpcClient, AServerThatHasJustComeIsFoundAtOnce) {
  absl::StatusOr<std::unique_ptr<RpcClient>> client = RpcClient::Make({.lanes = false});
  ASSERT_TRUE(client.ok()) << client.status();
  const std::string address = StrCat("127.0.0.1:", FreePort());
  RpcClient::Call call = {.address = address, .path = "/a.B/Echo", .request = BytesOf("hi")};
  for (int i = 0; i < 8; ++i) {
    const absl::Status status = (*client)->Run(call).status();
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  }
  RpcServer::Options options;
  options.address = address;
  options.credentials = *ServerCredentials({});
  auto server = RpcServer::Start(options, {Echo()});
  ASSERT_TRUE(server.ok()) << server.status();
  call.reconnects = true;
  const absl::StatusOr<grpc::ByteBuffer> reply = (*client)->Run(call);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(TextOf(*reply), "hi");
}

TEST_F(RpcServerTest, CallsThatBlockDoNotHoldUpOthers) {
  std::latch blocked(10), may_end(1);
  Start({{"/a.B/Block",
          [&](RpcCall& c) {
            blocked.count_down();
            may_end.wait();
            c.Finish(c.request());
          }},
         Echo()});
  std::vector<std::thread> callers;
  for (int i = 0; i < 10; ++i) {
    callers.emplace_back([&] {
      std::string reply;
      EXPECT_TRUE(Call("/a.B/Block", "x", &reply).ok());
    });
  }
  blocked.wait();
  std::string reply;
  EXPECT_TRUE(Call("/a.B/Echo", "hello", &reply).ok());
  may_end.count_down();
  for (std::thread& t : callers) t.join();
}

TEST_F(RpcServerTest, ACallerThatGivesUpIsHeardOf) {
  grpc::ClientContext context;
  Start({Waits([&] { context.TryCancel(); })});
  std::string reply;
  EXPECT_EQ(Call("/a.B/Wait", "", &reply, &context).code(), absl::StatusCode::kCancelled);
  server_->Stop();  // returns, because the call was finished
}

TEST_F(RpcServerTest, StoppingCancelsWhatIsUnderWay) {
  std::promise<void> begun;
  Start({Waits([&] { begun.set_value(); })});
  std::thread stopper([&] {
    begun.get_future().wait();
    server_->Stop();
  });
  std::string reply;
  EXPECT_FALSE(Call("/a.B/Wait", "", &reply).ok());
  stopper.join();
}

TEST_F(RpcServerTest, APortBelongsToOneServer) {
  Start({});
  RpcServer::Options options;
  options.address = "127.0.0.1:" + std::to_string(server_->port());
  options.credentials = *ServerCredentials({});
  EXPECT_EQ(RpcServer::Start(options, {}).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(RpcServerTest, ACallWithoutTheTokenIsRejectedBeforeItsMessage) {
  Start({Echo()}, {.token = "word"});
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  grpc::GenericStub stub(channel_);
  const auto call = stub.PrepareCall(&context, "/a.B/Echo", &queue);
  call->StartCall(nullptr);
  grpc::Status status;
  call->Finish(&status, nullptr);
  void* tag;
  bool ok;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_EQ(FromGrpc(status), absl::UnauthenticatedError("the call has not this cluster's token"));
}

TEST_F(RpcServerTest, ACallWithoutAMessageEnds) {
  Start({Echo()});
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  grpc::GenericStub stub(channel_);
  const auto call = stub.PrepareCall(&context, "/a.B/Echo", &queue);
  void* tag;
  bool ok;
  call->StartCall(nullptr);
  ASSERT_TRUE(queue.Next(&tag, &ok));
  call->WritesDone(nullptr);
  ASSERT_TRUE(queue.Next(&tag, &ok));
  grpc::Status status;
  call->Finish(&status, nullptr);
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_EQ(FromGrpc(status), absl::CancelledError("the call ended before its message"));
}

// A client and a server whose gRPC messages have at most 1000 bytes.
class ChunksTest : public RpcServerTest {
 protected:
  void StartSmall(std::vector<RpcMethod> methods) {
    methods.push_back(Echo());
    RpcServer::Options options;
    options.grpc_message_bytes = 1000;
    options.max_message_bytes = 50'000;
    Start(std::move(methods), options);
    client_ = *RpcClient::Make({.lanes = false, .grpc_message_bytes = 1000});
  }
  absl::Status CallInChunks(const std::string& path, const std::string& request,
                            std::string* response, CancellationManager* cancellation = nullptr) {
    RpcClient::Call call;
    call.address = StrCat("127.0.0.1:", server_->port());
    call.path = path;
    call.request = BytesOf(request);
    call.cancellation = cancellation;
    call.timeout_ms = 30'000;
    const absl::StatusOr<grpc::ByteBuffer> bytes = client_->Run(std::move(call));
    if (bytes.ok()) *response = TextOf(*bytes);
    return bytes.status();
  }
  std::unique_ptr<RpcClient> client_;
};

TEST_F(ChunksTest, LargeMessagesGoInPiecesBothWays) {
  StartSmall({});
  for (const size_t size : {1, 999, 1000, 1001, 2000, 2001, 49'999}) {
    std::string sent(size, '?'), received;
    for (size_t i = 0; i < size; ++i) sent[i] = static_cast<char>(i * 31 + i / 1000);
    const absl::Status status = CallInChunks("/a.B/Echo", sent, &received);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(received == sent) << size;
  }
  std::string received;
  EXPECT_EQ(CallInChunks("/a.B/Echo", std::string(50'001, 'x'), &received).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(ChunksTest, ManyCallsInPiecesAtATime) {
  StartSmall({});
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 20; ++i) {
        const std::string sent(static_cast<size_t>(1500 * caller + 700 * i), 'a' + caller);
        std::string received;
        const absl::Status status = CallInChunks("/a.B/Echo", sent, &received);
        ASSERT_TRUE(status.ok()) << status;
        ASSERT_TRUE(received == sent);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST_F(ChunksTest, ACallWhoseRequestCameInPiecesCanBeCancelled) {
  CancellationManager cancellation;
  std::promise<void> begun;
  StartSmall({Waits([&] { begun.set_value(); })});
  std::thread canceller([&] {
    begun.get_future().wait();
    cancellation.StartCancel();
  });
  std::string received;
  EXPECT_EQ(CallInChunks("/a.B/Wait", std::string(5000, 'x'), &received, &cancellation).code(),
            absl::StatusCode::kCancelled);
  canceller.join();
  server_->Stop();  // no handler uses local variables any more
}

// Clients such as TensorFlow's cannot receive chunked messages.
TEST_F(ChunksTest, WhoKnowsNoPiecesIsToldTheSize) {
  StartSmall({});
  std::string reply;
  EXPECT_TRUE(Call("/a.B/Echo", std::string(1000, 'x'), &reply).ok());
  EXPECT_EQ(Call("/a.B/Echo", std::string(1001, 'x'), &reply),
            absl::ResourceExhaustedError(
                "an answer of 1001 bytes: a message to this client has at most 1000"));
}

TEST_F(ChunksTest, PiecesThatDoNotFitAreRefused) {
  StartSmall({});
  const auto message = [](const ChunkHeader& header, const std::string& content = "") {
    return TextOf(header.Encode({grpc::Slice(content)}));
  };
  const std::string name = ChunkHeader::NewName();
  std::string reply;
  const auto code = [&](const char* path, const std::string& request) {
    return Call(path, request, &reply).code();
  };
  EXPECT_EQ(code(kGetChunk, "short"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(kPutChunk, ""), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(kGetChunk, message({name, 0, 10})), absl::StatusCode::kAborted);
  EXPECT_EQ(code(kPutChunk, message({name, 5, 10}, "abc")), absl::StatusCode::kAborted);
  EXPECT_EQ(code(kPutChunk, message({name, 0, 1ull << 60}, "abc")),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(kPutChunk, message({name, 0, 10}, "abc")), absl::StatusCode::kOk);
  EXPECT_EQ(code(kPutChunk, message({name, 1, 10}, "abc")), absl::StatusCode::kInvalidArgument);
  grpc::ClientContext too_early;
  too_early.AddMetadata(kChunkedMessage, StrCat(absl::BytesToHexString(name), " 10"));
  EXPECT_EQ(Call("/a.B/Echo", "", &reply, &too_early),
            absl::FailedPreconditionError("a message in pieces: 3 of 10 bytes are there"));
  EXPECT_EQ(code(kPutChunk, message({name, 3, 10}, "much too much")),
            absl::StatusCode::kInvalidArgument);
  for (const char* told : {"", "nonsense", "zz 5"}) {
    grpc::ClientContext context;
    context.AddMetadata(kChunkedMessage, told);
    EXPECT_EQ(Call("/a.B/Echo", "", &reply, &context).code(), absl::StatusCode::kInvalidArgument);
  }
}

// Chunks of any number of messages were stored, up to the limit of a message, 64 GB, for each.
TEST(ChunkedMessages, ChunksAboveTheLimitOfMemoryAreRefused) {
  PoolAllocator& pool = PoolAllocator::Global();
  pool.SetLimit(pool.LimitedBytes() + (64 << 20));
  {
    ChunkedMessages messages(1 << 30);
    const std::string name = ChunkHeader::NewName();
    const auto put = [&](uint64_t offset, size_t size) {
      const ChunkHeader header{name, offset, 100 << 20};
      FakeCall call(header.Encode({grpc::Slice(std::string(size, 'x'))}));
      messages.Methods()[1].handle(call);
      return call.Await().status();
    };
    EXPECT_EQ(put(0, 40 << 20), absl::OkStatus());
    const absl::Status status = put(40 << 20, 40 << 20);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("All sessions use "));
    EXPECT_EQ(messages.bytes_stored(), 0u);
    EXPECT_EQ(put(0, 40 << 20), absl::OkStatus());
  }
  pool.SetLimit(0);
}

TEST(ChunkedMessages, AMessageThatNobodyFetchesIsDropped) {
  std::promise<void> dropped;
  grpc::Slice slice(
      &dropped, 1, [](void* given) { static_cast<std::promise<void>*>(given)->set_value(); },
      &dropped);
  ChunkedMessages messages(1000, std::chrono::milliseconds(20));
  const std::string label = *messages.Store(grpc::ByteBuffer(&slice, 1));
  EXPECT_EQ(ChunkHeader::FromLabel(label)->bytes, 1u);
  slice = grpc::Slice();
  dropped.get_future().wait();
  EXPECT_EQ(messages.bytes_stored(), 0u);
  EXPECT_EQ(messages.Take(label).status().code(), absl::StatusCode::kAborted);
}

}  // namespace
}  // namespace sluice

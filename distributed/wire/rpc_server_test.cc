#include "distributed/wire/rpc_server.h"

#include <chrono>
#include <future>
#include <thread>

#include "absl/strings/escaping.h"
#include "distributed/testing/free_port.h"
#include "distributed/testing/rpc_methods.h"
#include "distributed/wire/parcels.h"
#include "distributed/wire/rpc_client.h"
#include "distributed/wire/status.h"
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
    options.credentials = grpc::InsecureServerCredentials();
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
    bytes = Bytes(request);
    auto call = stub.PrepareUnaryCall(context, path, bytes, &queue);
    call->StartCall();
    grpc::Status status;
    call->Finish(&reply, &status, nullptr);
    void* tag;
    bool ok;
    queue.Next(&tag, &ok);
    if (status.ok()) *response = Text(reply);
    return FromGrpc(status);
  }

  std::unique_ptr<RpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(RpcServerTest, AnswersByPath) {
  Start({{"/a.B/Echo", [](RpcCall& c) { c.Finish(absl::OkStatus(), c.request()); }},
         {"/a.B/Fail",
          [](RpcCall& c) { c.Finish(absl::OutOfRangeError("no more"), grpc::ByteBuffer()); }}});
  std::string reply;
  ASSERT_TRUE(Call("/a.B/Echo", "hello", &reply).ok());
  EXPECT_EQ(reply, "hello");
  EXPECT_EQ(Call("/a.B/Fail", "", &reply), absl::OutOfRangeError("no more"));
  EXPECT_EQ(Call("/a.B/None", "", &reply).code(), absl::StatusCode::kUnimplemented);
}

// A channel that could not connect waits before it tries again: 50 ms, then more.
TEST(RpcClient, AServerThatHasJustComeIsFoundAtOnce) {
  absl::StatusOr<std::unique_ptr<RpcClient>> client = RpcClient::Make({.lanes = false});
  ASSERT_TRUE(client.ok()) << client.status();
  const std::string address = StrCat("127.0.0.1:", FreePort());
  grpc::ByteBuffer reply;
  RpcClient::Call call = {.address = address, .path = "/a.B/Echo", .request = Bytes("hi")};
  for (int i = 0; i < 8; ++i) {
    const absl::Status status = (*client)->Run(call, &reply);
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  }
  RpcServer::Options options;
  options.address = address;
  options.credentials = grpc::InsecureServerCredentials();
  auto server = RpcServer::Start(
      options, {{"/a.B/Echo", [](RpcCall& c) { c.Finish(absl::OkStatus(), c.request()); }}});
  ASSERT_TRUE(server.ok()) << server.status();
  call.connects_anew = true;
  const absl::Status status = (*client)->Run(call, &reply);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(Text(reply), "hi");
}

TEST_F(RpcServerTest, CallsThatBlockDoNotHoldUpOthers) {
  std::mutex mutex;
  std::condition_variable changed;
  int blocked = 0;
  Start({{"/a.B/Block",
          [&](RpcCall& c) {
            std::unique_lock<std::mutex> lock(mutex);
            ++blocked;
            changed.notify_all();
            changed.wait(lock, [&] { return blocked == 0; });
            c.Finish(absl::OkStatus(), c.request());
          }},
         {"/a.B/Echo", [](RpcCall& c) { c.Finish(absl::OkStatus(), c.request()); }}});
  std::vector<std::thread> callers;
  for (int i = 0; i < 10; ++i) {
    callers.emplace_back([&] {
      std::string reply;
      EXPECT_TRUE(Call("/a.B/Block", "x", &reply).ok());
    });
  }
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return blocked == 10; });
  }
  std::string reply;
  EXPECT_TRUE(Call("/a.B/Echo", "hello", &reply).ok());
  {
    std::lock_guard<std::mutex> lock(mutex);
    blocked = 0;
    changed.notify_all();
  }
  for (std::thread& t : callers) t.join();
}

TEST_F(RpcServerTest, ACallerThatGivesUpIsHeardOf) {
  grpc::ClientContext context;
  Start({Waits([&] { context.TryCancel(); })});
  std::string reply;
  EXPECT_EQ(Call("/a.B/Wait", "", &reply, &context).code(), absl::StatusCode::kCancelled);
  server_->Stop();  // returns: the call was answered
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
  options.credentials = grpc::InsecureServerCredentials();
  EXPECT_EQ(RpcServer::Start(options, {}).status().code(), absl::StatusCode::kUnavailable);
}

// Messages of at most 1000 bytes on both sides.
class PiecesTest : public RpcServerTest {
 protected:
  void StartSmall(std::vector<RpcMethod> methods) {
    methods.push_back({"/a.B/Echo", [](RpcCall& c) { c.Finish(absl::OkStatus(), c.request()); }});
    RpcServer::Options options;
    options.grpc_message_bytes = 1000;
    options.max_message_bytes = 50'000;
    Start(std::move(methods), options);
    client_ = *RpcClient::Make({.lanes = false, .grpc_message_bytes = 1000});
  }
  absl::Status CallInPieces(const std::string& path, const std::string& request,
                            std::string* response, CancellationManager* cancellation = nullptr) {
    RpcClient::Call call;
    call.address = StrCat("127.0.0.1:", server_->port());
    call.path = path;
    call.request = Bytes(request);
    call.cancellation = cancellation;
    call.timeout_ms = 30'000;
    grpc::ByteBuffer bytes;
    const absl::Status status = client_->Run(std::move(call), &bytes);
    if (status.ok()) *response = Text(bytes);
    return status;
  }
  std::unique_ptr<RpcClient> client_;
};

TEST_F(PiecesTest, LargeMessagesGoInPiecesBothWays) {
  StartSmall({});
  for (const size_t size : {1, 999, 1000, 1001, 2000, 2001, 49'999}) {
    std::string sent(size, '?'), received;
    for (size_t i = 0; i < size; ++i) sent[i] = static_cast<char>(i * 31 + i / 1000);
    const absl::Status status = CallInPieces("/a.B/Echo", sent, &received);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(received == sent) << size;
  }
  std::string received;
  EXPECT_EQ(CallInPieces("/a.B/Echo", std::string(50'001, 'x'), &received).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(PiecesTest, ManyCallsInPiecesAtATime) {
  StartSmall({});
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 20; ++i) {
        const std::string sent(static_cast<size_t>(1500 * caller + 700 * i), 'a' + caller);
        std::string received;
        const absl::Status status = CallInPieces("/a.B/Echo", sent, &received);
        ASSERT_TRUE(status.ok()) << status;
        ASSERT_TRUE(received == sent);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST_F(PiecesTest, ACallWhoseRequestCameInPiecesCanBeCancelled) {
  CancellationManager cancellation;
  std::promise<void> begun;
  StartSmall({Waits([&] { begun.set_value(); })});
  std::thread canceller([&] {
    begun.get_future().wait();
    cancellation.StartCancel();
  });
  std::string received;
  EXPECT_EQ(CallInPieces("/a.B/Wait", std::string(5000, 'x'), &received, &cancellation).code(),
            absl::StatusCode::kCancelled);
  canceller.join();
  server_->Stop();  // nobody is left who uses what stands here
}

// As TensorFlow's clients.
TEST_F(PiecesTest, WhoKnowsNoPiecesIsToldTheSize) {
  StartSmall({});
  std::string reply;
  EXPECT_TRUE(Call("/a.B/Echo", std::string(1000, 'x'), &reply).ok());
  EXPECT_EQ(Call("/a.B/Echo", std::string(1001, 'x'), &reply),
            absl::ResourceExhaustedError(
                "an answer of 1001 bytes: a message to this client has at most 1000"));
}

TEST_F(PiecesTest, PiecesThatDoNotFitAreRefused) {
  StartSmall({});
  const auto message = [](const PieceHeader& header, const std::string& content = "") {
    return Text(header.Encode({grpc::Slice(content)}));
  };
  const std::string name = PieceHeader::NewName();
  std::string reply;
  const auto code = [&](const char* path, const std::string& request) {
    return Call(path, request, &reply).code();
  };
  EXPECT_EQ(code(kGetPiece, "short"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(kPutPiece, ""), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(kGetPiece, message({name, 0, 10})), absl::StatusCode::kAborted);
  EXPECT_EQ(code(kPutPiece, message({name, 5, 10}, "abc")), absl::StatusCode::kAborted);
  EXPECT_EQ(code(kPutPiece, message({name, 0, 1ull << 60}, "abc")),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(kPutPiece, message({name, 0, 10}, "abc")), absl::StatusCode::kOk);
  EXPECT_EQ(code(kPutPiece, message({name, 1, 10}, "abc")), absl::StatusCode::kInvalidArgument);
  grpc::ClientContext too_early;
  too_early.AddMetadata(kParcel, StrCat(absl::BytesToHexString(name), " 10"));
  EXPECT_EQ(Call("/a.B/Echo", "", &reply, &too_early),
            absl::FailedPreconditionError("a message in pieces: 3 of 10 bytes are there"));
  EXPECT_EQ(code(kPutPiece, message({name, 3, 10}, "much too much")),
            absl::StatusCode::kInvalidArgument);
  for (const char* told : {"", "nonsense", "zz 5"}) {
    grpc::ClientContext context;
    context.AddMetadata(kParcel, told);
    EXPECT_EQ(Call("/a.B/Echo", "", &reply, &context).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(Parcels, WhatNobodyFetchesIsDropped) {
  bool is_there = true;
  grpc::Slice slice(
      &is_there, 1, [](void* there) { *static_cast<bool*>(there) = false; }, &is_there);
  Parcels parcels(1000, std::chrono::milliseconds(20));
  std::string name;
  uint64_t bytes;
  ASSERT_TRUE(Parcels::Parse(parcels.Keep(grpc::ByteBuffer(&slice, 1)), &name, &bytes).ok());
  EXPECT_EQ(bytes, 1u);
  slice = grpc::Slice();
  while (parcels.bytes_kept() > 0) std::this_thread::yield();
  EXPECT_FALSE(is_there);
  EXPECT_EQ(parcels.Take(name).status().code(), absl::StatusCode::kAborted);
}

}  // namespace
}  // namespace sluice

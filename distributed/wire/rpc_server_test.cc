#include "distributed/wire/rpc_server.h"

#include <chrono>
#include <future>
#include <thread>

#include "distributed/testing/rpc_methods.h"
#include "distributed/wire/status.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

class RpcServerTest : public ::testing::Test {
 protected:
  void Start(std::vector<RpcMethod> methods) {
    RpcServer::Options options;
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

}  // namespace
}  // namespace sluice

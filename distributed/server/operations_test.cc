// Tests health checks, draining, and sessions of lost clients.
#include <chrono>
#include <thread>

#include "distributed/message/bytes.h"
#include "distributed/proto/master_service.grpc.pb.h"
#include "distributed/proto/worker.pb.h"
#include "distributed/server/server.h"
#include "executor/testing/test_ops.h"
#include "gmock/gmock.h"
#include "graph/format/graph_def.h"
#include "graph/strings.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using tensorflow::MasterService;
using ::testing::HasSubstr;

// HealthCheckResponse.status of grpc.health.v1.
constexpr char kServing[] = "\x08\x01";
constexpr char kNotServing[] = "\x08\x02";

class OperationsTest : public ::testing::Test {
 protected:
  void Start(ServerOptions options) {
    options.port = 0;
    auto server = Server::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = NewChannel();
    stub_ = MasterService::NewStub(channel_);
  }
  std::shared_ptr<grpc::Channel> NewChannel() {
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(server_->target().substr(7),
                                     grpc::InsecureChannelCredentials(), own);
  }
  // A health check without a token, which load balancers do not have.
  std::string Health() {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    auto call =
        stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", BytesOf(""), &queue);
    call->StartCall();
    grpc::ByteBuffer reply;
    grpc::Status status;
    call->Finish(&reply, &status, nullptr);
    void* tag;
    bool ok;
    queue.Next(&tag, &ok);
    return status.ok() ? TextOf(reply) : status.error_message();
  }
  // Returns the session's handle. If the server refuses, returns "" and sets last_error_.
  std::string CreateSession() {
    Graph g;
    Identity(Placeholder(g, DT_FLOAT, {}, "x"), "y");
    grpc::ClientContext context;
    pb::CreateSessionRequest request;
    *request.mutable_graph_def() = *ExportGraphDef(g);
    pb::CreateSessionResponse response;
    const grpc::Status status = stub_->CreateSession(&context, request, &response);
    last_error_ = status.error_message();
    return response.session_handle();
  }

  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<MasterService::Stub> stub_;
  std::string last_error_;
};

TEST_F(OperationsTest, HealthChecksFollowTheServer) {
  Start({.security = {.token = "word"}});
  EXPECT_EQ(Health(), kServing);
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  auto watch = stub.PrepareCall(&context, "/grpc.health.v1.Health/Watch", &queue);
  void* tag;
  bool ok;
  const auto step = [&] {
    EXPECT_TRUE(queue.Next(&tag, &ok));
    return ok;
  };
  watch->StartCall(nullptr);
  ASSERT_TRUE(step());
  watch->WriteLast(BytesOf(""), grpc::WriteOptions(), nullptr);
  ASSERT_TRUE(step());
  grpc::ByteBuffer reply;
  watch->Read(&reply, nullptr);
  ASSERT_TRUE(step());
  EXPECT_EQ(TextOf(reply), kServing);
  server_->Drain(std::chrono::milliseconds(0));
  watch->Read(&reply, nullptr);
  ASSERT_TRUE(step());
  EXPECT_EQ(TextOf(reply), kNotServing);
  EXPECT_EQ(Health(), kNotServing);
  context.TryCancel();
  grpc::Status status;
  watch->Finish(&status, nullptr);
  step();
}

TEST_F(OperationsTest, ADrainingServerTakesNoNewWork) {
  Start({});
  constexpr char kStops[] = "the server of /job:localhost/replica:0/task:0 stops";
  const std::string session = CreateSession();
  EXPECT_EQ(session.size(), 16u);
  const auto set_up = [&] {
    grpc::ClientContext context;
    pb::PartialRunSetupRequest request;
    request.set_session_handle(session);
    request.add_feed("x:0");
    request.add_fetch("y:0");
    pb::PartialRunSetupResponse response;
    return stub_->PartialRunSetup(&context, request, &response).error_message();
  };
  EXPECT_EQ(set_up(), "");
  server_->Drain(std::chrono::seconds(60));  // no step runs
  EXPECT_EQ(CreateSession(), "");
  EXPECT_EQ(last_error_, kStops);
  EXPECT_EQ(set_up(), kStops);
}

// A client ended without closing its session, whose memory the server kept for ever.
TEST_F(OperationsTest, TheSessionOfALostClientIsClosed) {
  ServerOptions options;
  options.watch_interval_ms = 20;
  options.session_limits.lost = std::chrono::milliseconds(40);
  Start(options);
  const std::string session = CreateSession();
  const auto run = [&] {
    grpc::ClientContext context;
    pb::ExtendSessionRequest request;
    request.set_session_handle(session);
    pb::ExtendSessionResponse response;
    request.set_current_graph_version(-1);
    return stub_->ExtendSession(&context, request, &response).error_message();
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_THAT(run(), HasSubstr("Current version is 0"));  // the client is connected
  stub_ = nullptr;
  channel_ = nullptr;
  std::this_thread::sleep_for(std::chrono::seconds(1));
  channel_ = NewChannel();
  stub_ = MasterService::NewStub(channel_);
  EXPECT_THAT(run(), HasSubstr("is not found."));
}

// Clients that died left the sessions of their parts on workers, whose memory was kept for ever.
TEST_F(OperationsTest, TheWorkerSessionOfALostMasterIsClosed) {
  ServerOptions options;
  options.watch_interval_ms = 20;
  options.session_limits.lost = std::chrono::milliseconds(40);
  Start(options);
  const auto call = [&](const char* method, const google::protobuf::Message& request) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    auto made = stub.PrepareUnaryCall(&context, StrCat("/tensorflow.WorkerService/", method),
                                      BytesOf(request.SerializeAsString()), &queue);
    made->StartCall();
    grpc::ByteBuffer reply;
    grpc::Status status;
    made->Finish(&reply, &status, nullptr);
    void* tag;
    bool ok;
    queue.Next(&tag, &ok);
    return status.error_message();
  };
  pb::CreateWorkerSessionRequest create;
  create.set_session_handle("left");
  EXPECT_EQ(call("CreateWorkerSession", create), "");
  pb::RegisterGraphRequest graph;
  graph.set_session_handle("left");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(call("RegisterGraph", graph), "");  // the client is connected
  stub_ = nullptr;
  channel_ = nullptr;
  std::this_thread::sleep_for(std::chrono::seconds(1));
  channel_ = NewChannel();
  EXPECT_THAT(call("RegisterGraph", graph), HasSubstr("Session handle is not found: left"));
}

}  // namespace
}  // namespace sluice

#include "distributed/server/server.h"

#include <set>
#include <thread>

#include "distributed/master/master.h"
#include "distributed/proto/master_service.grpc.pb.h"
#include "distributed/rpc/rpc_server.h"
#include "executor/testing/test_ops.h"
#include "gmock/gmock.h"
#include "graph/format/graph_def.h"
#include "graph/format/tensor_proto.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using tensorflow::MasterService;
using ::testing::HasSubstr;

pb::GraphDef Def(const Graph& g) {
  EXPECT_TRUE(g.status().ok()) << g.status();
  return *ExportGraphDef(g);
}

// A client with the stubs that gRPC generates.
class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = Server::Start({.port = 0, .cpus = 2});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    stub_ = MasterService::NewStub(
        grpc::CreateChannel(server_->target().substr(7), grpc::InsecureChannelCredentials()));
  }

  std::string Create(const Graph& g, bool isolated = false) {
    grpc::ClientContext context;
    pb::CreateSessionRequest request;
    *request.mutable_graph_def() = Def(g);
    request.mutable_config()->set_isolate_session_state(isolated);
    pb::CreateSessionResponse response;
    const grpc::Status status = stub_->CreateSession(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.session_handle().size(), 16u);
    return response.session_handle();
  }

  struct Step {
    std::vector<std::pair<std::string, float>> feeds;
    std::vector<std::string> fetches, targets;
    std::string partial_run;
    int64_t id = 0;
  };
  pb::RunStepResponse Run(const std::string& session, const Step& step) {
    grpc::ClientContext context;
    pb::RunStepRequest request;
    request.set_session_handle(session);
    for (const auto& [name, value] : step.feeds) {
      pb::NamedTensorProto* feed = request.add_feed();
      feed->set_name(name);
      EXPECT_TRUE(TensorToProto(Tensor::Scalar(value), feed->mutable_tensor()).ok());
    }
    for (const std::string& fetch : step.fetches) request.add_fetch(fetch);
    for (const std::string& target : step.targets) request.add_target(target);
    request.set_partial_run_handle(step.partial_run);
    request.set_request_id(step.id);
    request.set_store_errors_in_response_body(true);
    pb::RunStepResponse response;
    const grpc::Status status = stub_->RunStep(&context, request, &response);
    if (!status.ok()) {  // stored like an error in the body
      response.set_status_code(static_cast<pb::error::Code>(status.error_code()));
      response.set_status_error_message(status.error_message());
    }
    return response;
  }
  static float Value(const pb::RunStepResponse& response) {
    EXPECT_EQ(response.status_code(), 0) << response.status_error_message();
    if (response.tensor_size() == 0) return -1;
    return TensorFromProto(response.tensor(0).tensor())->scalar<float>();
  }

  std::unique_ptr<Server> server_;
  std::unique_ptr<MasterService::Stub> stub_;
};

TEST_F(ServerTest, ServesTheMethodsOfTheService) {
  std::set<std::string> served;
  for (const RpcMethod& method : Master(MasterOptions{}).Methods()) served.insert(method.path);
  std::set<std::string> expected;
  for (const char* name :
       {"CreateSession", "ExtendSession", "PartialRunSetup", "RunStep", "CloseSession",
        "ListDevices", "Reset", "MakeCallable", "RunCallable", "ReleaseCallable"}) {
    expected.insert(std::string("/tensorflow.MasterService/") + name);
  }
  EXPECT_EQ(served, expected);
}

// A client that takes no chunked messages, such as TensorFlow's, learns which fetch is too large.
TEST_F(ServerTest, AFetchThatNoMessageHoldsIsNamedWithItsSize) {
  server_ = *Server::Start({.port = 0, .grpc_message_bytes = 1 << 20});
  stub_ = MasterService::NewStub(
      grpc::CreateChannel(server_->target().substr(7), grpc::InsecureChannelCredentials()));
  Graph g;
  Identity(Placeholder(g, DT_FLOAT, {-1}, "x"), "y");
  const std::string session = Create(g);
  pb::RunStepRequest request;
  request.set_session_handle(session);
  request.add_fetch("y:0");
  request.set_store_errors_in_response_body(true);
  pb::NamedTensorProto* feed = request.add_feed();
  feed->set_name("x:0");
  const auto run = [&](int64_t n) {
    EXPECT_TRUE(TensorToContentProto(Tensor(DT_FLOAT, {n}), feed->mutable_tensor()).ok());
    grpc::ClientContext context;
    pb::RunStepResponse response;
    const grpc::Status status = stub_->RunStep(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  };
  const pb::RunStepResponse refused = run(262'144);
  EXPECT_EQ(refused.status_code(), pb::error::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.status_error_message(),
              HasSubstr("fetch 'y:0' is float [262144] of 1048576 bytes"));
  EXPECT_THAT(refused.status_error_message(), HasSubstr("expected at most 1048576"));
  EXPECT_EQ(run(262'000).status_code(), 0);
}

TEST_F(ServerTest, StepsOfAGraphThatGrows) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {}, "x");
  Add(x, x, "y");
  const std::string session = Create(g);
  const pb::RunStepResponse response = Run(session, {.feeds = {{"x:0", 3}}, .fetches = {"y:0"}});
  EXPECT_EQ(Value(response), 6);
  EXPECT_EQ(response.tensor(0).name(), "y:0");

  // Sends the new nodes, one of which has an input that the server knows.
  Add(Identity(Add(Const(g, 1, "one"), Const(g, 2, "two"), "three"), "same"), x, "sum");
  pb::ExtendSessionRequest extend;
  extend.set_session_handle(session);
  *extend.mutable_graph_def() = Def(g);
  extend.mutable_graph_def()->mutable_node()->DeleteSubrange(0, 2);
  pb::ExtendSessionResponse extended;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->ExtendSession(&context, extend, &extended).ok());
  EXPECT_EQ(extended.new_graph_version(), 1);
  EXPECT_EQ(Value(Run(session, {.fetches = {"three:0"}})), 3);
  EXPECT_EQ(Value(Run(session, {.feeds = {{"x:0", 4}}, .fetches = {"sum:0"}})), 7);
  EXPECT_EQ(Value(Run(session, {.feeds = {{"x:0", 4}}, .fetches = {"y:0"}})), 8);

  grpc::ClientContext again;
  const grpc::Status late = stub_->ExtendSession(&again, extend, &extended);
  EXPECT_EQ(late.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(late.error_message(), "Current version is 1 but caller expected 0.");
}

TEST_F(ServerTest, ErrorsOfStepsNameTheTaskAndTheNode) {
  Graph g;
  Fail(Const(g, 1), "bad");
  const std::string session = Create(g);
  const pb::RunStepResponse response = Run(session, {.fetches = {"bad:0"}});
  EXPECT_EQ(response.status_code(), pb::error::INTERNAL);
  EXPECT_EQ(response.status_error_message(),
            "From /job:localhost/replica:0/task:0:\nboom\n\t [[{{node bad}}]]");
  const pb::RunStepResponse unknown = Run("0123456789abcdef", {.fetches = {"bad:0"}});
  EXPECT_EQ(unknown.status_code(), pb::error::ABORTED);
  EXPECT_EQ(unknown.status_error_message(),
            "Session 0123456789abcdef is not found. Possibly, this master has restarted.");
}

TEST_F(ServerTest, ARequestThatComesTwiceIsRefused) {
  Graph g;
  Const(g, 1, "one");
  const std::string session = Create(g);
  EXPECT_EQ(Value(Run(session, {.fetches = {"one:0"}, .id = -7})), 1);
  EXPECT_EQ(Run(session, {.fetches = {"one:0"}, .id = -7}).status_code(), pb::error::ABORTED);
  EXPECT_EQ(Value(Run(session, {.fetches = {"one:0"}, .id = 8})), 1);
}

TEST_F(ServerTest, AStepEndsWhenItsSessionIsClosed) {
  Graph g;
  Wait(Const(g, 1), "waits");
  Const(g, 1, "one");
  const std::string session = Create(g);
  std::thread closer([&] {
    Events::Get().AwaitWaiting("waits", 1);
    grpc::ClientContext context;
    pb::CloseSessionRequest request;
    request.set_session_handle(session);
    pb::CloseSessionResponse response;
    EXPECT_TRUE(stub_->CloseSession(&context, request, &response).ok());
  });
  const pb::RunStepResponse response = Run(session, {.fetches = {"waits:0"}});
  closer.join();
  EXPECT_EQ(response.status_code(), pb::error::CANCELLED);
  EXPECT_EQ(response.status_error_message(),
            "Step was cancelled by an explicit call to `Session::Close()`.");
  EXPECT_EQ(Run(session, {.fetches = {"one:0"}}).status_code(), pb::error::ABORTED);
}

TEST_F(ServerTest, AStepEndsWhenItsClientGivesUp) {
  Graph g;
  Wait(Const(g, 1), "waits");
  const std::string session = Create(g);
  grpc::ClientContext context;
  std::thread canceller([&] {
    Events::Get().AwaitWaiting("waits", 1);
    context.TryCancel();
  });
  pb::RunStepRequest request;
  request.set_session_handle(session);
  request.add_fetch("waits:0");
  pb::RunStepResponse response;
  EXPECT_EQ(stub_->RunStep(&context, request, &response).error_code(), grpc::StatusCode::CANCELLED);
  canceller.join();
  server_->Stop();  // returns, because nothing waits any more
}

TEST_F(ServerTest, StoppingEndsTheStepsUnderWay) {
  Graph g;
  Wait(Const(g, 1), "waits");
  const std::string session = Create(g);
  std::thread stopper([&] {
    Events::Get().AwaitWaiting("waits", 1);
    server_->Stop();
  });
  EXPECT_NE(Run(session, {.fetches = {"waits:0"}}).status_code(), 0);
  stopper.join();
  server_->Join();
}

TEST_F(ServerTest, PartialRuns) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {}, "x");
  const Output y = Placeholder(g, DT_FLOAT, {}, "y");
  Add(Add(x, x, "a"), y, "b");
  const std::string session = Create(g);
  grpc::ClientContext context;
  pb::PartialRunSetupRequest request;
  request.set_session_handle(session);
  for (const char* feed : {"x:0", "y:0"}) request.add_feed(feed);
  for (const char* fetch : {"a:0", "b:0"}) request.add_fetch(fetch);
  pb::PartialRunSetupResponse response;
  ASSERT_TRUE(stub_->PartialRunSetup(&context, request, &response).ok());
  const std::string run = response.partial_run_handle();
  EXPECT_EQ(run, "0");
  EXPECT_EQ(Value(Run(session, {.feeds = {{"x:0", 2}}, .fetches = {"a:0"}, .partial_run = run})),
            4);
  EXPECT_EQ(Value(Run(session, {.feeds = {{"y:0", 1}}, .fetches = {"b:0"}, .partial_run = run})),
            5);
  EXPECT_EQ(Run(session, {.fetches = {"b:0"}, .partial_run = run}).status_code(),
            pb::error::INVALID_ARGUMENT);
}

TEST_F(ServerTest, ResetClosesAllSessions) {
  Graph g;
  Const(g, 1, "one");
  const std::string first = Create(g), second = Create(g, /*isolated=*/true);
  EXPECT_EQ(Value(Run(second, {.fetches = {"one:0"}})), 1);
  grpc::ClientContext context;
  pb::ResetResponse response;
  ASSERT_TRUE(stub_->Reset(&context, pb::ResetRequest(), &response).ok());
  for (const std::string& session : {first, second}) {
    EXPECT_EQ(Run(session, {.fetches = {"one:0"}}).status_code(), pb::error::ABORTED);
  }
  EXPECT_EQ(Value(Run(Create(g), {.fetches = {"one:0"}})), 1);
}

TEST_F(ServerTest, Callables) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {}, "x");
  Add(x, x, "y");
  const std::string session = Create(g);
  pb::MakeCallableRequest make;
  make.set_session_handle(session);
  make.mutable_options()->add_feed("x:0");
  make.mutable_options()->add_fetch("y:0");
  pb::MakeCallableResponse made;
  grpc::ClientContext c1, c2, c3, c4;
  ASSERT_TRUE(stub_->MakeCallable(&c1, make, &made).ok());
  EXPECT_EQ(made.handle(), 0);
  pb::RunCallableRequest run;
  run.set_session_handle(session);
  ASSERT_TRUE(TensorToProto(Tensor::Scalar(2.5f), run.add_feed()).ok());
  pb::RunCallableResponse ran;
  ASSERT_TRUE(stub_->RunCallable(&c2, run, &ran).ok());
  EXPECT_EQ(TensorFromProto(ran.fetch(0))->scalar<float>(), 5);
  pb::ReleaseCallableRequest release;
  release.set_session_handle(session);
  pb::ReleaseCallableResponse released;
  ASSERT_TRUE(stub_->ReleaseCallable(&c3, release, &released).ok());
  const grpc::Status status = stub_->RunCallable(&c4, run, &ran);
  EXPECT_EQ(status.error_message(), "Attempted to run callable after handle was released: 0");
}

TEST_F(ServerTest, DevicesAreListed) {
  grpc::ClientContext context;
  pb::ListDevicesResponse response;
  ASSERT_TRUE(stub_->ListDevices(&context, pb::ListDevicesRequest(), &response).ok());
  ASSERT_EQ(response.local_device_size(), 2);
  EXPECT_EQ(response.local_device(1).name(), "/job:localhost/replica:0/task:0/device:CPU:1");
  EXPECT_NE(response.local_device(1).incarnation(), 0u);
}

TEST_F(ServerTest, AGraphThatFitsNoDeviceIsRefusedWhenTheSessionIsMade) {
  Graph g;
  Const(g, 1, "lost").node->set_device("/job:ps/task:0");
  grpc::ClientContext context;
  pb::CreateSessionRequest request;
  *request.mutable_graph_def() = Def(g);
  pb::CreateSessionResponse response;
  const grpc::Status status = stub_->CreateSession(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("Cannot assign a device for operation lost"));
}

TEST(Server, ListensOnThisHostAloneUnlessToldOtherwise) {
  EXPECT_THAT(Server::Start({.bind = "0.0.0.0", .port = 0}).status().message(),
              HasSubstr("say --insecure if the network is trusted"));
  EXPECT_TRUE(Server::Start({.bind = "0.0.0.0", .port = 0, .insecure = true}).ok());
}

TEST(Server, APortThatIsTakenIsAnError) {
  auto server = Server::Start({.port = 0});
  EXPECT_EQ(Server::Start({.port = (*server)->port()}).status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace sluice

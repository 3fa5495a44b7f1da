// Tests that the running steps of an abandoned session end before a new session begins.

#include <chrono>
#include <future>
#include <latch>

#include "distributed/master/unwanted_parts.h"
#include "distributed/proto/master_service.grpc.pb.h"
#include "distributed/proto/worker_service.grpc.pb.h"
#include "distributed/server/server.h"
#include "distributed/testing/free_port.h"
#include "executor/testing/test_ops.h"
#include "gmock/gmock.h"
#include "graph/format/graph_def.h"
#include "graph/status.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A kernel that ignores its cancellation and runs until LetEnd.
class LongKernel {
 public:
  LongKernel() {
    SetHook("long", [this] {
      began_.count_down();
      may_end_.wait();
    });
  }
  ~LongKernel() { ClearHooks(); }
  void AwaitBegin() { began_.wait(); }
  void LetEnd() { may_end_.count_down(); }

 private:
  std::latch began_{1}, may_end_{1};
};

class FormerSessionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Events::Get().Reset();
    auto server = Server::Start({.port = 0});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    const auto channel =
        grpc::CreateChannel(server_->target().substr(7), grpc::InsecureChannelCredentials());
    worker_ = tensorflow::WorkerService::NewStub(channel);
    master_ = tensorflow::MasterService::NewStub(channel);
    DeviceScope device(g_, "/job:localhost/replica:0/task:0/device:CPU:0");
    // The first op takes long, the second ends when it is cancelled.
    Wait(Hooked(Const(g_, 1), "long"), "waits");
  }

  using WorkerStub = tensorflow::WorkerService::Stub;
  using MasterStub = tensorflow::MasterService::Stub;
  template <typename Stub, typename Request, typename Response>
  static grpc::Status Call(Stub& stub,
                           grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                        Response*),
                           const Request& request, Response* response = nullptr) {
    grpc::ClientContext context;
    Response unused;
    return (stub.*method)(&context, request, response != nullptr ? response : &unused);
  }

  using Answer = std::future<grpc::StatusCode>;
  template <typename F>
  static Answer Later(F call) {
    return std::async(std::launch::async, std::move(call));
  }
  // Whether there is no answer yet. None may come before the long kernel has ended.
  static bool IsOpen(Answer& answer) {
    return answer.wait_for(std::chrono::milliseconds(100)) == std::future_status::timeout;
  }

  // Creates a session like a process of the master /job:chief/task:0 with this incarnation.
  grpc::StatusCode Create(const std::string& session, int64_t incarnation,
                          const std::vector<int64_t>& unwanted = {}) {
    pb::CreateWorkerSessionRequest request;
    request.set_session_handle(session);
    request.set_master_task("/job:chief/replica:0/task:0");
    request.set_master_incarnation(incarnation);
    request.mutable_unwanted_step()->Assign(unwanted.begin(), unwanted.end());
    return Call(*worker_, &WorkerStub::CreateWorkerSession, request).error_code();
  }
  grpc::StatusCode Delete(const std::string& session) {
    pb::DeleteWorkerSessionRequest request;
    request.set_session_handle(session);
    return Call(*worker_, &WorkerStub::DeleteWorkerSession, request).error_code();
  }
  std::string Register(const std::string& session) {
    pb::RegisterGraphRequest request;
    request.set_session_handle(session);
    *request.mutable_graph_def() = *ExportGraphDef(g_);
    pb::RegisterGraphResponse response;
    EXPECT_TRUE(Call(*worker_, &WorkerStub::RegisterGraph, request, &response).ok());
    return response.graph_handle();
  }
  grpc::StatusCode Run(const std::string& session, const std::string& graph, int64_t step_id) {
    pb::RunGraphRequest request;
    request.set_session_handle(session);
    request.set_graph_handle(graph);
    request.set_step_id(step_id);
    return Call(*worker_, &WorkerStub::RunGraph, request).error_code();
  }
  Answer Start(const std::string& session, int64_t step_id) {
    const std::string graph = Register(session);
    return Later([this, session, graph, step_id] { return Run(session, graph, step_id); });
  }
  std::string CreateMasterSession() {
    pb::CreateSessionRequest request;
    *request.mutable_graph_def() = *ExportGraphDef(g_);
    pb::CreateSessionResponse response;
    EXPECT_TRUE(Call(*master_, &MasterStub::CreateSession, request, &response).ok());
    return response.session_handle();
  }
  Answer StartStep(const std::string& session) {
    return Later([this, session] {
      pb::RunStepRequest request;
      request.set_session_handle(session);
      request.add_target("waits");
      const grpc::Status status = Call(*master_, &MasterStub::RunStep, request);
      EXPECT_THAT(status.error_message(), HasSubstr("`Session::Close()`"));
      return status.error_code();
    });
  }

  LongKernel long_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<WorkerStub> worker_;
  std::unique_ptr<MasterStub> master_;
  Graph g_;
};

TEST_F(FormerSessionsTest, ANewSessionBeginsWhenUnwantedStepsHaveEnded) {
  ASSERT_EQ(Create("a", 1), grpc::OK);
  Answer step = Start("a", 7);
  long_.AwaitBegin();
  Answer next = Later([this] { return Create("b", 1, {5, 7}); });
  EXPECT_TRUE(IsOpen(next));
  long_.LetEnd();
  EXPECT_EQ(next.get(), grpc::OK);
  EXPECT_EQ(Events::Get().waiting("waits"), 0);
  EXPECT_EQ(step.get(), grpc::CANCELLED);
}

TEST_F(FormerSessionsTest, APartThatComesAfterItsStepWasGivenUpDoesNotRun) {
  long_.LetEnd();
  ASSERT_EQ(Create("a", 1), grpc::OK);
  const std::string graph = Register("a");
  ASSERT_EQ(Create("b", 1, {7}), grpc::OK);
  EXPECT_EQ(Run("a", graph, 7), grpc::CANCELLED);
  EXPECT_EQ(Events::Get().waiting("waits"), 0);
}

TEST_F(FormerSessionsTest, OtherStepsGoOn) {
  long_.LetEnd();
  ASSERT_EQ(Create("a", 1), grpc::OK);
  Answer step = Start("a", 7);
  Events::Get().AwaitWaiting("waits", 1);
  EXPECT_EQ(Create("b", 1, {8}), grpc::OK);
  EXPECT_EQ(Events::Get().waiting("waits"), 1);
  Events::Get().Fire("waits");
  EXPECT_EQ(step.get(), grpc::OK);
}

TEST_F(FormerSessionsTest, TheSessionsOfAMasterThatWasKilledEndBeforeItsNextOne) {
  ASSERT_EQ(Create("a", 1), grpc::OK);
  Answer step = Start("a", 7);
  long_.AwaitBegin();
  Answer next = Later([this] { return Create("b", 2); });
  EXPECT_TRUE(IsOpen(next));
  // "a" was removed, but its step has not ended.
  Answer another = Later([this] { return Create("c", 2); });
  EXPECT_TRUE(IsOpen(another));
  long_.LetEnd();
  EXPECT_EQ(next.get(), grpc::OK);
  EXPECT_EQ(another.get(), grpc::OK);
  EXPECT_EQ(step.get(), grpc::CANCELLED);
  EXPECT_EQ(Run("a", "0000000000000001", 8), grpc::ABORTED);
  EXPECT_NE(Register("b"), "");
}

TEST_F(FormerSessionsTest, TheStepsOfASessionEndWithIt) {
  long_.LetEnd();
  ASSERT_EQ(Create("a", 1), grpc::OK);
  Answer step = Start("a", 7);
  Events::Get().AwaitWaiting("waits", 1);
  EXPECT_EQ(Delete("a"), grpc::OK);
  EXPECT_EQ(step.get(), grpc::CANCELLED);
  EXPECT_EQ(Delete("a"), grpc::OK);  // it does not exist any more
}

TEST_F(FormerSessionsTest, AClientsSessionIsClosedWhenItsStepsHaveEnded) {
  const std::string session = CreateMasterSession();
  Answer step = StartStep(session);
  long_.AwaitBegin();
  const auto close = [this, &session] {
    pb::CloseSessionRequest request;
    request.set_session_handle(session);
    return Call(*master_, &MasterStub::CloseSession, request).error_code();
  };
  Answer closed = Later(close);
  EXPECT_TRUE(IsOpen(closed));
  long_.LetEnd();
  EXPECT_EQ(closed.get(), grpc::OK);
  EXPECT_EQ(step.get(), grpc::CANCELLED);
  EXPECT_EQ(close(), grpc::ABORTED);
}

TEST_F(FormerSessionsTest, AResetAwaitsTheStepsOfAllSessions) {
  Answer step = StartStep(CreateMasterSession());
  long_.AwaitBegin();
  Answer reset =
      Later([this] { return Call(*master_, &MasterStub::Reset, pb::ResetRequest()).error_code(); });
  EXPECT_TRUE(IsOpen(reset));
  long_.LetEnd();
  EXPECT_EQ(reset.get(), grpc::OK);
  EXPECT_EQ(step.get(), grpc::CANCELLED);
}

// A chief and a parameter server on which the chief's steps take long.
class FormerMasterSessionsTest : public ::testing::Test {
 protected:
  FormerMasterSessionsTest() {
    spec_.SetAddress({"ps", 0}, "127.0.0.1:" + std::to_string(FreePort()));
    spec_.SetAddress({"chief", 0}, "127.0.0.1:" + std::to_string(FreePort()));
    ps_ = Start({"ps", 0});
    chief_ = Start({"chief", 0});
    DeviceScope device(g_, "/job:ps/task:0");
    Hooked(Const(g_, 1), "long");
    Identity(Const(g_, 2), "quick");
  }
  std::unique_ptr<Server> Start(const TaskName& task) {
    auto server = Server::Start({.cluster = {spec_, task}});
    EXPECT_TRUE(server.ok()) << server.status();
    return *std::move(server);
  }
  // Runs a node in a session of its own.
  absl::Status Run(const std::string& node, int64_t timeout_ms = 0) {
    SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, chief_->NewSession(g_));
    return session->Run({}, {Output(g_.Find(node))}, {}, {.timeout_ms = timeout_ms}).status();
  }
  void ExpectNextAwaitsTheLongKernel() {
    auto next = std::async(std::launch::async, [this] { return Run("quick"); });
    EXPECT_EQ(next.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
    long_.LetEnd();
    const absl::Status status = next.get();
    EXPECT_TRUE(status.ok()) << status;
  }

  LongKernel long_;
  ClusterSpec spec_;
  std::unique_ptr<Server> ps_, chief_;
  Graph g_;
};

TEST_F(FormerMasterSessionsTest, ANewSessionAwaitsAStepThatTimedOut) {
  EXPECT_EQ(Run("long", 200).code(), absl::StatusCode::kDeadlineExceeded);
  long_.AwaitBegin();
  ExpectNextAwaitsTheLongKernel();
}

TEST_F(FormerMasterSessionsTest, AChiefThatWasKilledAwaitsTheStepsOfItsFormerLife) {
  EXPECT_EQ(Run("long", 200).code(), absl::StatusCode::kDeadlineExceeded);
  long_.AwaitBegin();
  chief_ = nullptr;
  chief_ = Start({"chief", 0});
  ExpectNextAwaitsTheLongKernel();
}

TEST_F(FormerMasterSessionsTest, ASessionThatWaitsForATaskIsClosed) {
  ps_ = nullptr;
  auto session = chief_->NewSession(g_);
  ASSERT_TRUE(session.ok()) << session.status();
  auto step = std::async(std::launch::async, [this, &session] {
    return (*session)->Run({}, {Output(g_.Find("quick"))}).status();
  });
  EXPECT_EQ(step.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  EXPECT_TRUE((*session)->Close().ok());
  EXPECT_EQ(step.get(),
            absl::CancelledError("Step was cancelled by an explicit call to `Session::Close()`."));
}

TEST(UnwantedParts, AreKeptUntilTheirEndIsReported) {
  UnwantedParts parts;
  for (int64_t i = 0; i < 3; ++i) parts.Add("ps", i);
  parts.Add("ps", 1);
  parts.Remove("ps", {0, 7});
  EXPECT_THAT(parts.Of("ps"), ElementsAre(2, 1));
  EXPECT_THAT(parts.Of("worker"), ElementsAre());
  for (int64_t i = 0; i < static_cast<int64_t>(UnwantedParts::kMost); ++i) parts.Add("ps", i + 10);
  EXPECT_EQ(parts.Of("ps").size(), UnwantedParts::kMost);
  EXPECT_EQ(parts.Of("ps").front(), 10);
}

}  // namespace
}  // namespace sluice

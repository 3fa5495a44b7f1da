#include "distributed/client/remote_session.h"

#include <cstring>
#include <limits>
#include <thread>

#include "distributed/server/server.h"
#include "executor/session/partial_run.h"
#include "executor/session/remote_master.h"
#include "executor/testing/test_ops.h"
#include "executor/trace/step_stats.h"
#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RemoteSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Events::Get().Reset();
    server_ = *Server::Start({.port = 0, .cpus = 2});
  }
  void TearDown() override { session_.reset(); }

  Session& session(RemoteSessionOptions options = {}) {
    if (session_ == nullptr) {
      auto session = RemoteSession::Connect(g_, server_->target(), std::move(options));
      EXPECT_TRUE(session.ok()) << session.status();
      session_ = *std::move(session);
    }
    return *session_;
  }
  static float Scalar(const absl::StatusOr<Tensors>& result, int i = 0) {
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? (*result)[i].scalar<float>() : -1;
  }

  std::unique_ptr<Server> server_;
  Graph g_;
  std::unique_ptr<Session> session_;
};

TEST_F(RemoteSessionTest, LargeFeedsAndFetchesGoInPieces) {
  server_ = *Server::Start({.port = 0, .grpc_message_bytes = 70'000, .lanes = false});
  const Output x = Placeholder(g_, DT_FLOAT, {-1}, "x");
  const Output y = Identity(x, "y");
  Tensor value(DT_FLOAT, {100'000});
  for (int i = 0; i < 100'000; ++i) value.data<float>()[i] = static_cast<float>(i);
  const auto out = session({.grpc_message_bytes = 50'000}).Run({{x, value}}, {y});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(std::memcmp((*out)[0].raw(), value.raw(), value.bytes()), 0);
}

TEST_F(RemoteSessionTest, RunsAGraphThatGrows) {
  const Output x = Placeholder(g_, DT_FLOAT, {}, "x");
  const Output y = Add(x, x, "y");
  EXPECT_EQ(Scalar(session().Run({{x, Tensor::Scalar(3.0f)}}, {y})), 6);
  const Output z = Add(y, Const(g_, 1, "one"), "z");
  const auto both = session().Run({{x, Tensor::Scalar(4.0f)}}, {z, y, z});
  EXPECT_EQ(Scalar(both, 0), 9);
  EXPECT_EQ(Scalar(both, 1), 8);
  EXPECT_EQ(Scalar(both, 2), 9);
  const NamedFeed fed{"x", Tensor::Scalar(5.0f)};
  EXPECT_EQ(Scalar(session().Run({&fed, 1}, {"z:0"})), 11);
}

TEST_F(RemoteSessionTest, CallablesAndThreads) {
  const Output x = Placeholder(g_, DT_FLOAT, {}, "x");
  const Callable doubled = *session().MakeCallable({x}, {Add(x, x)});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(Scalar(doubled.Run({Tensor::Scalar<float>(t * i)})), 2 * t * i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(std::string(doubled.Run({Tensor::Scalar(1)}).status().message()),
              HasSubstr("expected float, got int32"));
}

TEST_F(RemoteSessionTest, ErrorsHaveTheLineOfThisProgram) {
  const Output bad = Fail(Const(g_, 1), "bad");
  const absl::Status status = session().Run({}, {bad}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("From /job:localhost/replica:0/task:0:\nboom [built at "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("remote_session_test.cc"));
}

TEST_F(RemoteSessionTest, PiecesOfAStep) {
  const Output x = Placeholder(g_, DT_FLOAT, {}, "x");
  const Output y = Placeholder(g_, DT_FLOAT, {}, "y");
  Add(Add(x, x, "a"), y, "b");
  auto run = session().StartPartialRun({"x", "y"}, {"a:0", "b:0"});
  ASSERT_TRUE(run.ok()) << run.status();
  const NamedFeed first{"x", Tensor::Scalar(2.0f)};
  EXPECT_EQ(Scalar((*run)->Run({&first, 1}, {"a:0"})), 4);
  EXPECT_FALSE((*run)->has_ended());
  const NamedFeed second{"y", Tensor::Scalar(1.0f)};
  EXPECT_EQ(Scalar((*run)->Run({&second, 1}, {"b:0"})), 5);
  EXPECT_TRUE((*run)->has_ended());
}

TEST_F(RemoteSessionTest, StepsThatWaitEndByTimeByCancellationAndByClosing) {
  const Output late_one = Wait(Const(g_, 1), "late");
  const Output waits = Wait(Const(g_, 1), "waits");
  const Output closed = Wait(Const(g_, 1), "closed");
  const absl::Status late = session().Run({}, {late_one}, {}, {.timeout_ms = 50}).status();
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded) << late;

  CancellationManager cancellation;
  std::thread canceller([&] {
    Events::Get().AwaitWaiting("waits", 1);
    cancellation.StartCancel();
  });
  const absl::Status cancelled =
      session().Run({}, {waits}, {}, {.cancellation = &cancellation}).status();
  canceller.join();
  EXPECT_EQ(cancelled.code(), absl::StatusCode::kCancelled) << cancelled;

  std::thread closer([&] {
    Events::Get().AwaitWaiting("closed", 1);
    EXPECT_THAT(session().StallReport(), HasSubstr("the master at grpc://127.0.0.1:"));
    EXPECT_TRUE(session().Close().ok());
  });
  EXPECT_EQ(session().Run({}, {closed}).status().message(),
            "Step was cancelled by an explicit call to `Session::Close()`.");
  closer.join();
}

TEST_F(RemoteSessionTest, ATraceAndPartitionsComeBack) {
  const Output one = Const(g_, 1, "one");
  const Output sum = Add(one, Placeholder(g_, DT_FLOAT, {}, "x"), "sum");
  RunMetadata metadata;
  const Feed fed{*g_.FindOutput("x"), Tensor::Scalar(2.0f)};
  EXPECT_EQ(Scalar(session().Run({&fed, 1}, {&sum, 1}, {},
                                 {.trace = true, .output_partition_graphs = true}, &metadata)),
            3);
  ASSERT_NE(metadata.step_stats, nullptr);
  bool is_there = false;
  for (const auto& device : metadata.step_stats->dev_stats) {
    for (const auto& node : device.node_stats) is_there |= node.node_name == "sum";
  }
  EXPECT_TRUE(is_there);
  ASSERT_EQ(metadata.partition_graphs.size(), 1u);
  EXPECT_NE(metadata.partition_graphs[0]->Find("sum"), nullptr);
}

TEST_F(RemoteSessionTest, MetadataIsThatOfTheLastStep) {
  const Output one = Const(g_, 1, "one");
  RunMetadata metadata;
  const RunOptions both{.trace = true, .output_partition_graphs = true};
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(session().Run({}, {one}, {}, both, &metadata).ok());
    EXPECT_EQ(metadata.partition_graphs.size(), 1u);
  }
  ASSERT_TRUE(session().Run({}, {one}, {}, {}, &metadata).ok());
  EXPECT_TRUE(metadata.partition_graphs.empty());
  EXPECT_EQ(metadata.step_stats, nullptr);
}

TEST_F(RemoteSessionTest, ChecksNumbers) {
  const Output x = Placeholder(g_, DT_FLOAT, {}, "x");
  const Output twice = Add(x, x, "twice");
  const Feed fed{x, Tensor::Scalar(std::numeric_limits<float>::infinity())};
  EXPECT_TRUE(session().Run({&fed, 1}, {&twice, 1}).ok());
  const absl::Status status =
      session().Run({&fed, 1}, {&twice, 1}, {}, {.check_numerics = true}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("twice"));
}

TEST_F(RemoteSessionTest, DevicesAreTheServers) {
  auto devices = RemoteSession::ListDevices(session());
  ASSERT_TRUE(devices.ok()) << devices.status();
  std::vector<std::string> names;
  for (const DeviceInfo& device : *devices) names.push_back(device.name);
  EXPECT_THAT(names, ElementsAre("/job:localhost/replica:0/task:0/device:CPU:0",
                                 "/job:localhost/replica:0/task:0/device:CPU:1"));
}

TEST_F(RemoteSessionTest, ASchemeNamesTheMaster) {
  auto master = RemoteMaster::Connect(server_->target(), {});
  ASSERT_TRUE(master.ok()) << master.status();
  Session session(g_, {.master = *master});
  EXPECT_EQ(Scalar(session.Run({}, {Const(g_, 7)})), 7);
  EXPECT_EQ(RemoteMaster::Connect("ftp://a:1", {}).status().message(),
            "No session factory registered for the given session options: {target: "
            "\"ftp://a:1\"} Registered factories are {DIRECT_SESSION, GRPC_SESSION}.");
}

TEST_F(RemoteSessionTest, SinglePassesCannotBeDisabled) {
  RemoteSessionOptions options;
  options.session.disabled_passes = {"all"};
  EXPECT_TRUE(RemoteSession::Connect(g_, server_->target(), options).ok());
  options.session.disabled_passes = {"all", "simplify"};
  const absl::Status status = RemoteSession::Connect(g_, server_->target(), options).status();
  EXPECT_EQ(status, absl::UnimplementedError("disabled_passes of a remote session: expected only "
                                             "\"all\", got \"simplify\""));
}

TEST_F(RemoteSessionTest, AServerThatIsGoneIsNamed) {
  const Output one = Const(g_, 1);
  EXPECT_EQ(Scalar(session().Run({}, {one})), 1);
  const std::string target = server_->target();
  ASSERT_TRUE(RemoteSession::Reset(target).ok());
  EXPECT_EQ(session().Run({}, {one}).status().code(), absl::StatusCode::kAborted);
  server_.reset();
  const absl::Status gone = session().Run({}, {one}).status();
  EXPECT_EQ(gone.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(gone.message()), StartsWith("the master at " + target));
  const auto none = RemoteSession::Connect(g_, target, {.connect_timeout_ms = 50});
  EXPECT_EQ(none.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("no session within 50 ms"));
  EXPECT_EQ(RemoteSession::Connect(g_, "127.0.0.1:7077").status().message(),
            "expected a target \"grpc://host:port\", got \"127.0.0.1:7077\"");
}

}  // namespace
}  // namespace sluice

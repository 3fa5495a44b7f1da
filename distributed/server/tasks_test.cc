// Tests steps over several tasks, which are servers in this process.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <thread>

#include "distributed/client/monitor.h"
#include "distributed/message/counters.h"
#include "distributed/proto/worker_service.grpc.pb.h"
#include "distributed/server/server.h"
#include "distributed/testing/free_port.h"
#include "executor/session/partial_run.h"
#include "executor/testing/test_ops.h"
#include "executor/trace/step_stats.h"
#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "graph/mutex.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::HasSubstr;
using ::testing::StartsWith;

enum class Wire { kLanes, kGrpc, kPieces };

// Runs over lanes, over gRPC, and over gRPC with a low message limit, which chunks large messages.
class TasksTest : public ::testing::TestWithParam<Wire> {
 protected:
  void SetUp() override {
    Events::Get().Reset();
    for (const TaskName& task : {TaskName{"ps", 0}, TaskName{"worker", 0}}) {
      spec_.SetAddress(task, "127.0.0.1:" + std::to_string(FreePort()));
    }
    ps_ = StartServer({"ps", 0});
    worker_ = StartServer({"worker", 0});
  }
  void TearDown() override { session_.reset(); }

  std::unique_ptr<Server> StartServer(const TaskName& task) { return StartServer(spec_, task); }
  static std::unique_ptr<Server> StartServer(const ClusterSpec& spec, const TaskName& task) {
    auto server =
        Server::Start({.cluster = {spec, task},
                       .grpc_message_bytes = GetParam() == Wire::kPieces ? 100'000 : INT32_MAX,
                       .lanes = GetParam() == Wire::kLanes,
                       .connect_timeout_ms = 1500});
    EXPECT_TRUE(server.ok()) << server.status();
    return server.ok() ? *std::move(server) : nullptr;
  }
  // A session whose master is the worker. To be called after the graph is built.
  Session& session() {
    if (session_ == nullptr) {
      EXPECT_TRUE(g_.status().ok()) << g_.status();
      auto session = worker_->NewSession(g_);
      EXPECT_TRUE(session.ok()) << session.status();
      session_ = *std::move(session);
    }
    return *session_;
  }
  static float Scalar(const absl::StatusOr<Tensors>& result, int i = 0) {
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? (*result)[i].scalar<float>() : -1;
  }
  // Builds x on the worker, a = x + x on the parameter server, b = a + x on the worker.
  void Build() {
    x_ = Placeholder(g_, DT_FLOAT, {}, "x");
    {
      DeviceScope ps(g_, "/job:ps/task:0");
      a_ = Add(x_, x_, "a");
    }
    DeviceScope worker(g_, "/job:worker/task:0");
    b_ = Add(a_, x_, "b");
  }
  // Builds an op that waits on the parameter server for the event "waits".
  void BuildWaiting() {
    Build();
    DeviceScope ps(g_, "/job:ps/task:0");
    waits_ = Wait(a_, "waits");
  }
  absl::StatusOr<Tensors> RunWaiting(const RunOptions& options = {}) {
    return session().Run({{x_, Tensor::Scalar(1.0f)}}, {waits_}, {}, options);
  }

  ClusterSpec spec_;
  std::unique_ptr<Server> ps_, worker_;
  Graph g_;
  std::unique_ptr<Session> session_;
  Output x_, a_, b_, waits_;
};

TEST_P(TasksTest, FeedsAndFetchesTravelWithTheStep) {
  Build();
  for (int i = 0; i < 3; ++i) {
    const auto out = session().Run({{x_, Tensor::Scalar<float>(i)}}, {a_, b_});
    EXPECT_EQ(Scalar(out, 0), 2 * i);
    EXPECT_EQ(Scalar(out, 1), 3 * i);
  }
  EXPECT_EQ(Scalar(session().Run({{a_, Tensor::Scalar(5.0f)}, {x_, Tensor::Scalar(1.0f)}}, {b_})),
            6);
}

TEST_P(TasksTest, LargeTensorsTravelInOneCopyATime) {
  Output large;
  {
    DeviceScope ps(g_, "/job:ps/task:0");
    large = Identity(Placeholder(g_, DT_FLOAT, {}, "large"), "there");
  }
  DeviceScope worker(g_, "/job:worker/task:0");
  const Output back = Identity(large, "back");
  Tensor value(DT_FLOAT, TensorShape({8 << 20}));
  for (int i = 0; i < 8 << 20; ++i) value.data<float>()[i] = static_cast<float>(i);
  session();
  const WireCounters& counters = WireCounters::Global();
  const int64_t received = counters.received, copied = counters.copied;
  const auto out = session().Run({{Output(g_.Find("large")), value}}, {back});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(std::memcmp((*out)[0].raw(), value.raw(), value.bytes()), 0);
  // One copy to the parameter server, and one back. Row 46 of docs/demands.md.
  EXPECT_GE(counters.received - received, 2 * static_cast<int64_t>(value.bytes()));
  EXPECT_LE(counters.copied - copied, counters.received - received);
}

// The events of a watch, in order.
class WatchEvents {
 public:
  TaskWatch::Handlers Handlers() {
    return {.is_there = [this] { Add("there"); },
            .gone = [this](const absl::Status&) { Add("gone"); },
            .announced = [this] { Add("announced"); }};
  }
  std::string Next() {
    ScopedLock lock(&mutex_);
    while (events_.empty()) added_.Wait(&mutex_);
    std::string next = std::move(events_.front());
    events_.pop_front();
    return next;
  }

 private:
  void Add(const std::string& event) {
    ScopedLock lock(&mutex_);
    events_.push_back(event);
    added_.NotifyAll();
  }
  Mutex mutex_;
  CondVar added_;
  std::deque<std::string> events_ ABSL_GUARDED_BY(mutex_);
};

TEST_P(TasksTest, AWatchReportsThatATaskComesAnnouncesAndGoes) {
  WatchEvents events, late;
  const auto watch = worker_->Watch({"ps", 0}, events.Handlers());
  EXPECT_EQ(events.Next(), "there");
  ps_->Announce();
  EXPECT_EQ(events.Next(), "announced");
  ps_->Announce();
  EXPECT_EQ(events.Next(), "announced");
  {
    const auto second = worker_->Watch({"ps", 0}, late.Handlers());
    EXPECT_EQ(late.Next(), "there");
    EXPECT_EQ(late.Next(), "announced");  // before the watch
  }
  ps_.reset();
  EXPECT_EQ(events.Next(), "gone");
  ps_ = StartServer({"ps", 0});
  EXPECT_EQ(events.Next(), "there");
  ps_->Announce();
  // A call may still have used the connection to the previous task. Then it is repeated.
  while (events.Next() != "announced") {
  }
}

TEST_P(TasksTest, ErrorsNameTheTaskAndTheNode) {
  Build();
  {
    DeviceScope ps(g_, "/job:ps/task:0");
    a_ = Fail(a_, "bad");
  }
  DeviceScope worker(g_, "/job:worker/task:0");
  const Output after = Add(a_, x_, "after");
  const auto out = session().Run({{x_, Tensor::Scalar(1.0f)}}, {after});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(out.status().message(), HasSubstr("From /job:ps/replica:0/task:0:\nboom"));
  EXPECT_THAT(out.status().message(), HasSubstr("[[{{node bad}}]]"));
  EXPECT_EQ(Scalar(session().Run({{x_, Tensor::Scalar(1.0f)}}, {b_})), 3);
}

TEST_P(TasksTest, AStepThatWaitsElsewhereIsCancelled) {
  BuildWaiting();
  CancellationManager cancellation;
  std::thread canceller([&] {
    Events::Get().AwaitWaiting("waits", 1);
    cancellation.StartCancel();
  });
  EXPECT_EQ(RunWaiting({.cancellation = &cancellation}).status().code(),
            absl::StatusCode::kCancelled);
  canceller.join();
  // The part of the cancelled step has ended with the step, so it does not consume the event.
  Events::Get().Fire("waits");
  EXPECT_EQ(Scalar(RunWaiting()), 2);
}

TEST_P(TasksTest, WhatATaskWaitsForIsToldWhileItWaits) {
  EXPECT_EQ(StallsAt(worker_->target()).value_or("no answer"), "");
  BuildWaiting();
  DeviceScope worker(g_, "/job:worker/task:0");
  const Output after = Add(waits_, x_, "after");
  std::thread asker([&] {
    Events::Get().AwaitWaiting("waits", 1);
    std::string stalls;
    while (stalls.empty()) stalls = StallsAt(worker_->target()).value_or("no answer");
    EXPECT_THAT(stalls, HasSubstr("(_Recv) has waited "));
    EXPECT_THAT(stalls, HasSubstr("from /job:ps/replica:0/task:0"));
    Events::Get().Fire("waits");
  });
  EXPECT_EQ(Scalar(session().Run({{x_, Tensor::Scalar(1.0f)}}, {after})), 3);
  asker.join();
  EXPECT_EQ(StallsAt("grpc://127.0.0.1:1").status().code(), absl::StatusCode::kUnavailable);
}

TEST_P(TasksTest, AStepThatWaitsElsewhereEndsWithTheSession) {
  BuildWaiting();
  session();
  std::thread closer([&] {
    Events::Get().AwaitWaiting("waits", 1);
    session_->Close().IgnoreError();
  });
  EXPECT_EQ(RunWaiting().status(),
            absl::CancelledError("Step was cancelled by an explicit call to `Session::Close()`."));
  closer.join();
}

TEST_P(TasksTest, AStepThatWaitsElsewhereTimesOut) {
  BuildWaiting();
  EXPECT_EQ(RunWaiting({.timeout_ms = 50}).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_P(TasksTest, AStepThatWaitsForATensorEndsWhenItsTaskStops) {
  BuildWaiting();
  DeviceScope worker(g_, "/job:worker/task:0");
  const Output after = Add(waits_, x_, "after");
  session();
  std::thread stopper([&] {
    Events::Get().AwaitWaiting("waits", 1);
    ps_->Stop();
  });
  const absl::Status status = session().Run({{x_, Tensor::Scalar(1.0f)}}, {after}).status();
  stopper.join();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("/job:ps/replica:0/task:0"));
}

TEST_P(TasksTest, ATaskThatCameBackIsNotTheOneOfBefore) {
  Build();
  EXPECT_EQ(Scalar(session().Run({{x_, Tensor::Scalar(1.0f)}}, {b_})), 3);
  ps_.reset();
  ps_ = StartServer({"ps", 0});
  const absl::Status status = session().Run({{x_, Tensor::Scalar(1.0f)}}, {b_}).status();
  EXPECT_TRUE(absl::IsAborted(status) || absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("/job:ps/replica:0/task:0"));
  auto fresh = worker_->NewSession(g_);
  ASSERT_TRUE(fresh.ok()) << fresh.status();
  EXPECT_EQ(Scalar((*fresh)->Run({{x_, Tensor::Scalar(1.0f)}}, {b_})), 3);
}

TEST_P(TasksTest, Row24SessionsNeedOnlyTheTasksThatTheirStepsTouch) {
  const std::string nowhere = "127.0.0.1:" + std::to_string(FreePort());
  spec_.SetAddress({"ps", 1}, nowhere);
  worker_.reset();
  worker_ = StartServer({"worker", 0});
  Build();
  Output absent;
  {
    DeviceScope ps(g_, "/job:ps/task:1");
    absent = Add(x_, x_, "absent");
  }
  EXPECT_EQ(Scalar(session().Run({{x_, Tensor::Scalar(1.0f)}}, {b_})), 3);
  const absl::Status status = session().Run({{x_, Tensor::Scalar(1.0f)}}, {absent}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("/job:ps/replica:0/task:1"));
  EXPECT_THAT(status.message(), HasSubstr("no answer from " + nowhere + " within 1500 ms: "));
  EXPECT_THAT(status.message(), HasSubstr("refused"));
}

// Waits until a client tries to connect to a port of this host.
void AwaitConnectionTo(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  const int connection = accept(listener, nullptr, nullptr);
  close(connection);
  close(listener);
}

TEST_P(TasksTest, Row25TheOrderOfStartIsFree) {
  const int port = ps_->port();
  ps_.reset();
  Build();
  session();
  std::thread starter([&] {
    AwaitConnectionTo(port);  // the step waits for the server now
    ps_ = StartServer({"ps", 0});
  });
  EXPECT_EQ(Scalar(session().Run({{x_, Tensor::Scalar(1.0f)}}, {b_})), 3);
  starter.join();
}

TEST_P(TasksTest, Row30AWorkerThatNobodyKnewTrains) {
  ClusterSpec larger = spec_;
  larger.SetAddress({"worker", 1}, "127.0.0.1:" + std::to_string(FreePort()));
  const std::unique_ptr<Server> joining = StartServer(larger, {"worker", 1});
  x_ = Placeholder(g_, DT_FLOAT, {}, "x");
  Output y;
  {
    DeviceScope worker(g_, "/job:worker/task:1");
    y = Add(x_, x_, "there");
  }
  DeviceScope ps(g_, "/job:ps/task:0");
  const Output z = Add(y, x_, "here");  // the server fetches its input from the worker
  auto session = joining->NewSession(g_);
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(Scalar((*session)->Run({{x_, Tensor::Scalar(1.0f)}}, {z})), 3);
}

TEST_P(TasksTest, Row30AWorkerThatComesBackElsewhereIsFound) {
  x_ = Placeholder(g_, DT_FLOAT, {}, "x");
  Output y;
  {
    DeviceScope worker(g_, "/job:worker/task:0");
    y = Add(x_, x_, "there");
  }
  DeviceScope ps(g_, "/job:ps/task:0");
  const Output z = Add(y, x_, "here");
  for (int life = 0; life < 2; ++life) {
    worker_.reset();
    spec_.SetAddress({"worker", 0}, "127.0.0.1:" + std::to_string(FreePort()));
    worker_ = StartServer({"worker", 0});
    auto session = worker_->NewSession(g_);
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_EQ(Scalar((*session)->Run({{x_, Tensor::Scalar(1.0f)}}, {z})), 3);
  }
}

TEST_P(TasksTest, MetricsCountStepsAndBytes) {
  Build();
  session();
  const auto value_of = [this](const std::string& name) {
    const std::string text = MetricsAt(ps_->target()).value_or("");
    const size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::atof(text.c_str() + at + name.size() + 2);
  };
  EXPECT_EQ(Scalar(session().Run({{x_, Tensor::Scalar(1.0f)}}, {b_})), 3);
  const double steps = value_of("sluice_steps_total"), parts = value_of("sluice_parts_total");
  const double bytes = value_of("sluice_tensor_received_bytes_total");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Scalar(session().Run({{x_, Tensor::Scalar(1.0f)}}, {b_})), 3);
  }
  EXPECT_EQ(value_of("sluice_steps_total"), steps + 3);
  EXPECT_EQ(value_of("sluice_parts_total"), parts + 3);
  EXPECT_GE(value_of("sluice_tensor_received_bytes_total"), bytes + 3 * sizeof(float));
  EXPECT_THAT(MetricsAt(ps_->target()).value_or(""),
              HasSubstr("sluice_task_info{task=\"/job:ps/replica:0/task:0\"} 1\n"));
}

TEST_P(TasksTest, PartialRunsGoOverTasks) {
  Build();
  auto run = session().StartPartialRun({"x"}, {"a:0", "b:0"});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(Scalar((*run)->Run({{"x:0", Tensor::Scalar(2.0f)}}, {"a:0"})), 4);
  EXPECT_EQ(Scalar((*run)->Run({}, {"b:0"})), 6);
  EXPECT_TRUE((*run)->has_ended());
}

TEST_P(TasksTest, ATraceHasTheNodesOfAllTasks) {
  Build();
  RunMetadata metadata;
  RunOptions options;
  options.trace = true;
  options.output_partition_graphs = true;
  ASSERT_TRUE(session().Run({{x_, Tensor::Scalar(1.0f)}}, {b_}, {}, options, &metadata).ok());
  std::map<std::string, std::string> where;
  for (const DeviceStepStats& device : metadata.step_stats->dev_stats) {
    for (const NodeExecStats& node : device.node_stats) where[node.node_name] = device.device;
  }
  EXPECT_EQ(where["a"], "/job:ps/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(where["b"], "/job:worker/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(metadata.partition_graphs.size(), 2u);
}

TEST_P(TasksTest, NumbersAreCheckedOnAllTasks) {
  Build();
  RunMetadata metadata;
  const RunOptions check{.check_numerics = true, .output_partition_graphs = true};
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(session().Run({{x_, Tensor::Scalar(1.0f)}}, {b_}, {}, check, &metadata).ok());
    EXPECT_EQ(metadata.partition_graphs.size(), 2u);
  }
  const Tensor infinite = Tensor::Scalar(std::numeric_limits<float>::infinity());
  EXPECT_TRUE(session().Run({{x_, infinite}}, {b_}).ok());
  const absl::Status status = session().Run({{x_, infinite}}, {b_}, {}, check).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("node 'a'"));  // on the other task
}

TEST_P(TasksTest, StrangeRequestsOfPeersAreErrors) {
  auto stub = tensorflow::WorkerService::NewStub(
      grpc::CreateChannel(ps_->target().substr(7), grpc::InsecureChannelCredentials()));
  {
    grpc::ClientContext context;
    pb::RunGraphRequest request;
    request.set_session_handle("nobody's");
    pb::RunGraphResponse response;
    const grpc::Status status = stub->RunGraph(&context, request, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
    EXPECT_THAT(status.error_message(), StartsWith("Session handle is not found: nobody's. "));
  }
  const auto receive = [&](const std::string& key) {
    grpc::ClientContext context;
    pb::RecvTensorRequest request;
    request.set_step_id(7);
    request.set_rendezvous_key(key);
    pb::RecvTensorResponse response;
    return stub->RecvTensor(&context, request, &response);
  };
  EXPECT_EQ(receive("x").error_message(), "Invalid  rendezvous key: x");
  const std::string device = ps_->devices().device(0).name;
  const grpc::Status restarted = receive(device + ";0000000000000001;d;edge_1_a;0:0");
  EXPECT_EQ(restarted.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_THAT(restarted.error_message(), HasSubstr("was probably restarted"));
}

std::string NameOf(const ::testing::TestParamInfo<Wire>& info) {
  static constexpr const char* kNames[] = {"Lanes", "Grpc", "Pieces"};
  return kNames[static_cast<int>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Wire, TasksTest,
                         ::testing::Values(Wire::kLanes, Wire::kGrpc, Wire::kPieces), NameOf);

}  // namespace
}  // namespace sluice

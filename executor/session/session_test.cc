#include "executor/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "absl/synchronization/notification.h"
#include "executor/device/device_set.h"
#include "executor/device/pool_allocator.h"
#include "executor/session/remote_tasks.h"
#include "executor/testing/test_ops.h"
#include "executor/trace/step_stats.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/error_group.h"
#include "executor/wait/rendezvous.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

float Scalar(const absl::StatusOr<Tensors>& result, int i = 0) {
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? (*result)[i].scalar<float>() : 0;
}

TEST(Session, RunsWhatIsFedAndFetched) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {}, "x");
  const Output y = Add(x, Const(g, 2));
  const Output z = Add(y, y);
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  for (int i = 0; i < 5; ++i) {
    absl::StatusOr<Tensors> out = session.Run({{x, Tensor::Scalar<float>(i)}}, {y, z});
    EXPECT_EQ(Scalar(out, 0), i + 2);
    EXPECT_EQ(Scalar(out, 1), 2 * (i + 2));
  }
}

TEST(Session, AnyTensorCanBeFedAndCutsWhatIsBehindIt) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {}, "x");
  const Output y = Add(x, x);
  const Output z = Add(y, Const(g, 1));
  Session session(g);
  EXPECT_EQ(Scalar(session.Run({{y, Tensor::Scalar(5.0f)}}, {z})), 6);
}

// A client saw "You must feed a value for placeholder tensor" for a placeholder that it fed and
// used only as a control input.
TEST(Session, WhatWaitsForAFedPlaceholderWaitsForTheFeed) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {}, "x");
  const Output logged = Logged(Const(g, 5), "after_x", {x});
  const Output first = Logged(Const(g, 1), "first", {x});
  const Output limit = Enter(Const(g, 4), "loop", /*constant=*/true);
  const OutputList loop = WhileLoop(
      "loop", {first}, [&](const OutputList& v) { return OutputList{Less(v[0], limit)}; },
      [&](const OutputList& v) { return OutputList{Add(v[0], v[0])}; });
  Node* group = NoOp(g, {x, logged});
  Session session(g);
  const Feed fed = {x, Tensor::Scalar(3.0f)};
  EXPECT_EQ(Scalar(session.Run({fed}, {logged})), 5);
  EXPECT_EQ(Scalar(session.Run({fed}, {loop[0]})), 4);
  EXPECT_TRUE(session.Run({fed}, {}, {group}).ok());
  const absl::StatusOr<Callable> callable = session.MakeCallable({x}, {logged});
  ASSERT_TRUE(callable.ok()) << callable.status();
  EXPECT_EQ(Scalar(callable->Run({fed.value})), 5);
  const auto message = [&](const absl::StatusOr<Tensors>& result) {
    return Message(result.status());
  };
  EXPECT_THAT(message(session.Run({}, {logged})), HasSubstr("You must feed a value for"));
  // As a target the placeholder itself runs.
  EXPECT_THAT(message(session.Run({fed}, {}, {x})), HasSubstr("You must feed a value for"));
}

TEST(Session, AFedNodeRunsForItsControlEdges) {
  Graph g;
  const Output v = Variable(g, "v");
  const Output set = Assign(v, Const(g, 1));
  const Output add = AssignAdd(v, Const(g, 1));
  const Output after = Logged(Const(g, 7), "after", {add});
  Session session(g);
  ASSERT_TRUE(session.Run({}, {set}).ok());
  EXPECT_EQ(Scalar(session.Run({{add, Tensor::Scalar(30.0f)}}, {after})), 7);
  EXPECT_EQ(Scalar(session.Run({}, {v})), 2);
}

TEST(Session, FedValuesAreNotWrittenTo) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {}, "x");
  const Output y = Add(x, Const(g, 1));
  Session session(g);
  const Tensor fed = Tensor::Scalar(5.0f);
  EXPECT_EQ(Scalar(session.Run({{x, fed}}, {y})), 6);
  EXPECT_EQ(fed.scalar<float>(), 5);
}

TEST(Session, TargetsRunInTheOrderOfControlEdges) {
  Graph g;
  const Output one = Const(g, 1);
  const Output a = Logged(one, "a");
  const Output b = Logged(one, "b", {a});
  const Output c = Logged(one, "c", {b});
  Node* all = NoOp(g, {c});
  Session session(g);
  TakeTrace();
  ASSERT_TRUE(session.Run({Operation(all)}).ok());
  EXPECT_EQ(TakeTrace(), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Session, OnlyWhatIsNeededRuns) {
  Graph g;
  const Output a = Logged(Const(g, 1), "a");
  Logged(Const(g, 1), "b");
  Session session(g);
  TakeTrace();
  ASSERT_TRUE(session.Run({}, {a}).ok());
  EXPECT_EQ(TakeTrace(), (std::vector<std::string>{"a"}));
}

TEST(Session, FollowsTheGrowingGraphAndWarns) {
  Graph g;
  const Output a = Add(Const(g, 1), Const(g, 2));
  std::vector<std::string> warnings;
  Session session(g, {.warn = [&](const std::string& w) { warnings.push_back(w); }});
  EXPECT_EQ(Scalar(session.Run({}, {a})), 3);
  EXPECT_TRUE(warnings.empty());
  const Output b = Add(a, a, "late");
  EXPECT_EQ(Scalar(session.Run({}, {b})), 6);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], StartsWith("the graph grew by 1 nodes after its first run, from 'late' "
                                      "(TestAdd) built at "));
  EXPECT_THAT(warnings[0], HasSubstr("session_test.cc:"));
  EXPECT_EQ(Scalar(session.Run({}, {a})), 3);
  EXPECT_EQ(Scalar(session.Run({}, {b})), 6);
  EXPECT_EQ(warnings.size(), 1u);
  g.Finalize();
  Add(a, a);
  EXPECT_EQ(g.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Session, RunByName) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {}, "x");
  Add(x, Const(g, 2), "y");
  Session session(g);
  const NamedFeed feed{"x:0", Tensor::Scalar(1.0f)};
  EXPECT_EQ(Scalar(session.Run({feed}, {"y:0"})), 3);
  EXPECT_EQ(Scalar(session.Run({feed}, {"y"}, {"y"})), 3);
  auto error = [&](const NamedFeed& f, const std::string& fetch, const std::string& target) {
    return session.Run({f}, {fetch}, {target}).status();
  };
  EXPECT_EQ(error({"q:0", Tensor::Scalar(1.0f)}, "y", "y"),
            absl::NotFoundError("FeedInputs: unable to find feed output q:0"));
  EXPECT_EQ(error(feed, "q:0", "y"), absl::NotFoundError("FetchOutputs node q:0: not found"));
  EXPECT_EQ(error(feed, "y:3", "y"),
            absl::InvalidArgumentError("FetchOutputs y:3: output index too large, must be < 1"));
  EXPECT_EQ(error(feed, "y", "q"),
            absl::NotFoundError("PruneForTargets: Some target nodes not found: q"));
}

TEST(SessionErrors, OfTheRequest) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {-1, 2}, "x");
  const Output y = Add(x, x);
  Node* none = NoOp(g, {y}, "none");
  Session session(g);
  const Tensor value = Tensor::Of<float>({1, 2}, {1, 2});
  EXPECT_EQ(Message(session.Run({{x, value}, {x, value}}, {y}).status()),
            "Endpoint \"x:0\" fed more than once.");
  EXPECT_EQ(Message(session.Run({{x, value}}, {x}).status()), "x:0 is both fed and fetched.");
  EXPECT_EQ(Message(session.Run({{x, value}}, absl::Span<const Output>()).status()),
            "Must specify at least one target to fetch or execute.");
  EXPECT_THAT(Message(session.Run({}, {Output(none)}).status()),
              StartsWith("Tried to fetch data for 'none:0', which produces no output."));
  EXPECT_EQ(Message(session.Run({{x, Tensor::Scalar<int32_t>(1)}}, {y}).status()),
            "feed 'x:0': expected float, got int32");
  EXPECT_EQ(Message(session.Run({{x, Tensor::Scalar(1.0f)}}, {y}).status()),
            "Cannot feed value of shape [] for Tensor 'x:0', which has shape [?,2]");
  Graph other;
  const Output z = Const(other, 1);
  EXPECT_THAT(Message(session.Run({}, {z}).status()), HasSubstr("is of another graph"));
}

TEST(SessionErrors, PassesThatThereAreNot) {
  Graph g;
  const Output a = Const(g, 1);
  Session session(g, {.disabled_passes = {"simplify", "constant_folding"}});
  const absl::Status status = session.Run({}, {a}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("SessionOptions::disabled_passes: no pass 'constant_folding'; there are "
                         "accumulate_sums, all, choose_layout, "));
}

TEST(SessionErrors, UnfedPlaceholder) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {-1, 3}, "x");
  const Output u = Placeholder(g, DT_INT32, {}, "u");
  Session session(g);
  const absl::Status status = session.Run({}, {Identity(x)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status), StartsWith("You must feed a value for placeholder tensor 'x' with "
                                          "dtype float and shape [?,3]"));
  EXPECT_THAT(Message(status), HasSubstr("[built at "));
  EXPECT_THAT(Message(status), EndsWith("\n\t [[{{node x}}]]"));
  EXPECT_THAT(Message(session.Run({}, {Identity(u)}).status()),
              StartsWith("You must feed a value for placeholder tensor 'u' with dtype int32 ["));
}

TEST(SessionErrors, OfAKernelCarryNodeAndLine) {
  Graph g;
  const Output bad = Fail(Const(g, 1), "scope/bad");
  const Output after = Logged(bad, "after");
  Session session(g);
  TakeTrace();
  for (int i = 0; i < 3; ++i) {
    const absl::Status status = session.Run({}, {after}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(Message(status), StartsWith("boom [built at "));
    EXPECT_THAT(Message(status), HasSubstr("session_test.cc:"));
    EXPECT_THAT(Message(status), EndsWith("\n\t [[{{node scope/bad}}]]"));
  }
  EXPECT_TRUE(TakeTrace().empty());
}

TEST(SessionErrors, GraphWithAnErrorDoesNotRun) {
  Graph g;
  const Output a = Const(g, 1);
  Add(a, ConstInt(g, 1));
  Session session(g);
  EXPECT_FALSE(g.status().ok());
  EXPECT_EQ(session.Run({}, {a}).status(), g.status());
}

// A server ended when a client assigned one variable without a value to another.
TEST(SessionErrors, AnUninitializedVariableCannotBeAssigned) {
  Graph g;
  const Output from = Variable(g, "from");
  const Output assigned = Assign(Variable(g, "to"), from, "to/Assign");
  Session session(g);
  const absl::Status status = session.Run({}, {assigned}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), StartsWith("Attempting to use uninitialized value from"));
}

TEST(SessionErrors, UninitializedVariableIsExplained) {
  Graph g;
  const Output w = Variable(g, "w");
  const Output init = Assign(w, Const(g, 3), "w/Assign");
  const Output read = Identity(w, "w/read");
  Session session(g);
  const absl::Status status = session.Run({}, {read}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), StartsWith("Attempting to use uninitialized value w"));
  EXPECT_THAT(Message(status), HasSubstr("[[{{node w/read}}]]"));
  EXPECT_THAT(Message(status), HasSubstr("variable 'w' was made at "));
  EXPECT_THAT(Message(status), HasSubstr("its initializer 'w/Assign' has not run in this session"));
  ASSERT_TRUE(session.Run({Operation(init)}).ok());
  EXPECT_EQ(Scalar(session.Run({}, {read})), 3);
}

TEST(Session, VariablesLiveInTheSession) {
  Graph g;
  const Output w = Variable(g, "w");
  const Output init = Assign(w, Const(g, 3));
  const Output update = AssignAdd(w, Const(g, 1));
  const Output read = Identity(w);
  Session session(g);
  ASSERT_TRUE(session.Run({Operation(init)}).ok());
  absl::StatusOr<Tensors> before = session.Run({}, {read});
  ASSERT_TRUE(session.Run({Operation(update)}).ok());
  EXPECT_EQ(Scalar(session.Run({}, {read})), 4);
  EXPECT_EQ(Scalar(session.Run({}, {update})), 5);
  EXPECT_EQ(Scalar(before), 3) << "a fetched value is the caller's own";
  Session other(g);
  EXPECT_EQ(other.Run({}, {read}).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Session, ReadsWithoutControlEdgesSeeTheValueAtTheStepsStart) {
  Graph g;
  const Output w = Variable(g, "w");
  const Output init = Assign(w, Const(g, 3));
  const Output update = AssignAdd(w, Const(g, 1));
  const Output read = Add(Identity(w), Const(g, 0));
  Session session(g);
  ASSERT_TRUE(session.Run({Operation(init)}).ok());
  ASSERT_TRUE(session.Run({}, {update, read}).ok());
  EXPECT_EQ(Scalar(session.Run({}, {read})), 4);
}

TEST(Session, CallablesCheckTheNumberOfFeeds) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {}, "x");
  const Output y = Add(x, Const(g, 2));
  Session session(g);
  absl::StatusOr<Callable> callable = session.MakeCallable({x}, {y});
  ASSERT_TRUE(callable.ok()) << callable.status();
  EXPECT_EQ(Scalar(callable->Run({Tensor::Scalar(1.0f)})), 3);
  Tensors out;
  ASSERT_TRUE(callable->RunInto({Tensor::Scalar(2.0f)}, &out).ok());
  EXPECT_EQ(out[0].scalar<float>(), 4);
  EXPECT_EQ(Message(callable->Run({}).status()), "Expected 1 feed tensors, but got 0");
}

TEST(Session, CallablesTakeTheMemoryOfTheirResultsAgain) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {1000}, "x");
  Session session(g);
  absl::StatusOr<Callable> callable = session.MakeCallable({x}, {Add(x, x)});
  ASSERT_TRUE(callable.ok()) << callable.status();
  const Tensor ones = Tensor::Vector<float>(std::vector<float>(1000, 1));
  Tensors out;
  ASSERT_TRUE(callable->RunInto({ones}, &out).ok());
  const void* const memory = out[0].raw();
  ASSERT_TRUE(callable->RunInto({ones}, &out).ok());
  EXPECT_EQ(out[0].raw(), memory);
  // Fed tensors stay valid until they are read.
  ASSERT_TRUE(callable->RunInto(out, &out).ok());
  EXPECT_EQ(out[0].data<float>()[999], 4);
  const Tensor kept = out[0];
  ASSERT_TRUE(callable->RunInto({ones}, &out).ok());
  EXPECT_EQ(kept.data<float>()[0], 4);
}

TEST(Session, TracedStepsTellWhatRan) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {}, "x");
  const Output y = Add(x, Const(g, 2), "y");
  const Output z = Instant(y, "z");
  Session session(g);
  RunMetadata metadata;
  ASSERT_TRUE(session.Run({{x, Tensor::Scalar(1.0f)}}, {z}, {}, {.trace = true}, &metadata).ok());
  ASSERT_NE(metadata.step_stats, nullptr);
  ASSERT_EQ(metadata.step_stats->dev_stats.size(), 1u);
  const DeviceStepStats& device = metadata.step_stats->dev_stats[0];
  EXPECT_EQ(device.device, "/job:localhost/replica:0/task:0/device:CPU:0");
  std::vector<std::string> names;
  for (const NodeExecStats& n : device.node_stats) names.push_back(n.node_name);
  EXPECT_THAT(names, ::testing::IsSupersetOf({"y", "z"}));
  EXPECT_EQ(device.node_stats[0].timeline_label, "y = TestAdd(_arg_x_0_0, Const)");
  ASSERT_EQ(device.node_stats[0].output.size(), 1u);
  EXPECT_EQ(device.node_stats[0].output[0].bytes, 4);
  EXPECT_GT(device.node_stats[0].all_start_nanos, int64_t{1600000000} * 1000000000);
}

TEST(Session, AWarmStepTakesNoMemoryFromTheSystem) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {}, "x");
  Output y = x;
  for (int i = 0; i < 100; ++i) y = Add(y, Instant(Add(x, y)));
  Session session(g);
  const Tensor value = Tensor::Of<float>({1000}, std::vector<float>(1000, 1.0f));
  const std::vector<Feed> feeds = {{x, value}};
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(session.Run(feeds, {y}).ok());
  const int64_t pool = PoolAllocator::Global().SystemAllocations();
  const int64_t heap = Heap().allocations();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(session.Run(feeds, {y}).ok());
  EXPECT_EQ(PoolAllocator::Global().SystemAllocations(), pool);
  EXPECT_EQ(Heap().allocations(), heap);
}

TEST(Session, SeveralDevicesHaveStateOfTheirOwn) {
  Graph g;
  Output a, b;
  {
    DeviceScope on(g, "/device:CPU:0");
    a = Add(Const(g, 1), Const(g, 2));
  }
  {
    DeviceScope on(g, "/device:CPU:1");
    b = Add(a, a);
  }
  Session session(g, {.cpu_devices = 2});
  EXPECT_EQ(Scalar(session.Run({}, {b})), 6);
  Session one(g);
  EXPECT_THAT(
      Message(one.Run({}, {b}).status()),
      HasSubstr("but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0 ]"));
}

// A cluster whose other task ends each part with the same error, when the part is cancelled.
class FailingTask final : public RemoteTasks {
 public:
  FailingTask(const std::string& task, absl::Status error)
      : devices_(DeviceSet::Cpus(1, task)->Describe()), error_(std::move(error)) {}
  ~FailingTask() override { answers_.join(); }
  const std::vector<DeviceInfo>& devices() const override { return devices_; }
  absl::StatusOr<std::vector<DeviceInfo>> Join(const std::string&, CancellationManager&) override {
    return devices_;
  }
  absl::StatusOr<std::string> Register(const std::string&, const Graph&,
                                       CancellationManager&) override {
    return "part";
  }
  void Run(PartStep, CancellationManager* cancellation, Done done) override {
    EXPECT_TRUE(cancellation->Register(cancellation->NewToken(), [this] { cancelled_.Notify(); }));
    answers_ = std::thread([this, done = std::move(done)] {
      cancelled_.WaitForNotification();
      done({error_, {}, {}});
    });
  }
  int64_t NewStepId() override { return 1; }
  std::shared_ptr<Rendezvous> RendezvousOf(int64_t) override {
    return std::make_shared<LocalRendezvous>();
  }
  void EndStep(int64_t, const std::vector<std::string>&) override {}

 private:
  const std::vector<DeviceInfo> devices_;
  const absl::Status error_;
  absl::Notification cancelled_;
  std::thread answers_;
};

// Runs a step of which a node fails on /job:ps and the part on /job:worker ends with `remote`.
// Returns the step's error.
absl::Status ErrorOfCluster(const absl::Status& remote) {
  Graph g;
  const Output bad = Fail(Instant(Const(g, 1)), "bad");
  Output there;
  {
    DeviceScope on(g, "/job:worker/task:0");
    there = Const(g, 2);
  }
  Session session(
      g, {.devices = DeviceSet::Cpus(1, "/job:ps/replica:0/task:0"),
          .remote_tasks = std::make_shared<FailingTask>("/job:worker/replica:0/task:0", remote)});
  return session.Run({}, {bad, there}).status();
}

// Programs search the message for the causes. It named only one of the tasks.
TEST(Session, TheErrorsOfSeveralTasksAreConcatenated) {
  const std::string from_worker = "From /job:worker/replica:0/task:0:\nlost";
  const absl::Status both = ErrorOfCluster(absl::DataLossError(from_worker));
  EXPECT_EQ(both.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(Message(both), StartsWith("\n=====================\n"
                                        "INTERNAL: From /job:ps/replica:0/task:0:\nboom"));
  EXPECT_THAT(Message(both), HasSubstr("[[{{node bad}}]]\nDATA_LOSS: " + from_worker));
  EXPECT_THAT(Message(both), EndsWith("\n=====================\n"));
}

TEST(Session, ATaskThatWasCancelledOrReceivedTheErrorIsNotNamed) {
  for (const absl::Status& remote :
       {absl::CancelledError("stopped"), DerivedError(absl::InternalError("received"))}) {
    EXPECT_THAT(Message(ErrorOfCluster(remote)), StartsWith("boom"));
  }
}

}  // namespace
}  // namespace sluice

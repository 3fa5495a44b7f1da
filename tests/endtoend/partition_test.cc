#include "executor/partition/partition.h"

#include <thread>

#include "executor/passes/prune.h"
#include "executor/placer/placer.h"
#include "executor/session/local_step.h"
#include "executor/session/task_executor.h"
#include "executor/testing/test_ops.h"
#include "gmock/gmock.h"
#include "graph/infer/shape_context.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::HasSubstr;

constexpr char kWorker[] = "/job:worker/replica:0/task:0";
constexpr char kPs[] = "/job:ps/replica:0/task:0";
constexpr uint64_t kIncarnation = 7;

using Parts = std::map<std::string, Part>;

OP(PartitionCaller, "Has a kernel that calls a function.")
    .Input("x", DT_FLOAT)
    .Output("y", DT_FLOAT)
    .Attr("f", FunctionAttrDef())
    .Shape(ScalarOutput());

absl::StatusOr<Parts> Cut(const OutputList& fetches, const std::vector<Operation>& targets = {}) {
  SLUICE_ASSIGN_OR_RETURN(auto pruned, Prune({}, fetches, targets));
  pruned->function_library() = "the library";
  std::vector<DeviceInfo> devices;
  for (const char* task : {kWorker, kPs}) {
    for (const DeviceInfo& d : DeviceSet::Cpus(1, task)->Describe()) devices.push_back(d);
  }
  SLUICE_RETURN_IF_ERROR(Place(*pruned, devices));
  return PartitionByTask(*pruned, [](const std::string&) { return kIncarnation; });
}

int Count(const Parts& parts, const char* task, std::string_view op) {
  int count = 0;
  for (const Node* node : parts.at(task).graph->nodes()) count += node->op() == op;
  return count;
}

// Runs all parts at the same time, each with its own threads. Returns the fetches in order.
absl::StatusOr<Tensors> RunParts(Parts parts, size_t num_fetches) {
  LocalRendezvous rendezvous;
  Tensors results(num_fetches);
  absl::Status first;
  Mutex mutex;
  std::vector<std::thread> threads;
  for (auto& [name, part] : parts) {
    threads.emplace_back([&, task = name, part = &part] {
      SessionOptions options;
      options.devices = DeviceSet::Cpus(1, task);
      TaskExecutor executor(options);
      absl::StatusOr<std::unique_ptr<LocalStep>> step =
          executor.Compile(std::move(part->graph), {});
      Tensors fetched(part->fetches.size());
      absl::Status status = step.status();
      if (step.ok()) status = (*step)->RunPart(1, &rendezvous, {{}, fetched.data(), RunOptions()});
      if (!status.ok()) rendezvous.StartAbort(status);
      ScopedLock lock(&mutex);
      first.Update(status);
      for (size_t i = 0; i < fetched.size(); ++i) results[part->fetches[i]] = fetched[i];
    });
  }
  for (std::thread& t : threads) t.join();
  if (!first.ok()) return first;
  return results;
}

std::vector<float> Values(const OutputList& fetches, const std::vector<Operation>& targets = {}) {
  absl::StatusOr<Parts> parts = Cut(fetches, targets);
  EXPECT_TRUE(parts.ok()) << parts.status();
  if (!parts.ok()) return {};
  absl::StatusOr<Tensors> results = RunParts(*std::move(parts), fetches.size());
  EXPECT_TRUE(results.ok()) << results.status();
  std::vector<float> values;
  if (results.ok()) {
    for (const Tensor& t : *results) values.push_back(t.scalar<float>());
  }
  return values;
}

// A constant for nodes inside the loop.
Output In(const std::string& frame, Output value) { return Enter(value, frame, /*constant=*/true); }

class PartitionTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(g_.status().ok()) << g_.status(); }
  Graph g_;
};

TEST_F(PartitionTest, ATensorIsSentOnceToATaskAndConstantsNotAtAll) {
  Output v, a, b, c;
  {
    DeviceScope ps(g_, "/job:ps/task:0");
    v = Add(Const(g_, 1), Const(g_, 2), "v");
  }
  {
    DeviceScope worker(g_, "/job:worker/task:0");
    a = Add(v, v, "a");
    b = Add(a, v, "b");
  }
  {
    DeviceScope ps(g_, "/job:ps/task:0");
    c = Add(b, v, "c");
  }
  const Parts parts = *Cut({b, c});
  EXPECT_EQ(Count(parts, kPs, "_Send"), 1);
  EXPECT_EQ(Count(parts, kWorker, "_Recv"), 1);
  EXPECT_EQ(Count(parts, kWorker, "_Send"), 1);
  EXPECT_EQ(Count(parts, kPs, "_Recv"), 1);
  EXPECT_EQ(parts.at(kWorker).fetches, std::vector<int>{0});
  EXPECT_EQ(parts.at(kPs).fetches, std::vector<int>{1});
  for (const Node* node : parts.at(kPs).graph->nodes()) {
    if (node->op() != "_Send") continue;
    EXPECT_EQ(*node->FindAttr<std::string>("send_device"), std::string(kPs) + "/device:CPU:0");
    EXPECT_EQ(*node->FindAttr<std::string>("recv_device"), std::string(kWorker) + "/device:CPU:0");
    EXPECT_EQ(*node->FindAttr<int64_t>("send_device_incarnation"), kIncarnation);
  }
  EXPECT_EQ(Values({b, c}), (std::vector<float>{9, 12}));
}

TEST_F(PartitionTest, APartHasTheFunctionLibraryIfItsNodesCallFunctions) {
  Output v;
  {
    DeviceScope worker(g_, "/job:worker/task:0");
    v = Add(Const(g_, 1), Const(g_, 2), "v");
  }
  NodeBuilder caller(&g_, "PartitionCaller", At::current());
  caller.Device("/job:ps/task:0").Input(v);
  caller.Attr("f", FunctionAttr(std::make_shared<const FunctionRef>(FunctionRef{"f", {}})));
  const Parts parts = *Cut({Output(caller.Finish())});
  EXPECT_EQ(parts.at(kPs).graph->function_library(), "the library");
  EXPECT_EQ(parts.at(kWorker).graph->function_library(), "");
}

TEST_F(PartitionTest, AReportHasAPartForEachDevice) {
  Output v = Add(Const(g_, 1), Const(g_, 2), "v");
  v.node->set_assigned_device(StrCat(kPs, "/device:CPU:1"));
  for (const Output& in : v.node->inputs()) {
    in.node->set_assigned_device(StrCat(kPs, "/device:CPU:0"));
  }
  Node* sum = Add(v, v, "sum").node;
  sum->set_assigned_device(StrCat(kPs, "/device:CPU:0"));
  const Parts parts = *PartitionByDevice(g_, [](const std::string&) { return kIncarnation; });
  ASSERT_EQ(parts.size(), 2u);
  const Graph& first = *parts.at(StrCat(kPs, "/device:CPU:0")).graph;
  EXPECT_NE(first.Find("sum"), nullptr);
  EXPECT_EQ(first.Find("v"), nullptr);
  for (const Node* node : first.nodes()) {
    EXPECT_EQ(node->assigned_device(), StrCat(kPs, "/device:CPU:0")) << node->name();
  }
}

TEST_F(PartitionTest, ControlEdgesHoldBetweenTasks) {
  Output first;
  Node* then;
  {
    DeviceScope ps(g_, "/job:ps/task:0");
    first = Logged(Const(g_, 1), "first");
  }
  {
    DeviceScope worker(g_, "/job:worker/task:0");
    then = Logged(Const(g_, 2), "then", {Operation(first)}).node;
  }
  TakeTrace();
  Values({}, {Operation(then)});
  EXPECT_THAT(TakeTrace(), ::testing::ElementsAre("first", "then"));
}

TEST_F(PartitionTest, ABranchThatIsNotTakenIsDeadOnOtherTasksToo) {
  const SwitchOutputs branch = Switch(Const(g_, 3), ConstBool(g_, true), "branch");
  Output taken, untaken;
  {
    DeviceScope ps(g_, "/job:ps/task:0");
    taken = Add(branch.if_true, Const(g_, 1), "taken");
    untaken = Logged(branch.if_false, "untaken");
  }
  TakeTrace();
  EXPECT_EQ(Values({Merge({taken, untaken}, "merge").output}), std::vector<float>{4});
  EXPECT_EQ(CountInTrace(TakeTrace(), "untaken"), 0);
}

TEST_F(PartitionTest, ALoopMayRunOnSeveralTasks) {
  OutputList out = WhileLoop(
      "loop", {Const(g_, 0, "i"), Const(g_, 1, "x")},
      [&](const OutputList& v) { return OutputList{Less(v[0], In("loop", Const(g_, 10)))}; },
      [&](const OutputList& v) {
        const Output next = Add(v[0], In("loop", Const(g_, 1)));
        DeviceScope ps(g_, "/job:ps/task:0");
        return OutputList{next, Add(Add(v[1], v[0], "on_ps"), v[1], "twice")};
      });
  float x = 1;
  for (int i = 0; i < 10; ++i) x = x + static_cast<float>(i) + x;
  EXPECT_EQ(Values(out), (std::vector<float>{10, x}));
}

TEST_F(PartitionTest, ALoopInALoopMayToo) {
  OutputList out = WhileLoop(
      "outer", {Const(g_, 0), Const(g_, 0)},
      [&](const OutputList& v) { return OutputList{Less(v[0], In("outer", Const(g_, 3)))}; },
      [&](const OutputList& v) {
        const Output zero = Sub(v[0], v[0]);
        const OutputList inner = WhileLoop(
            "inner", {zero, v[1]},
            [&](const OutputList& w) {
              return OutputList{Less(w[0], In("inner", In("outer", Const(g_, 4))))};
            },
            [&](const OutputList& w) {
              const Output next = Add(w[0], In("inner", In("outer", Const(g_, 1))));
              DeviceScope ps(g_, "/job:ps/task:0");
              return OutputList{next, Add(w[1], w[0])};
            });
        return OutputList{Add(v[0], In("outer", Const(g_, 1))), inner[1]};
      });
  EXPECT_EQ(Values(out), (std::vector<float>{3, 18}));
}

TEST_F(PartitionTest, AnErrorOnOneTaskEndsTheOthers) {
  Output bad, after;
  {
    DeviceScope ps(g_, "/job:ps/task:0");
    bad = Fail(Const(g_, 1), "bad");
  }
  {
    DeviceScope worker(g_, "/job:worker/task:0");
    after = Add(bad, Const(g_, 1), "after");
  }
  const absl::StatusOr<Tensors> results = RunParts(*Cut({after}), 1);
  EXPECT_THAT(results.status().message(), HasSubstr("boom"));
}

}  // namespace
}  // namespace sluice

// Problems that users of such systems reported (docs/demands.md), with a test for each. The number
// in a test's name is its row there.
#include <atomic>
#include <cmath>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Tensor Row(std::initializer_list<float> v) {
  return Tensor::Of<float>({1, static_cast<int64_t>(v.size())}, v);
}

// Users had to differentiate with respect to a variable's assignment, not the variable (#9837).
TEST(DemandsTest, Row2GradientWithRespectToAVariableIsTheNumericOne) {
  for (const bool use_resource : {false, true}) {
    Graph g;
    Variable w(g, "w", Tensor::Of<double>({2, 2}, {0.3, -0.2, 0.5, 0.1}),
               {.dtype = DT_DOUBLE, .use_resource = use_resource});
    Output x = Constant(g, Tensor::Of<double>({1, 2}, {1.5, -0.7}));
    Output loss = ReduceSum(Tanh(MatMul(x, w)));
    absl::StatusOr<std::vector<Grad>> grads = Gradients({loss}, {w.handle()});
    ASSERT_TRUE(grads.ok()) << grads.status();
    Output nudge = Placeholder(g, DT_DOUBLE, {2, 2}, "nudge");
    Operation move = w.AssignAdd(nudge);
    Session session(g);
    ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
    const Tensor grad = (*session.Run({}, {(*grads)[0].dense()}, {}))[0];
    constexpr double kStep = 1e-6;
    auto loss_after = [&](int element, double by) {
      Tensor delta = Tensor::Of<double>({2, 2}, {0, 0, 0, 0});
      delta.data<double>()[element] = by;
      EXPECT_TRUE(session.Run({{nudge, delta}}, {}, {move}).ok());
      return (*session.Run({}, {loss}, {}))[0].scalar<double>();
    };
    for (int i = 0; i < 4; ++i) {
      const double above = loss_after(i, kStep);
      const double below = loss_after(i, -2 * kStep);
      loss_after(i, kStep);
      EXPECT_NEAR(grad.data<double>()[i], (above - below) / (2 * kStep), 1e-7);
    }
  }
}

// It was unclear whether a missing gradient is an error or is ignored (#11626).
TEST(DemandsTest, Row3AMissingGradientNamesOpNodeAndPath) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  Output clipped = Identity(x, {.name = "clipped"});
  Output y =
      NodeBuilder(&g, "OpWithoutGradient", At::current()).Name("odd").Input(clipped).Finish();
  Output loss = ReduceSum(y, {}, {.name = "loss"});
  const absl::Status status = Gradients({loss}, {x}).status();
  EXPECT_THAT(status.message(),
              HasSubstr("No gradient defined for operation 'odd' (op type: OpWithoutGradient)"));
  EXPECT_THAT(status.message(), HasSubstr("'x' -> 'clipped' -> 'odd' -> 'loss'"));
}
OP(OpWithoutGradient, "Nobody registered a gradient.")
    .Input("x", DT_FLOAT)
    .Output("y", DT_FLOAT)
    .Shape(SameAsInput(0));

// A variable that the loss does not reach was simply never updated.
TEST(DemandsTest, Row5UnreachedVariablesAreNamed) {
  for (const bool strict : {false, true}) {
    Graph g;
    Variable used(g, "used", Row({1, 2}));
    Variable forgotten(g, "forgotten", Row({1, 2}));
    ::testing::internal::CaptureStderr();
    GradientDescent({.learning_rate = 0.1f}).Minimize(ReduceSum(Square(used)), {.strict = strict});
    const std::string warned = ::testing::internal::GetCapturedStderr();
    const std::string text = strict ? std::string(g.status().message()) : warned;
    EXPECT_EQ(g.status().ok(), !strict);
    EXPECT_THAT(text, HasSubstr("will not be trained: 'forgotten'"));
    EXPECT_THAT(text, Not(HasSubstr("'used'")));
  }
}

// "Queue closed" hid the error that had closed the queue.
TEST(DemandsTest, Row35TheFirstCauseIsReported) {
  Graph g;
  Queue queue = Queue::Fifo(g, 1, {DT_FLOAT}, {.shapes = {PartialShape::Scalar()}});
  Output waits = queue.Dequeue()[0];
  Output bad = CheckNumerics(Log(Constant(g, -1.0f)), "log of a negative number");
  Session session(g);
  const absl::Status status = session.Run({}, {waits, bad}, {}).status();
  EXPECT_THAT(status.message(), HasSubstr("log of a negative number : Tensor had NaN values"));
  EXPECT_THAT(status.message(), Not(HasSubstr("cancelled")));
}

// An error did not name the uninitialized variable.
TEST(DemandsTest, Row36AnUninitializedVariableIsNamed) {
  Graph g;
  Variable ref(g, "scope/by_reference", Row({1, 2}), {.use_resource = false});
  Variable resource(g, "scope/by_handle", Row({1, 2}));
  Session session(g);
  const absl::Status by_ref = session.Run({}, {ref.Read()}, {}).status();
  EXPECT_EQ(by_ref.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(by_ref.message(),
              HasSubstr("Attempting to use uninitialized value scope/by_reference"));
  const absl::Status by_handle = session.Run({}, {resource.Read()}, {}).status();
  EXPECT_EQ(by_handle.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(by_handle.message(), HasSubstr("Could not find variable scope/by_handle"));
}

// The state left by one job broke the next one on the same devices.
struct JobOnSharedDevices {
  JobOnSharedDevices(const std::shared_ptr<DeviceSet>& devices, const std::string& job,
                     const Output& value, bool use_resource)
      : w(*value.graph(), "w", value, {.use_resource = use_resource}),
        init(InitializeVariables(*value.graph())),
        session(*value.graph(), {.devices = devices, .job = job}) {}
  absl::Status Start() { return session.Run({init}); }
  Variable w;
  Operation init;
  Session session;
};

TEST(DemandsTest, Row28AClashOfShapesNamesBothJobs) {
  const std::shared_ptr<DeviceSet> devices = DeviceSet::Cpus(1);
  Graph a, b;
  {
    JobOnSharedDevices first(devices, "job 'of yesterday'", Zeros(a, {2}), false);
    ASSERT_TRUE(first.Start().ok());
  }
  JobOnSharedDevices second(devices, "job 'of today'", Zeros(b, {3}), false);
  const absl::Status clash = second.Start();
  EXPECT_EQ(clash.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      clash.message(),
      HasSubstr("VariableV2 node 'w': expected float[2], as job 'of yesterday' has declared "
                "the variable 'w' of container 'localhost', got float[3] from job 'of "
                "today'; reset the container"));
  ResetContainers(*devices);
  EXPECT_TRUE(second.Start().ok());
  Graph c;
  auto own = std::make_unique<ContainerScope>(c, "tomorrow");
  JobOnSharedDevices third(devices, "", Zeros(c, {4}), false);
  own.reset();
  EXPECT_TRUE(third.Start().ok());
}

TEST(DemandsTest, Row28AResourceVariableClashesWithOpenSessionsOnly) {
  const std::shared_ptr<DeviceSet> devices = DeviceSet::Cpus(1);
  Graph a, b;
  auto first = std::make_unique<JobOnSharedDevices>(devices, "A", Zeros(a, {2}), true);
  ASSERT_TRUE(first->Start().ok());
  JobOnSharedDevices second(devices, "B", Zeros(b, {3}), true);
  EXPECT_THAT(second.Start().message(), AllOf(HasSubstr("as A has declared"), HasSubstr("from B")));
  first.reset();
  EXPECT_TRUE(second.Start().ok());
}

TEST(DemandsTest, Row28AQueueThatTheLastJobClosedIsGoneAfterAReset) {
  const std::shared_ptr<DeviceSet> devices = DeviceSet::Cpus(1);
  const auto enqueue = [&](bool close) {
    Graph g;
    const Queue queue = Queue::Fifo(g, 3, {DT_FLOAT}, {.shared_name = "q"});
    const Operation put = queue.Enqueue({Constant(g, 1.0f)});
    const Operation end = queue.Close();
    Session session(g, {.devices = devices});
    const absl::Status status = session.Run({put});
    return close ? session.Run({end}) : status;
  };
  ASSERT_TRUE(enqueue(true).ok());
  EXPECT_THAT(enqueue(false).message(), HasSubstr("'q' is closed"));
  ResetContainers(*devices);
  EXPECT_TRUE(enqueue(false).ok());
}

// The gradient of an embedding was converted to a dense tensor without a request.
TEST(DemandsTest, Row49ASparseGradientStaysSparseThroughClipSumSyncAndUpdate) {
  Graph g;
  constexpr int64_t kRows = 12345;
  Variable table(g, "table", {kRows, 4}, Zeros());
  const Output ids = Placeholder(g, DT_INT64, {-1}, "ids");
  const Output twice = Gather(table, ids) + Gather(table, ids * int64_t{2});
  SyncReplicasOptimizer optimizer(GradientDescent({.learning_rate = 0.1f}),
                                  {.replicas_to_aggregate = 2});
  auto pairs = optimizer.ComputeGradients(ReduceSum(Square(twice)));
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  ASSERT_TRUE((*pairs)[0].grad.is_slices());
  ClipByGlobalNorm(*pairs, 1.0f);
  const Variable step = GlobalStep(g);
  const auto train = optimizer.ApplyGradients(*pairs, {.global_step = &step});
  ASSERT_TRUE(train.ok()) << train.status();
  EXPECT_TRUE(Lint({.targets = {*train}}).empty());
  for (const Node* node : g.nodes()) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      const PartialShape& shape = node->output_shape(i);
      if (!shape.rank_known() || shape.rank() != 2 || shape.dim(0) != kRows) continue;
      EXPECT_TRUE(node->name().starts_with("table/")) << node->Describe() << " has all rows";
    }
  }
}

TEST(DemandsTest, Row49WhatMakesASparseGradientDenseIsNamedWithItsBytes) {
  Graph g;
  Variable table(g, "table", {1000, 4}, Zeros());
  const Output ids = Placeholder(g, DT_INT64, {-1}, "ids");
  const Output loss = ReduceSum(Square(Gather(table, ids))) + ReduceSum(Square(table.Read()));
  const Operation train = GradientDescent({.learning_rate = 0.1f}).Minimize(loss);
  const std::vector<LintWarning> warnings = Lint({.targets = {train}});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].kind, LintWarning::Kind::kMadeDense);
  EXPECT_THAT(warnings[0].text, HasSubstr("UnsortedSegmentSum node 'gradients/AddN/inputs_"));
  EXPECT_THAT(warnings[0].text, HasSubstr("makes a dense tensor float[1000,4], 16000 bytes, of"));
}

// Results were not reproducible: a summary changed the seeds, threads changed the sums.
Tensor DrawnAndSummed(bool with_summary, int threads) {
  Graph g;
  g.SetRandomSeed(7);
  const Output x = RandomNormal(g, {300, 200}, 0, 1);
  if (with_summary) summary::Histogram("x", x);
  const Output y = RandomUniform(g, {200, 300}, -1, 1);
  const Output sums = ReduceMean(Tanh(MatMul(x, y)), {0});
  Session session(g, {.intra_op_threads = threads, .inter_op_threads = threads});
  const absl::StatusOr<Tensors> out = session.Run({}, {sums});
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? (*out)[0] : Tensor(DT_FLOAT, {300});
}

TEST(DemandsTest, Row50OtherOpsAndThreadsLeaveTheNumbersAsTheyAre) {
  const Tensor first = DrawnAndSummed(false, 1);
  for (const auto& [with_summary, threads] :
       std::vector<std::pair<bool, int>>{{true, 1}, {false, 2}, {true, 16}}) {
    const Tensor other = DrawnAndSummed(with_summary, threads);
    EXPECT_THAT(other.flat<float>(), ::testing::ElementsAreArray(first.flat<float>()))
        << "summary " << with_summary << ", " << threads << " threads";
  }
}

// There was one graph at a time, and a fixed pool of memory.
TEST(DemandsTest, Row54GraphsAndSessionsRunBesideEachOtherAndMemoryGrows) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&good, t] {
      Graph g;
      const int64_t n = 100 << (2 * t);  // up to 6400 x 1000 floats
      const Output x = Fill(Constant(g, Tensor::Vector<int32_t>({static_cast<int32_t>(n), 1000})),
                            Constant(g, static_cast<float>(t)));
      const Output sum = ReduceSum(x + 1.0f);
      Session one(g), two(g);
      for (int i = 0; i < 20; ++i) {
        const absl::StatusOr<Tensors> out = (i % 2 == 0 ? one : two).Run({}, {sum});
        const float expected = static_cast<float>(n) * 1000 * static_cast<float>(t + 1);
        if (out.ok() && std::abs((*out)[0].scalar<float>() / expected - 1) < 1e-5) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 80);
}

// A cond seemed to run both branches, because ops that are built outside of it always run.
TEST(DemandsTest, Row8AnOpOfOneBranchThatIsBuiltOutsideIsNamed) {
  Graph g;
  Output pred = Placeholder(g, DT_BOOL, {}, "pred");
  Output noise =
      RandomUniform(Constant(g, Tensor::Vector<int32_t>({2})), DT_FLOAT, {.name = "noise"});
  Output used_by_both =
      RandomUniform(Constant(g, Tensor::Vector<int32_t>({2})), DT_FLOAT, {.name = "shared"});
  Output y = Cond(
      pred, [&] { return Neg(noise) + used_by_both; }, [&] { return used_by_both * 2.0f; })[0];
  ASSERT_TRUE(g.status().ok()) << g.status();
  const std::vector<LintWarning> warnings = Lint({.fetches = {y}});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].kind, LintWarning::Kind::kOutsideOfBranch);
  EXPECT_THAT(warnings[0].text, HasSubstr("'noise' (tests/endtoend/demands_test.cc:"));
  EXPECT_THAT(warnings[0].text, HasSubstr("only the true branch behind Switch node 'cond/"));
}

// Control dependencies did not order ops as users expected.
TEST(DemandsTest, Row37UnorderedAccessesAreListedAndOrderedOnesAreNot) {
  for (const bool use_resource : {false, true}) {
    Graph g;
    Variable v(g, "v", 1.0f, {.use_resource = use_resource});
    Output early = Neg(v.Read(), {.name = "early"});
    Operation add = v.AssignAdd(1.0f, {.name = "add"});
    const std::vector<LintWarning> warnings = Lint({.fetches = {early}, .targets = {add}});
    ASSERT_EQ(warnings.size(), 1u) << use_resource;
    EXPECT_EQ(warnings[0].kind, LintWarning::Kind::kUnorderedAccess);
    EXPECT_THAT(warnings[0].text, HasSubstr("variable 'v' in no order"));
    EXPECT_THAT(warnings[0].text, HasSubstr("'add' (tests/endtoend/demands_test.cc:"));
    // Ordered by data, because the read is only fetched, and by a control dependency.
    Operation square = v.Assign(early * 2.0f, {.name = "twice"});
    EXPECT_TRUE(Lint({.targets = {square}}).empty());
    EXPECT_TRUE(Lint({.fetches = {v.Read()}, .targets = {add}}).empty());
    ControlDependencies after(g, {add});
    Output late = use_resource ? v.Read() : Identity(v.handle());
    EXPECT_TRUE(Lint({.fetches = {late}}).empty());
  }
}

// The search for a NaN: the old checker did not check what optimizers write.
TEST(DemandsTest, Row38TheFirstNodeThatIsNotFiniteIsNamedWithItsInputs) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  Output log = Log(x, {.name = "log"});
  Output loss = ReduceSum(log, {}, {.name = "loss"});
  Variable w(g, "w", 1.0f, {.use_resource = false});
  Operation grow = w.Assign(w * 3e38f, {.name = "grow"});
  Operation scatter = w.AssignAdd(w.Read() + 3e38f, {.name = "add"});
  Session session(g);
  ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
  const RunOptions check{.check_numerics = true};
  const Feed good{x, Tensor::Vector<float>({1, 2})}, bad{x, Tensor::Vector<float>({-1, 2})};
  EXPECT_TRUE(session.Run({good}, {loss}, {}, check).ok());
  EXPECT_TRUE(session.Run({bad}, {loss}, {}).ok());  // not requested
  const absl::Status status = session.Run({bad}, {loss}, {}, check).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              HasSubstr("Log node 'log': expected finite numbers, got 1 NaN of 2 in output 0"));
  EXPECT_THAT(status.message(), HasSubstr("inputs: '"));
  EXPECT_THAT(status.message(), HasSubstr("float [2] from -1 to 2"));
  // Values that are written into a variable are checked, too.
  EXPECT_TRUE(session.Run({}, {}, {grow}, check).ok());
  const absl::Status written = session.Run({}, {}, {scatter}, check).status();
  EXPECT_THAT(written.message(), HasSubstr("1 infinite of 1"));
}

}  // namespace
}  // namespace sluice

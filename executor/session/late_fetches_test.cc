// Tests fetches of variables that the same step updates.
#include <gtest/gtest.h>

#include "executor/session/partial_run.h"
#include "executor/session/session.h"
#include "executor/testing/test_ops.h"
#include "graph/build/node_builder.h"
#include "graph/infer/shape_context.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h

OP(RefEnter, "")
    .RefInput("data", DT_FLOAT)
    .RefOutput("output", DT_FLOAT)
    .Attr("frame_name", StringAttr())
    .Attr("is_constant", BoolAttr(false))
    .Attr("parallel_iterations", IntAttr(10))
    .Role(OpRole::kEnter)
    .Shape([](ShapeContext&) { return absl::OkStatus(); });

// Training loops run `while step < n: _, step = run([train, step])`. They fetched the value before
// the update.
class LateFetches : public ::testing::Test {
 protected:
  // Sets the variable to 1, runs a step, and returns its fetches.
  std::vector<float> Run(const OutputList& fetches, const std::vector<Operation>& targets,
                         const std::vector<Feed>& feeds = {}) {
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    EXPECT_TRUE(session_.Run({}, {}, {set_}).ok());
    const absl::StatusOr<Tensors> out = session_.Run(feeds, fetches, targets);
    EXPECT_TRUE(out.ok()) << out.status();
    std::vector<float> values;
    if (!out.ok()) return values;
    for (const Tensor& value : *out) values.push_back(value.scalar<float>());
    return values;
  }
  Output Update(Output value) { return AssignAdd(v_, value); }
  // Passes the value through so many nodes that it arrives after all other nodes have run.
  Output Late(Output value) {
    for (int i = 0; i < 30; ++i) value = Instant(value);
    return value;
  }

  Graph g_;
  Output v_ = Variable(g_, "v");
  Output read_ = Identity(v_, "v/read");
  Output set_ = Assign(v_, Const(g_, 1));
  Session session_{g_};
};

TEST_F(LateFetches, ReferencesAndTheirIdentitiesShowTheUpdates) {
  const Output update = Update(Late(Const(g_, 10)));
  const Output again = Identity(read_);
  EXPECT_EQ(Run({v_, read_, again}, {update}), std::vector<float>({11, 11, 11}));
  EXPECT_EQ(Run({read_}, {update}), std::vector<float>({11}));
  EXPECT_EQ(Run({read_}, {}), std::vector<float>({1}));
}

TEST_F(LateFetches, ComputedValuesKeepTheValueThatTheyRead) {
  const Output update = Update(Late(Const(g_, 10)));
  const Output computed = Add(read_, Const(g_, 0));
  EXPECT_EQ(Run({read_, computed}, {update}), std::vector<float>({11, 1}));
}

TEST_F(LateFetches, AReadThatTheUpdateUsesIsFetchedAfterIt) {
  const Output update = Update(Add(read_, Late(Const(g_, 3))));
  EXPECT_EQ(Run({read_}, {update}), std::vector<float>({5}));
}

TEST_F(LateFetches, AReadThatTheUpdateWaitsForKeepsItsValue) {
  const Output update = Update(Logged(Const(g_, 10), "waits", {read_}));
  EXPECT_EQ(Run({read_, v_}, {update}), std::vector<float>({1, 11}));
}

TEST_F(LateFetches, TheResultOfAnUpdateShowsTheOtherUpdates) {
  const Output first = Update(Const(g_, 10));
  const Output second = Update(Late(Const(g_, 20)));
  EXPECT_EQ(Run({first, second}, {}), std::vector<float>({31, 31}));
}

TEST_F(LateFetches, UpdatesOnABranch) {
  const Output p = Placeholder(g_, DT_BOOL, {}, "p");
  const SwitchOutputs value = Switch(Late(Const(g_, 10)), p);
  const Output update = Update(value.if_true);
  const Output merged = Merge({Identity(update), value.if_false}).output;
  const auto fed = [&](bool is_taken) { return std::vector<Feed>{{p, Tensor::Scalar(is_taken)}}; };
  EXPECT_EQ(Run({read_}, {merged}, fed(true)), std::vector<float>({11}));
  EXPECT_EQ(Run({read_}, {merged}, fed(false)), std::vector<float>({1}));
}

TEST_F(LateFetches, UpdatesInALoop) {
  const Output limit = Enter(Const(g_, 4), "loop", /*constant=*/true);
  const Output one = Enter(Const(g_, 1), "loop", /*constant=*/true);
  const Output ref = NodeBuilder(&g_, "RefEnter", At::current())
                         .Input(v_)
                         .Attr("frame_name", "loop")
                         .Attr("is_constant", true)
                         .Finish();
  const OutputList loop = WhileLoop(
      "loop", {Const(g_, 0)}, [&](const OutputList& v) { return OutputList{Less(v[0], limit)}; },
      [&](const OutputList& v) {
        const Output next = Add(v[0], one);
        return OutputList{Logged(next, "next", {AssignAdd(ref, Instant(next))})};
      });
  EXPECT_EQ(Run({read_}, {loop[0]}), std::vector<float>({1 + 1 + 2 + 3 + 4}));
}

TEST_F(LateFetches, APieceOfAPartialRunDoesNotWaitForLaterFeeds) {
  const Output x = Placeholder(g_, DT_FLOAT, {}, "x");
  AssignAdd(v_, x, "fed");
  ASSERT_TRUE(session_.Run({}, {}, {set_}).ok());
  auto run = session_.StartPartialRun({"x"}, {"v/read:0", "fed:0"});
  ASSERT_TRUE(run.ok()) << run.status();
  const auto early = (*run)->Run({}, {"v/read:0"});
  ASSERT_TRUE(early.ok()) << early.status();
  EXPECT_EQ((*early)[0].scalar<float>(), 1);
  const auto late = (*run)->Run({{"x", Tensor::Scalar(5.0f)}}, {"fed:0"});
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_EQ((*late)[0].scalar<float>(), 6);
}

}  // namespace
}  // namespace sluice

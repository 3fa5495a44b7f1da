#include "training/session/scaffold.h"

#include "gmock/gmock.h"
#include "graph/build/group.h"
#include "graph/format/proto/saver.pb.h"
#include "gtest/gtest.h"
#include "ops/builders/constant.h"
#include "ops/builders/ops.h"
#include "ops/state/variable.h"
#include "training/checkpoint/saver.h"
#include "training/session/session_creator.h"
#include "training/summary/summary.h"
#include "training/testing/session.h"

namespace sluice {
namespace {

using ::sluice::testing::CapturedLog;
using ::sluice::testing::MemorySaver;
using ::testing::ElementsAre;

TEST(ScaffoldTest, MakesWhatIsMissingUnderTensorFlowsNames) {
  CapturedLog log;
  Graph g;
  Variable v(g, "v", 1.0f);
  Scaffold scaffold;
  ASSERT_TRUE(scaffold.Finalize(g).ok());
  EXPECT_EQ(scaffold.init_op().name(), "group_deps");
  EXPECT_EQ(scaffold.ready_op().name(), "concat");
  EXPECT_EQ(scaffold.ready_for_local_init_op().name(), "concat_1");
  EXPECT_EQ(scaffold.local_init_op().name(), "group_deps_1");
  EXPECT_FALSE(scaffold.summary_op());
  EXPECT_THAT(g.collections()["init_op"], ElementsAre("group_deps"));
  EXPECT_THAT(g.collections()["ready_op"], ElementsAre("concat:0"));
  EXPECT_THAT(g.collections()["ready_for_local_init_op"], ElementsAre("concat_1:0"));
  EXPECT_THAT(g.collections()["local_init_op"], ElementsAre("group_deps_1"));
  EXPECT_EQ(g.collections()["savers"].size(), 1u);
  EXPECT_NE(g.Find("save/restore_all"), nullptr);
  EXPECT_TRUE(g.finalized());
}

TEST(ScaffoldTest, TakesWhatIsGivenOrInTheCollections) {
  CapturedLog log;
  Graph g;
  Variable v(g, "v", 1.0f);
  const Operation init = InitializeVariables(g, "my_init");
  const Operation local = Group(g, {}, "my_local_init");
  g.AddToCollection("local_init_op", local.name());
  Scaffold scaffold({.init_op = init});
  ASSERT_TRUE(scaffold.Finalize(g).ok());
  EXPECT_EQ(scaffold.init_op(), init);
  EXPECT_EQ(scaffold.local_init_op(), local);
  EXPECT_EQ(g.collections().count("init_op"), 0u);
}

TEST(ScaffoldTest, ASecondOneTakesOverWhatTheFirstMade) {
  CapturedLog log;
  Graph g;
  Variable v(g, "v", 1.0f);
  Scaffold first, second;
  ASSERT_TRUE(first.Finalize(g).ok());
  const int nodes = g.num_nodes();
  ASSERT_TRUE(first.Finalize(g).ok());
  ASSERT_TRUE(second.Finalize(g).ok());
  EXPECT_EQ(g.num_nodes(), nodes);
  EXPECT_EQ(second.ready_op(), first.ready_op());
}

TEST(ScaffoldTest, ACollectionOfTwoLeavesTheChoiceToTheUser) {
  Graph g;
  g.AddToCollection("init_op", Group(g, {}, "a").name());
  g.AddToCollection("init_op", Group(g, {}, "b").name());
  EXPECT_EQ(Scaffold().Finalize(g).message(),
            "More than one item in the collection \"init_op\". Please indicate which one to use by "
            "passing it to the tf.Scaffold constructor as:  tf.Scaffold(init_op=item to use)");
}

TEST(ScaffoldTest, SummariesAreMergedAsOneOp) {
  CapturedLog log;
  Graph g;
  Variable v(g, "v", 1.0f);
  summary::Scalar("a", v);
  summary::Scalar("b", v);
  Scaffold scaffold;
  ASSERT_TRUE(scaffold.Finalize(g).ok());
  ASSERT_TRUE(scaffold.summary_op());
  EXPECT_EQ(scaffold.summary_op().name(), "Merge/MergeSummary:0");
  EXPECT_EQ(scaffold.summary_op().node->num_inputs(), 2);
  EXPECT_THAT(g.collections()["summary_op"], ElementsAre("Merge/MergeSummary:0"));
}

// Like tf.train.Scaffold, uses the saver in the collection.
TEST(ScaffoldTest, TheSaverOfTheGraphIsTakenAndOneOfTwoIsNot) {
  CapturedLog log;
  Graph g;
  Variable v(g, "v", 1.0f);
  Saver mine(g, {.name = "mine"});
  g.AddToCollection("savers", mine.saver_def().SerializeAsString());
  Scaffold scaffold;
  ASSERT_TRUE(scaffold.Finalize(g).ok());
  const auto* taken = dynamic_cast<const Saver*>(scaffold.saver().get());
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(taken->saver_def().restore_op_name(), "mine/restore_all");
  EXPECT_EQ(g.Find("save/restore_all"), nullptr);

  Graph two;
  Variable w(two, "w", 1.0f);
  for (const char* name : {"a", "b"}) {
    Saver saver(two, {.name = name});
    two.AddToCollection("savers", saver.saver_def().SerializeAsString());
  }
  EXPECT_EQ(Scaffold().Finalize(two).message(),
            "More than one item in collection savers. Please indicate which one to use by passing "
            "it to the constructor.");
}

TEST(ScaffoldTest, TablesAreInitialisedLocally) {
  CapturedLog log;
  Graph g;
  g.AddToCollection("table_initializer", Group(g, {}, "fill_table").name());
  Scaffold scaffold;
  ASSERT_TRUE(scaffold.Finalize(g).ok());
  const Node* tables = g.Find("init_all_tables");
  ASSERT_NE(tables, nullptr);
  ASSERT_EQ(tables->control_inputs().size(), 1u);
  EXPECT_EQ(tables->control_inputs().front()->name(), "fill_table");
}

TEST(ScaffoldTest, ACopyTakesWhatIsNotGiven) {
  Graph g;
  const Operation a = Group(g, {}, "a"), b = Group(g, {}, "b");
  auto saver = std::make_shared<MemorySaver>();
  const Scaffold first({.init_op = a, .local_init_op = a, .saver = saver});
  const Scaffold second(first, {.init_op = b});
  EXPECT_EQ(second.init_op(), b);
  EXPECT_EQ(second.local_init_op(), a);
  EXPECT_EQ(second.saver(), saver);
}

TEST(ScaffoldTest, TheInitFunctionSeesTheScaffold) {
  CapturedLog log;
  Graph g;
  Variable v(g, "v", 1.0f);
  const Operation more = v.AssignAdd(1.0f);
  const Scaffold* seen = nullptr;
  auto scaffold = std::make_shared<Scaffold>(
      ScaffoldOptions{.init_fn = [&](const Scaffold& s, Session& session) {
        seen = &s;
        return session.Run({more});
      }});
  const Output read = v;
  ChiefSessionCreator creator({.scaffold = scaffold});
  const auto session = creator.CreateSession(g, nullptr);
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(seen, scaffold.get());
  const auto out = (*session)->Run({}, {read});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<float>(), 2.0f);
}

}  // namespace
}  // namespace sluice

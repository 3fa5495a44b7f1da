#include "training/summary/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/build/scopes.h"
#include "ops/builders/constant.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string StringOf(const Graph& graph, std::string_view node) {
  const Node* found = graph.Find(node);
  const Tensor* value = found == nullptr ? nullptr : found->FindAttr<Tensor>("value");
  return value == nullptr ? "" : value->scalar<std::string>();
}

// Names, tags and collections must be those of tf.compat.v1.summary of TensorFlow 2.21.
TEST(SummaryTest, NamesAndTagsAreTensorFlows) {
  Graph g;
  {
    NameScope scope(g, "ns");
    summary::Scalar("a b", Constant(g, 1.0f));
    summary::Scalar("x", Constant(g, 1.0f), {.family = "fam"});
    summary::Histogram("hh", Constant(g, {1.0f}));
    summary::Image("im", Zeros(g, {1, 2, 2, 1}));
    summary::Audio("au", Zeros(g, {1, 3}), 22.0f);
    summary::Text("tt", Constant(g, "x"));
  }
  const Output merged = summary::MergeAll(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_THAT(g.collections()["summaries"],
              ElementsAre("ns/a_b:0", "ns/fam/x:0", "ns/hh:0", "ns/im:0", "ns/au:0", "ns/tt:0"));
  EXPECT_EQ(StringOf(g, "ns/a_b/tags"), "ns/a_b");
  EXPECT_EQ(StringOf(g, "ns/fam/x/tags"), "fam/ns/fam/x");
  EXPECT_EQ(StringOf(g, "ns/hh/tag"), "ns/hh");
  EXPECT_EQ(StringOf(g, "ns/im/tag"), "ns/im");
  EXPECT_EQ(StringOf(g, "ns/au/tag"), "ns/au");
  EXPECT_EQ(StringOf(g, "ns/tt/serialized_summary_metadata"), "\n\x06\n\x04text");
  EXPECT_EQ(merged.name(), "Merge/MergeSummary:0");
  EXPECT_EQ(g.Find("ns/au")->op(), "AudioSummaryV2");
  EXPECT_EQ(g.Find("ns/au")->input(2).name(), "ns/au/sample_rate:0");
}

TEST(SummaryTest, EqualNamesGetTagsOfTheirOwn) {
  Graph g;
  summary::Scalar("loss", Constant(g, 1.0f));
  const Output second = summary::Scalar("/loss", Constant(g, 1.0f), {.collections = {"mine"}});
  EXPECT_EQ(second.name(), "loss_1:0");
  EXPECT_EQ(StringOf(g, "loss_1/tags"), "loss_1");
  EXPECT_THAT(g.collections()["mine"], ElementsAre("loss_1:0"));
  EXPECT_THAT(g.collections()["summaries"], ElementsAre("loss:0"));
}

TEST(SummaryTest, MergeAllTakesWhatLiesInTheScope) {
  Graph g;
  EXPECT_FALSE(summary::MergeAll(g));
  {
    NameScope a(g, "a");
    summary::Scalar("x", Constant(g, 1.0f));
  }
  summary::Scalar("y", Constant(g, 1.0f));
  const Output merged = summary::MergeAll(g, summary::kSummaries, "a/");
  ASSERT_TRUE(merged) << g.status();
  EXPECT_EQ(merged.node->num_inputs(), 1);
  EXPECT_EQ(merged.node->input(0).name(), "a/x:0");
  EXPECT_TRUE(g.status().ok());
}

TEST(SummaryTest, AWrongTypeIsTheGraphsErrorAtTheCallersLine) {
  Graph g;
  EXPECT_FALSE(summary::Scalar("loss", Constant(g, "text")));
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("ScalarSummary"));
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("summary_test.cc"));
}

}  // namespace
}  // namespace sluice

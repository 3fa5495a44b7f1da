#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/builders/sample.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(GenerateTest, DefaultsBecomeMembersInOrder) {
  Graph g;
  Output y = SampleSource(g, DT_FLOAT, {.name = "y", .rate = 0.5f});
  ASSERT_TRUE(y) << g.status();
  EXPECT_EQ(y.name(), "y:0");
  EXPECT_EQ(y.dtype(), DT_FLOAT);
  EXPECT_EQ(y.shape().ToString(), "[2,?]");
  EXPECT_EQ(y.node->AttrOr<std::string>("label", ""), "a \"b\"\n");
  EXPECT_EQ(y.node->AttrOr<float>("rate", 0), 0.5f);
  EXPECT_EQ(y.node->AttrOr<float>("limit", 0), -std::numeric_limits<float>::infinity());
  EXPECT_THAT(y.node->AttrOr<std::vector<int64_t>>("class", {}), ElementsAre(1, -2));
  EXPECT_EQ(SampleSourceAttrs().class_, (std::vector<int64_t>{1, -2}));
  EXPECT_EQ(SampleSourceAttrs().rate, 0.1f);
}

TEST(GenerateTest, ATensorThatIsNotSetHasItsDefault) {
  Graph g;
  Output y = SampleSource(g, DT_FLOAT);
  Output z = SampleSource(g, DT_FLOAT, {.color = Tensor::Scalar<uint8_t>(7)});
  ASSERT_TRUE(z) << g.status();
  EXPECT_EQ(y.node->AttrOr<Tensor>("color", {}).ToString(),
            Tensor::Vector<uint8_t>({1, 2}).ToString());
  EXPECT_EQ(z.node->AttrOr<Tensor>("color", {}).scalar<uint8_t>(), 7);
}

TEST(GenerateTest, CountsAndTypesFollowFromInputs) {
  Graph g;
  Output a = SampleSource(g, DT_FLOAT), b = SampleSource(g, DT_INT32);
  EXPECT_EQ(SampleSum({a, a, a}).node->num_inputs(), 3);
  EXPECT_EQ(SampleSplit(a, 2, "b", {.name = "s"})[1].name(), "s:1");
  SampleMixedOutputs mixed = SampleMixed(g, {a, b}, {DT_INT64, DT_BOOL});
  EXPECT_EQ(mixed.first.dtype(), DT_FLOAT);
  ASSERT_EQ(mixed.operation_.size(), 2u);
  EXPECT_EQ(mixed.operation_[1].dtype(), DT_BOOL);
  EXPECT_EQ(mixed.operation.name(), "SampleMixed");
  EXPECT_EQ(SampleSink(a).node->num_outputs(), 0);
  EXPECT_TRUE(g.status().ok()) << g.status();
}

TEST(GenerateTest, AFailedOpStillGivesAsManyHandles) {
  Graph g;
  Output a = SampleSource(g, DT_FLOAT);
  OutputList parts = SampleSplit(a, 3, "c");
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_FALSE(SampleSum({parts[2], a}));
  EXPECT_THAT(g.status().message(), HasSubstr("\"c\" is not in the list of allowed values"));
  EXPECT_THAT(g.status().message(), HasSubstr("generate_test.cc:"));
}

}  // namespace
}  // namespace sluice

// Reference variables whose shape only their values decide.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// Such a variable could be built, but no step could use it.
TEST(UnknownShapesTest, AVariableHasTheShapeOfItsValue) {
  for (const PartialShape& shape : {PartialShape::UnknownRank(), PartialShape({-1, 2})}) {
    Graph g;
    const Output x = Placeholder(g, DT_FLOAT, shape);
    const Variable v(g, "v", x, {.use_resource = false});
    const Operation add = v.AssignAdd(x);
    ASSERT_TRUE(g.status().ok()) << g.status();
    Session session(g);
    for (const Tensor& value :
         {Tensor::Of<float>({1, 2}, {1, 2}), Tensor::Of<float>({2, 2}, {1, 2, 3, 4})}) {
      ASSERT_TRUE(session.Run({{x, value}}, {}, {v.initializer()}).ok());
      ASSERT_TRUE(session.Run({{x, value}}, {}, {add}).ok());
      const absl::StatusOr<Tensors> sum = session.Run(std::vector<Feed>{}, {v.Read()});
      ASSERT_TRUE(sum.ok()) << sum.status();
      EXPECT_EQ((*sum)[0].shape(), value.shape());
      EXPECT_EQ((*sum)[0].data<float>()[1], 4);
    }
  }
}

TEST(UnknownShapesTest, ItsUpdatesAreChecked) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, PartialShape::UnknownRank());
  const Variable v(g, "v", x, {.use_resource = false});
  const Operation assign = v.Assign(x);
  Session session(g);
  const Tensor pair = Tensor::Vector<float>({1, 2}), one = Tensor::Vector<float>({1});
  EXPECT_THAT(
      std::string(session.Run({{x, pair}}, {}, {assign}).status().message()),
      HasSubstr("Assign requires shapes of both tensors to match. lhs shape= [] rhs shape= [2]"));
  ASSERT_TRUE(session.Run({{x, pair}}, {}, {v.initializer()}).ok());
  EXPECT_THAT(
      std::string(session.Run({{x, one}}, {}, {assign}).status().message()),
      HasSubstr("Assign requires shapes of both tensors to match. lhs shape= [2] rhs shape= [1]"));
}

}  // namespace
}  // namespace sluice

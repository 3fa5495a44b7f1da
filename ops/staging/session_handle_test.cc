// Passes a value from one step to a later one. The value stays in the session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/session/session.h"
#include "ops/staging/builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

TEST(SessionHandle, ATensorIsFoundAgainByLaterStepsUntilItIsDeleted) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {-1}, "x");
  Output handle = GetSessionHandle(x * 2.0f);
  Output fed = Placeholder(g, DT_STRING, PartialShape::Scalar(), "handle");
  Output again = GetSessionTensor(fed, DT_FLOAT) + 1.0f;
  Operation forget = DeleteSessionTensor(fed);
  Session session(g);

  absl::StatusOr<Tensors> first = session.Run({{x, Tensor::Vector<float>({1, 2})}}, {handle});
  ASSERT_TRUE(first.ok()) << first.status();
  absl::StatusOr<Tensors> value = session.Run({{fed, (*first)[0]}}, {again});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].SummarizeValues(-1), "3 5");

  ASSERT_TRUE(session.Run({{fed, (*first)[0]}}, {}, {forget}).ok());
  EXPECT_THAT(std::string(session.Run({{fed, (*first)[0]}}, {again}).status().message()),
              HasSubstr("is not in the session store"));
  EXPECT_THAT(std::string(session.Run({{fed, (*first)[0]}}, {}, {forget}).status().message()),
              HasSubstr("DeleteSessionTensor"));
}

TEST(SessionHandle, TheNameOfAResourceHandleFindsTheTensorToo) {
  Graph g;
  Output handle = GetSessionHandleV2(Constant(g, 7));
  Output fed = Placeholder(g, DT_STRING, PartialShape::Scalar(), "handle");
  Output again = GetSessionTensor(fed, DT_INT32);
  Output as_float = GetSessionTensor(fed, DT_FLOAT);
  Session session(g);
  absl::StatusOr<Tensors> first = session.Run({}, {handle});
  ASSERT_TRUE(first.ok()) << first.status();
  const Tensor name = Tensor::Scalar((*first)[0].scalar<ResourceHandle>().name);
  absl::StatusOr<Tensors> value = session.Run({{fed, name}}, {again});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].scalar<int32_t>(), 7);
  EXPECT_THAT(std::string(session.Run({{fed, name}}, {as_float}).status().message()),
              HasSubstr("of type float, got one of type int32"));
}

}  // namespace
}  // namespace sluice

// The code of "Adding an op" in CONTRIBUTING.md: an op that is declared, computed, differentiated
// and simplified. In the op library its declaration and its kernel are in two files, and its
// builder function is generated.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"
#include "gmock/gmock.h"
#include "graph/gradient/backprop.h"
#include "graph/op/op_def.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Output SampleMirror(Output x, At at = At::current()) {
  NodeBuilder builder(x.graph(), "SampleMirror", at);
  return Output(builder.Input(x).Finish());
}

// [declaration]
OP(SampleMirror, "Reverses the order of the elements of a vector.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Recompute(RecomputeCost::kElements)
    .Undoes([](const Node&, const Node& inner) { return inner.input(0).shape().rank() == 1; })
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape x, c.WithRank(0, 1));
      return c.SetOutput(0, std::move(x));
    }) GRADIENT([](Backprop& b) { b.Into("x", SampleMirror(b.Of("y"))); });
// [/declaration]

// [kernel]
template <typename T>
absl::Status Mirror(KernelContext& c) {
  const Tensor& x = c.input(0);
  SLUICE_INVALID_IF(x.rank() != 1, "SampleMirror node '", c.name(),
                    "': expected a vector, got shape ", x.shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  std::reverse_copy(x.data<T>(), x.data<T>() + x.num_elements(), y->data<T>());
  return absl::OkStatus();
}
FUNCTION_KERNELS(SampleMirror, "T", Mirror, FloatList);
// [/kernel]

TEST(NewOp, RunsAndHasAGradient) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {-1}, "x");
  Output y = SampleMirror(x);
  EXPECT_EQ(y.shape().ToString(), "[?]");
  Output weights = Constant(g, {1.0f, 2.0f, 3.0f});
  absl::StatusOr<std::vector<Grad>> grads = Gradients({ReduceSum(y * weights)}, {x});
  ASSERT_TRUE(grads.ok()) << grads.status();
  const OutputList fetches = {y, (*grads)[0].dense()};
  Session session(g);
  const auto out = session.Run({{x, Tensor::Vector<float>({5, 6, 7})}}, fetches);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT((*out)[0].flat<float>(), ElementsAre(7, 6, 5));
  EXPECT_THAT((*out)[1].flat<float>(), ElementsAre(3, 2, 1));
}

// `simplify` does not know the op. It knows that the op undoes itself.
TEST(NewOp, IsSimplifiedByItsTraits) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {-1}, "x");
  Output y = -SampleMirror(SampleMirror(x * 2.0f));
  Session session(g);
  RunMetadata metadata;
  const auto out = session.Run({{x, Tensor::Vector<float>({1, 3})}}, {y}, {},
                               {.output_partition_graphs = true}, &metadata);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT((*out)[0].flat<float>(), ElementsAre(-2, -6));
  for (const Node* node : metadata.partition_graphs.at(0)->nodes()) {
    EXPECT_NE(node->op(), "SampleMirror");
  }
}

TEST(NewOp, ErrorsNameTheNode) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, PartialShape(), "x");
  Output y = SampleMirror(x);
  Session session(g);
  const auto out = session.Run({{x, Tensor::Scalar(1.0f)}}, {y});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(out.status().message()),
              HasSubstr("SampleMirror node 'SampleMirror': expected a vector, got shape []"));

  Output matrix = Placeholder(g, DT_FLOAT, {2, 2}, "matrix");
  EXPECT_FALSE(SampleMirror(matrix));
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("Shape must be rank 1 but is rank 2"));
}

}  // namespace
}  // namespace sluice

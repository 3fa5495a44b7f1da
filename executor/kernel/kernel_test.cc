#include "executor/kernel/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/kernel/context.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/graph.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

OP(TestRepeat, "")
    .Output("y", DT_STRING)
    .Attr("text", StringAttr("ab"))
    .Attr("count", IntAttr(2))
    .Shape(ScalarOutput());

int kernels_prepared = 0;

absl::StatusOr<std::string> TextOf(KernelInit& init) {
  ++kernels_prepared;
  const auto& text = init.attr<std::string>("text");
  if (text.empty()) return InvalidArgument("text must not be empty");
  return text;
}

bool IsNamedLoud(const KernelInit& init) { return init.name() == "loud"; }

absl::Status Repeat(KernelContext& c, const Prepared<TextOf>& text, Attr<int64_t, "count"> count,
                    Attr<bool, "missing", true> otherwise, const Prepared<IsNamedLoud>& is_loud) {
  std::string repeated;
  for (int64_t i = 0; i < count; ++i) repeated += *text;
  if (otherwise && *is_loud) repeated += "!";
  c.set_output(0, Tensor::Scalar(repeated));
  return absl::OkStatus();
}
KERNEL(TestRepeat, FunctionKernel<Repeat>);

absl::StatusOr<std::unique_ptr<Kernel>> MakeKernelOf(const Node& node) {
  KernelInit init(node, "/device:CPU:0", nullptr);
  return KernelRegistry::Global().Make(init, "CPU");
}

TEST(FunctionKernelTest, ParametersAreMadeFromTheNodeOnce) {
  Graph graph;
  Node* const node =
      graph.Add({.name = "loud", .op = "TestRepeat", .attrs = {{"count", int64_t{3}}}}).value();
  kernels_prepared = 0;
  const std::unique_ptr<Kernel> kernel = MakeKernelOf(*node).value();
  const StepContext step;
  for (int i = 0; i < 2; ++i) {
    Value output;
    KernelContext context(step, *node, nullptr, 0, 0, &output, 1);
    ASSERT_TRUE(kernel->Compute(context).ok());
    EXPECT_EQ(output.tensor.scalar<std::string>(), "ababab!");
  }
  EXPECT_EQ(kernels_prepared, 1);
}

TEST(FunctionKernelTest, AnErrorOfAParameterIsOneOfTheKernel) {
  Graph graph;
  Node* const node =
      graph.Add({.name = "n", .op = "TestRepeat", .attrs = {{"text", std::string()}}}).value();
  EXPECT_THAT(std::string(MakeKernelOf(*node).status().message()),
              HasSubstr("text must not be empty"));
}

}  // namespace
}  // namespace sluice

// The code of docs/control_flow.md.
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

Tensor Fetch(Graph& g, Output fetch, std::vector<Feed> feeds = {}) {
  Session session(g);
  absl::StatusOr<Tensors> out = session.Run(feeds, {fetch});
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? (*out)[0] : Tensor::Scalar(-1.0f);
}

TEST(ControlFlowSamples, Cond) {
  Graph g;
  // [cond]
  Output x = Placeholder(g, DT_FLOAT, {}, "x");
  Output size = Cond(
      Less(x, Constant(g, 0.0f)), [&] { return -x; }, [&] { return Identity(x); })[0];
  // [/cond]
  EXPECT_EQ(Fetch(g, size, {{x, Tensor::Scalar(-3.0f)}}).scalar<float>(), 3);
}

TEST(ControlFlowSamples, Loop) {
  Graph g;
  // [loop]
  Output n = Placeholder(g, DT_INT32, {}, "n");
  Output x = Constant(g, 3.0f);
  OutputList power = WhileLoop([&](const OutputList& v) { return Less(v[0], n); },
                               [&](const OutputList& v) {
                                 return OutputList{v[0] + 1, v[1] * x};
                               },
                               {Constant(g, 0), Constant(g, 1.0f)});
  std::vector<Grad> by_x = Gradients({power[1]}, {x}).value();
  // [/loop]
  EXPECT_EQ(Fetch(g, power[1], {{n, Tensor::Scalar(4)}}).scalar<float>(), 81);
  EXPECT_EQ(Fetch(g, by_x[0].dense(), {{n, Tensor::Scalar(4)}}).scalar<float>(), 108);
}

TEST(ControlFlowSamples, GrowingVariable) {
  Graph g;
  // [growing]
  Output start = Constant(g, Tensor::Vector<float>({1.0f}));
  Output doubled = WhileLoop([&](const OutputList& v) { return Less(Size(v[0]), Constant(g, 10)); },
                             [&](const OutputList& v) {
                               return OutputList{Concat({v[0], v[0]}, 0)};
                             },
                             {start}, {.shape_invariants = {{-1}}})[0];
  // [/growing]
  EXPECT_EQ(Fetch(g, doubled).num_elements(), 16);
}

TEST(ControlFlowSamples, Scan) {
  Graph g;
  Output rows = Constant(g, Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  // [scan]
  TensorArray in = TensorArray(g, DT_FLOAT, 3).Unstack(rows);
  TensorArray out(g, DT_FLOAT, 3);
  Output none = Constant(g, Tensor::Vector<float>({0, 0}));
  OutputList r = WhileLoop([&](const OutputList& v) { return Less(v[0], Constant(g, 3)); },
                           [&](const OutputList& v) {
                             Output sum = v[2] + in.Read(v[0]);
                             TensorArray written = out.WithFlow(v[1]).Write(v[0], sum);
                             return OutputList{v[0] + 1, written.flow(), sum};
                           },
                           {Constant(g, 0), out.flow(), none});
  Output sums = out.WithFlow(r[1]).Stack();
  // [/scan]
  const Tensor value = Fetch(g, sums);
  EXPECT_EQ(value.shape(), TensorShape({3, 2}));
  EXPECT_EQ(value.data<float>()[5], 12);
  const Tensor grad = Fetch(g, Gradients({sums}, {rows}).value()[0].dense());
  EXPECT_EQ(grad.data<float>()[0], 3);  // the first row is in all three sums
  EXPECT_EQ(grad.data<float>()[4], 1);
}

}  // namespace
}  // namespace sluice

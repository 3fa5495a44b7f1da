// Compares fused ops that TensorFlow's CPU kernels do not implement with the ops that they replace.
#include <random>

#include "gmock/gmock.h"
#include "graph/build/node_builder.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

Output RandomConstant(Graph& g, const TensorShape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(-1, 1);
  Tensor t(DT_FLOAT, shape);
  for (float& v : t.flat<float>()) v = unit(random);
  return Constant(g, t);
}

void ExpectClose(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    ASSERT_NEAR(a.data<float>()[i], b.data<float>()[i], 1e-5) << i;
  }
}

struct Pair {
  Output fused, apart;
};

void ExpectSame(Graph& g, const Pair& pair) {
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  auto values = session.Run({}, {pair.fused, pair.apart}, {});
  ASSERT_TRUE(values.ok()) << values.status();
  ExpectClose((*values)[0], (*values)[1]);
}

TEST(FusedOps, ConvolutionOfVolumesWithBiasAndActivation) {
  Graph g;
  Output x = RandomConstant(g, {2, 4, 5, 6, 3}, 1), filter = RandomConstant(g, {2, 3, 1, 3, 4}, 2);
  Output bias = RandomConstant(g, {4}, 3);
  const std::vector<int64_t> strides = {1, 1, 2, 1, 1};
  Node* node = NodeBuilder(&g, "_FusedConv3D", At::current())
                   .Input(x)
                   .Input(filter)
                   .Input(OutputList{bias})
                   .Attr("strides", strides)
                   .Attr("padding", std::string("SAME"))
                   .Attr("fused_ops", std::vector<std::string>{"BiasAdd", "Relu"})
                   .Finish();
  ASSERT_NE(node, nullptr) << g.status();
  ExpectSame(g, {Output(node, 0), Relu(BiasAdd(Conv3D(x, filter, strides, "SAME"), bias))});
}

TEST(FusedOps, DepthwiseConvolutionWithBiasAndActivation) {
  Graph g;
  Output x = RandomConstant(g, {2, 5, 6, 3}, 1), filter = RandomConstant(g, {3, 2, 3, 2}, 2);
  Output bias = RandomConstant(g, {6}, 3);
  const std::vector<int64_t> strides = {1, 2, 2, 1};
  Node* node = NodeBuilder(&g, "_FusedDepthwiseConv2dNative", At::current())
                   .Input(x)
                   .Input(filter)
                   .Input(OutputList{bias})
                   .Attr("strides", strides)
                   .Attr("padding", std::string("VALID"))
                   .Attr("fused_ops", std::vector<std::string>{"BiasAdd", "Elu"})
                   .Finish();
  ASSERT_NE(node, nullptr) << g.status();
  ExpectSame(
      g, {Output(node, 0), Elu(BiasAdd(DepthwiseConv2dNative(x, filter, strides, "VALID"), bias))});
}

TEST(FusedOps, BatchNormalisationWithSideInputAndActivation) {
  Graph g;
  Output x = RandomConstant(g, {2, 3, 3, 4}, 1), side = RandomConstant(g, {2, 3, 3, 4}, 2);
  Output scale = RandomConstant(g, {4}, 3), offset = RandomConstant(g, {4}, 4);
  Output none = Constant(g, Tensor(DT_FLOAT, {0}));
  Node* node = NodeBuilder(&g, "_FusedBatchNormEx", At::current())
                   .Input(x)
                   .Input(scale)
                   .Input(offset)
                   .Input(none)
                   .Input(none)
                   .Input(OutputList{side})
                   .Attr("activation_mode", std::string("Relu"))
                   .Finish();
  ASSERT_NE(node, nullptr) << g.status();
  ExpectSame(g, {Output(node, 0), Relu(FusedBatchNormV3(x, scale, offset, none, none).y + side)});
}

TEST(FusedOps, BatchNormalisationRefusesOtherActivations) {
  Graph g;
  Output x = RandomConstant(g, {2, 3, 3, 4}, 1), scale = RandomConstant(g, {4}, 3);
  Node* node = NodeBuilder(&g, "_FusedBatchNormEx", At::current())
                   .Input(x)
                   .Input(scale)
                   .Input(scale)
                   .Input(scale)
                   .Input(scale)
                   .Input(OutputList{})
                   .Attr("activation_mode", std::string("Elu"))
                   .Finish();
  ASSERT_NE(node, nullptr) << g.status();
  Session session(g);
  EXPECT_THAT(std::string(session.Run({}, {Output(node, 0)}, {}).status().message()),
              testing::HasSubstr("expected activation_mode Identity or Relu, got 'Elu'"));
}

}  // namespace
}  // namespace sluice

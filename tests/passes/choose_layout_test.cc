// Networks of channels-first images (NCHW) give the same results if their chains run channels-last.
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/passes/pass_checks.h"

namespace sluice {
namespace {

Tensor Numbers(const TensorShape& shape, int seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.5f);
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<float>()[i] = normal(random);
  return t;
}

// A network under construction: its variables, and the fetches and targets of its steps.
struct Net {
  explicit Net(PartialShape images) { x = Placeholder(graph, DT_FLOAT, std::move(images), "x"); }

  Output Weights(const TensorShape& shape) {
    const int n = static_cast<int>(weights.size());
    weights.emplace_back(graph, StrCat("w", n), Numbers(shape, 100 + n));
    return weights.back().Read();
  }
  int64_t Channels(Output v) const { return v.shape().dim(1); }

  Output Conv(Output v, int64_t channels, int64_t size, int64_t stride,
              const std::string& padding = "SAME") {
    const Output filter = Weights({size, size, Channels(v), channels});
    const std::vector<int64_t> pads = {0, 0, 0, 0, 1, 2, 0, 1};
    return Conv2D(v, filter, {1, 1, stride, stride}, padding,
                  {.explicit_paddings = padding == "EXPLICIT" ? pads : std::vector<int64_t>(),
                   .data_format = "NCHW"});
  }
  Output Norm(Output v) {
    const int64_t c = Channels(v);
    const Output scale = Weights({c}), offset = Weights({c});
    const Output none = Constant(graph, Tensor(DT_FLOAT, {0}));
    const auto norm = FusedBatchNormV3(v, scale, offset, none, none, {.data_format = "NCHW"});
    fetches.push_back(norm.batch_mean);
    return norm.y;
  }
  Output Bias(Output v) { return BiasAdd(v, Weights({Channels(v)}), {.data_format = "NCHW"}); }
  Output Max(Output v, int64_t size, int64_t stride, const std::string& padding) {
    return MaxPool(v, {1, 1, size, size}, {1, 1, stride, stride}, padding, {.data_format = "NCHW"});
  }
  Output Avg(Output v, int64_t size, int64_t stride, const std::string& padding) {
    return AvgPool(v, {1, 1, size, size}, {1, 1, stride, stride}, padding, {.data_format = "NCHW"});
  }
  // Adds the loss and a step of gradient descent.
  void Train(Output logits) {
    const Output loss = ReduceSum(Square(logits));
    fetches.push_back(loss);
    OutputList handles;
    for (const Variable& w : weights) handles.push_back(w.handle());
    const absl::StatusOr<std::vector<Grad>> gradients = Gradients({loss}, handles);
    ASSERT_TRUE(gradients.ok()) << gradients.status();
    for (size_t i = 0; i < weights.size(); ++i) {
      if (!(*gradients)[i]) continue;
      fetches.push_back((*gradients)[i].dense());
      updates.push_back(weights[i].AssignAdd((*gradients)[i].dense() * -0.01f));
    }
  }

  Graph graph;
  Output x;
  std::vector<Variable> weights;
  OutputList fetches;
  std::vector<Operation> updates;
};

struct Outcome {
  Tensors values;
  std::map<std::string, int> ops;  // that a step runs
  int channels_first = 0;          // nodes that are NCHW
};

absl::StatusOr<Outcome> OutcomeOf(Net& net, const Tensor& x, std::set<std::string> disabled) {
  SLUICE_RETURN_IF_ERROR(net.graph.status());
  const Operation init = InitializeVariables(net.graph);
  Session session(net.graph, Without(std::move(disabled)));
  SLUICE_RETURN_IF_ERROR(session.Run({init}));
  Outcome outcome;
  for (int step = 0; step < 2; ++step) {
    RunMetadata metadata;
    SLUICE_ASSIGN_OR_RETURN(const Tensors out,
                            session.Run({{net.x, x}}, net.fetches, net.updates,
                                        {.output_partition_graphs = step == 0}, &metadata));
    outcome.values.insert(outcome.values.end(), out.begin(), out.end());
    if (step > 0) continue;
    for (const Node* node : metadata.partition_graphs.at(0)->nodes()) {
      ++outcome.ops[node->op()];
      if (node->AttrOr<std::string>("data_format", "") == "NCHW") ++outcome.channels_first;
    }
  }
  return outcome;
}

void ExpectClose(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  double largest = 0;
  for (int64_t i = 0; i < b.num_elements(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(b.data<float>()[i])));
  }
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    EXPECT_NEAR(a.data<float>()[i], b.data<float>()[i], 2e-5 * largest + 1e-7) << what << ", " << i;
  }
}

// The results and nodes of a step with the pass. Checks that the results are the same without it.
Outcome Compared(Net& net, const TensorShape& fed) {
  const Tensor x = Numbers(fed, 7);
  const absl::StatusOr<Outcome> without = OutcomeOf(net, x, {"choose_layout"});
  const absl::StatusOr<Outcome> with = OutcomeOf(net, x, {});
  EXPECT_TRUE(without.ok()) << without.status();
  EXPECT_TRUE(with.ok()) << with.status();
  if (!without.ok() || !with.ok()) return {};
  for (size_t i = 0; i < with->values.size(); ++i) {
    ExpectClose(with->values[i], without->values[i], StrCat("value ", i));
  }
  return *with;
}

Output ResidualNet(Net& net, bool keeps_sizes) {
  Output v = Relu(net.Norm(net.Conv(net.x, 8, 3, 1)));
  v = net.Max(v, 3, 2, "SAME");
  for (const int64_t channels : {8, 16}) {
    const int64_t stride = channels == v.shape().dim(1) ? 1 : 2;
    Output part = Relu(net.Norm(net.Conv(v, channels, 3, stride)));
    part = net.Norm(net.Conv(part, channels, 3, 1));
    const Output shortcut = stride == 1 ? v : net.Norm(net.Conv(v, channels, 1, 2));
    v = Relu(keeps_sizes ? AddN({part, shortcut}) : part + shortcut);
  }
  return ReduceMean(v, {2, 3});
}

// Only the fed images are transposed, and the gradient of the mean, which is repeated over images
// of 5 x 5.
TEST(ChooseLayout, AResidualNetTrainsChannelsLast) {
  Net net({2, 3, 19, 19});
  net.Train(ResidualNet(net, false));
  const Outcome with = Compared(net, {2, 3, 19, 19});
  EXPECT_EQ(with.channels_first, 0);
  EXPECT_LE(with.ops.at("Transpose"), 2);
  EXPECT_GT(with.ops.at("Conv2DBackpropInput"), 3);
}

TEST(ChooseLayout, BatchesNeedNotBeKnownBeforeTheStep) {
  Net net({-1, 3, 19, 19});
  net.Train(ResidualNet(net, true));
  const Outcome with = Compared(net, {3, 3, 19, 19});
  EXPECT_EQ(with.channels_first, 0);
  EXPECT_LE(with.ops.at("Transpose"), 3);
}

// The gradient of such a sum reduces over axes that are known only in the step, so it is
// transposed.
TEST(ChooseLayout, SumsOfBatchesThatAreNotKnownTrain) {
  Net net({-1, 3, 19, 19});
  net.Train(ResidualNet(net, false));
  const Outcome with = Compared(net, {3, 3, 19, 19});
  EXPECT_EQ(with.channels_first, 0);
  EXPECT_LE(with.ops.at("Transpose"), 7);
}

TEST(ChooseLayout, EachKindOfNodeInAChain) {
  const std::vector<std::function<Output(Net&, Output)>> layers = {
      [](Net& n, Output v) { return n.Conv(v, 5, 3, 2, "VALID"); },
      [](Net& n, Output v) { return n.Conv(v, 5, 3, 1, "EXPLICIT"); },
      [](Net& n, Output v) { return n.Conv(v, 4, 5, 2, "SAME"); },
      [](Net& n, Output v) {
        return DepthwiseConv2dNative(v, n.Weights({3, 3, n.Channels(v), 2}), {1, 1, 2, 2}, "SAME",
                                     {.data_format = "NCHW"});
      },
      [](Net& n, Output v) { return Elu(n.Bias(v)); },
      [](Net& n, Output v) { return n.Max(v, 2, 2, "VALID"); },
      [](Net& n, Output v) { return n.Avg(v, 3, 2, "SAME"); },
      [](Net& n, Output v) { return LeakyRelu(n.Norm(v)) * 0.5f; },
      [](Net& n, Output v) {
        return v * n.Weights({1, n.Channels(v), 1, 1});
      },
      [](Net& n, Output v) {
        return Pad(v, Constant(n.graph, Tensor::Of<int32_t>({4, 2}, {0, 0, 1, 0, 2, 1, 0, 3})));
      },
      [](Net&, Output v) {
        return Concat({v, Tanh(v)}, 1);
      },
      [](Net&, Output v) {
        return v - ReduceMean(v, {2, 3}, {.keep_dims = true});
      },
      [](Net&, Output v) { return v * ReduceMax(v, {-3}, {.keep_dims = true}); },
      [](Net&, Output v) {
        return Tile(v, {1, 2, 1, 1});
      },
      [](Net&, Output v) { return Cast(Cast(v, DT_DOUBLE), DT_FLOAT); },
      [](Net&, Output v) { return Maximum(v, StopGradient(Neg(v))); },
  };
  for (const int64_t batch : {2, -1}) {
    for (size_t i = 0; i < layers.size(); ++i) {
      SCOPED_TRACE(StrCat("layer ", i, ", batch ", batch));
      Net net({batch, 3, 12, 11});
      Output v = net.Conv(net.x, 4, 3, 1);
      v = Relu(layers[i](net, v));
      net.Train(ReduceMean(net.Conv(v, 4, 3, 1), {2, 3}));
      const Outcome with = Compared(net, {2, 3, 12, 11});
      EXPECT_EQ(with.ops.at("Conv2D"), i < 3 ? 3 : 2);
    }
  }
}

// Layers in random order, some of which have readers outside the chain.
TEST(ChooseLayout, RandomNetsGiveTheSame) {
  int channels_first = 0;
  for (int seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    std::mt19937 random(seed);
    const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
    Net net({pick(2) == 0 ? -1 : 2, 3, 9, 10});
    OutputList values = {net.Conv(net.x, 4, 3, 1)};
    for (int layer = 0; layer < 8; ++layer) {
      const Output v = values[values.size() - 1 - pick(std::min<int>(3, values.size()))];
      const Output other = values[pick(static_cast<int>(values.size()))];
      switch (pick(9)) {
        case 0:
        case 1:
          values.push_back(net.Conv(v, 4, 3, 1));
          break;
        case 2:
          values.push_back(Tanh(v + other));
          break;
        case 3:
          values.push_back(net.Norm(v));
          break;
        case 4:
          values.push_back(net.Bias(Relu(v)));
          break;
        case 5:
          values.push_back(net.Max(v, 3, 1, "SAME"));
          break;
        case 6:
          values.push_back(net.Avg(v, 2, 1, "SAME") * Sigmoid(other));
          break;
        case 7:
          values.push_back(Transpose(Transpose(v, {0, 2, 3, 1}) * 0.5f, {0, 3, 1, 2}));
          break;
        default:
          values.push_back(Reshape(Reshape(v, {-1, 360}) * 0.7f, {-1, 4, 9, 10}));
      }
    }
    net.fetches.push_back(values[pick(static_cast<int>(values.size()))]);
    net.Train(ReduceMean(values.back() + values[pick(3)], {2, 3}));
    channels_first += Compared(net, {2, 3, 9, 10}).channels_first;
  }
  EXPECT_LT(channels_first, 60);
}

TEST(ChooseLayout, FedImagesThatTheUserTurnsAreTakenAsTheyAre) {
  Net net({2, 9, 9, 3});
  const Output v = net.Conv(Transpose(net.x, {0, 3, 1, 2}), 4, 3, 1);
  net.fetches = {Transpose(Relu(net.Conv(Relu(v), 4, 3, 1)), {0, 2, 3, 1})};
  const Outcome with = Compared(net, {2, 9, 9, 3});
  EXPECT_FALSE(with.ops.contains("Transpose"));
  EXPECT_EQ(with.channels_first, 0);
}

TEST(ChooseLayout, OnBranchesAndInLoops) {
  Net net({2, 3, 6, 6});
  const Output filter = net.Weights({3, 3, 3, 3});
  const auto conv = [&](Output v) {
    return Relu(Conv2D(v, filter, {1, 1, 1, 1}, "SAME", {.data_format = "NCHW"}));
  };
  const Output taken = Cond(
      Greater(ReduceSum(net.x), Constant(net.graph, -1e6f)), [&] { return conv(conv(net.x)); },
      [&] { return conv(net.x) * 2.0f; })[0];
  const Output looped = WhileLoop(
      [&](const OutputList& v) { return Less(v[0], Constant(net.graph, 3)); },
      [&](const OutputList& v) {
        const Output both = conv(conv(v[1])) + ReduceMean(conv(v[1]), {2, 3}, {.keep_dims = true});
        return OutputList{v[0] + 1, Tanh(both)};
      },
      {Constant(net.graph, 0), taken})[1];
  net.fetches = {taken, looped};
  net.Train(ReduceMean(looped, {2, 3}));
  Compared(net, {2, 3, 6, 6});
}

// Batches of different size are an error of the sum, which names the original sizes.
TEST(ChooseLayout, ErrorsNameTheSizesThatWereBuilt) {
  for (const bool chooses : {false, true}) {
    Net net({-1, 3, 6, 5});
    const Output other = Placeholder(net.graph, DT_FLOAT, {-1, 3, 6, 5}, "other");
    const Output sum = Relu(net.Conv(net.x, 4, 3, 1)) + Relu(net.Conv(other, 4, 3, 1));
    const Output y = net.Conv(Relu(sum), 4, 3, 1);
    const Operation init = InitializeVariables(net.graph);
    Session session(net.graph, chooses ? SessionOptions() : Without({"choose_layout"}));
    ASSERT_TRUE(session.Run({init}).ok());
    const absl::StatusOr<Tensors> out =
        session.Run({{net.x, Numbers({2, 3, 6, 5}, 1)}, {other, Numbers({3, 3, 6, 5}, 1)}}, {y});
    EXPECT_THAT(out.status().message(), ::testing::HasSubstr("[2,4,6,5] vs. [3,4,6,5]"));
  }
}

TEST(ChooseLayout, FetchesAreWhatTheyWere) {
  Net net({2, 3, 6, 5});
  const Output first = net.Conv(net.x, 4, 3, 1), second = net.Conv(Relu(first), 4, 3, 1);
  net.fetches = {first, Shape(second), second};
  const Tensor x = Numbers({2, 3, 6, 5}, 7);
  const absl::StatusOr<Outcome> with = OutcomeOf(net, x, {});
  ASSERT_TRUE(with.ok()) << with.status();
  EXPECT_EQ(with->values[0].shape(), (TensorShape{2, 4, 6, 5}));
  EXPECT_THAT(with->values[1].flat<int32_t>(), ::testing::ElementsAre(2, 4, 6, 5));
  EXPECT_EQ(with->values[2].shape(), (TensorShape{2, 4, 6, 5}));
}

}  // namespace
}  // namespace sluice

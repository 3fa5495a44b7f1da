// Tests errors, and layers that TensorFlow does not have. The other tests are in
// //tests/oracle/training:layers_test.
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/gradient/gradients.h"
#include "gtest/gtest.h"
#include "ops/matmul/builders.h"
#include "ops/sugar.h"
#include "training/layers/attention.h"
#include "training/layers/conv.h"
#include "training/layers/dense.h"
#include "training/layers/initializers.h"
#include "training/layers/losses.h"
#include "training/layers/normalization.h"
#include "training/layers/rnn.h"
#include "training/layers/sampled_loss.h"

namespace sluice {
namespace {

using testing::HasSubstr;

Output Floats(Graph& g, const PartialShape& shape) { return Placeholder(g, DT_FLOAT, shape, "x"); }

// Returns the graph's error after `make`.
template <typename Make>
std::string ErrorOf(const Make& make) {
  Graph g;
  make(g);
  return g.status().ToString();
}

TEST(LayersTest, UnknownSizeIsNamedWithLayerAndLine) {
  const std::string error = ErrorOf([](Graph& g) {
    EXPECT_FALSE(layers::Dense(3)(Floats(g, {2, -1})));
  });
  EXPECT_THAT(error, HasSubstr("layer 'dense': expected an input of at least 2 dimensions whose "
                               "dimension -1 is known, got [2,?]"));
  EXPECT_THAT(error, HasSubstr("layers_test.cc:"));
  EXPECT_THAT(ErrorOf([](Graph& g) {
                layers::Conv2D(3, 2)(Floats(g, {2, 8}));
              }),
              HasSubstr("layer 'conv2d': expected an input of at least 4 dimensions"));
  EXPECT_THAT(
      ErrorOf([](Graph& g) {
        layers::Conv2DTranspose(3, 2)(Floats(g, {-1, 4, -1, 2}));
      }),
      HasSubstr("layer 'conv2d_transpose': expected an input of at least 4 dimensions whose "
                "dimension 2 is known, got [?,4,?,2]"));
}

TEST(LayersTest, RecurrentInputsHaveAKnownSize) {
  EXPECT_THAT(ErrorOf([](Graph& g) {
                layers::GruCell cell(3);
                layers::StaticRnn(cell, {Floats(g, {2, -1})});
              }),
              HasSubstr("StaticRnn: expected inputs [batch, size] of known size, got [2,?]"));
  EXPECT_THAT(ErrorOf([](Graph& g) {
                layers::GruCell cell(3);
                layers::DynamicRnn(cell, Floats(g, {2, 3}));
              }),
              HasSubstr("DynamicRnn: expected inputs of three dimensions whose last is known, got "
                        "[2,3]"));
}

TEST(LayersTest, TheInitialStateIsThatOfTheCell) {
  const auto error_of = [](auto run) {
    return ErrorOf([&](Graph& g) {
      layers::LstmCell cell(3);
      run(g, cell, OutputList{Floats(g, {2, 3})});
    });
  };
  EXPECT_THAT(error_of([](Graph& g, layers::RnnCell& cell, const OutputList& state) {
                layers::StaticRnn(cell, {Floats(g, {2, 4})}, {.initial_state = state});
              }),
              HasSubstr("expected a state of 2 tensors, got 1"));
  EXPECT_THAT(error_of([](Graph& g, layers::RnnCell& cell, const OutputList& state) {
                layers::DynamicRnn(cell, Floats(g, {2, 5, 4}), {.initial_state = state});
              }),
              HasSubstr("expected a state of 2 tensors, got 1"));
}

TEST(LayersTest, HeadsDivideTheWidth) {
  EXPECT_THAT(ErrorOf([](Graph& g) {
                layers::MultiHeadAttention(3)(Floats(g, {-1, 5, 4}));
              }),
              HasSubstr("layer 'attention': expected a width that 3 heads divide, got 4"));
}

TEST(LayersTest, WeightsFitTheValues) {
  EXPECT_THAT(ErrorOf([](Graph& g) {
                losses::Weighted(Floats(g, {4, 2}), {.weights = Ones(g, {3, 1})});
              }),
              HasSubstr("expected weights for values of shape [4,2], got [3,1]"));
}

TEST(LayersTest, SampledLossesNeedTheNumberOfTrueClasses) {
  EXPECT_THAT(ErrorOf([](Graph& g) {
                Variable w(g, "w", {5, 2}, Zeros()), b(g, "b", {5}, Zeros());
                const Output labels = Placeholder(g, DT_INT64, {3, -1}, "labels");
                const Output drawn = Constant(g, {int64_t{1}});
                const Output one = Ones(g, {1});
                losses::Nce(w, b, labels, Floats(g, {3, 2}), {drawn, one, one});
              }),
              HasSubstr("sampled loss: expected weights [classes, size] and labels [batch, true "
                        "classes], got [5,2] and [3,?]"));
}

TEST(LayersTest, InitializersOfMatrices) {
  EXPECT_THAT(ErrorOf([](Graph& g) { Variable w(g, "w", {3}, IdentityInit()); }),
              HasSubstr("IdentityInit: expected a matrix, got [3]"));
}

// The result must have min(rows, columns) orthonormal vectors. All dimensions except the last one
// count as rows.
TEST(LayersTest, OrthogonalRowsOrColumns) {
  for (const TensorShape& shape :
       {TensorShape({6, 4}), TensorShape({4, 6}), TensorShape({2, 2, 3})}) {
    Graph g;
    g.SetRandomSeed(1);
    const int64_t columns = shape.dim(shape.rank() - 1), rows = shape.num_elements() / columns;
    const Output w = Reshape(Orthogonal(2.0)(g, shape, DT_FLOAT), {rows, columns});
    const bool is_tall = rows >= columns;
    const Output product = MatMul(w, w, {.transpose_a = is_tall, .transpose_b = !is_tall});
    Session session(g);
    const auto values = session.Run({}, {product}, {});
    ASSERT_TRUE(values.ok()) << values.status();
    const int64_t n = (*values)[0].dim(0);
    EXPECT_EQ(n, std::min(rows, columns));
    for (int64_t i = 0; i < n * n; ++i) {
      EXPECT_NEAR((*values)[0].data<float>()[i], i % (n + 1) == 0 ? 4 : 0, 1e-5);
    }
  }
}

// After an error, no further layer is created.
TEST(LayersTest, InvalidInputsGiveInvalidOutputs) {
  EXPECT_FALSE(layers::Dense(3)(Output()));
  EXPECT_FALSE(layers::Flatten(layers::Dropout(Output(), 0.5f)));
  EXPECT_FALSE(layers::BatchNormalization({.training = true})(Output()));
  EXPECT_FALSE(layers::MaxPooling2D(Output(), 2, 2));
  EXPECT_FALSE(losses::MeanSquaredError(Output(), Output()));
  layers::LstmCell cell(2);
  EXPECT_FALSE(layers::DynamicRnn(cell, Output()).outputs);
  EXPECT_TRUE(layers::StaticRnn(cell, {Output()}).outputs.empty());
}

TEST(LayersTest, ACausalPlaceDoesNotSeeLaterOnes) {
  Graph g;
  g.SetRandomSeed(1);
  const Output x = Floats(g, {1, 3, 4});
  const Output y = layers::MultiHeadAttention(2, {.causal = true})(x);
  Operation init = InitializeVariables(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  auto run = [&](float last) {
    const Tensor fed =
        Tensor::Of<float>({1, 3, 4}, {1, 2, 3, 4, -1, 0, 1, 0, last, -last, last, 2 * last});
    return (*session.Run({{x, fed}}, {y}))[0];
  };
  const Tensor a = run(1), b = run(-3);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(a.data<float>()[i], b.data<float>()[i]) << i;
  EXPECT_NE(a.data<float>()[8], b.data<float>()[8]);
}

TEST(LayersTest, AnEmbeddingsGradientIsRows) {
  Graph g;
  const Output ids = Constant(g, {1, 3, 1});
  layers::Embedding embedding(5, 2);
  const Output loss = ReduceSum(embedding(ids));
  EXPECT_EQ(embedding.embeddings().name(), "embedding/embeddings");
  const auto grads = Gradients({loss}, {embedding.embeddings().handle()});
  ASSERT_TRUE(grads.ok()) << grads.status();
  EXPECT_TRUE((*grads)[0].is_slices());
}

TEST(LayersTest, MovingAveragesAreUpdatedByTheCollectionsOps) {
  Graph g;
  const Output x = Constant(g, {{1.0f}, {3.0f}});
  layers::BatchNormalization layer({.training = true, .momentum = 0.5});
  layer(x);
  const std::vector<Operation> updates = layers::UpdateOps(g);
  ASSERT_EQ(updates.size(), 2u);
  const Output mean = layer.moving_mean(), variance = layer.moving_variance();
  Operation init = InitializeVariables(g);
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  ASSERT_TRUE(session.Run(updates).ok());
  const auto values = session.Run({}, {mean, variance});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_FLOAT_EQ((*values)[0].data<float>()[0], 1);  // (0 + 2) / 2
  EXPECT_FLOAT_EQ((*values)[1].data<float>()[0], 1);  // (1 + 1) / 2
}

TEST(LayersTest, TotalIsAllLossesAndRegularizers) {
  Graph g;
  const Output x = Constant(g, {{1.0f, 2.0f}});
  const Output y = layers::Dense(1, {.use_bias = false,
                                     .kernel_initializer = Ones(),
                                     .kernel_regularizer = layers::L1L2(0.5, 1)})(x);
  losses::MeanSquaredError(Constant(g, {{1.0f}}), y);  // (3 - 1)²
  const Output total = losses::Total(g);               // + 0.5 * 2 + 2 / 2
  Operation init = InitializeVariables(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  const auto value = session.Run({}, {total});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_FLOAT_EQ((*value)[0].scalar<float>(), 6);
}

}  // namespace
}  // namespace sluice

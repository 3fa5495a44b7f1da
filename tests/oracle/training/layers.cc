// Layers, recurrent networks and losses, trained for a few steps.
#include <memory>

#include "tests/oracle/training/examples.h"
#include "training/layers/conv.h"
#include "training/layers/dense.h"
#include "training/layers/initializers.h"
#include "training/layers/losses.h"
#include "training/layers/normalization.h"
#include "training/layers/rnn.h"

namespace sluice {
namespace {

using Build = std::function<Output(Graph& g, bool use_resource)>;

// The numbers -1, 0.4, -0.6, … in the given shape.
Output Numbers(Graph& g, const TensorShape& shape, std::string_view name = "x") {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.data<float>()[i] = static_cast<float>(i * 7 % 11 - 5) / 5;
  }
  return Constant(g, t, name);
}

Output SquareSum(Output y) { return ReduceSum(Square(y)); }

Output StackedDense(Graph& g, bool use_resource) {
  Output y = Numbers(g, {2, 5, 3});
  y = layers::Dense(4, {.kernel_initializer = GlorotUniform(1), .use_resource = use_resource})(y);
  y = layers::Dense(2, {.activation = Tanh,
                        .use_bias = false,
                        .kernel_initializer = GlorotUniform(2),
                        .use_resource = use_resource,
                        .name = "out"})(y);
  y = layers::Dense(2, {.kernel_initializer = GlorotUniform(3), .use_resource = use_resource})(y);
  const Output cost = losses::Regularization(g);
  return SquareSum(y) + cost;
}

Output SharedDense(Graph& g, bool use_resource) {
  const Output x = Numbers(g, {2, 3});
  layers::Dense shared(3, {.activation = Relu,
                           .kernel_initializer = GlorotUniform(1),
                           .kernel_regularizer = layers::L2(0.1),
                           .use_resource = use_resource});
  const Output once = shared(x);
  const Output twice = shared(once);
  const Output cost = losses::Regularization(g);
  return SquareSum(twice) + cost;
}

Output Images(Graph& g, bool use_resource) {
  Output y = Numbers(g, {2, 8, 8, 2});
  y = layers::Conv2D(3, 3,
                     {.strides = 2,
                      .padding = "SAME",
                      .activation = Relu,
                      .kernel_initializer = GlorotUniform(1),
                      .use_resource = use_resource})(y);
  y = layers::MaxPooling2D(y, 2, 1);
  y = layers::Conv2DTranspose(
      2, {3, 2},
      {.strides = 2, .kernel_initializer = GlorotUniform(2), .use_resource = use_resource})(y);
  y = layers::AveragePooling2D(y, 2, 2, {.padding = "SAME"});
  y = layers::Conv2D(
      2, 1,
      {.use_bias = false, .kernel_initializer = GlorotUniform(3), .use_resource = use_resource})(y);
  y = layers::Flatten(y);
  return SquareSum(layers::Dropout(y, 0.25f, {.seed = 4}));
}

Output Normal(Graph& g, bool use_resource, const TensorShape& shape) {
  const Output x = Numbers(g, shape);
  Output y = layers::BatchNormalization({.training = true, .use_resource = use_resource})(x);
  y = layers::BatchNormalization({.training = true,
                                  .momentum = 0.9,
                                  .center = false,
                                  .scale = false,
                                  .use_resource = use_resource})(Square(y));
  y = layers::BatchNormalization({.use_resource = use_resource})(y);
  return SquareSum(Tanh(y));
}
Output NormalImages(Graph& g, bool use_resource) { return Normal(g, use_resource, {3, 2, 2, 2}); }
Output NormalRows(Graph& g, bool use_resource) { return Normal(g, use_resource, {5, 3}); }

Output StaticRnns(Graph& g, bool use_resource) {
  const OutputList inputs = {Numbers(g, {2, 3}), Numbers(g, {2, 3}, "x2")};
  const Output state = Numbers(g, {2, 4}, "state");
  layers::LstmCell lstm(4, {.use_peepholes = true,
                            .kernel_initializer = GlorotUniform(1),
                            .use_resource = use_resource});
  layers::LstmCell plain(
      4, {.kernel_initializer = GlorotUniform(2), .use_resource = use_resource, .name = "plain"});
  layers::GruCell gru(4, {.kernel_initializer = GlorotUniform(3), .use_resource = use_resource});
  layers::BasicRnnCell basic(
      4, {.kernel_initializer = GlorotUniform(4), .use_resource = use_resource});
  OutputList sums;
  const std::vector<std::string> names = {"peepholes", "plain_rnn", "gated", "basic"};
  for (layers::RnnCell* cell : std::vector<layers::RnnCell*>{&lstm, &plain, &gru, &basic}) {
    const OutputList start(cell->state_sizes().size(), state);
    const auto rnn =
        layers::StaticRnn(*cell, inputs, {.initial_state = start, .name = names[sums.size()]});
    if (rnn.outputs.size() != 2) return Output();
    sums.push_back(SquareSum(rnn.outputs[1]));
  }
  return AddN(sums);
}

Output DynamicRnns(Graph& g, bool use_resource) {
  const Output x = Numbers(g, {3, 4, 2});
  const Output lengths = Constant(g, {4, 0, 2}, "lengths");
  auto lstm = std::make_shared<layers::LstmCell>(
      4, layers::LstmCellOptions{.use_peepholes = true,
                                 .kernel_initializer = GlorotUniform(1),
                                 .use_resource = use_resource});
  auto gru = std::make_shared<layers::GruCell>(
      3,
      layers::GruCellOptions{.kernel_initializer = GlorotUniform(2), .use_resource = use_resource});
  layers::MultiRnnCell cells({lstm, gru});
  const auto rnn = layers::DynamicRnn(cells, x, {.sequence_length = lengths});
  layers::BasicRnnCell plain(
      3, {.kernel_initializer = GlorotUniform(3), .use_resource = use_resource});
  const auto all =
      layers::DynamicRnn(plain, Transpose(x, {1, 0, 2}), {.time_major = true, .name = "all"});
  layers::GruCell forward(2,
                          {.kernel_initializer = GlorotUniform(4), .use_resource = use_resource});
  layers::GruCell backward(2,
                           {.kernel_initializer = GlorotUniform(5), .use_resource = use_resource});
  const auto both = layers::BidirectionalDynamicRnn(forward, backward, x, lengths);
  if (!g.status().ok()) return Output();
  return AddN({SquareSum(rnn.outputs), SquareSum(rnn.state[0]), SquareSum(rnn.state[2]),
               SquareSum(all.outputs), SquareSum(all.state[0]), SquareSum(both.forward.outputs),
               SquareSum(both.backward.outputs), SquareSum(both.backward.state[0])});
}

Output Losses(Graph& g, bool use_resource) {
  using losses::Reduction;
  const Output x = Numbers(g, {4, 3});
  const Output y =
      layers::Dense(3, {.kernel_initializer = GlorotUniform(1), .use_resource = use_resource})(x);
  const Output is = Constant(g, {{1, 0, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, "is");
  const Output classes = Constant(g, {2, 0, 1, 1}, "classes");
  const Output each = Constant(g, {1.0f, 0.0f, 2.0f, 0.5f}, "each");
  const Output column = Reshape(each, {4, 1});
  const Output p = Softmax(y);
  losses::SparseSoftmaxCrossEntropy(classes, y, {.weights = each});
  losses::SoftmaxCrossEntropy(is, y, {.weights = each, .reduction = Reduction::kMean}, 0.1f);
  losses::SigmoidCrossEntropy(is, y, {.weights = column}, 0.2f);
  losses::MeanSquaredError(is, y, {.reduction = Reduction::kSumOverBatchSize});
  losses::AbsoluteDifference(is, y, {.weights = column, .reduction = Reduction::kSum});
  losses::Huber(is, y, 0.5f);
  losses::Hinge(is, y);
  losses::Log(is, p, {.weights = column});
  losses::CosineDistance(is, p, 1);
  const Output none = losses::MeanSquaredError(is, y, {.reduction = Reduction::kNone});
  losses::Weighted(ReduceSum(none, 1), {.weights = each});
  losses::Regularization(g);
  // With kNone the loss is a matrix and is not part of the total.
  OutputList parts;
  for (const std::string& name : g.collections()[std::string(kLosses)]) {
    const Output part = g.FindOutput(name).value_or(Output());
    if (part && !(part == none)) parts.push_back(part);
  }
  return AddN(parts, {.name = "total"});
}

struct First {
  std::string name;
  Initializer initializer;
  TensorShape shape;
  DataType dtype = DT_FLOAT;
};

// Each way of scaling, for a filter, a matrix, a vector and a scalar.
std::vector<First> ScaledFirsts() {
  std::vector<First> made;
  for (const FanMode mode : {FanMode::kIn, FanMode::kOut, FanMode::kAverage}) {
    for (const InitDistribution distribution :
         {InitDistribution::kTruncatedNormal, InitDistribution::kUntruncatedNormal,
          InitDistribution::kUniform}) {
      for (const TensorShape& shape :
           std::vector<TensorShape>{{2, 3, 4, 5}, {4, 3}, {5}, TensorShape()}) {
        const int n = static_cast<int>(made.size());
        made.push_back(
            {StrCat("scaled", n),
             VarianceScaling(
                 {.scale = 1.5 + n, .mode = mode, .distribution = distribution, .seed = 20 + n}),
             shape});
      }
    }
  }
  return made;
}

Output Initializers(Graph& g, bool use_resource) {
  std::vector<First> firsts = {
      {"lecun_uniform", LecunUniform(1), {3, 4}},
      {"lecun_normal", LecunNormal(2), {3, 4}},
      {"unit_scaling", UniformUnitScaling(1.5, 3), {2, 3, 4}},
      {"identity", IdentityInit(2), {3, 4}},
      {"glorot_normal", GlorotNormal(4), {3, 4}},
      {"he_uniform", HeUniform(5), {3, 4}},
      {"glorot_uniform", GlorotUniform(6), {3, 4}},
      {"he_normal", HeNormal(7), {3, 4}},
      {"uniform", RandomUniformInit(-2, 3, 8), {3, 4}},
      {"normal", RandomNormalInit(1, 2, 9), {3, 4}},
      {"truncated", TruncatedNormalInit(1, 2, 10), {3, 4}},
      {"zeros", Zeros(), {3}},
      {"ones", Ones(), {3}},
      {"half", ConstantInit(0.5f), {3}},
      {"wide", RandomUniformInit(-2, 3, 11), {3, 4}, DT_DOUBLE},
      {"whole", RandomUniformInit(-20, 30, 12), {3, 4}, DT_INT32},
      {"whole_wide", RandomUniformInit(0, 1e12, 13), {3, 4}, DT_INT64},
  };
  for (const First& scaled : ScaledFirsts()) firsts.push_back(scaled);
  OutputList sums;
  for (const First& first : firsts) {
    Variable v(
        g, first.name, first.shape, first.initializer,
        {.dtype = first.dtype, .trainable = !IsInteger(first.dtype), .use_resource = use_resource});
    const Output value = first.dtype == DT_FLOAT ? v.snapshot() : Cast(v.snapshot(), DT_FLOAT);
    sums.push_back(first.shape.IsScalar() ? Square(value) : SquareSum(value));
  }
  return AddN(sums);
}

void Train(Graph& g, Spec& spec, const Build& build, bool use_resource) {
  const Output loss = build(g, use_resource);
  if (!loss) return;
  std::vector<Operation> targets = layers::UpdateOps(g);
  targets.push_back(GradientDescent({.learning_rate = 0.01f}).Minimize(loss));
  spec.steps = 4;
  spec.WatchVariables(g);
  spec.fetches.push_back(loss);
  spec.targets = targets;
}

}  // namespace

std::vector<Example> LayerExamples() {
  const std::vector<std::pair<std::string, Build>> builds = {
      {"stackeddense", StackedDense}, {"shareddense", SharedDense}, {"images", Images},
      {"normalimages", NormalImages}, {"normalrows", NormalRows},   {"staticrnns", StaticRnns},
      {"dynamicrnns", DynamicRnns},   {"losses", Losses},           {"initializers", Initializers},
  };
  std::vector<Example> examples;
  for (const auto& [name, build] : builds) {
    for (const bool resource : {false, true}) {
      examples.push_back(
          {name + (resource ? "_resource" : "_ref"),
           [build = build, resource](Graph& g, Spec& spec) { Train(g, spec, build, resource); }});
    }
  }
  return examples;
}

}  // namespace sluice

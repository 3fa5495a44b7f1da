#include "demos/replicas/model.h"

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/array/reshape_builders.h"
#include "ops/array/sources_builders.h"
#include "ops/conv/conv_builders.h"
#include "ops/matmul/matmul_builders.h"
#include "ops/nn/activation_builders.h"
#include "ops/nn/bias_builders.h"
#include "ops/nn/softmax_builders.h"
#include "ops/pool/max_pool_builders.h"
#include "ops/reduce/reduce_builders.h"
#include "ops/state/variable.h"
#include "ops/sugar.h"
#include "training/optimizer/adagrad.h"
#include "training/optimizer/adam.h"
#include "training/optimizer/gradient_descent.h"
#include "training/optimizer/momentum.h"
#include "training/summary/summary.h"

namespace sluice::demos {
namespace {

Output Dense(Graph& graph, Output x, int64_t units, std::string_view name, int64_t seed) {
  NameScope scope(graph, name);
  Variable w(graph, StrCat(scope.prefix(), "w"), {x.shape().dim(1), units}, GlorotUniform(seed));
  Variable b(graph, StrCat(scope.prefix(), "b"), {units}, Zeros());
  return BiasAdd(MatMul(x, w), b);
}

Output Convolve(Graph& graph, Output x, int64_t size, int64_t channels, std::string_view name,
                int64_t seed) {
  NameScope scope(graph, name);
  Variable w(graph, StrCat(scope.prefix(), "w"), {size, size, x.shape().dim(3), channels},
             GlorotUniform(seed));
  Variable b(graph, StrCat(scope.prefix(), "b"), {channels}, Zeros());
  const Output y = Relu(BiasAdd(Conv2D(x, w, {1, 1, 1, 1}, "SAME"), b));
  return MaxPool(y, {1, 2, 2, 1}, {1, 2, 2, 1}, "SAME");
}

Output Mlp(Graph& graph, Output images, int64_t seed) {
  Output x = Reshape(images, {-1, 28 * 28});
  x = Relu(Dense(graph, x, 256, "hidden1", seed));
  x = Relu(Dense(graph, x, 128, "hidden2", seed + 1));
  return Dense(graph, x, kClasses, "logits", seed + 2);
}

Output Cnn(Graph& graph, Output images, int64_t seed) {
  Output x = Convolve(graph, images, 5, 16, "conv1", seed);
  x = Convolve(graph, x, 3, 32, "conv2", seed + 1);
  x = Reshape(x, {-1, 7 * 7 * 32});
  x = Relu(Dense(graph, x, 128, "hidden", seed + 2));
  return Dense(graph, x, kClasses, "logits", seed + 3);
}

}  // namespace

absl::StatusOr<ModelKind> ParseModel(const std::string& name) {
  if (name == "mlp") return ModelKind::kMlp;
  if (name == "cnn") return ModelKind::kCnn;
  return InvalidArgument("--model is mlp or cnn, got '", name, "'");
}

absl::StatusOr<OptimizerKind> ParseOptimizer(const std::string& name) {
  if (name == "sgd") return OptimizerKind::kSgd;
  if (name == "momentum") return OptimizerKind::kMomentum;
  if (name == "adam") return OptimizerKind::kAdam;
  if (name == "adagrad") return OptimizerKind::kAdagrad;
  return InvalidArgument("--optimizer is sgd, momentum, adam or adagrad, got '", name, "'");
}

float DefaultLearningRate(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return 0.1f;
    case OptimizerKind::kMomentum:
      return 0.02f;
    case OptimizerKind::kAdam:
      return 0.001f;
    case OptimizerKind::kAdagrad:
      return 0.02f;
  }
  return 0.01f;
}

std::unique_ptr<Optimizer> MakeOptimizer(OptimizerKind kind, float learning_rate) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return std::make_unique<GradientDescent>(
          GradientDescentOptions{.learning_rate = learning_rate});
    case OptimizerKind::kMomentum:
      return std::make_unique<Momentum>(MomentumOptions{.learning_rate = learning_rate});
    case OptimizerKind::kAdam:
      return std::make_unique<Adam>(AdamOptions{.learning_rate = learning_rate});
    case OptimizerKind::kAdagrad:
      return std::make_unique<Adagrad>(AdagradOptions{.learning_rate = learning_rate});
  }
  return nullptr;
}

void AddModelSummaries(const Model& model, const std::string& description) {
  Graph& graph = *model.loss.graph();
  {
    NameScope scope(graph, "train");
    summary::Scalar("loss", model.loss);
  }
  summary::Image("images", model.images, 3);
  summary::Text("run", Constant(graph, description));
  for (const Variable& v : TrainableVariables(graph)) summary::Histogram(v.name(), v);
}

Model BuildModel(Graph& graph, ModelKind kind, int64_t seed) {
  Model model;
  model.images = Placeholder(graph, DT_FLOAT, {-1, 28, 28, 1}, "images");
  model.labels = Placeholder(graph, DT_INT32, {-1}, "labels");
  const Output logits =
      kind == ModelKind::kMlp ? Mlp(graph, model.images, seed) : Cnn(graph, model.images, seed);
  model.loss = ReduceMean(SparseSoftmaxCrossEntropyWithLogits(logits, model.labels).loss, {},
                          {.name = "loss"});
  model.predictions = ArgMax(logits, 1, {.name = "predictions"});
  return model;
}

}  // namespace sluice::demos

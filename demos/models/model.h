// Builds the models of docs/models.md: common networks, written in C++ with training/layers.
#ifndef SLUICE_DEMOS_MODELS_MODEL_H_
#define SLUICE_DEMOS_MODELS_MODEL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sluice.h"
#include "training/layers/layer.h"

namespace sluice::demos {

using Batch = std::vector<Feed>;

// A model in a graph, ready for training.
struct Model {
  OutputList losses;  // training minimizes the first
  Operation train;
  // The feeds of step i, which are the same in every run.
  std::function<Batch(int64_t step)> batch;
};

struct ModelKind {
  std::string_view name;
  std::string_view about;
  // NOT_FOUND if a file with training data does not exist.
  absl::StatusOr<Model> (*build)(Graph& graph);
};
// All models, in the order of docs/models.md.
const std::vector<ModelKind>& ModelKinds();

// Returns the seeds 1, 2, 3, … for the initial values and random ops of a model. So a model starts
// with the same values in every run, and with those that TensorFlow computes for the same seeds.
class Seeds {
 public:
  int64_t Next() { return ++last_; }
  Initializer Glorot() { return GlorotUniform(Next()); }
  Initializer He() { return HeNormal(Next()); }
  Initializer Normal(double stddev) { return RandomNormalInit(0, stddev, Next()); }
  Initializer Uniform(double limit) { return RandomUniformInit(-limit, limit, Next()); }

 private:
  int64_t last_ = 0;
};

// The op that minimizes `loss`, with gradients that are clipped to the global norm `norm`.
absl::StatusOr<Operation> MinimizeClipped(Optimizer& optimizer, Output loss, float norm);

// Defined in images.cc.
absl::StatusOr<Model> SoftmaxRegression(Graph& g);
absl::StatusOr<Model> Mlp(Graph& g);
absl::StatusOr<Model> LeNet(Graph& g);
absl::StatusOr<Model> ResNet20(Graph& g);
absl::StatusOr<Model> Inception(Graph& g);
// Defined in generative.cc.
absl::StatusOr<Model> Vae(Graph& g);
absl::StatusOr<Model> DcGan(Graph& g);
// Defined in sequences.cc.
absl::StatusOr<Model> CharLstmStatic(Graph& g);
absl::StatusOr<Model> CharLstmDynamic(Graph& g);
absl::StatusOr<Model> Seq2SeqAttention(Graph& g);
// Defined in transformer.cc.
absl::StatusOr<Model> Transformer(Graph& g);
// Defined in words.cc.
absl::StatusOr<Model> Word2VecNce(Graph& g);
absl::StatusOr<Model> Word2VecSampledSoftmax(Graph& g);
// Defined in tables.cc.
absl::StatusOr<Model> MatrixFactorisation(Graph& g);
absl::StatusOr<Model> WideAndDeep(Graph& g);
absl::StatusOr<Model> DeepFm(Graph& g);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_MODELS_MODEL_H_

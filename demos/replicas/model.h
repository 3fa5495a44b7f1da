// Builds the two networks of the Fashion-MNIST demo, and their optimizers.
#ifndef SLUICE_DEMOS_REPLICAS_MODEL_H_
#define SLUICE_DEMOS_REPLICAS_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "training/optimizer/optimizer.h"

namespace sluice::demos {

enum class ModelKind { kMlp, kCnn };
absl::StatusOr<ModelKind> ParseModel(const std::string& name);

enum class OptimizerKind { kSgd, kMomentum, kAdam, kAdagrad };
absl::StatusOr<OptimizerKind> ParseOptimizer(const std::string& name);
// A usual learning rate of the optimizer for Fashion-MNIST.
float DefaultLearningRate(OptimizerKind kind);
std::unique_ptr<Optimizer> MakeOptimizer(OptimizerKind kind, float learning_rate);

struct Model {
  Output images;       // fed: float [batch, 28, 28, 1]
  Output labels;       // fed: int32 [batch]
  Output loss;         // mean cross entropy
  Output predictions;  // int64 [batch]
};

inline constexpr int kClasses = 10;

// Adds summaries for TensorBoard: the loss, the first images of a batch, histograms of all
// trainable variables, and `description` in Markdown.
void AddModelSummaries(const Model& model, const std::string& description);

// Adds the network to the graph. The initial values of variables depend only on `seed`, so they are
// equal in all replicas.
Model BuildModel(Graph& graph, ModelKind kind, int64_t seed);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_REPLICAS_MODEL_H_

// Layers that normalize the mean and variance of their input.
#ifndef SLUICE_TRAINING_LAYERS_NORMALIZATION_H_
#define SLUICE_TRAINING_LAYERS_NORMALIZATION_H_

#include <string>
#include <vector>

#include "training/layers/layer.h"

namespace sluice::layers {

struct BatchNormalizationOptions {
  bool training = false;  // true: uses the statistics of the batch
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;  // adds beta
  bool scale = true;   // multiplies by gamma
  Initializer gamma_initializer = Ones();
  Initializer beta_initializer = Zeros();
  bool trainable = true;
  bool use_resource = true;
  std::string name = "batch_normalization";
};

// Batch normalization (Ioffe and Szegedy 2015) over all dimensions except the last. Images of any
// type except double use the fused op. In training, the ops of the collection "update_ops" update
// the moving averages, and the train op has to depend on them:
//
//   ControlDependencies after(g, UpdateOps(g));
//   Operation train = optimizer.Minimize(loss);
//
// Reference: tf.layers.BatchNormalization.
class BatchNormalization : public Layer {
 public:
  explicit BatchNormalization(BatchNormalizationOptions options = {});

  Output operator()(Output x, At at = At::current());
  const Variable& gamma() const { return gamma_; }
  const Variable& beta() const { return beta_; }
  const Variable& moving_mean() const { return moving_mean_; }
  const Variable& moving_variance() const { return moving_variance_; }

 private:
  void Build(Graph& graph, int64_t channels, DataType dtype, At at);
  Output Fused(Output x, int64_t channels, At at);
  Output Composed(Output x, At at);

  BatchNormalizationOptions options_;
  Variable gamma_, beta_, moving_mean_, moving_variance_;
};

// The ops of the collection "update_ops".
std::vector<Operation> UpdateOps(const Graph& graph);

struct Moments {
  Output mean, variance;
};
// The mean and variance of `x` over `axes`. Reference: tf.nn.moments.
Moments MomentsOf(Output x, const std::vector<int64_t>& axes, bool keep_dims = false,
                  At at = At::current());
// (x - mean) / sqrt(variance + epsilon) * scale + offset. `offset` and `scale` may be invalid.
// Reference: tf.nn.batch_normalization.
Output Normalize(Output x, const Moments& moments, Output offset, Output scale, double epsilon,
                 At at = At::current());

struct LayerNormalizationOptions {
  double epsilon = 1e-6;
  bool trainable = true;
  bool use_resource = true;
  std::string name = "layer_normalization";
};

// Layer normalization (Ba et al. 2016) over the last dimension: `<name>/gamma`, `<name>/beta`.
class LayerNormalization : public Layer {
 public:
  explicit LayerNormalization(LayerNormalizationOptions options = {});

  Output operator()(Output x, At at = At::current());
  const Variable& gamma() const { return gamma_; }
  const Variable& beta() const { return beta_; }

 private:
  LayerNormalizationOptions options_;
  Variable gamma_, beta_;
};

}  // namespace sluice::layers

#endif  // SLUICE_TRAINING_LAYERS_NORMALIZATION_H_

// Layers that shift and scale their input to mean 0 and variance 1, and then apply a scale gamma
// and an offset beta, which are trained.
//
//   Output y = layers::BatchNormalization({.training = true})(x);
//   Output z = layers::LayerNormalization()(y);
//
// Thread safety: that of the graph, which one thread at a time builds.
// Lifetime: as Layer: after its first call a layer belongs to one graph.
// Errors: stay in the graph, and the output is then invalid. INVALID_ARGUMENT if the last dimension
// is unknown or the rank is below 2.
#ifndef SLUICE_TRAINING_LAYERS_NORMALIZATION_H_
#define SLUICE_TRAINING_LAYERS_NORMALIZATION_H_

#include <string>
#include <vector>

#include "training/layers/layer.h"

namespace sluice::layers {

// Options of BatchNormalization. The defaults are those of tf.layers.BatchNormalization.
struct BatchNormalizationOptions {
  // Whether the layer normalizes by the mean and variance of the batch, and updates the moving
  // averages of both. Otherwise it normalizes by the moving averages. A layer has one mode, so
  // build another graph for evaluation and restore the same checkpoint.
  bool training = false;
  // Decay of the moving averages, per step.
  double momentum = 0.99;
  // Added to the variance.
  double epsilon = 1e-3;
  // Whether to add beta, and to multiply by gamma.
  bool center = true;
  bool scale = true;
  Initializer gamma_initializer = Ones();
  Initializer beta_initializer = Zeros();
  bool trainable = true;
  bool use_resource = true;
  std::string name = "batch_normalization";
};

// Batch normalization (Ioffe and Szegedy 2015) over all dimensions except the last. Inputs of rank
// 4 and of any type except double use the fused op. In training, the ops of the collection
// "update_ops" update the moving averages, and the train op has to depend on them:
//
//   ControlDependencies after(g, UpdateOps(g));
//   Operation train = optimizer.Minimize(loss);
//
// Variables, each [channels]: `<name>/gamma`, `…/beta`, `…/moving_mean`, `…/moving_variance`. The
// last two are not trainable. All four are float for inputs of 16-bit types. Reference:
// tf.layers.BatchNormalization.
class BatchNormalization : public Layer {
 public:
  explicit BatchNormalization(BatchNormalizationOptions options = {});

  // The result has the shape and type of x.
  Output operator()(Output x, At at = At::current());
  // The variables. All are invalid before the first call. gamma is also invalid without `scale`,
  // and beta without `center`.
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

// Returns the ops of the collection "update_ops", which update moving averages.
std::vector<Operation> UpdateOps(const Graph& graph);

// The statistics that MomentsOf returns and Normalize takes.
struct Moments {
  Output mean, variance;
};
// Returns the mean and variance of `x` over the dimensions `axes`. The variance is the mean squared
// deviation (without Bessel's correction). `keep_dims`: whether these dimensions are kept with size
// 1. Reference: tf.nn.moments.
Moments MomentsOf(Output x, const std::vector<int64_t>& axes, bool keep_dims = false,
                  At at = At::current());

// Returns (x - mean) / sqrt(variance + epsilon) * scale + offset, with broadcasting. An invalid
// `scale` stands for 1 and an invalid `offset` for 0. Reference: tf.nn.batch_normalization.
Output Normalize(Output x, const Moments& moments, Output offset, Output scale, double epsilon,
                 At at = At::current());

// Options of LayerNormalization. `epsilon` is added to the variance.
struct LayerNormalizationOptions {
  double epsilon = 1e-6;
  bool trainable = true;
  bool use_resource = true;
  std::string name = "layer_normalization";
};

// Layer normalization (Ba et al. 2016) over the last dimension of each position, the same in
// training and evaluation. Variables [width]: `<name>/gamma`, `<name>/beta`. Reference:
// tf.keras.layers.LayerNormalization.
class LayerNormalization : public Layer {
 public:
  explicit LayerNormalization(LayerNormalizationOptions options = {});

  Output operator()(Output x, At at = At::current());
  // Invalid before the first call.
  const Variable& gamma() const { return gamma_; }
  const Variable& beta() const { return beta_; }

 private:
  LayerNormalizationOptions options_;
  Variable gamma_, beta_;
};

}  // namespace sluice::layers

#endif  // SLUICE_TRAINING_LAYERS_NORMALIZATION_H_

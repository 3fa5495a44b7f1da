// Layers that give their input a mean and a variance of their own.
#ifndef SLUICE_TRAINING_LAYERS_NORMALIZATION_H_
#define SLUICE_TRAINING_LAYERS_NORMALIZATION_H_

#include <string>
#include <vector>

#include "training/layers/layer.h"

namespace sluice::layers {

struct BatchNormalizationOptions {
  bool training = false;  // true: by the batch's own statistics
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;  // beta
  bool scale = true;   // gamma
  Initializer gamma_initializer = Ones();
  Initializer beta_initializer = Zeros();
  bool trainable = true;
  bool use_resource = true;
  std::string name = "batch_normalization";
};

// Ioffe and Szegedy (2015), over all dimensions but the last: images in one fused op (not in double
// precision), others from elementwise ones. In training the moving averages are updated by ops in
// the collection "update_ops", which a train op has to wait for:
//
//   ControlDependencies after(g, UpdateOps(g));
//   Operation train = optimizer.Minimize(loss);
//
// Reference behaviour: tf.layers.BatchNormalization.
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
// Of `x` over `axes`. Reference behaviour: tf.nn.moments.
Moments MomentsOf(Output x, const std::vector<int64_t>& axes, bool keep_dims = false,
                  At at = At::current());
// (x - mean) / sqrt(variance + epsilon) * scale + offset; the last two may be invalid. Reference
// behaviour: tf.nn.batch_normalization.
Output Normalize(Output x, const Moments& moments, Output offset, Output scale, double epsilon,
                 At at = At::current());

struct LayerNormalizationOptions {
  double epsilon = 1e-6;
  bool trainable = true;
  bool use_resource = true;
  std::string name = "layer_normalization";
};

// Ba et al. (2016), over the last dimension: `<name>/gamma`, `<name>/beta`.
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

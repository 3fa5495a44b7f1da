// Fully connected layers, embeddings, dropout and flattening.
//
//   Output x = layers::Flatten(images);                                  // [batch, 784]
//   x = layers::Dense(128, {.activation = Relu})(x);                     // [batch, 128]
//   x = layers::Dropout(x, 0.5f, {.training = is_training});
//   Output logits = layers::Dense(10, {.name = "logits"})(x);
//
// Thread safety: that of the graph, which one thread at a time builds.
// Lifetime: as Layer: after its first call a layer belongs to one graph.
// Errors: stay in the graph, and the output is then invalid.
#ifndef SLUICE_TRAINING_LAYERS_DENSE_H_
#define SLUICE_TRAINING_LAYERS_DENSE_H_

#include <string>

#include "training/layers/layer.h"

namespace sluice::layers {

// Options of Dense. The defaults are those of tf.layers.Dense.
struct DenseOptions {
  // Applied to the result. Empty: none.
  Activation activation;
  bool use_bias = true;
  Initializer kernel_initializer = GlorotUniform();
  Initializer bias_initializer = Zeros();
  // Functions that compute the regularization losses of the kernel and the bias. Empty: no loss.
  Regularizer kernel_regularizer;
  Regularizer bias_regularizer;
  // Whether optimizers update the variables by default, and whether these are resource variables
  // (see VariableOptions).
  bool trainable = true;
  bool use_resource = true;
  std::string name = "dense";
};

// Computes activation(x * kernel + bias) over the last dimension of x, whose size must be known
// (INVALID_ARGUMENT otherwise). x has rank 2 or more; its other dimensions are kept. Variables
// `<name>/kernel` [size, units] and `<name>/bias` [units]. Reference: tf.layers.Dense.
class Dense : public Layer {
 public:
  explicit Dense(int64_t units, DenseOptions options = {});

  // Maps [..., size] to [..., units].
  Output operator()(Output x, At at = At::current());
  // Creates the variables for inputs with `size` elements in the last dimension. Needed if the
  // first call of the layer is inside a loop.
  void Build(Graph& graph, int64_t size, DataType dtype = DT_FLOAT, At at = At::current());
  // Invalid before the first call; `bias` also without use_bias.
  const Variable& kernel() const { return kernel_; }
  const Variable& bias() const { return bias_; }

 private:
  int64_t units_;
  DenseOptions options_;
  Variable kernel_, bias_;
};

// Options of Embedding. The default initializer is uniform in [-0.05, 0.05].
struct EmbeddingOptions {
  Initializer initializer = RandomUniformInit();
  Regularizer regularizer;
  bool trainable = true;
  bool use_resource = true;
  std::string name = "embedding";
};

// Looks up one row of the table `<name>/embeddings` [count, size] per id: the output has the
// dimensions of `ids`, and a last dimension `size`. Ids are int32 or int64. An id outside of [0,
// count) fails the step. The gradient is sparse. ops/embedding/embedding.h has lookups in large
// tables that consist of several variables. Reference: tf.keras.layers.Embedding.
//
//   Output words = layers::Embedding(10'000, 64)(ids);       // [batch, length, 64]
class Embedding : public Layer {
 public:
  Embedding(int64_t count, int64_t size, EmbeddingOptions options = {});

  Output operator()(Output ids, At at = At::current());
  // Creates the table, once. Needed if the first call of the layer is inside a loop.
  void Build(Graph& graph, At at = At::current());
  const Variable& embeddings() const { return embeddings_; }

 private:
  TensorShape shape_;
  EmbeddingOptions options_;
  Variable embeddings_;
};

// Options of Dropout.
struct DropoutOptions {
  // Whether to drop elements. False, as for evaluation: Dropout returns x unchanged.
  bool training = true;
  // Seed of the random numbers. Without it, the graph's seed applies (Graph::SetRandomSeed).
  Seed seed;
  std::string_view name = "dropout";
};

// Sets each element to 0 with probability `rate`, in [0, 1), and divides it by 1 - rate otherwise,
// so that its expected value does not change. Reference: tf.layers.dropout, with the same random
// numbers for equal seeds.
Output Dropout(Output x, float rate, const DropoutOptions& options = {}, At at = At::current());

// Flattens all dimensions except the first: [batch, elements per example]. Reference:
// tf.layers.flatten.
Output Flatten(Output x, std::string_view name = "flatten", At at = At::current());

}  // namespace sluice::layers

#endif  // SLUICE_TRAINING_LAYERS_DENSE_H_

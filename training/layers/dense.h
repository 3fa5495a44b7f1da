// Fully connected layers, embeddings, dropout and flattening.
#ifndef SLUICE_TRAINING_LAYERS_DENSE_H_
#define SLUICE_TRAINING_LAYERS_DENSE_H_

#include <string>

#include "training/layers/layer.h"

namespace sluice::layers {

struct DenseOptions {
  Activation activation;
  bool use_bias = true;
  Initializer kernel_initializer = GlorotUniform();
  Initializer bias_initializer = Zeros();
  Regularizer kernel_regularizer;
  Regularizer bias_regularizer;
  bool trainable = true;
  bool use_resource = true;
  std::string name = "dense";
};

// activation(x * kernel + bias) over the last dimension of x, whose size must be known. Reference:
// tf.layers.Dense.
class Dense : public Layer {
 public:
  explicit Dense(int64_t units, DenseOptions options = {});

  Output operator()(Output x, At at = At::current());
  // Creates the variables for inputs with `size` elements in the last dimension. Needed if the
  // first call of the layer is inside a loop.
  void Build(Graph& graph, int64_t size, DataType dtype = DT_FLOAT, At at = At::current());
  const Variable& kernel() const { return kernel_; }
  const Variable& bias() const { return bias_; }

 private:
  int64_t units_;
  DenseOptions options_;
  Variable kernel_, bias_;
};

struct EmbeddingOptions {
  Initializer initializer = RandomUniformInit();
  Regularizer regularizer;
  bool trainable = true;
  bool use_resource = true;
  std::string name = "embedding";
};

// Looks up one row of the table `<name>/embeddings` [count, size] per id. The gradient is sparse.
class Embedding : public Layer {
 public:
  Embedding(int64_t count, int64_t size, EmbeddingOptions options = {});

  Output operator()(Output ids, At at = At::current());
  void Build(Graph& graph, At at = At::current());
  const Variable& embeddings() const { return embeddings_; }

 private:
  TensorShape shape_;
  EmbeddingOptions options_;
  Variable embeddings_;
};

struct DropoutOptions {
  bool training = true;  // false: x itself
  Seed seed;
  std::string_view name = "dropout";
};
// Sets each element to 0 with probability `rate`, and divides it by 1 - rate otherwise. Reference:
// tf.layers.dropout, with the same random numbers for equal seeds.
Output Dropout(Output x, float rate, const DropoutOptions& options = {}, At at = At::current());

// Flattens all dimensions except the first.
Output Flatten(Output x, std::string_view name = "flatten", At at = At::current());

}  // namespace sluice::layers

#endif  // SLUICE_TRAINING_LAYERS_DENSE_H_

// Fully connected layers, and what stands between them.
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

// activation(x * kernel + bias) over the last dimension of x, whose size must be known. Reference
// behaviour: tf.layers.Dense.
class Dense : public Layer {
 public:
  explicit Dense(int64_t units, DenseOptions options = {});

  Output operator()(Output x, At at = At::current());
  // Makes the variables, for inputs of `size` numbers: for a layer that is called in a loop first.
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

// A row of a table [count, size] for each id: `<name>/embeddings`. Its gradient is sparse.
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
// Each number is 0 with probability `rate`, else divided by 1 - rate. Reference behaviour:
// tf.layers.dropout: the same random numbers for the same seeds.
Output Dropout(Output x, float rate, const DropoutOptions& options = {}, At at = At::current());

// [batch, everything else].
Output Flatten(Output x, std::string_view name = "flatten", At at = At::current());

}  // namespace sluice::layers

#endif  // SLUICE_TRAINING_LAYERS_DENSE_H_

// Layers for images [batch, height, width, channels].
#ifndef SLUICE_TRAINING_LAYERS_CONV_H_
#define SLUICE_TRAINING_LAYERS_CONV_H_

#include <string>

#include "training/layers/layer.h"

namespace sluice::layers {

// Height and width: one number for both, or two numbers.
struct Size2D {
  Size2D(int64_t both) : height(both), width(both) {}  // NOLINT: a square's size is a number
  Size2D(int64_t h, int64_t w) : height(h), width(w) {}
  int64_t height, width;
};

struct Conv2DOptions {
  Size2D strides = 1;
  std::string padding = "VALID";  // or "SAME"
  Size2D dilation_rate = 1;       // not for a transposed convolution
  Activation activation;
  bool use_bias = true;
  Initializer kernel_initializer = GlorotUniform();
  Initializer bias_initializer = Zeros();
  Regularizer kernel_regularizer;
  Regularizer bias_regularizer;
  bool trainable = true;
  bool use_resource = true;
  std::string name = "";  // "" = "conv2d", "conv2d_transpose"
};

// activation(convolution + bias). Reference: tf.layers.Conv2D.
class Conv2D : public Layer {
 public:
  Conv2D(int64_t filters, Size2D kernel_size, Conv2DOptions options = {});

  Output operator()(Output x, At at = At::current());
  const Variable& kernel() const { return kernel_; }
  const Variable& bias() const { return bias_; }

 private:
  int64_t filters_;
  Size2D size_;
  Conv2DOptions options_;
  Variable kernel_, bias_;
};

// A transposed convolution: the gradient of a convolution with respect to its input. With strides
// it enlarges images. Height, width and channels of the input must be known. Reference:
// tf.layers.Conv2DTranspose.
class Conv2DTranspose : public Layer {
 public:
  Conv2DTranspose(int64_t filters, Size2D kernel_size, Conv2DOptions options = {});

  Output operator()(Output x, At at = At::current());
  const Variable& kernel() const { return kernel_; }
  const Variable& bias() const { return bias_; }

 private:
  Output OutputSize(Output x, At at) const;

  int64_t filters_;
  Size2D size_;
  Conv2DOptions options_;
  Variable kernel_, bias_;
};

struct PoolingOptions {
  std::string padding = "VALID";
  std::string_view name = "";  // "" = "max_pooling2d", "average_pooling2d"
};
Output MaxPooling2D(Output x, Size2D pool_size, Size2D strides, const PoolingOptions& options = {},
                    At at = At::current());
Output AveragePooling2D(Output x, Size2D pool_size, Size2D strides,
                        const PoolingOptions& options = {}, At at = At::current());

}  // namespace sluice::layers

#endif  // SLUICE_TRAINING_LAYERS_CONV_H_

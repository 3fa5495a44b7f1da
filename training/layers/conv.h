// Layers for images [batch, height, width, channels].
//
//   Output y = layers::Conv2D(32, 3, {.padding = "SAME", .activation = Relu})(images);
//   y = layers::MaxPooling2D(y, 2, 2);                     // half the height and width
//
// Thread safety: that of the graph, which one thread at a time builds.
// Lifetime: as Layer: after its first call a layer belongs to one graph.
// Errors: stay in the graph, and the output is then invalid. INVALID_ARGUMENT if the input is no
// image or its number of channels is unknown.
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

// Options of Conv2D and Conv2DTranspose.
struct Conv2DOptions {
  // Distance of neighbouring windows, in pixels.
  Size2D strides = 1;

  // "VALID": windows lie within the image. "SAME": the output has ceil(size / stride) pixels, and
  // the image is padded with zeros.
  std::string padding = "VALID";
  // Distance of the kernel's elements. Ignored by a transposed convolution.
  Size2D dilation_rate = 1;
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
  // "": "conv2d" or "conv2d_transpose".
  std::string name = "";
};

// Computes activation(convolution(x, kernel) + bias), with an output of `filters` channels.
// Variables `<name>/kernel` [height, width, channels, filters] and `<name>/bias` [filters].
// Reference: tf.layers.Conv2D.
//
//   Output half = layers::Conv2D(64, {3, 5}, {.strides = 2, .padding = "SAME"})(x);
class Conv2D : public Layer {
 public:
  Conv2D(int64_t filters, Size2D kernel_size, Conv2DOptions options = {});

  // Maps [batch, height, width, channels] to [batch, height', width', filters]. With padding
  // "VALID", height' is ceil((height - (kernel - 1) * dilation) / stride).
  Output operator()(Output x, At at = At::current());
  // Invalid before the first call; `bias` also without use_bias.
  const Variable& kernel() const { return kernel_; }
  const Variable& bias() const { return bias_; }

 private:
  int64_t filters_;
  Size2D size_;
  Conv2DOptions options_;
  Variable kernel_, bias_;
};

// A transposed convolution: the gradient of a convolution with respect to its input. With strides
// it enlarges images. With padding "SAME", height and width are multiplied by the stride. "VALID"
// adds max(kernel - stride, 0) to the products. Height, width and channels of the input must be
// known. Variables `<name>/kernel` [height, width, filters, channels] and `<name>/bias` [filters].
// Reference: tf.layers.Conv2DTranspose.
//
//   Output twice = layers::Conv2DTranspose(16, 3, {.strides = 2, .padding = "SAME"})(x);
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
  // "VALID" or "SAME", as for Conv2DOptions.
  std::string padding = "VALID";
  // "": "max_pooling2d" or "average_pooling2d".
  std::string_view name = "";
};

// Return the maximum, or the mean, of each window of each channel of `x` [batch, height, width,
// channels]. The result is [batch, height', width', channels]. With padding "SAME", the mean does
// not count padding. Reference: tf.layers.max_pooling2d, average_pooling2d.
Output MaxPooling2D(Output x, Size2D pool_size, Size2D strides, const PoolingOptions& options = {},
                    At at = At::current());
Output AveragePooling2D(Output x, Size2D pool_size, Size2D strides,
                        const PoolingOptions& options = {}, At at = At::current());

}  // namespace sluice::layers

#endif  // SLUICE_TRAINING_LAYERS_CONV_H_

#include "training/layers/conv.h"

#include <algorithm>
#include <vector>

#include "graph/strings.h"
#include "ops/array/builders.h"
#include "ops/array/shaping.h"
#include "ops/conv/builders.h"
#include "ops/indexing/subscript.h"
#include "ops/pool/builders.h"
#include "training/layers/name_or.h"

namespace sluice::layers {
namespace {

std::vector<int64_t> Nhwc(Size2D size) { return {1, size.height, size.width, 1}; }

// Returns the output size of a transposed convolution for `size` pixels, or -1 if `size` is
// unknown.
int64_t Widened(int64_t size, int64_t kernel, int64_t stride, const std::string& padding) {
  if (size < 0) return -1;
  return size * stride + (padding == "VALID" ? std::max<int64_t>(kernel - stride, 0) : 0);
}

}  // namespace

Conv2D::Conv2D(int64_t filters, Size2D kernel_size, Conv2DOptions options)
    : Layer(std::string(NameOr(options.name, "conv2d")), options.use_resource, options.trainable),
      filters_(filters),
      size_(kernel_size),
      options_(std::move(options)) {}

Output Conv2D::operator()(Output x, At at) {
  const std::optional<int64_t> channels = KnownDim(x, 4, -1, at);
  if (!channels) return Output();
  Graph& g = *x.graph();
  Call call(*this, g);
  MakeKernelAndBias(g, x.dtype(), {size_.height, size_.width, *channels, filters_}, filters_,
                    options_, at, &kernel_, &bias_);
  Output y = WithRead("Conv2D", kernel_, at, [&](Output value, std::string_view name) {
    return sluice::Conv2D(x, value, Nhwc(options_.strides), options_.padding,
                          {.name = name, .dilations = Nhwc(options_.dilation_rate)}, at);
  });
  if (options_.use_bias) y = BiasAddWith(y, bias_, at);
  return options_.activation(y);
}

Conv2DTranspose::Conv2DTranspose(int64_t filters, Size2D kernel_size, Conv2DOptions options)
    : Layer(std::string(NameOr(options.name, "conv2d_transpose")), options.use_resource,
            options.trainable),
      filters_(filters),
      size_(kernel_size),
      options_(std::move(options)) {}

// Returns the result's shape [batch, height, width, filters]. The batch size is read during the
// step.
Output Conv2DTranspose::OutputSize(Output x, At at) const {
  Graph& g = *x.graph();
  const Output batch = ElementAt(ShapeOf(x, {}, at), 0, "strided_slice", at);
  const int64_t dims[] = {
      Widened(x.shape().dim(1), size_.height, options_.strides.height, options_.padding),
      Widened(x.shape().dim(2), size_.width, options_.strides.width, options_.padding), filters_};
  NameScope scope(g, "stack");
  OutputList sizes = {batch};
  for (int i = 0; i < 3; ++i) {
    sizes.push_back(Constant(g, static_cast<int32_t>(dims[i]), StrCat(i + 1), at));
  }
  return Stack(sizes, 0, {.name = scope.prefix()}, at);
}

Output Conv2DTranspose::operator()(Output x, At at) {
  const std::optional<int64_t> channels = KnownDim(x, 4, -1, at);
  if (!channels || !KnownDim(x, 4, 1, at) || !KnownDim(x, 4, 2, at)) return Output();
  Graph& g = *x.graph();
  Call call(*this, g);
  MakeKernelAndBias(g, x.dtype(), {size_.height, size_.width, filters_, *channels}, filters_,
                    options_, at, &kernel_, &bias_);
  const Output size = OutputSize(x, at);
  Output y = WithRead("conv2d_transpose", kernel_, at, [&](Output value, std::string_view name) {
    return Conv2DBackpropInput(size, value, x, Nhwc(options_.strides), options_.padding,
                               {.name = name}, at);
  });
  if (options_.use_bias) y = BiasAddWith(y, bias_, at);
  return options_.activation(y);
}

Output MaxPooling2D(Output x, Size2D pool_size, Size2D strides, const PoolingOptions& options,
                    At at) {
  if (!x) return Output();
  NameScope scope(*x.graph(), options.name.empty() ? "max_pooling2d" : options.name);
  return MaxPool(x, Nhwc(pool_size), Nhwc(strides), options.padding, {}, at);
}

Output AveragePooling2D(Output x, Size2D pool_size, Size2D strides, const PoolingOptions& options,
                        At at) {
  if (!x) return Output();
  NameScope scope(*x.graph(), options.name.empty() ? "average_pooling2d" : options.name);
  return AvgPool(x, Nhwc(pool_size), Nhwc(strides), options.padding, {}, at);
}

}  // namespace sluice::layers

// Classifiers of images.
#include "demos/models/data.h"
#include "demos/models/model.h"
#include "graph/status.h"
#include "training/layers/conv.h"
#include "training/layers/dense.h"
#include "training/layers/losses.h"
#include "training/layers/normalization.h"

namespace sluice::demos {
namespace {

constexpr int kImageClasses = 10;

struct Inputs {
  Output images, labels;
  std::function<Batch(int64_t)> batch;
};

Inputs ImageInputs(Graph& g, int64_t batch) {
  const Output images = Placeholder(g, DT_FLOAT, {-1, 28, 28, 1}, "images");
  const Output labels = Placeholder(g, DT_INT32, {-1}, "labels");
  return {images, labels, [=](int64_t step) -> Batch {
            const ImageBatch made = Images(step, batch);
            return {{images, made.images}, {labels, made.labels}};
          }};
}

absl::StatusOr<Model> Trained(Graph& g, Output loss, Operation train, const Inputs& inputs) {
  if (!g.status().ok()) return g.status();
  return Model{{loss}, train, inputs.batch};
}

}  // namespace

absl::StatusOr<Model> SoftmaxRegression(Graph& g) {
  Seeds seeds;
  const Inputs in = ImageInputs(g, 32);
  const Output pixels = Reshape(in.images, {-1, 784});
  const Output logits =
      layers::Dense(kImageClasses, {.kernel_initializer = seeds.Glorot()})(pixels);
  const Output loss = losses::SparseSoftmaxCrossEntropy(in.labels, logits);
  Variable step = GlobalStep(g);
  const Operation train =
      GradientDescent({.learning_rate = 0.1f}).Minimize(loss, {.global_step = &step});
  return Trained(g, loss, train, in);
}

absl::StatusOr<Model> Mlp(Graph& g) {
  Seeds seeds;
  const Inputs in = ImageInputs(g, 16);
  Output net = layers::Flatten(in.images);
  for (const int64_t units : {48, 32}) {
    net = layers::Dense(units, {.activation = Relu,
                                .kernel_initializer = seeds.Glorot(),
                                .kernel_regularizer = layers::L2(0.001)})(net);
    net = layers::Dropout(net, 0.2f, {.seed = seeds.Next()});
  }
  const Output logits = layers::Dense(kImageClasses, {.kernel_initializer = seeds.Glorot()})(net);
  const Output cross = losses::SparseSoftmaxCrossEntropy(in.labels, logits);
  const Output loss = cross + losses::Regularization(g);
  return Trained(g, loss, Adam({.learning_rate = 0.002f}).Minimize(loss), in);
}

absl::StatusOr<Model> LeNet(Graph& g) {
  Seeds seeds;
  const Inputs in = ImageInputs(g, 8);
  Output net = layers::Conv2D(
      6, 5,
      {.padding = "SAME", .activation = Tanh, .kernel_initializer = seeds.Glorot()})(in.images);
  net = layers::AveragePooling2D(net, 2, 2);
  net = layers::Conv2D(16, 5, {.activation = Tanh, .kernel_initializer = seeds.Glorot()})(net);
  net = layers::Flatten(layers::MaxPooling2D(net, 2, 2));
  for (const int64_t units : {120, 84}) {
    net = layers::Dense(units, {.activation = Tanh, .kernel_initializer = seeds.Glorot()})(net);
  }
  const Output logits = layers::Dense(kImageClasses, {.kernel_initializer = seeds.Glorot()})(net);
  const Output loss = losses::SparseSoftmaxCrossEntropy(in.labels, logits);
  return Trained(g, loss, Momentum({.learning_rate = 0.01f, .momentum = 0.9f}).Minimize(loss), in);
}

// ResNet for small images (He et al. 2015), with a quarter of the channels. It uses double
// precision so that losses can be compared: a difference in the last digit of a float grows a
// million times in ten steps.
absl::StatusOr<Model> ResNet20(Graph& g) {
  Seeds seeds;
  const Inputs in = ImageInputs(g, 8);
  auto conv = [&](Output x, int64_t channels, int64_t size, int64_t stride) {
    return layers::Conv2D(channels, size,
                          {.strides = stride,
                           .padding = "SAME",
                           .use_bias = false,
                           .kernel_initializer = seeds.He(),
                           .kernel_regularizer = layers::L2(1e-4)})(x);
  };
  auto normal = [](Output x) {
    return layers::BatchNormalization({.training = true, .momentum = 0.9})(x);
  };
  Output net = Relu(normal(conv(Cast(in.images, DT_DOUBLE), 4, 3, 1)));
  for (const int64_t channels : {4, 8, 16}) {
    for (int block = 0; block < 3; ++block) {
      const int64_t stride = channels > 4 && block == 0 ? 2 : 1;
      const Output shortcut = stride == 1 ? net : conv(net, channels, 1, stride);
      const Output inner = Relu(normal(conv(net, channels, 3, stride)));
      net = Relu(normal(conv(inner, channels, 3, 1)) + shortcut);
    }
  }
  net = ReduceMean(net, {1, 2});
  const Output logits = layers::Dense(kImageClasses, {.kernel_initializer = seeds.Glorot()})(net);
  const Output cross = losses::SparseSoftmaxCrossEntropy(in.labels, logits);
  const Output loss = cross + losses::Regularization(g);
  Variable step = GlobalStep(g);
  const Output rate = PiecewiseConstant(step, {50, 80}, {0.02, 0.01, 0.005});
  ControlDependencies after(g, layers::UpdateOps(g));
  const Operation train =
      Momentum({.learning_rate = rate, .momentum = 0.9f}).Minimize(loss, {.global_step = &step});
  return Trained(g, loss, train, in);
}

// Inception blocks (Szegedy et al. 2014): joined branches with windows of different sizes.
absl::StatusOr<Model> Inception(Graph& g) {
  Seeds seeds;
  const Inputs in = ImageInputs(g, 8);
  auto conv = [&](Output x, int64_t channels, int64_t size) {
    const Output y =
        layers::Conv2D(channels, size,
                       {.padding = "SAME", .use_bias = false, .kernel_initializer = seeds.He()})(x);
    return Relu(layers::BatchNormalization({.training = true, .scale = false})(y));
  };
  Output net = layers::MaxPooling2D(conv(in.images, 8, 3), 3, 2, {.padding = "SAME"});
  for (int block = 0; block < 2; ++block) {
    NameScope scope(g, StrCat("mixed_", block));
    const Output pooled = layers::MaxPooling2D(net, 3, 1, {.padding = "SAME"});
    // Created one after the other, because each takes the next seeds.
    const Output one = conv(net, 4, 1);
    const Output three = conv(conv(net, 4, 1), 6, 3);
    const Output five = conv(conv(net, 2, 1), 4, 5);
    net = Concat({one, three, five, conv(pooled, 4, 1)}, 3);
  }
  net = ReduceMean(net, {1, 2});
  const Output logits = layers::Dense(kImageClasses, {.kernel_initializer = seeds.Glorot()})(net);
  const Output loss = losses::SparseSoftmaxCrossEntropy(in.labels, logits);
  ControlDependencies after(g, layers::UpdateOps(g));
  const Operation train = RMSProp({.learning_rate = 0.0001f, .momentum = 0.5f}).Minimize(loss);
  return Trained(g, loss, train, in);
}

}  // namespace sluice::demos

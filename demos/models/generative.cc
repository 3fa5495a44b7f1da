// Generative models of images.
#include <array>

#include "demos/data/random.h"
#include "demos/models/data.h"
#include "demos/models/model.h"
#include "graph/status.h"
#include "training/layers/conv.h"
#include "training/layers/dense.h"
#include "training/layers/losses.h"
#include "training/layers/normalization.h"

namespace sluice::demos {
namespace {

Output RowSums(Output x) { return ReduceSum(x, 1); }

}  // namespace

// A variational autoencoder (Kingma and Welling 2013). A code is 8 numbers, each with a normal
// distribution.
absl::StatusOr<Model> Vae(Graph& g) {
  constexpr int64_t kBatch = 16, kCode = 8;
  Seeds seeds;
  const Output images = Placeholder(g, DT_FLOAT, {kBatch, 28, 28, 1}, "images");
  const Output pixels = layers::Flatten(images);
  auto dense = [&](Output x, int64_t units, layers::Activation activation = {}) {
    return layers::Dense(
        units, {.activation = std::move(activation), .kernel_initializer = seeds.Glorot()})(x);
  };
  const Output encoded = dense(pixels, 64, Softplus);
  const Output mean = dense(encoded, kCode);
  const Output log_variance = dense(encoded, kCode);
  const Output noise = RandomNormal(g, {kBatch, kCode}, 0, 1, {.seed = seeds.Next()});
  const Output code = mean + Exp(0.5f * log_variance) * noise;
  const Output logits = dense(dense(code, 64, Softplus), 784);
  const Output likelihood = RowSums(losses::SigmoidCrossEntropyWithLogits(pixels, logits));
  const Output divergence = -0.5f * RowSums(1.0f + log_variance - Square(mean) - Exp(log_variance));
  const Output loss = ReduceMean(likelihood + divergence);
  const Operation train = Adam({.learning_rate = 0.001f}).Minimize(loss);
  const Output mean_divergence = ReduceMean(divergence);
  if (!g.status().ok()) return g.status();
  return Model{{loss, mean_divergence}, train, [=](int64_t step) -> Batch {
                 return {{images, Images(step, kBatch).images}};
               }};
}

namespace {

Output Generator(Graph& g, Output noise, Seeds& seeds) {
  NameScope scope(g, "generator");
  auto up = [&](Output x, int64_t channels, layers::Activation activation, bool use_bias) {
    return layers::Conv2DTranspose(channels, 5,
                                   {.strides = 2,
                                    .padding = "SAME",
                                    .activation = std::move(activation),
                                    .use_bias = use_bias,
                                    .kernel_initializer = seeds.Normal(0.05)})(x);
  };
  auto normal = [](Output x) { return Relu(layers::BatchNormalization({.training = true})(x)); };
  Output net = layers::Dense(7 * 7 * 8, {.kernel_initializer = seeds.Normal(0.05)})(noise);
  net = normal(Reshape(net, {-1, 7, 7, 8}));
  net = normal(up(net, 6, {}, false));
  return up(net, 1, Sigmoid, true);
}

// Layers that are called twice, so that real and generated images use the same variables.
class Discriminator {
 public:
  Discriminator(Graph& g, Seeds& seeds) : graph_(g) {
    int64_t channels = 6;
    for (std::optional<layers::Conv2D>& conv : convs_) {
      conv.emplace(channels, 5,
                   layers::Conv2DOptions{.strides = 2,
                                         .padding = "SAME",
                                         .activation = [](Output x) { return LeakyRelu(x); },
                                         .kernel_initializer = seeds.Normal(0.05)});
      channels += 2;
    }
    logit_.emplace(1, layers::DenseOptions{.kernel_initializer = seeds.Glorot(), .name = "logit"});
  }

  Output operator()(Output images) {
    NameScope scope(graph_, "discriminator");
    Output net = images;
    for (std::optional<layers::Conv2D>& conv : convs_) net = (*conv)(net);
    return (*logit_)(layers::Flatten(net));
  }

 private:
  Graph& graph_;
  std::array<std::optional<layers::Conv2D>, 2> convs_;
  std::optional<layers::Dense> logit_;
};

// The variables of a part of the model.
std::vector<Variable> VariablesUnder(const Graph& g, std::string_view prefix) {
  std::vector<Variable> found;
  for (const Variable& v : TrainableVariables(g)) {
    if (std::string_view(v.name()).starts_with(prefix)) found.push_back(v);
  }
  return found;
}

}  // namespace

// DCGAN (Radford et al. 2015) with few channels. Both optimizers compute gradients at the same
// parameters.
absl::StatusOr<Model> DcGan(Graph& g) {
  constexpr int64_t kBatch = 8, kNoise = 16;
  Seeds seeds;
  const Output images = Placeholder(g, DT_FLOAT, {kBatch, 28, 28, 1}, "images");
  const Output noise = Placeholder(g, DT_FLOAT, {kBatch, kNoise}, "noise");
  const Output made = Generator(g, noise, seeds);
  Discriminator discriminator(g, seeds);
  const Output real = discriminator(images), fake = discriminator(made);
  auto cross = [](Output labels, Output logits) {
    return ReduceMean(losses::SigmoidCrossEntropyWithLogits(labels, logits));
  };
  const Output d_loss = cross(OnesLike(real), real) + cross(ZerosLike(fake), fake);
  const Output g_loss = cross(OnesLike(fake), fake);
  Adam d_adam({.learning_rate = 0.0003f, .beta1 = 0.5f, .name = "AdamD"});
  Adam g_adam({.learning_rate = 0.0003f, .beta1 = 0.5f, .name = "AdamG"});
  SLUICE_ASSIGN_OR_RETURN(
      const GradientsAndVariables d_pairs,
      d_adam.ComputeGradients(d_loss, {.var_list = VariablesUnder(g, "discriminator/")}));
  SLUICE_ASSIGN_OR_RETURN(
      const GradientsAndVariables g_pairs,
      g_adam.ComputeGradients(g_loss, {.var_list = VariablesUnder(g, "generator/")}));
  std::vector<Operation> before = layers::UpdateOps(g);
  for (const GradientAndVariable& pair : d_pairs) before.push_back(pair.grad.dense());
  for (const GradientAndVariable& pair : g_pairs) before.push_back(pair.grad.dense());
  ControlDependencies after(g, before);
  SLUICE_ASSIGN_OR_RETURN(const Operation d_train, d_adam.ApplyGradients(d_pairs));
  SLUICE_ASSIGN_OR_RETURN(const Operation g_train, g_adam.ApplyGradients(g_pairs));
  const Operation train = Group(g, {d_train, g_train}, "train");
  if (!g.status().ok()) return g.status();
  return Model{{d_loss, g_loss}, train, [=](int64_t step) -> Batch {
                 Random random(5000000 + step);
                 Tensor numbers(DT_FLOAT, {kBatch, kNoise});
                 for (float& n : numbers.flat<float>()) {
                   n = static_cast<float>(2 * random.Uniform() - 1);
                 }
                 return {{images, Images(step, kBatch).images}, {noise, numbers}};
               }};
}

}  // namespace sluice::demos

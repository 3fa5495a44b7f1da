// The code in docs/models.md.

#include <memory>

#include "executor/session/session.h"
#include "gtest/gtest.h"
#include "ops/nn/builders.h"
#include "ops/sugar.h"
#include "training/layers/dense.h"
#include "training/layers/losses.h"
#include "training/layers/normalization.h"
#include "training/layers/rnn.h"
#include "training/optimizer/adam.h"

namespace sluice {
namespace {

absl::Status RunOnce(Graph& g, Operation train) {
  const Operation init = InitializeVariables(g);
  Session session(g);
  if (absl::Status status = session.Run({init}); !status.ok()) return status;
  return session.Run({train});
}

TEST(ModelsSamples, Layers) {
  Graph g;
  Output pixels = Ones(g, {4, 784});
  Output labels = Constant(g, {1, 0, 2, 9});
  // [layers]
  Output net =
      layers::Dense(64, {.activation = Relu, .kernel_regularizer = layers::L2(1e-4)})(pixels);
  net = layers::BatchNormalization({.training = true})(net);
  net = layers::Dropout(net, 0.2f);
  Output logits = layers::Dense(10, {.name = "logits"})(net);
  losses::SparseSoftmaxCrossEntropy(labels, logits);
  Output loss = losses::Total(g);  // and what the regularizers add
  Operation train;
  {
    ControlDependencies after(g, layers::UpdateOps(g));
    train = Adam().Minimize(loss);
  }
  // [/layers]
  EXPECT_TRUE(RunOnce(g, train).ok());
  EXPECT_TRUE(Variable::Find(g, "logits/kernel").ok());
}

TEST(ModelsSamples, Shared) {
  Graph g;
  Output a = Ones(g, {2, 3}), b = Zeros(g, {2, 3});
  // [shared]
  layers::Dense embed(8, {.name = "embed"});
  Output difference = embed(a) - embed(b);
  // [/shared]
  EXPECT_TRUE(difference);
  EXPECT_EQ(GlobalVariables(g).size(), 2u);
}

TEST(ModelsSamples, Recurrent) {
  Graph g;
  Output x = Ones(g, {2, 5, 3}), lengths = Constant(g, {5, 2});
  // [recurrent]
  auto lstm = std::make_shared<layers::LstmCell>(32);
  auto gru = std::make_shared<layers::GruCell>(16);
  layers::MultiRnnCell cells({lstm, gru});
  layers::DynamicRnnResult rnn = layers::DynamicRnn(cells, x, {.sequence_length = lengths});
  // [/recurrent]
  EXPECT_TRUE(RunOnce(g, rnn.outputs).ok());
  EXPECT_EQ(rnn.state.size(), 3u);
}

}  // namespace
}  // namespace sluice

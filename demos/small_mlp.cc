// Trains a network of two layers on Fashion-MNIST, as a program that links only the ops that it
// needs (see its target): small_mlp [FOLDER]
//
//   tools/package small      # the same as one file that needs only glibc
#include <algorithm>
#include <cstdio>
#include <vector>

#include "demos/data/idx.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/array/reshape_builders.h"
#include "ops/array/sources_builders.h"
#include "ops/matmul/matmul_builders.h"
#include "ops/nn/activation_builders.h"
#include "ops/nn/bias_builders.h"
#include "ops/nn/softmax_builders.h"
#include "ops/state/variable.h"
#include "ops/sugar.h"
#include "training/optimizer/gradient_descent.h"

namespace sluice::demos {
namespace {

constexpr int64_t kBatch = 64, kClasses = 10, kHidden = 128, kPixels = 28 * 28, kSteps = 3000;

Output Dense(Output x, int64_t inputs, int64_t units, const std::string& name, int64_t seed) {
  Graph& g = *x.graph();
  const Variable w(g, name + "/w", {inputs, units}, GlorotUniform(seed));
  const Variable b(g, name + "/b", {units}, Zeros());
  return BiasAdd(MatMul(x, w), b);
}

// The part of rows whose largest logit is that of the label.
double Accuracy(const Tensor& logits, const Tensor& labels) {
  int64_t right = 0;
  for (int64_t i = 0; i < labels.num_elements(); ++i) {
    const float* row = logits.data<float>() + i * kClasses;
    right += std::max_element(row, row + kClasses) - row == labels.data<int32_t>()[i];
  }
  return static_cast<double>(right) / static_cast<double>(labels.num_elements());
}

absl::Status Train(const std::string& folder) {
  SLUICE_ASSIGN_OR_RETURN(const TrainAndTest data, LoadFashionMnist(folder));
  Graph g;
  const Output images = Placeholder(g, DT_FLOAT, {-1, 28, 28, 1}, "images");
  const Output labels = Placeholder(g, DT_INT32, {-1}, "labels");
  const Output x = Reshape(images, {-1, kPixels});
  const Output hidden = Relu(Dense(x, kPixels, kHidden, "hidden", 1));
  const Output logits = Dense(hidden, kHidden, kClasses, "logits", 2);
  const Output loss = ReduceMean(SparseSoftmaxCrossEntropyWithLogits(logits, labels).loss);
  const Operation train = GradientDescent({.learning_rate = 0.1f}).Minimize(loss);
  const Operation init = InitializeVariables(g);

  Session session(g);
  SLUICE_RETURN_IF_ERROR(session.Run({init}));
  std::vector<int64_t> rows(kBatch);
  for (int64_t step = 1; step <= kSteps; ++step) {
    for (int64_t& row : rows)
      row = (&row - rows.data() + step * kBatch) % data.train.labels.num_elements();
    const Dataset batch = Gather(data.train, rows);
    SLUICE_ASSIGN_OR_RETURN(
        const Tensors out,
        session.Run({{images, batch.images}, {labels, batch.labels}}, {loss}, {train}));
    if (step % 500 == 0)
      std::printf("step %d  loss %.3f\n", static_cast<int>(step), out[0].scalar<float>());
  }
  SLUICE_ASSIGN_OR_RETURN(const Tensors out, session.Run({{images, data.test.images}}, {logits}));
  std::printf("accuracy on the test images %.1f %%\n", 100 * Accuracy(out[0], data.test.labels));
  return absl::OkStatus();
}

}  // namespace
}  // namespace sluice::demos

int main(int argc, char** argv) {
  const char* folder = argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist";
  const absl::Status status = sluice::demos::Train(folder);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

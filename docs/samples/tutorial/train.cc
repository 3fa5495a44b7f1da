// Trains a network on Fashion-MNIST and draws its curves:
//
//   bazel run //docs/samples/tutorial:train -- FOLDER STEPS
#include <cstdio>
#include <cstdlib>

#include "demos/report/plot.h"
#include "docs/samples/tutorial/model.h"
#include "sluice.h"

namespace tutorial {
namespace {

absl::Status Train(const std::string& folder, int64_t steps) {
  // [graph]
  Graph g;
  SLUICE_ASSIGN_OR_RETURN(const Batch train, Read(g, "train", 64));
  SLUICE_ASSIGN_OR_RETURN(const Batch test, Read(g, "t10k", 1000));
  Mlp mlp;
  Output loss = losses::SparseSoftmaxCrossEntropy(train.labels, mlp(train.images));
  Output guesses = ArgMax(mlp(test.images), 1);
  Output accuracy = ReduceMean(Cast(Equal(guesses, test.labels), DT_FLOAT));
  Variable step = GlobalStep(g);
  Operation minimize = Adam({.learning_rate = 0.001f}).Minimize(loss, {.global_step = &step});
  OutputList point = {step, loss, accuracy};
  // [/graph]
  // [summaries]
  summary::Scalar("loss", loss);
  summary::Scalar("accuracy", accuracy);
  for (const Variable& v : TrainableVariables(g)) summary::Histogram(v.name(), v);
  // [/summaries]
  // [loop]
  MonitoredTrainingSession session(
      g, {.checkpoint_dir = folder,
          .hooks = {StopAtStep(steps), StopOnNan(loss), Progress({{"loss", loss}}, steps)},
          .save_checkpoint_steps = 200,
          .save_summaries_steps = 50});
  demos::Panel losses{.y_label = "loss", .curve = "training loss"};
  demos::Panel accuracies{.y_label = "accuracy", .curve = "test accuracy"};
  for (int i = 0; !session.ShouldStop(); ++i) {
    SLUICE_RETURN_IF_ERROR(session.Run({minimize}));
    if (i % 25 != 0) continue;
    SLUICE_ASSIGN_OR_RETURN(const Tensors now, session.session()->Run({}, point, {}));
    const auto x = static_cast<double>(now[0].scalar<int64_t>());
    losses.x.push_back(x), losses.y.push_back(now[1].scalar<float>());
    accuracies.x.push_back(x), accuracies.y.push_back(now[2].scalar<float>());
  }
  SLUICE_RETURN_IF_ERROR(session.Close());
  // [/loop]
  // [curves]
  return demos::Draw(folder + "/curves",
                     demos::CurvesPlot("Fashion-MNIST", "step", {losses, accuracies}));
  // [/curves]
}

}  // namespace
}  // namespace tutorial

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: train FOLDER STEPS\n"), 2;
  const absl::Status status = tutorial::Train(argv[1], std::atoll(argv[2]));
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

// Fits a plane to points: the example of the README.
//
//   bazel run //demos:linear_regression
#include <cstdio>

#include "sluice.h"
using namespace sluice;

int main() {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {-1, 3}, "x");
  Output y = Placeholder(g, DT_FLOAT, {-1, 1}, "y");
  Variable w(g, "w", {3, 1}, GlorotUniform());
  Variable b(g, "b", {1}, Zeros());
  Output loss = ReduceMean(Square(MatMul(x, w) + b - y));
  Operation train = Adam({.learning_rate = 0.1f}).Minimize(loss);
  Operation init = InitializeVariables(g);
  OutputList results = {loss, w, b};

  Tensor xs(DT_FLOAT, {64, 3}), ys(DT_FLOAT, {64, 1});  // y = x0 - 2 x1 + 3 x2 + 4
  for (int i = 0; i < 64; ++i) {
    float* row = &xs.data<float>()[3 * i];
    for (int j = 0; j < 3; ++j) row[j] = static_cast<float>((i >> (2 * j)) % 4) - 1.5f;
    ys.data<float>()[i] = row[0] - 2 * row[1] + 3 * row[2] + 4;
  }
  Session session(g);  // the graph's first error, if any, comes back from Run
  absl::Status status = session.Run({init});
  for (int step = 0; step < 400 && status.ok(); ++step) {
    absl::StatusOr<Tensors> out = session.Run({{x, xs}, {y, ys}}, results, {train});
    if (!(status = out.status()).ok()) break;
    if (step % 100 == 99) {
      std::printf("loss %.6f  w = [%s]  b = %s\n", (*out)[0].scalar<float>(),
                  (*out)[1].SummarizeValues(3).c_str(), (*out)[2].SummarizeValues(1).c_str());
    }
  }
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

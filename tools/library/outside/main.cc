// A program that knows Sluice by its installed headers only: trains, saves, restores, prints.
#include <cstdio>

#include "sluice.h"
using namespace sluice;

absl::StatusOr<Tensor> TrainedAndRestored(const char* path) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {-1, 2}, "x");
  Output y = Placeholder(g, DT_FLOAT, {-1, 1}, "y");
  Variable w(g, "w", {2, 1}, Zeros());
  Operation train = Adam({.learning_rate = 0.1f}).Minimize(ReduceMean(Square(MatMul(x, w) - y)));
  Operation init = InitializeVariables(g);
  Saver saver(g);
  Tensor xs(DT_FLOAT, {4, 2}), ys(DT_FLOAT, {4, 1});  // y = 2 x0 - 3 x1
  for (int i = 0; i < 4; ++i) {
    const float a = static_cast<float>(i % 2), b = static_cast<float>(i / 2);
    xs.data<float>()[2 * i] = a;
    xs.data<float>()[2 * i + 1] = b;
    ys.data<float>()[i] = 2 * a - 3 * b;
  }
  Session session(g);
  SLUICE_RETURN_IF_ERROR(session.Run({init}));
  for (int step = 0; step < 500; ++step) {
    SLUICE_RETURN_IF_ERROR(session.Run({{x, xs}, {y, ys}}, {}, {train}).status());
  }
  SLUICE_ASSIGN_OR_RETURN(const std::string saved, saver.Save(session, path));
  Session restored(g);
  SLUICE_RETURN_IF_ERROR(saver.Restore(restored, saved));
  SLUICE_ASSIGN_OR_RETURN(const Tensors values, restored.Run({}, {w}));
  return values[0];
}

int main(int argc, char** argv) {
  absl::StatusOr<Tensor> w = TrainedAndRestored(argc > 1 ? argv[1] : "checkpoint");
  if (!w.ok()) std::printf("%s\n", w.status().ToString().c_str());
  if (!w.ok()) return 1;
  std::printf("w = [%.0f %.0f]\n", w->data<float>()[0], w->data<float>()[1]);
  return 0;
}

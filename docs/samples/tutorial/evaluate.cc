// Prints the accuracy of the latest checkpoint of a folder on all 10,000 test images:
//
//   bazel run //docs/samples/tutorial:evaluate -- FOLDER
#include <cstdio>

#include "docs/samples/tutorial/model.h"
#include "sluice.h"

namespace tutorial {
namespace {

absl::Status Evaluate(const std::string& folder) {
  // [restore]
  Graph g;
  SLUICE_ASSIGN_OR_RETURN(const Batch test, Read(g, "t10k", 1000, 1));
  Mlp mlp;
  Metric accuracy = metrics::Accuracy(test.labels, ArgMax(mlp(test.images), 1));
  Saver saver(g);
  Operation init = InitializeLocalVariables(g);  // the counts of the metric and of the epochs

  Session session(g);
  SLUICE_ASSIGN_OR_RETURN(const std::string checkpoint, LatestCheckpoint(folder));
  SLUICE_RETURN_IF_ERROR(saver.Restore(session, checkpoint));
  SLUICE_RETURN_IF_ERROR(session.Run({init}));
  // [/restore]
  // [evaluate]
  Coordinator coordinator;
  SLUICE_RETURN_IF_ERROR(StartQueueRunners(session, coordinator));
  absl::Status status;
  while (status.ok()) status = session.Run({accuracy.update});
  if (!absl::IsOutOfRange(status)) return status;  // OUT_OF_RANGE is the end of the input
  SLUICE_ASSIGN_OR_RETURN(const Tensors result, session.Run({}, {accuracy.value}, {}));
  std::printf("%s: test accuracy %.3f\n", checkpoint.c_str(), result[0].scalar<float>());
  coordinator.RequestStop();
  return coordinator.Join();
  // [/evaluate]
}

}  // namespace
}  // namespace tutorial

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: evaluate FOLDER\n"), 2;
  const absl::Status status = tutorial::Evaluate(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

// Lists training graphs that are built in C++. A test compares their results with those of the
// graphs that TensorFlow's Python code builds.
#ifndef SLUICE_TESTS_ORACLE_TRAINING_EXAMPLES_H_
#define SLUICE_TESTS_ORACLE_TRAINING_EXAMPLES_H_

#include <functional>
#include <string>
#include <vector>

#include "sluice.h"

namespace sluice {

// The runs of a graph: `init` once, and then in each of `steps` rounds first `targets`, then
// `after`, then `fetches`.
struct Spec {
  std::vector<Operation> init, targets, after;
  OutputList fetches;
  int steps = 20;
  // Lines about the graph, such as "slot m w w/Adam", that TensorFlow's side also computes.
  std::vector<std::string> facts;

  // Initializes and fetches all global variables. The example sets the rest.
  void WatchVariables(Graph& g) {
    init.push_back(InitializeVariables(g));
    for (const Variable& v : GlobalVariables(g)) fetches.push_back(v.snapshot());
  }
};

struct Example {
  std::string name;
  std::function<void(Graph&, Spec&)> build;
};

// One list per subject, each in its own file.
std::vector<Example> AverageExamples();
std::vector<Example> LayerExamples();
std::vector<Example> MetricExamples();
std::vector<Example> OptimizerExamples();
std::vector<Example> ScheduleExamples();

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_TRAINING_EXAMPLES_H_

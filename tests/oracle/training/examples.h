// Training graphs built in C++, which are compared with those built by TensorFlow's Python code.
#ifndef SLUICE_TESTS_ORACLE_TRAINING_EXAMPLES_H_
#define SLUICE_TESTS_ORACLE_TRAINING_EXAMPLES_H_

#include <functional>
#include <string>
#include <vector>

#include "sluice.h"

namespace sluice {

// The steps of a graph: `init` once, then in each step `targets`, `after` and `fetches`, one after
// the other.
struct Spec {
  std::vector<Operation> init, targets, after;
  OutputList fetches;
  int steps = 20;
  // Lines about the graph that TensorFlow's side can compute, too: "slot m w w/Adam".
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

// Training graphs that C++ builds, for a comparison with those that TensorFlow's Python builds.
#ifndef SLUICE_TESTS_ORACLE_TRAINING_EXAMPLES_H_
#define SLUICE_TESTS_ORACLE_TRAINING_EXAMPLES_H_

#include <functional>
#include <string>
#include <vector>

#include "sluice.h"

namespace sluice {

// What to do with a graph: `init` once, then in each step `targets`, `after`, and `fetches`, each
// when the one before is done.
struct Spec {
  std::vector<Operation> init, targets, after;
  OutputList fetches;
  int steps = 20;
  // Lines about the graph that TensorFlow's side knows too: "slot m w w/Adam".
  std::vector<std::string> facts;

  // Initialises and fetches all global variables; the rest is up to the example.
  void WatchVariables(Graph& g) {
    init.push_back(InitializeVariables(g));
    for (const Variable& v : GlobalVariables(g)) fetches.push_back(v.snapshot());
  }
};

struct Example {
  std::string name;
  std::function<void(Graph&, Spec&)> build;
};

// One list a subject, each in its file.
std::vector<Example> AverageExamples();
std::vector<Example> LayerExamples();
std::vector<Example> MetricExamples();
std::vector<Example> OptimizerExamples();
std::vector<Example> ScheduleExamples();

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_TRAINING_EXAMPLES_H_

// Lets other actors of a Simulation run between the ops of a step, not only while a step is
// blocked.
#ifndef SLUICE_TESTS_SIMULATE_YIELDS_H_
#define SLUICE_TESTS_SIMULATE_YIELDS_H_

#include "graph/ir/graph.h"

namespace sluice {

// Inserts a Simulation::Pause before each op whose effect other steps can see.
void InsertYields(Graph& graph);

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_YIELDS_H_

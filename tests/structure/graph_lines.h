// Writes graphs as text, and compares them with fixtures: the same text for graphs that
// TensorFlow's Python functions build (fixtures.txt, written by make_fixtures.py).
#ifndef SLUICE_TESTS_STRUCTURE_GRAPH_LINES_H_
#define SLUICE_TESTS_STRUCTURE_GRAPH_LINES_H_

#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"
#include "gtest/gtest.h"

namespace sluice {

// One line per node, sorted: `name Op(inputs, ^controls) @device class=… value=… shared_name=…
// capacity=… seeds=…`. A part that the node lacks is omitted.
std::vector<std::string> GraphLines(const Graph& graph);
// The lines of the fixture `title`; empty if there is none.
std::vector<std::string> FixtureLines(std::string_view title);
// Whether the lines of the graph equal the fixture. A failure shows the graph's error, or the lines
// that are only in the fixture (-) or only in the graph (+).
testing::AssertionResult EqualsFixture(const Graph& graph, std::string_view title);

}  // namespace sluice

#endif  // SLUICE_TESTS_STRUCTURE_GRAPH_LINES_H_

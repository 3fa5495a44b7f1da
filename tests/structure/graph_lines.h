// Graphs as text, to be held against those that TensorFlow's Python functions made (fixtures.txt,
// written by make_fixtures.py).
#ifndef SLUICE_TESTS_STRUCTURE_GRAPH_LINES_H_
#define SLUICE_TESTS_STRUCTURE_GRAPH_LINES_H_

#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"
#include "gtest/gtest.h"

namespace sluice {

// A line a node, sorted: `name Op(inputs, ^controls) @device class=… value=… seeds=…`.
std::vector<std::string> GraphLines(const Graph& graph);
// The lines of the fixture `title`; empty when there is none.
std::vector<std::string> FixtureLines(std::string_view title);
// Else says the graph's error, or the lines of only the fixture (-) or only the graph (+).
testing::AssertionResult EqualsFixture(const Graph& graph, std::string_view title);

}  // namespace sluice

#endif  // SLUICE_TESTS_STRUCTURE_GRAPH_LINES_H_

// Finds the frame in which each node runs: that of the innermost loop around the node, or the root.
#ifndef SLUICE_GRAPH_IR_FRAMES_H_
#define SLUICE_GRAPH_IR_FRAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace sluice {

struct Frames {
  struct Frame {
    std::string name;  // "" for the root
    int parent = -1;   // index of the frame from which it is entered; -1 for the root
    int parallel_iterations = 1;
  };
  std::vector<Frame> frames;  // the root first, every other one after its parent
  // By node id: the frame in which the node runs, and the frame in which its outputs are read. An
  // Enter runs in the parent, an Exit in the child.
  std::vector<int> of_node;
  std::vector<int> of_outputs;
};

// `order` is the TopologicalOrder of the graph. INVALID_ARGUMENT "{{node <n>}} has inputs from
// different frames. ..." if frames do not fit together, and for an Exit or a back edge
// (NextIteration -> Merge) outside of loops.
absl::StatusOr<Frames> AssignFrames(const Graph& graph, const std::vector<Node*>& order);

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_FRAMES_H_

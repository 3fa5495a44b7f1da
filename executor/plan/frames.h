// Which frame each node runs in: the root, or the loop that the Enters above it lead into.
#ifndef SLUICE_EXECUTOR_PLAN_FRAMES_H_
#define SLUICE_EXECUTOR_PLAN_FRAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/plan/op_kind.h"
#include "graph/ir/graph.h"

namespace sluice {

struct Frames {
  struct Frame {
    std::string name;  // "" for the root
    int parent = -1;   // index of the frame that it is entered from
    int parallel_iterations = 1;
  };
  std::vector<Frame> frames;  // the root first, every other one after its parent
  // By node id. The frame that the node runs in: an Enter runs in the parent, an Exit in the child;
  // and the one that sees its outputs.
  std::vector<int> of_node;
  std::vector<int> of_outputs;
};

// INVALID_ARGUMENT "{{node <n>}} has inputs from different frames. …" and for Exits outside loops.
// `order` is topological, without the loops' back edges; `kinds` is by node id.
absl::StatusOr<Frames> AssignFrames(const Graph& graph, const std::vector<Node*>& order,
                                    const std::vector<OpKind>& kinds);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_FRAMES_H_

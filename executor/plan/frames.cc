#include "executor/plan/frames.h"

#include <algorithm>
#include <map>
#include <utility>

#include "graph/status.h"

namespace sluice {
namespace {

class FrameAssigner {
 public:
  FrameAssigner(const Graph& graph, const std::vector<OpKind>& kinds) : kinds_(kinds) {
    frames_.frames.push_back({});
    frames_.of_node.assign(graph.num_node_ids(), 0);
    frames_.of_outputs.assign(graph.num_node_ids(), 0);
  }

  absl::Status Visit(const Node& node) {
    const Node* first = nullptr;
    for (const Output& in : node.inputs()) {
      if (in && !IsBackEdge(node, *in.node)) SLUICE_RETURN_IF_ERROR(Meet(node, *in.node, &first));
    }
    for (const Node* control : node.control_inputs()) {
      SLUICE_RETURN_IF_ERROR(Meet(node, *control, &first));
    }
    const int frame = first == nullptr ? 0 : frames_.of_outputs[first->id()];
    frames_.of_node[node.id()] = frame;
    frames_.of_outputs[node.id()] = frame;
    if (kinds_[node.id()] == OpKind::kEnter) {
      frames_.of_outputs[node.id()] = ChildOf(node, frame);
    } else if (kinds_[node.id()] == OpKind::kExit) {
      if (frame == 0) {
        return InvalidArgument("{{node ", node.name(), "}} is an Exit outside of any frame");
      }
      frames_.of_outputs[node.id()] = frames_.frames[frame].parent;
    }
    return absl::OkStatus();
  }

  absl::Status CheckBackEdges(const Node& node) const {
    for (const Output& in : node.inputs()) {
      if (!in || !IsBackEdge(node, *in.node)) continue;
      if (frames_.of_node[node.id()] == 0) {
        return InvalidArgument("{{node ", node.name(), "}} begins a loop outside of any frame");
      }
      if (frames_.of_node[in.node->id()] == frames_.of_node[node.id()]) continue;
      return Mismatch(node, *in.node, node);
    }
    return absl::OkStatus();
  }

  Frames Take() { return std::move(frames_); }

 private:
  bool IsBackEdge(const Node& to, const Node& from) const {
    return kinds_[to.id()] == OpKind::kMerge && kinds_[from.id()] == OpKind::kNextIteration;
  }

  absl::Status Meet(const Node& node, const Node& in, const Node** first) const {
    if (*first == nullptr) *first = &in;
    if (frames_.of_outputs[(*first)->id()] == frames_.of_outputs[in.id()]) return absl::OkStatus();
    return Mismatch(node, **first, in);
  }

  absl::Status Mismatch(const Node& node, const Node& a, const Node& b) const {
    const auto frame = [&](const Node& n) {
      return frames_.frames[frames_.of_outputs[n.id()]].name;
    };
    return InvalidArgument("{{node ", node.name(),
                           "}} has inputs from different frames. The input {{node ", a.name(),
                           "}} is in frame '", frame(a), "'. The input {{node ", b.name(),
                           "}} is in frame '", frame(b), "'.");
  }

  int ChildOf(const Node& enter, int parent) {
    const std::pair<int, std::string> key(parent, FrameNameOf(enter));
    const auto [it, is_new] = by_name_.emplace(key, static_cast<int>(frames_.frames.size()));
    if (is_new) frames_.frames.push_back({key.second, parent, 1});
    Frames::Frame& frame = frames_.frames[it->second];
    frame.parallel_iterations = std::max(frame.parallel_iterations, ParallelIterationsOf(enter));
    return it->second;
  }

  const std::vector<OpKind>& kinds_;
  Frames frames_;
  std::map<std::pair<int, std::string>, int> by_name_;
};

}  // namespace

absl::StatusOr<Frames> AssignFrames(const Graph& graph, const std::vector<Node*>& order,
                                    const std::vector<OpKind>& kinds) {
  FrameAssigner assigner(graph, kinds);
  for (const Node* node : order) SLUICE_RETURN_IF_ERROR(assigner.Visit(*node));
  for (const Node* node : order) SLUICE_RETURN_IF_ERROR(assigner.CheckBackEdges(*node));
  return assigner.Take();
}

}  // namespace sluice

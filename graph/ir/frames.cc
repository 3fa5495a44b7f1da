#include "graph/ir/frames.h"

#include <algorithm>
#include <map>
#include <utility>

#include "graph/ir/control_flow.h"
#include "graph/status.h"

namespace sluice {
namespace {

class FrameAssigner {
 public:
  explicit FrameAssigner(const Graph& graph) {
    frames_.frames.push_back({});
    frames_.of_node.assign(graph.num_node_ids(), 0);
    frames_.of_outputs.assign(graph.num_node_ids(), 0);
  }

  absl::Status Visit(const Node& node) {
    const Node* first = nullptr;
    for (const Output& in : node.inputs()) {
      if (in && !IsBackEdge(*in.node, node)) SLUICE_RETURN_IF_ERROR(Meet(node, *in.node, &first));
    }
    for (const Node* control : node.control_inputs()) {
      SLUICE_RETURN_IF_ERROR(Meet(node, *control, &first));
    }
    const int frame = first == nullptr ? 0 : frames_.of_outputs[first->id()];
    frames_.of_node[node.id()] = frame;
    frames_.of_outputs[node.id()] = frame;
    if (IsEnter(node)) {
      frames_.of_outputs[node.id()] = ChildOf(node, frame);
    } else if (IsExit(node)) {
      SLUICE_INVALID_IF(frame == 0, "{{node ", node.name(), "}} is an Exit outside of any frame");
      frames_.of_outputs[node.id()] = frames_.frames[frame].parent;
    }
    return absl::OkStatus();
  }

  absl::Status CheckBackEdges(const Node& node) const {
    for (const Output& in : node.inputs()) {
      if (!in || !IsBackEdge(*in.node, node)) continue;
      SLUICE_INVALID_IF(frames_.of_node[node.id()] == 0, "{{node ", node.name(),
                        "}} begins a loop outside of any frame");
      if (frames_.of_node[in.node->id()] == frames_.of_node[node.id()]) continue;
      return Mismatch(node, *in.node, node);
    }
    return absl::OkStatus();
  }

  Frames Take() { return std::move(frames_); }

 private:
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
    const std::pair<int, std::string> key(parent, enter.AttrOr<std::string>("frame_name", ""));
    const auto [it, is_new] = by_name_.emplace(key, static_cast<int>(frames_.frames.size()));
    if (is_new) frames_.frames.push_back({key.second, parent, 1});
    Frames::Frame& frame = frames_.frames[it->second];
    const int64_t iterations =
        std::clamp<int64_t>(enter.AttrOr<int64_t>("parallel_iterations", 10), 1, 1 << 20);
    frame.parallel_iterations = std::max(frame.parallel_iterations, static_cast<int>(iterations));
    return it->second;
  }

  Frames frames_;
  std::map<std::pair<int, std::string>, int> by_name_;
};

}  // namespace

absl::StatusOr<Frames> AssignFrames(const Graph& graph, const std::vector<Node*>& order) {
  FrameAssigner assigner(graph);
  for (const Node* node : order) SLUICE_RETURN_IF_ERROR(assigner.Visit(*node));
  for (const Node* node : order) SLUICE_RETURN_IF_ERROR(assigner.CheckBackEdges(*node));
  return assigner.Take();
}

}  // namespace sluice

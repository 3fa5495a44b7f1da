#include "distributed/master/cost_graph.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "graph/format/tensor_proto.h"

namespace sluice {
namespace {

struct NodeCost {
  int64_t micros = 0;
  const NodeExecStats* last = nullptr;
};
using Costs = std::unordered_map<std::string_view, NodeCost>;

// Returns the costs by node. For a node of a loop, they are the time of all its iterations, and the
// outputs of the last one.
Costs CostsOf(const StepStats& stats) {
  Costs costs;
  for (const DeviceStepStats& device : stats.dev_stats) {
    for (const NodeExecStats& node : device.node_stats) {
      NodeCost& cost = costs[node.node_name];
      const int64_t nanos = node.op_end_rel_nanos - node.op_start_rel_nanos;
      cost.micros += std::max<int64_t>(1, nanos / 1000);
      cost.last = &node;
    }
  }
  return costs;
}

void AddOutputs(const Node& node, const NodeExecStats* stats, pb::CostGraphDef::Node* to) {
  constexpr int kNoAlias = -1;
  for (int i = 0; i < node.num_outputs(); ++i) {
    auto* output = to->add_output_info();
    output->set_alias_input_port(kNoAlias);
    output->set_dtype(static_cast<pb::DataType>(node.output_type(i)));
    ShapeToProto(Output(const_cast<Node*>(&node), i).shape(), output->mutable_shape());
    if (stats == nullptr) continue;
    for (const NodeOutputStats& measured : stats->output) {
      if (measured.slot != i) continue;
      output->set_size(measured.bytes);
      ShapeToProto(PartialShape(measured.shape), output->mutable_shape());
    }
  }
}

}  // namespace

void AddCosts(const Graph& graph, const StepStats& stats, pb::CostGraphDef* proto) {
  const Costs costs = CostsOf(stats);
  const int source = proto->node_size(), sink = source + 1;
  for (const auto& [id, name] : {std::pair(source, "_SOURCE"), std::pair(sink, "_SINK")}) {
    auto* node = proto->add_node();
    node->set_name(name);
    node->set_id(id);
  }
  std::unordered_map<const Node*, int> ids;
  for (const Node* node : graph.nodes()) {
    ids.emplace(node, sink + 1 + static_cast<int>(ids.size()));
  }
  std::unordered_map<const Node*, bool> has_readers;
  for (const Node* node : graph.nodes()) {
    auto* to = proto->add_node();
    to->set_name(node->name());
    to->set_device(node->assigned_device());
    to->set_id(ids[node]);
    for (int i = 0; i < node->num_inputs(); ++i) {
      auto* input = to->add_input_info();
      input->set_preceding_node(ids[node->input(i).node]);
      input->set_preceding_port(node->input(i).index);
      has_readers[node->input(i).node] = true;
    }
    for (const Node* before : node->control_inputs()) {
      to->add_control_input(ids[before]);
      has_readers[before] = true;
    }
    if (node->num_inputs() == 0) to->add_control_input(source);
    const auto cost = costs.find(node->name());
    const bool has_run = cost != costs.end();
    if (has_run) to->set_compute_cost(cost->second.micros);
    AddOutputs(*node, has_run ? cost->second.last : nullptr, to);
  }
  for (const Node* node : graph.nodes()) {
    if (!has_readers.contains(node)) proto->mutable_node(sink)->add_control_input(ids[node]);
  }
}

}  // namespace sluice

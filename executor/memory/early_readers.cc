#include "executor/memory/early_readers.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "graph/ir/purity.h"

namespace sluice {
namespace {

constexpr int64_t kUnknown = -1;  // a number of bytes that is not known before the step

// Returns the number (StepOrder) of the last node for which `node` waits. -1 if there is none.
int ReadyAt(const Node& node, const StepOrder& order) {
  int ready = -1;
  for (const Output& in : node.inputs()) ready = std::max(ready, order.NumberOf(*in.node));
  for (const Node* c : node.control_inputs()) ready = std::max(ready, order.NumberOf(*c));
  return ready;
}

using BytesOfTensors = std::unordered_map<Output, int64_t>;

BytesOfTensors AliveAtPeak(const MemoryPlan& memory) {
  BytesOfTensors alive;
  for (const PlannedTensor& tensor : memory.tensors) {
    if (tensor.computed_at > memory.peak_at || tensor.released_at <= memory.peak_at) continue;
    for (const Output& result : tensor.results) alive[result] = tensor.bytes;
  }
  return alive;
}

int64_t Find(const BytesOfTensors& bytes, const Output& tensor) {
  const auto found = bytes.find(tensor);
  return found == bytes.end() ? 0 : found->second;
}

bool MayRunEarlier(const Node& node, const StepOrder& order) {
  return IsPure(node) && order.IsCertain(node);
}

// Whether the node at `n` can run right after the one at `ready` without another unit between.
bool AreInOneUnit(const StepOrder& order, int ready, int n) {
  return order.UnitOf(ready + 1) == order.UnitOf(n) && order.UnitOf(ready) == order.UnitOf(n);
}

}  // namespace

std::vector<std::pair<Node*, Node*>> EdgesOfEarlyReaders(const Graph& graph,
                                                         const MemoryPlan& memory,
                                                         const StepOrder& order) {
  const BytesOfTensors alive = AliveAtPeak(memory);
  std::unordered_map<const Node*, int64_t> made;  // bytes
  for (const PlannedTensor& tensor : memory.tensors) {
    int64_t& bytes = made[tensor.node];
    const bool is_unknown = tensor.bytes < 0 || bytes == kUnknown;
    bytes = is_unknown ? kUnknown : bytes + tensor.bytes;
  }
  std::vector<std::pair<Node*, Node*>> edges;
  for (int n = memory.peak_at + 1; n < memory.num_nodes; ++n) {
    if (order.At(n).size() > 1) continue;
    const Node& node = *order.At(n)[0];
    const int ready = ReadyAt(node, order);
    if (!MayRunEarlier(node, order) || ready < 0 || ready >= memory.peak_at) continue;
    if (made[&node] == kUnknown) continue;
    const int64_t fewest = std::max<int64_t>(2 * made[&node], 1);
    const auto is_released = [&](const Output& in) { return Find(alive, in) >= fewest; };
    if (std::none_of(node.inputs().begin(), node.inputs().end(), is_released)) continue;
    const Node& next = *order.At(ready + 1).back();
    if (!AreInOneUnit(order, ready, n) || !order.IsCertain(next)) continue;
    edges.emplace_back(graph.node(node.id()), graph.node(next.id()));
  }
  return edges;
}

}  // namespace sluice

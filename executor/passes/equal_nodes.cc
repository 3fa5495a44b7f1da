#include "executor/passes/equal_nodes.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "executor/passes/purity.h"
#include "executor/passes/rewrite.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Larger tensors are the same where they share their memory.
constexpr size_t kMostBytesCompared = 1 << 20;

// Everything that two nodes must agree on, as one string; tensors by type, shape and bytes.
void AppendAttr(const AttrValue& value, std::string* key) {
  if (const Tensor* t = std::get_if<Tensor>(&value)) {
    StrAppend(key, static_cast<int>(t->dtype()), t->shape().ToString());
    if (t->dtype() == DT_STRING) {
      for (const std::string& s : t->flat<std::string>()) StrAppend(key, s.size(), ":", s);
    } else if (t->bytes() > kMostBytesCompared) {
      StrAppend(key, "@", reinterpret_cast<uintptr_t>(t->raw()));
    } else {
      key->append(static_cast<const char*>(t->raw()), t->bytes());
    }
  } else {
    StrAppend(key, value.index(), AttrToString(value));
  }
}

std::string KeyOf(const Node& node) {
  std::string key = StrCat(node.op(), "\n", node.device(), "\n", node.assigned_device());
  for (const Output& in : node.inputs()) StrAppend(&key, "\n", in.node->id(), ":", in.index);
  std::vector<int> controls;
  for (const Node* c : node.control_inputs()) controls.push_back(c->id());
  std::sort(controls.begin(), controls.end());
  for (int id : controls) StrAppend(&key, "\n^", id);
  for (const auto& [name, value] : node.attrs()) {
    if (name == "_class" || name == "_output_shapes") continue;
    StrAppend(&key, "\n", name, "=");
    AppendAttr(value, &key);
  }
  return key;
}

}  // namespace

absl::StatusOr<int> MergeCommonSubexpressions(Graph& graph, const PassOptions& options) {
  SLUICE_ASSIGN_OR_RETURN(std::vector<Node*> order, TopologicalOrder(graph));
  std::unordered_map<std::string, Node*> first;
  int merged = 0;
  for (Node* node : order) {
    if (!IsPure(*node)) continue;
    const auto [it, is_new] = first.emplace(KeyOf(*node), node);
    if (is_new) continue;
    if (options.keep.contains(node->name())) continue;
    SLUICE_RETURN_IF_ERROR(TakePlace(graph, node, Output(it->second)));
    ++merged;
  }
  return merged;
}

}  // namespace sluice

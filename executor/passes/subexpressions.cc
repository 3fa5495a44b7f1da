#include "executor/passes/subexpressions.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/passes/rewrite.h"
#include "graph/ir/purity.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Larger tensors are equal only if they share their memory.
constexpr size_t kMostBytesCompared = 1 << 20;

// Appends an attribute to the key of a node. Tensors are compared by type, shape and bytes.
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

bool IsIgnored(std::string_view attr) { return attr == "_class" || attr == "_output_shapes"; }

// Nodes with different keys may not be merged.
void SetKey(const Node& node, std::string* key) {
  key->clear();
  StrAppend(key, node.op(), "\n", node.device(), "\n", node.assigned_device());
  for (const Output& in : node.inputs()) StrAppend(key, "\n", in.node->id(), ":", in.index);
  std::vector<int> controls;
  for (const Node* c : node.control_inputs()) controls.push_back(c->id());
  std::sort(controls.begin(), controls.end());
  for (int id : controls) StrAppend(key, "\n^", id);
  for (const auto& [name, value] : node.attrs()) {
    if (IsIgnored(name)) continue;
    StrAppend(key, "\n", name, "=");
    AppendAttr(value, key);
  }
}

// Whether nodes with equal keys compute the same. The text of a float in a key is rounded, that of
// a function lacks the function's attributes, and that of a list of tensors is cut off.
bool HaveEqualAttrs(const Node& a, const Node& b) {
  return std::all_of(a.attrs().begin(), a.attrs().end(), [&](const auto& attr) {
    const auto& [name, value] = attr;
    if (IsIgnored(name) || std::holds_alternative<Tensor>(value)) return true;
    const auto other = b.attrs().find(name);
    return other != b.attrs().end() && AttrEquals(value, other->second);
  });
}

}  // namespace

absl::StatusOr<int> MergeCommonSubexpressions(Graph& graph, const PassOptions& options) {
  SLUICE_ASSIGN_OR_RETURN(std::vector<Node*> order, TopologicalOrder(graph));
  // Keyed by hashes, because the keys would fill the caches and few are equal.
  absl::flat_hash_map<size_t, Node*> first;
  first.reserve(order.size());
  std::string key, other_key;
  int merged = 0;
  for (Node* node : order) {
    if (!IsPure(*node)) continue;
    SetKey(*node, &key);
    const auto [it, is_new] = first.emplace(std::hash<std::string>()(key), node);
    if (is_new || options.keep.contains(node->name())) continue;
    SetKey(*it->second, &other_key);
    if (other_key != key || !HaveEqualAttrs(*node, *it->second)) continue;
    SLUICE_RETURN_IF_ERROR(TakePlace(graph, node, Output(it->second)));
    ++merged;
  }
  return merged;
}

}  // namespace sluice

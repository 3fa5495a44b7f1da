#include "executor/passes/defer_adam.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "executor/kernel/deferred_updates.h"
#include "executor/passes/rewrite.h"
#include "graph/ir/constant.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/variable_use.h"
#include "graph/op/op_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

bool IsHandle(const Node& node) {
  return CreatesVariable(node) && node.output_type(0) == DT_RESOURCE;
}

// A reference variable or a resource variable's handle, of a type that can be deferred.
bool IsVariable(const Node& node) {
  if (!CreatesVariable(node)) return false;
  const DataType dtype = node.AttrOr<DataType>("dtype", DT_INVALID);
  return dtype == DT_FLOAT || dtype == DT_DOUBLE;
}

// The variable that `value` was read from, by an op or by reference; null if there is none.
Node* VariableRead(const Output& value) {
  Node* node = value.node;
  if (ReadsVariable(*node)) {
    node = node->input(0).node;
  } else if (IsHandle(*node)) {
    return nullptr;
  }
  return IsVariable(*node) ? node : nullptr;
}

bool IsScalar(const Output& value) {
  return value.shape().rank_known() && value.shape().rank() == 0 && !IsRefType(value.dtype());
}

// The nodes of one moment of Adam, from the last to the first.
struct Moment {
  Node* variable = nullptr;
  Node* value = nullptr;   // reads the variable after `add`; `add` itself for a reference
  Node* add = nullptr;     // ScatterAdd(variable, indices, rows)
  Node* assign = nullptr;  // Assign(variable, decay)
  Node* decay = nullptr;   // Mul(variable's value, beta)
};

struct SparseAdam {
  Node* variable = nullptr;
  Node* move = nullptr;      // AssignSub(variable, quotient)
  Node* quotient = nullptr;  // RealDiv(step, divisor)
  Node* step = nullptr;      // Mul(rate, m)
  Node* divisor = nullptr;   // Add(root, epsilon)
  Node* root = nullptr;      // Sqrt(v)
  Moment m, v;
  // All of these, and reads of the three variables whose value no node uses.
  std::vector<Node*> parts;
  std::unordered_set<const Node*> is_part;
};

bool IsOp(const Node* node, std::string_view op) { return node->op() == op; }
bool IsMul(const Node* node) { return IsOp(node, "Mul"); }
bool IsOneOf(const Node* node, std::string_view by_reference, std::string_view by_handle) {
  return node->op() == by_reference || node->op() == by_handle;
}

// The assignment to the variable that `add` waits for, directly or through a read of it.
Node* AssignBefore(const Node& add, const Node* variable) {
  const auto is_assign = [&](const Node* node) {
    return node->traits().variable_use == VariableUse::kAssigns && node->input(0).node == variable;
  };
  for (Node* before : add.control_inputs()) {
    if (is_assign(before)) return before;
    if (!ReadsVariable(*before) || !before->uses().empty()) continue;
    for (Node* earlier : before->control_inputs()) {
      if (is_assign(earlier)) return earlier;
    }
  }
  return nullptr;
}

// The ResourceScatterAdd that `read` waits for.
Node* AddBefore(const Node& read) {
  for (Node* before : read.control_inputs()) {
    if (IsOp(before, "ResourceScatterAdd") && before->input(0) == read.input(0)) return before;
  }
  return nullptr;
}

bool IsDecayOf(const Node& node, const Node* variable) {
  return IsMul(&node) && VariableRead(node.input(0)) == variable && IsScalar(node.input(1));
}

std::optional<Moment> MomentOf(Node* value) {
  Moment moment;
  moment.value = value;
  moment.add = ReadsVariable(*value) ? AddBefore(*value) : value;
  if (moment.add == nullptr || !IsOneOf(moment.add, "ScatterAdd", "ResourceScatterAdd")) {
    return std::nullopt;
  }
  moment.variable = moment.add->input(0).node;
  const PartialShape& rows = moment.add->input(2).shape();
  if (!IsVariable(*moment.variable) || !rows.rank_known() || rows.rank() < 1) return std::nullopt;
  moment.assign = AssignBefore(*moment.add, moment.variable);
  if (moment.assign == nullptr) return std::nullopt;
  moment.decay = moment.assign->input(1).node;
  return IsDecayOf(*moment.decay, moment.variable) ? std::optional(moment) : std::nullopt;
}

void CollectParts(const std::set<std::string>& keep, SparseAdam* adam) {
  adam->parts = {adam->move, adam->quotient, adam->step, adam->divisor, adam->root};
  for (const Moment* moment : {&adam->m, &adam->v}) {
    adam->parts.insert(adam->parts.end(), {moment->add, moment->assign, moment->decay});
    if (moment->value != moment->add) adam->parts.push_back(moment->value);
  }
  for (const Node* variable : {adam->variable, adam->m.variable, adam->v.variable}) {
    for (const Use& use : variable->uses()) {
      const bool is_unused = use.dst->uses().empty() && !keep.contains(use.dst->name());
      if (ReadsVariable(*use.dst) && is_unused) adam->parts.push_back(use.dst);
    }
  }
  adam->is_part.insert(adam->parts.begin(), adam->parts.end());
}

// Whether the variable and its moments are three variables, all references or all handles.
bool AreThreeAlike(const SparseAdam& adam) {
  const Node *m = adam.m.variable, *v = adam.v.variable;
  if (m == v || m == adam.variable || v == adam.variable) return false;
  return IsHandle(*m) == IsHandle(*adam.variable) && IsHandle(*v) == IsHandle(*adam.variable);
}

// Finds the nodes from the moments to `move`. False if one of them is another op.
bool FindQuotient(Node* move, SparseAdam& adam) {
  if (!IsOneOf(move, "AssignSub", "AssignSubVariableOp")) return false;
  adam.move = move;
  adam.variable = move->input(0).node;
  adam.quotient = move->input(1).node;
  if (!IsVariable(*adam.variable) || !IsOp(adam.quotient, "RealDiv")) return false;
  adam.step = adam.quotient->input(0).node;
  adam.divisor = adam.quotient->input(1).node;
  if (!IsMul(adam.step) || !IsOneOf(adam.divisor, "AddV2", "Add")) return false;
  adam.root = adam.divisor->input(0).node;
  return IsOp(adam.root, "Sqrt") && IsScalar(adam.step->input(0)) &&
         IsScalar(adam.divisor->input(1));
}

std::optional<SparseAdam> AdamThatEndsIn(Node* move) {
  SparseAdam adam;
  if (!FindQuotient(move, adam)) return std::nullopt;
  const std::optional<Moment> m = MomentOf(adam.step->input(1).node);
  const std::optional<Moment> v = MomentOf(adam.root->input(0).node);
  if (!m.has_value() || !v.has_value()) return std::nullopt;
  adam.m = *m;
  adam.v = *v;
  return AreThreeAlike(adam) && m->add->input(1) == v->add->input(1) ? std::optional(adam)
                                                                     : std::nullopt;
}

bool IsGatherOfRows(const Node& node) {
  if (node.op() == "Gather") return true;
  if (node.op() != "GatherV2" || node.AttrOr<int64_t>("batch_dims", 0) != 0) return false;
  const Tensor* axis = IsConstant(*node.input(2).node) ? ConstantBehind(node.input(2)) : nullptr;
  if (axis == nullptr || !axis->shape().IsScalar()) return false;
  return (axis->dtype() == DT_INT64 ? axis->scalar<int64_t>() : axis->scalar<int32_t>()) == 0;
}

// The variable of a gather that can become a _GatherOfDeferred; null if it cannot.
Node* GatheredVariable(const Node& gather) {
  if (!IsGatherOfRows(gather)) return nullptr;
  Node* variable = VariableRead(gather.input(0));
  const DataType index = gather.input(1).dtype();
  if (variable == nullptr || IsHandle(*variable) || (index != DT_INT32 && index != DT_INT64)) {
    return nullptr;
  }
  const PartialShape& shape = variable->output_shape(0);
  const bool is_beside = gather.assigned_device() == variable->assigned_device();
  return is_beside && shape.rank_known() && shape.rank() >= 1 ? variable : nullptr;
}

class Deferrer {
 public:
  Deferrer(Graph& graph, const std::set<std::string>& keep) : graph_(graph), keep_(keep) {}

  absl::StatusOr<int> Run() {
    int replaced = 0;
    const int most = graph_.num_node_ids();
    for (int id = 0; id < most; ++id) {
      Node* const node = graph_.node(id);
      if (node == nullptr) continue;
      std::optional<SparseAdam> adam = AdamThatEndsIn(node);
      if (!adam.has_value()) continue;
      CollectParts(keep_, &*adam);
      if (!CanBeOne(*adam) || HasPathThroughOthers(*adam)) continue;
      SLUICE_RETURN_IF_ERROR(Replace(*adam));
      deferred_.insert(adam->variable);
      ++replaced;
    }
    const int last = graph_.num_node_ids();
    for (int id = 0; id < last; ++id) {
      if (Node* node = graph_.node(id); node != nullptr) {
        SLUICE_RETURN_IF_ERROR(ReplaceGather(node));
      }
    }
    return replaced;
  }

 private:
  bool IsConditional(const Node* node) {
    if (conditional_.empty()) conditional_ = ConditionalNodes(graph_);
    // Nodes that were added since are not conditional.
    return node->id() < static_cast<int>(conditional_.size()) && conditional_[node->id()];
  }

  // Whether all uses of the variable belong to the Adam, are gathers, or read no element.
  bool IsReadByRowsAlone(const Node& variable, const SparseAdam& adam) const {
    const auto fits = [&](const Use& use) {
      if (adam.is_part.contains(use.dst) || GatheredVariable(*use.dst) == &variable) return true;
      return IsOp(use.dst, "ResourceGather") ||
             use.dst->traits().variable_use == VariableUse::kInspects;
    };
    for (const Use& use : variable.uses()) {
      if (fits(use)) continue;
      if (!ReadsVariable(*use.dst) || keep_.contains(use.dst->name())) return false;
      const auto of_read = use.dst->uses();
      if (!std::all_of(of_read.begin(), of_read.end(), fits)) return false;
    }
    return true;
  }

  // Whether only parts read the results of parts.
  static bool IsClosed(const SparseAdam& adam) {
    for (const Node* part : adam.parts) {
      const auto uses = part->uses();
      if (!std::all_of(uses.begin(), uses.end(),
                       [&](const Use& use) { return adam.is_part.contains(use.dst); })) {
        return false;
      }
    }
    return true;
  }

  bool CanBeOne(const SparseAdam& adam) {
    if (!IsClosed(adam)) return false;
    const std::string& device = adam.variable->assigned_device();
    for (const Node* node : adam.parts) {
      if (keep_.contains(node->name()) || IsConditional(node) ||
          node->assigned_device() != device) {
        return false;
      }
    }
    for (const Node* variable : {adam.variable, adam.m.variable, adam.v.variable}) {
      if (variable->assigned_device() != device || !IsReadByRowsAlone(*variable, adam)) {
        return false;
      }
    }
    return true;
  }

  // Whether a node outside must run after one of the parts and before another.
  static bool HasPathThroughOthers(const SparseAdam& adam) {
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> open;
    const auto add = [&](const Node* node) {
      if (seen.insert(node).second) open.push_back(node);
    };
    for (const Node* part : adam.parts) {
      for (const Node* next : part->control_outputs()) {
        if (!adam.is_part.contains(next)) add(next);
      }
    }
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      if (adam.is_part.contains(node)) return true;
      for (const Use& use : node->uses()) add(use.dst);
      for (const Node* next : node->control_outputs()) add(next);
    }
    return false;
  }

  absl::StatusOr<Node*> Add(const std::string& op, const Node& in_place_of,
                            std::vector<Output> inputs, AttrMap attrs) {
    NodeSpec spec;
    spec.name = graph_.UniqueName(StrCat(in_place_of.name(), "/deferred"));
    spec.op = op;
    spec.inputs = std::move(inputs);
    spec.device = in_place_of.device();
    spec.attrs = std::move(attrs);
    spec.attrs[kTakesDeferredAttr] = true;
    spec.at = in_place_of.at();
    SLUICE_ASSIGN_OR_RETURN(Node * node, graph_.Add(std::move(spec)));
    node->set_assigned_device(in_place_of.assigned_device());
    return node;
  }

  // Removes a read that is no longer used. Nodes that waited for it wait for its inputs instead.
  void RemoveUnusedRead(Node* read) {
    if (!ReadsVariable(*read) || !read->uses().empty() || keep_.contains(read->name())) return;
    for (Node* to : read->control_outputs()) {
      for (Node* from : read->control_inputs()) graph_.AddControlEdge(from, to);
      graph_.AddControlEdge(read->input(0).node, to);
    }
    graph_.Remove(read);
  }

  // Makes `node` wait for the control inputs of `like`, except the nodes that `node` replaces.
  void WaitAs(const Node& like, const SparseAdam& adam, Node* node) {
    for (Node* before : like.control_inputs()) {
      if (!adam.is_part.contains(before)) graph_.AddControlEdge(before, node);
    }
  }

  absl::Status Replace(const SparseAdam& adam) {
    const Node& first = *adam.m.add;
    const std::vector<Output> inputs = {Output(adam.variable),   Output(adam.m.variable),
                                        Output(adam.v.variable), first.input(1),
                                        first.input(2),          adam.v.add->input(2),
                                        adam.step->input(0),     adam.m.decay->input(1),
                                        adam.v.decay->input(1),  adam.divisor->input(1)};
    SLUICE_ASSIGN_OR_RETURN(
        Node * node, Add(IsHandle(*adam.variable) ? "_DeferredAdamOfHandles" : "_DeferredAdam",
                         *adam.move, inputs,
                         {{"T", adam.variable->AttrOr<DataType>("dtype", DT_INVALID)},
                          {"Tindices", BaseType(first.input(1).dtype())}}));
    const std::vector<Node*> reads = {adam.m.decay->input(0).node, adam.v.decay->input(0).node};
    for (Node* part : adam.parts) {
      WaitAs(*part, adam, node);
      for (Node* after : part->control_outputs()) {
        if (!adam.is_part.contains(after)) graph_.AddControlEdge(node, after);
      }
    }
    for (Node* read : reads) WaitAs(*read, adam, node);
    for (Node* part : adam.parts) graph_.Remove(part);
    for (Node* read : reads) RemoveUnusedRead(read);
    return absl::OkStatus();
  }

  // Whether no node of the graph changes the variable.
  static bool IsConstantHere(const Node& variable) {
    return std::none_of(variable.uses().begin(), variable.uses().end(), [](const Use& use) {
      return IsRefType(use.dst->input_type(use.dst_input)) && use.dst->op() != "_GatherOfDeferred";
    });
  }

  absl::Status ReplaceGather(Node* gather) {
    Node* const variable = GatheredVariable(*gather);
    if (variable == nullptr || keep_.contains(gather->name()) || IsConditional(gather)) {
      return absl::OkStatus();
    }
    if (!deferred_.contains(variable) && !IsConstantHere(*variable)) return absl::OkStatus();
    Node* const read = gather->input(0).node;
    SLUICE_ASSIGN_OR_RETURN(Node * node,
                            Add("_GatherOfDeferred", *gather, {Output(variable), gather->input(1)},
                                {{"T", variable->AttrOr<DataType>("dtype", DT_INVALID)},
                                 {"Tindices", BaseType(gather->input(1).dtype())}}));
    node->set_output_shape(0, gather->output_shape(0));
    for (Node* before : gather->control_inputs()) graph_.AddControlEdge(before, node);
    if (read != variable) {
      for (Node* before : read->control_inputs()) graph_.AddControlEdge(before, node);
    }
    SLUICE_RETURN_IF_ERROR(TakePlace(graph_, gather, Output(node)));
    if (read != variable) RemoveUnusedRead(read);
    return absl::OkStatus();
  }

  Graph& graph_;
  const std::set<std::string>& keep_;
  std::vector<bool> conditional_;             // by node id; empty until it is needed
  std::unordered_set<const Node*> deferred_;  // variables
};

}  // namespace

absl::StatusOr<int> DeferAdam(Graph& graph, const PassOptions& options) {
  // A program may not link the op.
  if (OpRegistry::Global().Find("_DeferredAdam") == nullptr) return 0;
  return Deferrer(graph, options.keep).Run();
}

}  // namespace sluice

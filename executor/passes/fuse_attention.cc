#include "executor/passes/fuse_attention.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "executor/passes/rewrite.h"
#include "executor/passes/unused_nodes.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/constant.h"
#include "graph/status.h"

namespace sluice {
namespace {

using Nodes = std::vector<Node*>;

// The nodes of an attention. They become one node, or two with gradients.
struct Attention {
  Output q, k, v, mask;  // mask: may be invalid
  float scale = 1;
  std::string softmax_name;
  Node* product = nullptr;  // the matmul with v; null if only gradients are fused
  Nodes inner;              // all other nodes, including Identities

  Output grad;  // of the product; invalid without gradients
  Node *by_q = nullptr, *by_k = nullptr, *by_v = nullptr;
  Nodes inner_of_gradients;
};

// Whether the node is a batch matmul with these transpositions.
bool IsProduct(const Node& node, bool turns_x, bool turns_y) {
  return (node.op() == "BatchMatMul" || node.op() == "BatchMatMulV2") &&
         node.AttrOr<bool>("adj_x", false) == turns_x &&
         node.AttrOr<bool>("adj_y", false) == turns_y;
}

// Follows Identities backwards and records them.
Node* Behind(Output output, Nodes& passed) {
  Node* node = output.node;
  while (OnlyPassesOn(*node)) {
    passed.push_back(node);
    node = node->input(0).node;
  }
  return node;
}

// The readers of the node. Follows Identities and records them.
std::vector<Use> ReadersOf(const Node& node, Nodes& passed) {
  std::vector<Use> readers;
  std::vector<const Node*> todo = {&node};
  while (!todo.empty()) {
    const Node* const next = todo.back();
    todo.pop_back();
    for (const Use& use : next->uses()) {
      if (!OnlyPassesOn(*use.dst)) {
        readers.push_back(use);
        continue;
      }
      passed.push_back(use.dst);
      todo.push_back(use.dst);
    }
  }
  return readers;
}

struct Scaled {
  Output x;
  float by;
};

bool IsMul(const Node& node) { return node.op() == "Mul"; }

// x and its factor, if the node multiplies or divides by a constant scalar.
std::optional<Scaled> ScaledOf(const Node& node) {
  const bool divides = node.op() == "RealDiv" || node.op() == "Div";
  if (!divides && !IsMul(node)) return std::nullopt;
  for (const int i : {0, 1}) {
    const Tensor* factor = ConstantBehind(node.input(i));
    if (factor == nullptr || factor->rank() != 0 || factor->dtype() != DT_FLOAT) continue;
    if ((divides && i == 0) || !IsAliveWithItsReaders(*node.input(i).node)) return std::nullopt;
    const float by = divides ? 1 / factor->scalar<float>() : factor->scalar<float>();
    if (divides && !std::isnormal(by)) return std::nullopt;
    return Scaled{node.input(1 - i), by};
  }
  return std::nullopt;
}

// Sets q, k and the scale from `scores`, the (scaled) product of q and k.
bool FindScores(Output scores, Attention& a) {
  Node* node = Behind(scores, a.inner);
  if (const std::optional<Scaled> scaled = ScaledOf(*node)) {
    a.inner.push_back(node);
    a.scale = scaled->by;
    node = Behind(scaled->x, a.inner);
  }
  if (!IsProduct(*node, false, true)) return false;
  a.inner.push_back(node);
  a.q = node->input(0), a.k = node->input(1);
  return true;
}

bool FindMaskedScores(const Node& softmax, Attention& a) {
  Node* const node = Behind(softmax.input(0), a.inner);
  if (node->op() != "AddV2" && node->op() != "Add") return FindScores(Output(node), a);
  for (const int i : {0, 1}) {
    Attention tried = a;
    tried.inner.push_back(node);
    tried.mask = node->input(1 - i);
    if (!FindScores(node->input(i), tried)) continue;
    a = std::move(tried);
    return true;
  }
  return false;
}

// Sets by_q and by_k, the gradients with respect to q and k, from the gradient with respect to the
// softmax's input.
bool FindEnds(const Node& by_scores, Attention& a) {
  Nodes& inner = a.inner_of_gradients;
  std::vector<Use> ends = ReadersOf(by_scores, inner);
  if (a.scale != 1) {
    if (ends.size() != 1) return false;
    Node* const scaled = ends[0].dst;
    const std::optional<Scaled> times = ScaledOf(*scaled);
    if (!times || times->by != a.scale || times->x != scaled->input(ends[0].dst_input)) {
      return false;
    }
    inner.push_back(scaled);
    ends = ReadersOf(*scaled, inner);
  }
  for (const Use& use : ends) {
    if (use.dst_input != 0) return false;
    if (IsProduct(*use.dst, false, false) && use.dst->input(1) == a.k) a.by_q = use.dst;
    if (IsProduct(*use.dst, true, false) && use.dst->input(1) == a.q) a.by_k = use.dst;
  }
  return ends.size() == 2 && a.by_q != nullptr && a.by_k != nullptr;
}

bool SumsLastDimension(const Node& sum, int rank) {
  if (sum.op() != "Sum" || !sum.AttrOr<bool>("keep_dims", false)) return false;
  const std::optional<std::vector<int64_t>> axes = ConstantInts(sum.input(1));
  return axes && IsAliveWithItsReaders(*sum.input(1).node) && axes->size() == 1 &&
         ((*axes)[0] == -1 || (*axes)[0] == rank - 1);
}

// The readers of the weights: by_v, and the gradient of the softmax. The latter computes to_sum =
// by_weights * weights and by_scores = difference * weights, with difference = by_weights -
// sum(to_sum).
struct WeightsReaders {
  Node *by_v = nullptr, *by_weights = nullptr, *to_sum = nullptr;
  Node *difference = nullptr, *by_scores = nullptr;
};

std::optional<WeightsReaders> SortReaders(const std::vector<Use>& readers, Attention& a) {
  WeightsReaders sorted;
  for (const Use& use : readers) {
    Node* const node = use.dst;
    if (node == a.product) continue;
    if (IsProduct(*node, true, false) && use.dst_input == 0) {
      sorted.by_v = node;
    } else if (IsMul(*node)) {
      Nodes passed;
      Node* const other = Behind(node->input(1 - use.dst_input), passed);
      const bool is_last = other->op() == "Sub";
      (is_last ? sorted.by_scores : sorted.to_sum) = node;
      (is_last ? sorted.difference : sorted.by_weights) = other;
      a.inner_of_gradients.insert(a.inner_of_gradients.end(), passed.begin(), passed.end());
    }
  }
  const size_t expected = a.product != nullptr ? 4 : 3;
  const bool are_all = readers.size() == expected && sorted.by_v != nullptr &&
                       sorted.to_sum != nullptr && sorted.by_scores != nullptr;
  return are_all ? std::optional(sorted) : std::nullopt;
}

bool FindGradients(const std::vector<Use>& readers, Attention& a) {
  const std::optional<WeightsReaders> of = SortReaders(readers, a);
  if (!of) return false;
  Nodes& inner = a.inner_of_gradients;
  Node* const sum = Behind(of->difference->input(1), inner);
  if (!SumsLastDimension(*sum, a.q.shape().rank()) || Behind(sum->input(0), inner) != of->to_sum) {
    return false;
  }
  const Node& by_weights = *of->by_weights;
  if (Behind(of->difference->input(0), inner) != of->by_weights ||
      !IsProduct(by_weights, false, true) || by_weights.input(0) != of->by_v->input(1)) {
    return false;
  }
  if (a.product == nullptr) a.v = by_weights.input(1);
  a.grad = of->by_v->input(1);
  a.by_v = of->by_v;
  inner.insert(inner.end(), {of->by_weights, of->to_sum, sum, of->difference, of->by_scores});
  return by_weights.input(1) == a.v && FindEnds(*of->by_scores, a);
}

// Whether both have the rank of a batch of matrices, and known sizes that are not 0.
bool AreBatches(const PartialShape& s, const PartialShape& of_same_rank) {
  return s.rank() >= 3 && s.rank() == of_same_rank.rank() && s.IsFullyDefined() &&
         s.num_elements() > 0;
}

// Whether the mask can be added to the scores of each row of a batch.
bool MaskFits(const PartialShape& mask, const PartialShape& scores) {
  const absl::StatusOr<PartialShape> masked = BroadcastShapes(scores, mask);
  return mask.IsFullyDefined() && masked.ok() && *masked == scores && mask.rank() > 0 &&
         mask.dim(mask.rank() - 1) == scores.dim(scores.rank() - 1);
}

bool SizesFit(const Attention& a) {
  const PartialShape &q = a.q.shape(), &k = a.k.shape(), &v = a.v.shape();
  const int rank = q.rank();
  if (!AreBatches(q, q) || !AreBatches(k, q) || !AreBatches(v, q)) return false;
  const auto of_batch = [&](int64_t rows, int64_t columns) {
    PartialShape s = q;
    s.set_dim(rank - 2, rows);
    s.set_dim(rank - 1, columns);
    return s;
  };
  const int64_t rows = q.dim(rank - 2), columns = k.dim(rank - 2), width = v.dim(rank - 1);
  if (k != of_batch(columns, q.dim(rank - 1)) || v != of_batch(columns, width)) return false;
  if (a.grad && a.grad.shape() != of_batch(rows, width)) return false;
  return !a.mask || MaskFits(a.mask.shape(), of_batch(rows, columns));
}

// The product of the weights and v, if there is one. False if there are several.
bool FindProduct(const std::vector<Use>& readers, Attention& a) {
  for (const Use& use : readers) {
    if (!IsProduct(*use.dst, false, false) || use.dst_input != 0) continue;
    if (a.product != nullptr) return false;
    a.product = use.dst;
  }
  if (a.product != nullptr) a.v = a.product->input(1);
  return true;
}

std::optional<Attention> AttentionOf(Node* softmax) {
  Attention a;
  if (!FindMaskedScores(*softmax, a)) return std::nullopt;
  a.softmax_name = softmax->name();
  a.inner.push_back(softmax);
  const std::vector<Use> readers = ReadersOf(*softmax, a.inner);
  if (!FindProduct(readers, a)) return std::nullopt;
  const bool is_all = a.product != nullptr && readers.size() == 1;
  if (!is_all && !FindGradients(readers, a)) return std::nullopt;
  return a.q.dtype() == DT_FLOAT && SizesFit(a) ? std::optional(std::move(a)) : std::nullopt;
}

// A fused node: its inputs, the nodes whose uses it replaces, and its control edges.
struct Fused {
  std::vector<Output> inputs;
  Nodes ends;
  Nodes waits_for;
  Nodes waited_for_by;  // successors of removed nodes
  int position = 0;     // of the first end, in topological order
};

// Replaces the nodes of an attention if no other node can observe the difference.
class Fuser {
 public:
  static absl::StatusOr<std::unique_ptr<Fuser>> Make(Graph& graph, const PassOptions& options) {
    SLUICE_ASSIGN_OR_RETURN(const Nodes order, TopologicalOrder(graph));
    return std::unique_ptr<Fuser>(new Fuser(graph, options, order));
  }

  absl::StatusOr<bool> Fuse(const Attention& a) {
    std::set<Node*> goes(a.inner.begin(), a.inner.end());
    goes.insert(a.inner_of_gradients.begin(), a.inner_of_gradients.end());
    const std::set<Node*> inner = goes;
    Fused forward = FusedOf(a, {a.q, a.k, a.v}, {a.product});
    Fused gradients = FusedOf(a, {a.q, a.k, a.v, a.grad}, {a.by_q, a.by_k, a.by_v});
    if (a.product != nullptr) goes.insert(a.product);
    if (a.grad) goes.insert(gradients.ends.begin(), gradients.ends.end());
    if (!MayGo(goes) || !AreReadWithin(inner, goes)) return false;
    NoteWaits(a, goes, forward, gradients);
    if (a.product != nullptr && !CanStand(forward, goes, a.product)) return false;
    if (a.grad && !CanStand(gradients, goes, a.product)) return false;
    if (a.product != nullptr) {
      SLUICE_ASSIGN_OR_RETURN(Node* const node, Replace(a, "_Attention", "/attention", forward));
      // The gradient that enters may be the attention's result itself, for example for a sum of
      // squares.
      for (Output& in : gradients.inputs) {
        if (in.node == a.product) in = Output(node);
      }
    }
    if (a.grad) {
      SLUICE_RETURN_IF_ERROR(Replace(a, "_AttentionGrad", "/gradients", gradients).status());
    }
    Remove(inner);
    return true;
  }

 private:
  Fuser(Graph& graph, const PassOptions& options, const Nodes& order)
      : graph_(graph), options_(options), rewriter_(graph, options.keep) {
    positions_.resize(graph.num_node_ids());
    for (size_t i = 0; i < order.size(); ++i) positions_[order[i]->id()] = static_cast<int>(i);
  }

  Fused FusedOf(const Attention& a, std::vector<Output> inputs, Nodes ends) const {
    if (a.mask) inputs.push_back(a.mask);
    Fused fused{std::move(inputs), std::move(ends)};
    fused.position = std::numeric_limits<int>::max();
    for (const Node* end : fused.ends) {
      if (end != nullptr) fused.position = std::min(fused.position, PositionOf(*end));
    }
    return fused;
  }

  bool MayGo(const std::set<Node*>& nodes) const {
    const Node& like = **nodes.begin();
    return std::all_of(nodes.begin(), nodes.end(), [&](const Node* node) {
      return rewriter_.MayChange(*node) && !IsOnABranch(*node) && node->device() == like.device() &&
             node->assigned_device() == like.assigned_device();
    });
  }

  static bool AreReadWithin(const std::set<Node*>& inner, const std::set<Node*>& readers) {
    return std::all_of(inner.begin(), inner.end(), [&](const Node* node) {
      return std::all_of(node->uses().begin(), node->uses().end(),
                         [&](const Use& use) { return readers.contains(use.dst); });
    });
  }

  // NoOps that wait for no other nodes. Gradient builders add one per op.
  static std::set<Node*> JoinsOf(const std::set<Node*>& nodes) {
    std::set<Node*> joins;
    for (const Node* node : nodes) {
      for (Node* waiter : node->control_outputs()) {
        const bool is_join =
            waiter->role() == OpRole::kNoOp &&
            std::all_of(
                waiter->control_inputs().begin(), waiter->control_inputs().end(),
                [&](Node* from) { return nodes.contains(from) || IsAliveWithItsReaders(*from); });
        if (is_join) joins.insert(waiter);
      }
    }
    return joins;
  }

  // Whether only nodes in `goes` wait for the join.
  bool IsOnlyFor(const Node& join, const std::set<Node*>& goes) const {
    const ControlOutputs& waiters = join.control_outputs();
    return !options_.keep.contains(join.name()) && !waiters.empty() &&
           std::all_of(waiters.begin(), waiters.end(),
                       [&](Node* waiter) { return goes.contains(waiter); });
  }

  // Records control inputs from outside: from nodes that stay (not in `goes`) and are no join of
  // removed nodes.
  static void NoteWaitsOf(const Nodes& nodes, const std::set<Node*>& goes,
                          const std::set<Node*>& joins, Fused& fused) {
    for (const Node* node : nodes) {
      for (Node* before : node->control_inputs()) {
        if (goes.contains(before) || joins.contains(before) || IsAliveWithItsReaders(*before)) {
          continue;
        }
        fused.waits_for.push_back(before);
      }
    }
  }
  void NoteWaitersFor(const Nodes& nodes, const std::set<Node*>& goes, const std::set<Node*>& joins,
                      Fused& fused) const {
    for (const Node* node : nodes) {
      for (Node* after : node->control_outputs()) {
        if (goes.contains(after) || (joins.contains(after) && IsOnlyFor(*after, goes))) continue;
        fused.waited_for_by.push_back(after);
      }
    }
  }

  void NoteWaits(const Attention& a, const std::set<Node*>& goes, Fused& forward,
                 Fused& gradients) const {
    const std::set<Node*> joins = JoinsOf(goes);
    if (a.product != nullptr) {
      NoteWaitsOf(a.inner, goes, joins, forward);
      NoteWaitsOf(forward.ends, goes, joins, forward);
      NoteWaitersFor(forward.ends, goes, joins, forward);
    }
    NoteWaitersFor(a.inner, goes, joins, a.product != nullptr ? forward : gradients);
    if (!a.grad) return;
    // The gradient node recomputes the scores.
    NoteWaitsOf(a.inner, goes, joins, gradients);
    for (const Nodes& nodes : {a.inner_of_gradients, gradients.ends}) {
      NoteWaitsOf(nodes, goes, joins, gradients);
      NoteWaitersFor(nodes, goes, joins, gradients);
    }
  }

  int PositionOf(const Node& node) const { return positions_[node.id()]; }

  // Whether a node at the first end's position comes after all its inputs and predecessors and
  // before all its successors, so that it adds no cycle. Its inputs must also keep their values
  // until then and must not be removed (`product` is replaced by another node).
  bool CanStand(const Fused& fused, const std::set<Node*>& goes, const Node* product) const {
    const auto is_before = [&](const Node* node) { return PositionOf(*node) < fused.position; };
    const auto can_be_read = [&](const Output& in) {
      const bool goes_away = goes.contains(in.node) && in.node != product;
      return is_before(in.node) && !goes_away && !IsRefType(in.dtype()) &&
             !rewriter_.MayLieInVariable(*in.node);
    };
    const Nodes &before = fused.waits_for, &after = fused.waited_for_by;
    return std::all_of(fused.inputs.begin(), fused.inputs.end(), can_be_read) &&
           std::all_of(before.begin(), before.end(), is_before) &&
           std::none_of(after.begin(), after.end(), is_before);
  }

  absl::StatusOr<Node*> Replace(const Attention& a, const char* op, const char* name,
                                const Fused& fused) {
    NodeSpec spec;
    spec.name = graph_.UniqueName(StrCat(a.softmax_name, name));
    spec.op = op;
    spec.inputs = fused.inputs;
    spec.control_inputs = fused.waits_for;
    spec.attrs = {{"num_masks", int64_t{a.mask ? 1 : 0}}, {"scale", a.scale}};
    const Node& like = *fused.ends[0];
    SLUICE_ASSIGN_OR_RETURN(Node* const node,
                            AddBeside(graph_, like, std::move(spec), like.output_shape(0)));
    positions_.resize(graph_.num_node_ids());
    positions_[node->id()] = fused.position;
    for (Node* waiter : fused.waited_for_by) graph_.AddControlEdge(node, waiter);
    for (size_t i = 0; i < fused.ends.size(); ++i) {
      const int index = static_cast<int>(i);
      if (fused.ends.size() > 1) node->set_output_shape(index, fused.inputs[i].shape());
      SLUICE_RETURN_IF_ERROR(TakePlace(graph_, fused.ends[i], Output(node, index)));
    }
    return node;
  }

  // Removes readers before their inputs, and joins that no node waits for any more.
  void Remove(const std::set<Node*>& nodes) {
    Nodes ordered(nodes.begin(), nodes.end());
    std::sort(ordered.begin(), ordered.end(),
              [&](const Node* a, const Node* b) { return PositionOf(*a) > PositionOf(*b); });
    for (Node* node : ordered) {
      const Nodes before(node->control_inputs().begin(), node->control_inputs().end());
      graph_.Remove(node);
      for (Node* join : before) {
        if (join->role() == OpRole::kNoOp && join->control_outputs().empty() &&
            !options_.keep.contains(join->name())) {
          graph_.Remove(join);
        }
      }
    }
  }

  Graph& graph_;
  const PassOptions& options_;
  Rewriter rewriter_;
  std::vector<int> positions_;  // by node id
};

}  // namespace

absl::StatusOr<int> FuseAttention(Graph& graph, const PassOptions& options) {
  if (OpRegistry::Global().Find("_Attention") == nullptr) return 0;
  Nodes softmaxes;
  for (Node* node : graph.nodes()) {
    if (node->op() == "Softmax") softmaxes.push_back(node);
  }
  std::unique_ptr<Fuser>
      fuser;  // created on demand: it traverses the graph, and most graphs need none
  int fused = 0;
  for (Node* softmax : softmaxes) {
    const std::optional<Attention> a = AttentionOf(softmax);
    if (!a) continue;
    if (fuser == nullptr) {
      SLUICE_ASSIGN_OR_RETURN(fuser, Fuser::Make(graph, options));
    }
    SLUICE_ASSIGN_OR_RETURN(const bool is_fused, fuser->Fuse(*a));
    if (is_fused) ++fused;
  }
  return fused;
}

}  // namespace sluice

#include "executor/memory/rematerialize.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "executor/memory/early_readers.h"
#include "executor/memory/node_copies.h"
#include "executor/memory/step_order.h"
#include "executor/passes/unused_nodes.h"
#include "graph/ir/purity.h"
#include "graph/ir/variable_use.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr int kMostPlans = 64;
// The largest number of nodes that are copied to recompute one tensor. If more would be needed, the
// tensor is kept.
constexpr size_t kMostCopies = 32;
// Tensors below 1/kSmallestPart of the peak are kept.
constexpr int64_t kSmallestPart = 10'000;

template <typename T>
bool Contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// A tensor that can be released early, and what its recomputation needs.
struct Candidate {
  int64_t bytes = 0;
  double cost = 0;
  std::vector<Output> results;                   // outputs in its memory that are read late
  std::vector<Use> late_uses;                    // of the results
  int before = std::numeric_limits<int>::max();  // number of the first late use
  Node* trigger = nullptr;
  std::vector<Node*> nodes;     // to be copied, inputs first
  std::vector<Output> sources;  // tensors that the copies read and that are alive anyway
  std::vector<Node*> sooner;    // existing copies that must run before `before`

  double value() const { return static_cast<double>(bytes) / (cost + 1); }
};

// Finds the tensors that can be released before the peak of a step.
class Finder {
 public:
  Finder(const Graph& graph, const PassOptions& options, const PlannedStep& step,
         const StepOrder& order, const NodeCopies& copies, RecomputeCost most)
      : graph_(graph),
        options_(options),
        plan_(*step.plan),
        memory_(step.memory),
        order_(order),
        copies_(copies),
        most_(most),
        costs_(step.memory) {}

  // The best ones first.
  std::vector<Candidate> Find() const {
    std::vector<Candidate> found;
    for (const PlannedTensor& tensor : memory_.tensors) {
      if (tensor.bytes * kSmallestPart < memory_.peak_bytes) break;
      if (tensor.computed_at >= memory_.peak_at || tensor.released_at <= memory_.peak_at) continue;
      if (std::optional<Candidate> candidate = Of(tensor)) found.push_back(*std::move(candidate));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.value() > b.value(); });
    return found;
  }

 private:
  std::optional<Candidate> Of(const PlannedTensor& tensor) const {
    Candidate c;
    c.bytes = tensor.bytes;
    if (!FindLateUses(tensor, &c) || !FindTrigger(&c)) return std::nullopt;
    for (const Output& result : c.results) {
      if (!Contains(c.nodes, result.node) && !Copy(result.node, &c)) return std::nullopt;
    }
    return c;
  }

  // Whether the reader needs the tensor itself, not a copy. This holds for the node at the peak,
  // for a fetch, and for a node that may not run.
  bool IsPinned(const Node& reader, int number) const {
    return number < 0 || number == memory_.peak_at || IsFetch(reader);
  }

  bool MayReadCopy(const Node& reader, const Node& of) const {
    return order_.IsCertain(reader) && reader.assigned_device() == of.assigned_device();
  }

  bool AreInUnit(const std::vector<Use>& uses, int unit) const {
    return std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
      return order_.UnitOf(order_.NumberOf(*use.dst)) == unit;
    });
  }

  // False if the node at the peak, the caller, or a node that may not run reads the tensor.
  bool FindLateUses(const PlannedTensor& tensor, Candidate* c) const {
    for (const Output& result : tensor.results) {
      if (order_.NumberOf(*result.node) > memory_.peak_at) continue;  // computed later, in place
      bool is_late = false;
      for (const Use& use : result.node->uses()) {
        if (use.src_output != result.index) continue;
        const int number = order_.NumberOf(*use.dst);
        if (IsPinned(*use.dst, number)) return false;
        if (number < memory_.peak_at) continue;
        if (!MayReadCopy(*use.dst, *result.node)) return false;
        c->late_uses.push_back(use);
        c->before = std::min(c->before, number);
        is_late = true;
      }
      if (is_late) c->results.push_back(result);
    }
    // Late uses in one unit can wait for a node of the unit. In several units, the units would wait
    // for each other.
    return !c->results.empty() && AreInUnit(c->late_uses, order_.UnitOf(c->before));
  }

  static bool IsFetch(const Node& node) { return OpKindOf(node) == OpKind::kFetch; }

  // The number of the last node that the nodes numbered `reader` wait for.
  int LatestBefore(int reader) const {
    int latest = -1;
    const auto consider = [&](const Node* node) {
      if (copies_.IsCopy(*node)) node = copies_.TriggerOf(*node);
      const int number = order_.NumberOf(*node);
      if (number < reader) latest = std::max(latest, number);
    };
    for (const Node* node : order_.At(reader)) {
      for (const Output& in : node->inputs()) consider(in.node);
      for (const Node* control : node->control_inputs()) consider(control);
    }
    return latest;
  }

  // The last node that the first late reader waits for. If all those run before the peak, the last
  // node before that reader.
  bool FindTrigger(Candidate* c) const {
    int latest = LatestBefore(c->before);
    if (latest < memory_.peak_at) latest = c->before - 1;
    for (; latest >= memory_.peak_at; --latest) {
      const Node* const node = order_.At(latest).back();
      if (!order_.IsCertain(*node) || copies_.IsCopy(*node)) continue;
      if (order_.UnitOf(latest) != order_.UnitOf(c->before)) continue;
      c->trigger = graph_.node(node->id());
      return true;
    }
    return false;
  }

  bool Copy(Node* node, Candidate* c) const {
    if (!CanBeCopied(*node, *c)) return false;
    for (const Output& in : node->inputs()) {
      if (!Need(in, c)) return false;
    }
    c->nodes.push_back(node);
    c->cost += costs_.Of(*node);
    return c->nodes.size() <= kMostCopies;
  }

  bool CanBeCopied(const Node& node, const Candidate& c) const {
    const RecomputeCost cost = node.traits().recompute_cost;
    return cost != RecomputeCost::kNever && cost <= most_ && IsPure(node) &&
           order_.IsCertain(node) && !options_.keep.contains(node.name()) &&
           !copies_.IsCopy(node) && copies_.Of(node) == nullptr &&
           node.assigned_device() == c.results[0].node->assigned_device();
  }

  // Whether the tensor is available when a copy runs.
  bool Need(const Output& tensor, Candidate* c) const {
    if (IsAlwaysThere(*tensor.node) || Contains(c->sources, tensor)) return true;
    if (Contains(c->nodes, tensor.node)) return true;
    if (IsKept(tensor, *c)) {
      c->sources.push_back(tensor);
      return true;
    }
    if (Node* copy = copies_.Of(*tensor.node)) return NeedSooner(copy, c);
    return Copy(tensor.node, c);
  }

  bool IsAlwaysThere(const Node& node) const {
    const OpKind kind = OpKindOf(node);
    return kind == OpKind::kConstant || kind == OpKind::kFeed ||
           (ReadsVariable(node) && order_.IsCertain(node));
  }

  // Whether the tensor is fetched, or another node reads it at least as late.
  bool IsKept(const Output& tensor, const Candidate& c) const {
    if (Contains(c.results, tensor)) return false;
    const auto uses = tensor.node->uses();
    return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
      return use.src_output == tensor.index &&
             (IsFetch(*use.dst) || order_.NumberOf(*use.dst) >= c.before);
    });
  }

  // Notes that existing `copy` must run sooner, as must the copies that it reads. It also reads
  // tensors of the forward pass, which become sources. Returns false if one of these is to be
  // released.
  bool NeedSooner(Node* copy, Candidate* c) const {
    if (Contains(c->sooner, copy)) return true;
    c->sooner.push_back(copy);
    for (const Output& in : copy->inputs()) {
      if (copies_.IsCopy(*in.node)) {
        if (!NeedSooner(in.node, c)) return false;
      } else if (!IsAlwaysThere(*in.node) && !Contains(c->sources, in)) {
        if (Contains(c->results, in)) return false;
        c->sources.push_back(in);
      }
    }
    return true;
  }

  const Graph& graph_;
  const PassOptions& options_;
  const Plan& plan_;
  const MemoryPlan& memory_;
  const StepOrder& order_;
  const NodeCopies& copies_;
  const RecomputeCost most_;
  const CopyCosts costs_;
};

// The first of `candidates` that together have `bytes` and do not depend on each other.
std::vector<Candidate> Choose(const std::vector<Candidate>& candidates, int64_t bytes) {
  std::vector<Candidate> chosen;
  std::set<const Node*> copied, needed;
  for (const Candidate& c : candidates) {
    if (bytes <= 0) break;
    const auto is_needed = [&](const Node* node) { return needed.contains(node); };
    const auto is_copied = [&](const Output& source) { return copied.contains(source.node); };
    if (std::any_of(c.nodes.begin(), c.nodes.end(), is_needed)) continue;
    if (std::any_of(c.sources.begin(), c.sources.end(), is_copied)) continue;
    for (const Output& source : c.sources) needed.insert(source.node);
    // No other candidate may copy them too.
    copied.insert(c.nodes.begin(), c.nodes.end());
    needed.insert(c.nodes.begin(), c.nodes.end());
    bytes -= c.bytes;
    chosen.push_back(c);
  }
  return chosen;
}

class Rematerializer {
 public:
  Rematerializer(Graph& graph, const PassOptions& options)
      : graph_(graph),
        options_(options),
        limit_(options.memory_limit_bytes),
        planner_(*options.planner),
        copies_(graph) {}

  absl::StatusOr<int> Run() {
    SLUICE_ASSIGN_OR_RETURN(step_, planner_.Plan());
    if (step_.memory.peak_bytes <= limit_) return 0;
    SLUICE_ASSIGN_OR_RETURN(order_, StepOrder::Of(*step_.plan));
    SLUICE_RETURN_IF_ERROR(ReleaseEarly());
    for (const RecomputeCost most : {RecomputeCost::kElements, RecomputeCost::kProduct}) {
      bool goes_on = true;
      while (goes_on && plans_ < kMostPlans && step_.memory.peak_bytes > limit_) {
        SLUICE_ASSIGN_OR_RETURN(goes_on, Improve(most));
      }
    }
    if (copies_.size() > 0 && !options_.IsDisabled("unused_nodes")) {
      // Removes originals that only late readers used.
      SLUICE_ASSIGN_OR_RETURN(const int removed, RemoveUnusedNodes(graph_, options_));
      if (removed > 0) is_planned_ = false;
    }
    if (!is_planned_) SLUICE_RETURN_IF_ERROR(planner_.Plan().status());
    return copies_.size();
  }

 private:
  // Costs nothing, so it comes first.
  absl::Status ReleaseEarly() {
    const auto edges = EdgesOfEarlyReaders(graph_, step_.memory, *order_);
    if (edges.empty()) return absl::OkStatus();
    for (const auto& [from, to] : edges) graph_.AddControlEdge(from, to);
    SLUICE_ASSIGN_OR_RETURN(const bool is_better, Plan());
    for (const auto& [from, to] : edges) {
      if (!is_better) graph_.RemoveControlEdge(from, to);
    }
    return absl::OkStatus();
  }

  // Lowers the peak, or returns false. If a rewrite does not lower it, tries half of the rewrite.
  absl::StatusOr<bool> Improve(RecomputeCost most) {
    std::vector<Candidate> candidates =
        Finder(graph_, options_, step_, *order_, copies_, most).Find();
    const int64_t excess = step_.memory.peak_bytes - limit_;
    std::vector<Candidate> chosen = Choose(candidates, excess);
    while (!chosen.empty() && plans_ < kMostPlans) {
      SLUICE_ASSIGN_OR_RETURN(const bool is_better, Try(chosen));
      if (is_better) return true;
      if (chosen.size() > 1) {
        chosen.resize(chosen.size() / 2);
      } else {
        std::erase_if(candidates,
                      [&](const Candidate& c) { return c.results[0] == chosen[0].results[0]; });
        chosen = Choose(candidates, excess);
      }
    }
    return false;
  }

  absl::StatusOr<bool> Try(const std::vector<Candidate>& chosen) {
    for (const Candidate& c : chosen) SLUICE_RETURN_IF_ERROR(Rewrite(c));
    SLUICE_ASSIGN_OR_RETURN(const bool is_better, Plan());
    if (is_better) {
      copies_.Keep();
    } else {
      SLUICE_RETURN_IF_ERROR(copies_.Undo());
    }
    return is_better;
  }

  // Whether the graph as it is now needs less memory, for the same bits.
  absl::StatusOr<bool> Plan() {
    ++plans_;
    is_planned_ = false;
    absl::StatusOr<PlannedStep> next = planner_.Plan();
    if (!next.ok() || next->memory.peak_bytes >= step_.memory.peak_bytes) return false;
    // Both orders are of the graph as it is now, because a term may be a copy.
    SLUICE_ASSIGN_OR_RETURN(const StepOrder before, StepOrder::Of(*step_.plan));
    SLUICE_ASSIGN_OR_RETURN(StepOrder after, StepOrder::Of(*next->plan));
    if (before.sums() != after.sums()) return false;
    step_ = *std::move(next);
    order_ = std::move(after);
    is_planned_ = true;
    return true;
  }

  absl::Status Rewrite(const Candidate& c) {
    for (const Node* node : c.nodes) {
      SLUICE_RETURN_IF_ERROR(copies_.Add(*node, c.trigger, c.sources));
    }
    for (Node* copy : c.sooner) {
      if (order_->NumberOf(*c.trigger) < order_->NumberOf(*copies_.TriggerOf(*copy))) {
        copies_.SetTrigger(copy, c.trigger);
      }
    }
    for (const Use& use : c.late_uses) SLUICE_RETURN_IF_ERROR(copies_.Redirect(use));
    return absl::OkStatus();
  }

  Graph& graph_;
  const PassOptions& options_;
  const int64_t limit_;
  StepPlanner& planner_;
  NodeCopies copies_;
  PlannedStep step_;
  std::optional<StepOrder> order_;  // of step_, if that needs too much
  int plans_ = 0;
  bool is_planned_ = true;  // the last plan is that of the graph
};

}  // namespace

absl::StatusOr<int> Rematerialize(Graph& graph, const PassOptions& options) {
  return Rematerializer(graph, options).Run();
}

}  // namespace sluice

#include "executor/passes/rematerialize.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "executor/passes/copy_costs.h"
#include "executor/passes/early_readers.h"
#include "executor/passes/node_copies.h"
#include "executor/passes/purity.h"
#include "executor/passes/step_order.h"
#include "executor/passes/unused_nodes.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr int kMostPlans = 64;
// Of one tensor: longer chains of inputs are not worth it.
constexpr size_t kMostCopies = 32;
// Smaller parts of the peak are left where they are.
constexpr int64_t kSmallestPart = 10'000;

template <typename T>
bool Contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// A tensor that could go, and what it takes to have it again.
struct Candidate {
  int64_t bytes = 0;
  double cost = 0;
  std::vector<Output> results;                   // that lie in it and are read late
  std::vector<Use> late_uses;                    // of them
  int before = std::numeric_limits<int>::max();  // number of the first of these
  Node* trigger = nullptr;
  std::vector<Node*> nodes;     // to be copied, inputs first
  std::vector<Output> sources;  // what the copies read, and what is alive then anyway
  std::vector<Node*> sooner;    // copies that there are, and that are needed by then

  double value() const { return static_cast<double>(bytes) / (cost + 1); }
};

// Finds what could go from the peak of a step.
class Finder {
 public:
  Finder(const Graph& graph, const PassOptions& options, const PlannedStep& step,
         const StepOrder& order, const NodeCopies& copies, Effort most)
      : graph_(graph),
        options_(options),
        plan_(*step.plan),
        memory_(step.memory),
        order_(order),
        copies_(copies),
        most_(most),
        costs_(step.memory) {}

  // The best first.
  std::vector<Candidate> Find() const {
    std::vector<Candidate> found;
    for (const PlannedTensor& tensor : memory_.tensors) {
      if (tensor.bytes * kSmallestPart < memory_.peak_bytes) break;
      if (tensor.made >= memory_.peak_at || tensor.released <= memory_.peak_at) continue;
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

  // False: the peak itself, the caller, or somebody of whom nothing is known reads it.
  bool FindLateUses(const PlannedTensor& tensor, Candidate* c) const {
    for (const Output& result : tensor.results) {
      if (order_.NumberOf(*result.node) > memory_.peak_at) continue;  // it takes the memory over
      bool is_late = false;
      for (const Use& use : result.node->uses()) {
        if (use.src_output != result.index) continue;
        const int number = order_.NumberOf(*use.dst);
        if (number < 0 || number == memory_.peak_at || IsFetch(*use.dst)) return false;
        if (number < memory_.peak_at) continue;
        if (!order_.IsCertain(*use.dst)) return false;
        if (use.dst->assigned_device() != result.node->assigned_device()) return false;
        c->late_uses.push_back(use);
        c->before = std::min(c->before, number);
        is_late = true;
      }
      if (is_late) c->results.push_back(result);
    }
    // What runs in one piece can wait for one of its nodes without waiting for each other.
    return !c->results.empty() &&
           std::all_of(c->late_uses.begin(), c->late_uses.end(), [&](const Use& use) {
             return order_.UnitOf(order_.NumberOf(*use.dst)) == order_.UnitOf(c->before);
           });
  }

  static bool IsFetch(const Node& node) { return OpKindOf(node) == OpKind::kFetch; }

  // The last of what the first reader waits for; where all of that is there before the peak, the
  // last that runs before it.
  bool FindTrigger(Candidate* c) const {
    int latest = -1;
    const auto consider = [&](const Node* node) {
      if (copies_.IsCopy(*node)) node = copies_.TriggerOf(*node);
      const int number = order_.NumberOf(*node);
      if (number < c->before) latest = std::max(latest, number);
    };
    for (const Node* reader : order_.At(c->before)) {
      for (const Output& in : reader->inputs()) consider(in.node);
      for (const Node* control : reader->control_inputs()) consider(control);
    }
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
    const Effort effort = EffortOf(node, plan_.kernels[node.id()].get());
    return effort != Effort::kNever && effort <= most_ && IsPure(node) && order_.IsCertain(node) &&
           !options_.keep.contains(node.name()) && !copies_.IsCopy(node) &&
           copies_.Of(node) == nullptr &&
           node.assigned_device() == c.results[0].node->assigned_device();
  }

  // Whether a copy can have the tensor when it runs.
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

  // Another reads it as late, or it is fetched.
  bool IsKept(const Output& tensor, const Candidate& c) const {
    if (Contains(c.results, tensor)) return false;
    const auto uses = tensor.node->uses();
    return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
      return use.src_output == tensor.index &&
             (IsFetch(*use.dst) || order_.NumberOf(*use.dst) >= c.before);
    });
  }

  // What such a copy reads has been there since the forward pass, or is a copy.
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
  const Effort most_;
  const CopyCosts costs_;
};

// The first of `candidates` that together make up `bytes` and that do not need each other.
std::vector<Candidate> Choose(const std::vector<Candidate>& candidates, int64_t bytes) {
  std::vector<Candidate> chosen;
  std::set<const Node*> gone, needed;
  for (const Candidate& c : candidates) {
    if (bytes <= 0) break;
    const auto is_needed = [&](const Node* node) { return needed.contains(node); };
    const auto is_gone = [&](const Output& source) { return gone.contains(source.node); };
    if (std::any_of(c.nodes.begin(), c.nodes.end(), is_needed)) continue;
    if (std::any_of(c.sources.begin(), c.sources.end(), is_gone)) continue;
    for (const Output& source : c.sources) needed.insert(source.node);
    // No other candidate copies them too.
    gone.insert(c.nodes.begin(), c.nodes.end());
    needed.insert(c.nodes.begin(), c.nodes.end());
    bytes -= c.bytes;
    chosen.push_back(c);
  }
  return chosen;
}

class Rematerializer {
 public:
  Rematerializer(Graph& graph, const PassOptions& options, int64_t limit_bytes, StepPlanner plan)
      : graph_(graph), options_(options), limit_(limit_bytes), plan_(plan), copies_(graph) {}

  absl::StatusOr<PlannedStep> Run() {
    SLUICE_ASSIGN_OR_RETURN(step_, plan_());
    if (step_.memory.peak_bytes <= limit_) return std::move(step_);
    SLUICE_ASSIGN_OR_RETURN(order_, StepOrder::Of(*step_.plan));
    SLUICE_RETURN_IF_ERROR(LetGoEarly());
    for (const Effort most : {Effort::kSmall, Effort::kProduct}) {
      bool goes_on = true;
      while (goes_on && plans_ < kMostPlans && step_.memory.peak_bytes > limit_) {
        SLUICE_ASSIGN_OR_RETURN(goes_on, Improve(most));
      }
    }
    if (!copies_.empty() && !options_.disabled.contains("unused_nodes")) {
      // What was made for late readers only.
      SLUICE_ASSIGN_OR_RETURN(const int removed, RemoveUnusedNodes(graph_, options_));
      if (removed > 0) {
        SLUICE_ASSIGN_OR_RETURN(step_, plan_());
      }
    }
    return std::move(step_);
  }

 private:
  // What costs nothing comes first.
  absl::Status LetGoEarly() {
    const auto edges = EdgesOfEarlyReaders(graph_, step_.memory, *order_);
    if (edges.empty()) return absl::OkStatus();
    for (const auto& [from, to] : edges) graph_.AddControlEdge(from, to);
    SLUICE_ASSIGN_OR_RETURN(const bool is_better, Plan());
    for (const auto& [from, to] : edges) {
      if (!is_better) graph_.RemoveControlEdge(from, to);
    }
    return absl::OkStatus();
  }

  // Lowers the peak, or returns false. Of a rewrite that does not, half is tried.
  absl::StatusOr<bool> Improve(Effort most) {
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

  // Whether the graph as it is now needs less, for the same bits.
  absl::StatusOr<bool> Plan() {
    ++plans_;
    absl::StatusOr<PlannedStep> next = plan_();
    if (!next.ok() || next->memory.peak_bytes >= step_.memory.peak_bytes) return false;
    // Of the graph as it is now: a term may be a copy.
    SLUICE_ASSIGN_OR_RETURN(const StepOrder before, StepOrder::Of(*step_.plan));
    SLUICE_ASSIGN_OR_RETURN(StepOrder after, StepOrder::Of(*next->plan));
    if (before.sums() != after.sums()) return false;
    step_ = *std::move(next);
    order_ = std::move(after);
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
  const StepPlanner plan_;
  NodeCopies copies_;
  PlannedStep step_;
  std::optional<StepOrder> order_;  // of step_, where that needs too much
  int plans_ = 0;
};

}  // namespace

absl::StatusOr<PlannedStep> Rematerialize(Graph& graph, const PassOptions& options,
                                          int64_t limit_bytes, StepPlanner plan) {
  return Rematerializer(graph, options, limit_bytes, plan).Run();
}

}  // namespace sluice

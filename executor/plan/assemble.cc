#include "executor/plan/assemble.h"

#include <algorithm>
#include <map>
#include <utility>

#include "executor/plan/merge_word.h"
#include "executor/plan/slots.h"
#include "graph/ir/variable_use.h"

namespace sluice {
namespace {

bool OnlySends(const DraftItem& item) {
  switch (item.kind) {
    case OpKind::kKernel:
    case OpKind::kDelayed:
      return item.node->traits().runs_when_dead || ReadsVariable(*item.node) || item.inputs.empty();
    case OpKind::kLoop:
    case OpKind::kFused:
      return false;
    default:
      return true;
  }
}

class BodyBuilder {
 public:
  BodyBuilder(const DraftBody& draft, const UnitAssignment& units)
      : draft_(draft),
        units_(units),
        slots_(AssignSlots(draft, units)),
        flags_(draft.items.size(), -1) {}

  Body Build() {
    body_.num_slots = slots_.num_slots;
    body_.handles = slots_.handles;
    body_.num_invariants = static_cast<uint32_t>(draft_.num_invariants);
    body_.frame_name = draft_.frame_name;
    body_.parent = draft_.parent;
    body_.parallel_iterations = draft_.parallel_iterations;
    body_.num_enters = draft_.num_enters;
    body_.phases = draft_.phases;
    AssignFlags();
    size_t num_types = 0;
    for (const DraftItem& item : draft_.items) num_types += item.output_types.size();
    body_.types.reserve(num_types);  // PlanNode::output_types points into it
    for (const UnitAssignment::Members& members : units_.units) AddUnit(members);
    AddEdges();
    for (size_t u = 0; u < body_.units.size(); ++u) {
      const Unit& unit = body_.units[u];
      if (unit.kind == Unit::Kind::kArrival) continue;
      const bool ready =
          unit.kind == Unit::Kind::kMerge ? merge_word::IsReady(unit.pending) : unit.pending == 0;
      if (ready) body_.roots.push_back(static_cast<uint32_t>(u));
    }
    return std::move(body_);
  }

 private:
  // A node needs a flag if it may be dead and another node has it as a control input.
  void AssignFlags() {
    for (const DraftItem& item : draft_.items) {
      for (int c : item.controls) {
        const DraftItem& from = draft_.items[c];
        const bool may_be_dead = from.may_be_dead || from.kind == OpKind::kArrival ||
                                 from.kind == OpKind::kLoop || from.kind == OpKind::kLoopVariable;
        if (may_be_dead && from.kind != OpKind::kControlTrigger && flags_[c] < 0) {
          flags_[c] = static_cast<int32_t>(body_.num_flags++);
        }
      }
    }
  }

  void AddUnit(const UnitAssignment::Members& members) {
    Unit unit;
    unit.kind = members.kind;
    unit.may_be_dead = members.may_be_dead;
    unit.only_sends = std::all_of(members.items.begin(), members.items.end(),
                                  [&](int i) { return OnlySends(draft_.items[i]); });
    unit.first_node = static_cast<uint32_t>(body_.nodes.size());
    unit.num_nodes = static_cast<uint32_t>(members.items.size());
    if (unit.kind == Unit::Kind::kAsync) unit.async_index = body_.num_async++;
    if (unit.kind == Unit::Kind::kArrival) unit.invariant = draft_.items[members.items[0]].aux;
    for (int i : members.items) AddNode(i);
    unit.first_copy = static_cast<uint32_t>(body_.copies.size());
    const std::vector<SlotCopy>& copies = slots_.copies[body_.units.size()];
    unit.num_copies = static_cast<uint32_t>(copies.size());
    body_.copies.insert(body_.copies.end(), copies.begin(), copies.end());
    body_.units.push_back(unit);
  }

  void AddNode(int i) {
    const DraftItem& item = draft_.items[i];
    const SlotPlan::Item& placed = slots_.items[i];
    PlanNode& node = body_.nodes.emplace_back();
    node.kernel = item.kernel;
    node.node = item.node;
    node.kind = item.kernel != nullptr && item.kernel->AsAsync() ? OpKind::kAsync : item.kind;
    node.aux = static_cast<uint32_t>(item.aux);
    node.movable = placed.movable;
    node.first_input = static_cast<uint32_t>(body_.inputs.size());
    node.num_inputs = static_cast<uint16_t>(item.inputs.size());
    body_.inputs.insert(body_.inputs.end(), placed.inputs.begin(), placed.inputs.end());
    node.first_output = placed.first_output;
    node.num_outputs = static_cast<uint16_t>(item.output_types.size());
    node.output_types = body_.types.data() + body_.types.size();
    for (DataType t : item.output_types) body_.types.push_back(BaseType(t));
    node.first_release = static_cast<uint32_t>(body_.releases.size());
    node.num_releases = static_cast<uint16_t>(placed.releases.size());
    body_.releases.insert(body_.releases.end(), placed.releases.begin(), placed.releases.end());
    SetFlags(item, placed, node);
    AddDeadness(i);
  }

  static void SetFlags(const DraftItem& item, const SlotPlan::Item& placed, PlanNode& node) {
    for (const DraftInput& in : item.inputs) {
      if (in.is_ref) node.flags |= PlanNode::kHasRefs;
    }
    const bool is_merge = item.kind == OpKind::kMerge || item.kind == OpKind::kLoopVariable;
    if (is_merge && std::find(placed.releases.begin(), placed.releases.end(),
                              placed.first_output + 1) == placed.releases.end()) {
      node.flags |= PlanNode::kNeedsIndex;
    }
    if (item.is_scalar_loop) node.flags |= PlanNode::kScalarLoop;
    const bool has_op = item.kind != OpKind::kLoop && item.kind != OpKind::kArrival;
    if (has_op && item.node->traits().runs_when_dead) node.flags |= PlanNode::kRunsWhenDead;
  }

  void AddDeadness(int i) {
    NodeDeadness deadness;
    deadness.flag = flags_[i];
    deadness.first_control = static_cast<uint32_t>(body_.controls.size());
    for (int c : draft_.items[i].controls) {
      if (flags_[c] >= 0) body_.controls.push_back(static_cast<uint32_t>(flags_[c]));
    }
    deadness.num_controls = static_cast<uint32_t>(body_.controls.size()) - deadness.first_control;
    body_.deadness.push_back(deadness);
  }

  void AddEdges() {
    std::vector<std::vector<UnitEdge>> edges(body_.units.size());
    FindUnitsBefore();
    for (size_t u = 0; u < body_.units.size(); ++u) {
      if (body_.units[u].kind == Unit::Kind::kMerge) {
        AddMergeEdges(static_cast<int>(u), &edges);
      } else {
        AddPlainEdges(static_cast<int>(u), &edges);
      }
    }
    for (size_t u = 0; u < body_.units.size(); ++u) {
      for (UnitEdge& edge : edges[u]) {
        if (edge.kind == UnitEdge::kPlain && body_.units[edge.unit].pending == 1) {
          edge.kind = UnitEdge::kOnly;
        }
      }
      body_.units[u].first_edge = static_cast<uint32_t>(body_.edges.size());
      body_.units[u].num_edges = static_cast<uint32_t>(edges[u].size());
      body_.edges.insert(body_.edges.end(), edges[u].begin(), edges[u].end());
    }
  }

  // Merge units have no entry, because they run before all their inputs have arrived.
  void FindUnitsBefore() {
    before_.resize(body_.units.size());
    for (size_t u = 0; u < body_.units.size(); ++u) {
      if (body_.units[u].kind == Unit::Kind::kMerge) continue;
      for (int i : units_.units[u].items) {
        const DraftItem& item = draft_.items[i];
        for (const DraftInput& in : item.inputs) {
          if (in.item >= 0) before_[u].push_back(units_.unit_of[in.item]);
        }
        for (int c : item.controls) before_[u].push_back(units_.unit_of[c]);
      }
      std::vector<int>& before = before_[u];
      std::sort(before.begin(), before.end());
      before.erase(std::unique(before.begin(), before.end()), before.end());
      std::erase(before, static_cast<int>(u));
    }
  }

  // Whether `u` also waits for another unit that waits for `from`.
  bool IsImplied(int from, int u) const {
    constexpr size_t kMostCompared = 32;  // for longer lists the edge does not matter
    const std::vector<int>& all = before_[u];
    if (all.size() > kMostCompared) return false;
    return std::any_of(all.begin(), all.end(), [&](int other) {
      return std::binary_search(before_[other].begin(), before_[other].end(), from);
    });
  }

  void AddPlainEdges(int u, std::vector<std::vector<UnitEdge>>* edges) {
    for (int from : before_[u]) {
      if (IsImplied(from, u)) continue;
      (*edges)[from].push_back({static_cast<uint32_t>(u)});
      ++body_.units[u].pending;
    }
  }

  void AddMergeEdges(int u, std::vector<std::vector<UnitEdge>>* edges) {
    const int i = units_.units[u].items[0];
    const DraftItem& item = draft_.items[i];
    uint64_t pending = 0;
    std::vector<int> before;
    for (int c : item.controls) before.push_back(units_.unit_of[c]);
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (int from : before) {
      (*edges)[from].push_back({static_cast<uint32_t>(u), UnitEdge::kMergeControl});
      pending += merge_word::kControl;
    }
    for (size_t k = 0; k < item.inputs.size(); ++k) {
      const DraftInput& in = item.inputs[k];
      pending += merge_word::kCandidate;
      if (in.item < 0) {
        pending |= merge_word::kLive;  // a constant is always available
        continue;
      }
      (*edges)[units_.unit_of[in.item]].push_back({static_cast<uint32_t>(u), UnitEdge::kMergeData,
                                                   slots_.items[i].inputs[k],
                                                   static_cast<uint32_t>(k)});
    }
    body_.units[u].pending = pending;
  }

  const DraftBody& draft_;
  const UnitAssignment& units_;
  const SlotPlan slots_;
  std::vector<int32_t> flags_;            // by item
  std::vector<std::vector<int>> before_;  // by unit: the units that it waits for
  Body body_;
};

}  // namespace

Body AssembleBody(const DraftBody& draft, const UnitAssignment& units) {
  return BodyBuilder(draft, units).Build();
}

namespace {

// The arrivals of Enters and NextIterations, which are units of the receiving body.
std::map<const Node*, ArrivalPoint> ArrivalsOf(const Draft& draft,
                                               const std::vector<UnitAssignment>& units) {
  std::map<const Node*, ArrivalPoint> arrivals;
  for (size_t b = 0; b < draft.bodies.size(); ++b) {
    const DraftBody& body = draft.bodies[b];
    for (size_t i = 0; i < body.items.size(); ++i) {
      if (body.items[i].kind != OpKind::kArrival) continue;
      arrivals[body.items[i].node] = {static_cast<uint32_t>(b),
                                      static_cast<uint32_t>(units[b].unit_of[i])};
    }
  }
  return arrivals;
}

}  // namespace

void LinkFrames(const Draft& draft, const std::vector<UnitAssignment>& units, Plan* plan) {
  for (size_t b = 0; b < draft.bodies.size(); ++b) {
    const DraftBody& body = draft.bodies[b];
    for (int exit : body.exits) {
      plan->bodies[b].exits.push_back(static_cast<uint32_t>(units[body.parent].unit_of[exit]));
    }
    for (int arrival : body.invariant_items) {
      plan->bodies[b].invariant_units.push_back(static_cast<uint32_t>(units[b].unit_of[arrival]));
    }
  }
  std::map<const Node*, ArrivalPoint> arrivals = ArrivalsOf(draft, units);
  for (Body& body : plan->bodies) {
    for (PlanNode& node : body.nodes) {
      if (node.kind != OpKind::kEnter && node.kind != OpKind::kNextIteration) continue;
      node.aux = static_cast<uint32_t>(plan->arrivals.size());
      plan->arrivals.push_back(arrivals[node.node]);
    }
  }
}

}  // namespace sluice

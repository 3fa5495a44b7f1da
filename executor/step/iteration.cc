#include "executor/plan/merge_word.h"
#include "executor/step/running_step.h"
#include "graph/ir/control_flow.h"
#include "graph/status.h"

namespace sluice {

Iteration::Iteration(UnitScheduler* scheduler, const Plan& plan, const Body& body, Value* feeds,
                     Value* invariants)
    : body(&body), slots(body.num_slots), flags(body.num_flags, 0) {
  // All steps share the constants, which are never movable.
  Value* const bases[4] = {slots.data(), const_cast<Value*>(plan.constants.data()), feeds,
                           invariants};
  inputs.reserve(body.inputs.size());
  for (const ValueRef& ref : body.inputs) inputs.push_back(bases[ref.base] + ref.index);
  pending = std::make_unique<std::atomic<uint64_t>[]>(body.units.size());
  merge_taken.resize(body.units.size());
  if (body.num_async > 0) calls = std::make_unique<AsyncCall[]>(body.num_async);
  for (size_t u = 0; u < body.units.size(); ++u) {
    if (body.units[u].kind != Unit::Kind::kAsync) continue;
    AsyncCall& call = calls[body.units[u].async_index];
    call.scheduler = scheduler;
    call.iteration = this;
    call.unit = static_cast<uint32_t>(u);
  }
}

void Iteration::Clear() {
  for (Value& slot : slots) slot.tensor.Clear();
  children.clear();
}

void Iteration::ResetPending() {
  for (size_t u = 0; u < body->units.size(); ++u) {
    pending[u].store(body->units[u].pending, std::memory_order_relaxed);
  }
}

bool Iteration::MergeInputArrives(const Unit& from, const UnitEdge& edge) {
  std::atomic<uint64_t>& word = pending[edge.unit];
  uint64_t before, after;
  if (edge.kind == UnitEdge::kMergeControl) {
    before = word.fetch_sub(merge_word::kControl, std::memory_order_acq_rel);
    after = before - merge_word::kControl;
  } else {
    const PlanNode& merge = body->nodes[body->units[edge.unit].first_node];
    const size_t input = merge.first_input + edge.merge_input;
    Value& value = *inputs[input];
    const bool is_slot = body->inputs[input].base == ValueRef::kSlot;
    if (value.is_dead) {
      const PlanNode& source = body->nodes[from.first_node];
      const bool is_enter = from.kind == Unit::Kind::kArrival && IsEnter(*source.node);
      before = is_enter ? word.fetch_or(merge_word::kForcedDead, std::memory_order_acq_rel)
                        : word.fetch_sub(merge_word::kCandidate, std::memory_order_acq_rel);
      after = is_enter ? before | merge_word::kForcedDead : before - merge_word::kCandidate;
    } else {
      const uint64_t taken = merge_word::kClaimed | merge_word::kLive | merge_word::kForcedDead;
      if ((word.fetch_or(merge_word::kClaimed, std::memory_order_acq_rel) & taken) != 0) {
        if (is_slot) value.tensor.Clear();
        return false;
      }
      Value& output = slots[merge.first_output];
      if (is_slot) {
        output = std::move(value);
      } else {
        output = value;
      }
      merge_taken[edge.unit] = static_cast<int32_t>(edge.merge_input);
      before = word.fetch_or(merge_word::kLive, std::memory_order_acq_rel);
      after = before | merge_word::kLive;
    }
  }
  return !merge_word::IsReady(before) && merge_word::IsReady(after);
}

absl::Status OutputError(const PlanNode& node, int i, const Tensor& output) {
  if (output.dtype() == DT_INVALID) {
    return absl::InternalError(
        StrCat("Missing ", i, "-th output from {{node ", node.node->name(), "}}"));
  }
  return absl::InternalError(StrCat(node.node->Describe(), ": output ", i, " declared as ",
                                    DataTypeName(node.output_types[i]), ", got ",
                                    DataTypeName(output.dtype())));
}

LoopState::LoopState(const Plan& plan, const Loop& loop, bool in_phases, Value* feeds)
    : invariants(loop.num_invariants),
      carried(loop.num_variables),
      iteration(nullptr, plan, plan.bodies[in_phases ? loop.phased_body : loop.body], feeds,
                invariants.data()) {}

}  // namespace sluice

// Runs simple loops, which are one node of their parent. Their iterations run one after another on
// one thread.
#include <algorithm>
#include <utility>

#include "executor/plan/error_at.h"
#include "executor/step/running_step.h"
#include "graph/ir/frame_id.h"
#include "graph/status.h"

namespace sluice {

absl::Status NodeRunner::RunLoop(const Call& call) {
  const Loop& loop = state_.plan->loops[call.node.aux];
  const auto is_alive = [](const Value* v) { return !v->is_dead; };
  const bool in_phases = loop.phased_body != 0 && state_.observer == nullptr &&
                         std::all_of(call.inputs, call.inputs + call.node.num_inputs, is_alive);
  std::atomic<LoopState*>& spare = spare_loops_[2 * call.node.aux + (in_phases ? 1 : 0)];
  std::unique_ptr<LoopState> state(spare.exchange(nullptr));
  if (state == nullptr) {
    state = std::make_unique<LoopState>(*state_.plan, loop, in_phases, state_.feeds.data());
  }
  for (uint32_t i = 0; i < loop.num_variables; ++i) call.Pass(i, state->carried[i]);
  for (uint32_t i = 0; i < loop.num_invariants; ++i) {
    call.Pass(loop.num_variables + i, state->invariants[i]);
  }
  state->outputs = call.outputs;
  for (int i = 0; i < call.node.num_outputs; ++i) call.outputs[i].is_dead = true;
  Iteration& it = state->iteration;
  it.frame_id = FrameId(call.it.frame_id, call.it.number, it.body->frame_name_hash);
  it.number = 0;
  const bool ok =
      in_phases ? IterateInPhases(*state, call.worker) : IterateWithDeadness(*state, call.worker);
  if (!ok || in_phases) it.Clear();
  for (Value& v : state->invariants) v.tensor.Clear();
  for (Value& v : state->carried) v.tensor.Clear();
  delete spare.exchange(state.release());
  return ok ? absl::OkStatus() : absl::CancelledError("the loop's body has failed");
}

bool NodeRunner::IterateWithDeadness(LoopState& loop, Worker& worker) {
  Iteration& it = loop.iteration;
  if (it.body->units.empty()) return true;  // a frame that only has Enter nodes
  const NodeRange all{0, it.body->units[0].num_nodes};
  do {
    loop.goes_on = false;
    if (!RunRange<true>(it, all, &loop, worker)) return false;
    ++it.number;
  } while (loop.goes_on);
  return true;
}

bool NodeRunner::IterateInPhases(LoopState& loop, Worker& worker) {
  Iteration& it = loop.iteration;
  const LoopPhases& phases = it.body->phases;
  const PlanNode* const nodes = it.body->nodes.data();
  const PlanNode& condition = nodes[phases.condition];
  const auto end = static_cast<uint32_t>(it.body->nodes.size());
  for (;; ++it.number) {
    if (state_.HasFailed()) return false;
    if (state_.needs_care && state_.IsOverdue()) {
      state_.TimeOut();
      return false;
    }
    for (uint32_t n = 0; n < phases.num_variables; ++n) {
      it.slots[nodes[n].first_output] = std::move(loop.carried[nodes[n].aux]);
      it.Release(nodes[n]);
    }
    if (!RunRange<false>(it, {phases.num_variables, phases.condition}, &loop, worker)) return false;
    const Tensor& value = it.inputs[condition.first_input]->tensor;
    if (!value.shape().IsScalar()) [[unlikely]] {
      FailCondition(condition, value);
      return false;
    }
    const bool goes_on = value.scalar<bool>();
    it.Release(condition);
    if (!goes_on) return RunRange<false>(it, {phases.first_false, end}, &loop, worker);
    if (!RunRange<false>(it, {phases.condition + 1, phases.first_carry}, &loop, worker)) {
      return false;
    }
    for (uint32_t n = phases.first_carry; n < phases.first_false; ++n) {
      const PlanNode& node = nodes[n];
      Value& source = *it.inputs[node.first_input];
      Value& carried = loop.carried[node.aux];
      if ((node.movable & 1) != 0) {
        carried = std::move(source);
      } else {
        carried = source;
      }
      it.Release(node);
    }
  }
}

// Reports the error at the Switch that reads the condition, as a loop without phases does.
void NodeRunner::FailCondition(const PlanNode& condition, const Tensor& value) {
  const auto uses = condition.node->uses();
  const auto at = std::find_if(uses.begin(), uses.end(), [](const Use& use) {
    return OpKindOf(*use.dst) == OpKind::kSwitch;
  });
  state_.Cancel(ErrorAt(at == uses.end() ? *condition.node : *at->dst, PredicateError(value)),
                condition.device);
}

}  // namespace sluice

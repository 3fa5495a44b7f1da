#include "executor/step/iteration.h"

namespace sluice {

Iteration::Iteration(Step* step, const Plan& plan, const Body& body, Value* feeds,
                     Value* invariants)
    : body(&body), slots(body.num_slots), flags(body.num_flags, 0) {
  // Constants are shared by all steps: kernels never get them as movable.
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
    call.step = step;
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

LoopState::LoopState(Step* step, const Plan& plan, const Loop& loop, bool in_phases, Value* feeds)
    : invariants(loop.num_invariants),
      carried(loop.num_variables),
      iteration(step, plan, plan.bodies[in_phases ? loop.phased_body : loop.body], feeds,
                invariants.data()) {}

}  // namespace sluice

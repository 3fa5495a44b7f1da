// Asynchronous kernels: start them, and go on when they have answered.
#include <utility>

#include "executor/cpu/steady_time.h"
#include "executor/step/node_values.h"
#include "executor/step/step.h"
#include "graph/status.h"

namespace sluice {
namespace {

// The call that this thread is about to start.
thread_local AsyncCall* t_starting = nullptr;

}  // namespace

void Step::StartAsync(Iteration& it, const Unit& unit, Worker& worker) {
  const PlanNode& node = it.body->nodes[unit.first_node];
  const int32_t flag = it.body->deadness[unit.first_node].flag;
  const bool is_dead = unit.may_be_dead && IsDead(it, node);
  if (flag >= 0) it.flags[flag] = is_dead;
  if (is_dead) {
    PassDeadness(it, node, worker);
    Release(it, node);
    Complete(it, unit, worker);
    return;
  }
  AsyncCall& call = it.calls[unit.async_index];
  Value* const* inputs = it.inputs.data() + node.first_input;
  if ((node.flags & PlanNode::kHasRefs) != 0) {
    call.read.resize(node.num_inputs);
    call.inputs.assign(inputs, inputs + node.num_inputs);
    absl::Status status = ReadRefs(it, node, call.read.data(), call.inputs.data(), worker);
    if (!status.ok()) {
      if (worker.awaited != nullptr) return GoOnLater({&it, call.unit}, worker);
      Fail(node, status);
      Ended(it, 0, worker);
      return;
    }
    inputs = call.inputs.data();
  }
  Value* const outputs = it.slots.data() + node.first_output;
  for (int i = 0; i < node.num_outputs; ++i) outputs[i].is_dead = false;
  call.context.emplace(contexts_[node.device], *node.node, inputs, node.num_inputs, node.movable,
                       outputs, node.num_outputs, node.output_types);
  call.context->frame_id = it.frame_id;
  call.context->iteration = it.number;
  call.context->is_input_dead = unit.may_be_dead && HasDeadInput(it, node);
  call.start_ns = observer_ != nullptr ? SteadyNowNs() : 0;
  call.state.store(AsyncCall::kStarting, std::memory_order_relaxed);
  call.is_answered = false;
  AsyncCall* const outer = std::exchange(t_starting, &call);
  node.kernel->AsAsync()->ComputeAsync(*call.context, [&call](absl::Status status) {
    call.step->OnAsyncDone(call, std::move(status));
  });
  t_starting = outer;
  // If it has answered already, go on here; from then on `call` belongs to whoever calls `done`.
  if (call.is_answered ||
      call.state.exchange(AsyncCall::kReturned, std::memory_order_acq_rel) == AsyncCall::kDone) {
    EndAsync(it, unit, worker);
  }
}

void Step::OnAsyncDone(AsyncCall& call, absl::Status status) {
  call.status = std::move(status);
  if (observer_ != nullptr) call.end_ns = SteadyNowNs();
  if (t_starting == &call) {
    call.is_answered = true;
    return;
  }
  if (call.state.exchange(AsyncCall::kDone, std::memory_order_acq_rel) == AsyncCall::kReturned) {
    PushShared({call.iteration, call.unit, /*ended=*/true});
  }
}

void Step::EndAsync(Iteration& it, const Unit& unit, Worker& worker) {
  const PlanNode& node = it.body->nodes[unit.first_node];
  AsyncCall& call = it.calls[unit.async_index];
  Value* const outputs = it.slots.data() + node.first_output;
  call.context.reset();
  for (Value& v : call.read) v.tensor.Clear();
  absl::Status status = std::exchange(call.status, absl::OkStatus());
  if (status.ok()) status = CheckOutputs(node, outputs);
  if (status.ok() && observer_ != nullptr) {
    status = observer_->OnNode({node, call.start_ns, call.end_ns, nullptr, outputs});
  }
  if (!status.ok()) {
    Fail(node, status);
    Ended(it, 0, worker);
    return;
  }
  Release(it, node);
  Complete(it, unit, worker);
}

}  // namespace sluice

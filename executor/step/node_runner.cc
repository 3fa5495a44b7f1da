// The inner loop of a step: runs the nodes of a unit one after another.
#include <mutex>
#include <utility>

#include "absl/strings/cord.h"
#include "executor/cpu/steady_time.h"
#include "executor/fusion/fused_elementwise.h"
#include "executor/kernel/deferred_updates.h"
#include "executor/kernel/elementwise_loops.h"
#include "executor/kernel/matrix_tiles.h"
#include "executor/plan/merge_word.h"
#include "executor/step/running_step.h"
#include "executor/wait/crash_report.h"
#include "executor/wait/out_of_memory.h"
#include "graph/status.h"

namespace sluice {
namespace {

// The asynchronous call that this thread is starting.
thread_local AsyncCall* t_starting = nullptr;

// Runs deferred updates unless the node accepts them. Returns whether the variable is initialized.
bool SettleVariable(const PlanNode& node, ValueRef ref, Tensor* variable, const StepContext& step) {
  if (!ref.dereference) {
    // The kernel of such a node settles the variable under its own lock.
    if (node.node->def().allows_uninitialized_input) return false;
    if (node.node->AttrOr<bool>(kTakesDeferredAttr, false)) return WhoHas(variable) != nullptr;
  }
  SettleDeferred(variable, step);
  return variable->IsInitialized();
}

absl::Status Uninitialized(const PlanNode& node, int input) {
  // The node of a loop is one of its Enters.
  const Node* source = node.node->input(node.kind == OpKind::kLoop ? 0 : input).node;
  absl::Status status = absl::FailedPreconditionError(
      StrCat("Attempting to use uninitialized value ", source->name()));
  status.SetPayload(kUninitializedPayload, absl::Cord(source->name()));
  return status;
}

}  // namespace

NodeRunner::NodeRunner(StepState& state, DynamicFrames& frames)
    : state_(state), frames_(frames), spare_loops_(2 * state.plan->loops.size()) {}

NodeRunner::~NodeRunner() {
  for (std::atomic<LoopState*>& loop : spare_loops_) delete loop.load();
}

inline absl::Status NodeRunner::CallKernel(const Call& call) {
  const PlanNode& node = call.node;
  KernelContext context(state_.contexts[node.device], *node.node, call.inputs, node.num_inputs,
                        call.movable, call.outputs, node.num_outputs, node.output_types);
  context.frame_id = call.it.frame_id;
  context.iteration = call.it.number;
  if ((node.flags & PlanNode::kRunsWhenDead) != 0) [[unlikely]] {
    context.is_input_dead = HasDeadInput(call.it, node);
  }
  const RunningNode running(node.node->name().c_str(), node.node->op().c_str(), state_.step_id);
  absl::Status status = OrOutOfMemory([&] { return node.kernel->Compute(context); });
  if (!status.ok()) [[unlikely]] {
    call.worker.awaited = context.TakeAwaited();
    return status;
  }
  return CheckOutputs(node, call.outputs);
}

// Computes an elementwise kernel on scalars without the cost of a kernel call. Returns false and
// does nothing if the operands are not scalars. Flattened, because calls of Tensor's methods cost.
[[gnu::flatten]] inline bool NodeRunner::TryScalarLoop(Iteration& it, const PlanNode& node) {
  const ElementwiseLoops& loops = static_cast<const ElementwiseLoopKernel*>(node.kernel)->loops();
  Value* const* const inputs = it.inputs.data() + node.first_input;
  Tensor& x = inputs[0]->tensor;
  Tensor& y = inputs[node.num_inputs - 1]->tensor;
  if (!x.shape().IsScalar() || !y.shape().IsScalar()) return false;
  const void* const x_data = x.raw();
  const void* const y_data = y.raw();
  Tensor& out = it.slots[node.first_output].tensor;
  const DataType dtype = node.output_types[0];
  const uint64_t movable = loops.in_size == loops.out_size ? node.movable : 0;
  if (!((movable & 1) != 0 && out.TakeOverScalar(dtype, loops.out_size, x)) &&
      !((movable & 2) != 0 && out.TakeOverScalar(dtype, loops.out_size, y)) &&
      !out.Reuse(dtype, TensorShape())) {
    Buffer* const buffer = Buffer::New(*state_.environment.allocator, dtype, 1);
    if (buffer == nullptr) return false;
    out.Reset(dtype, TensorShape(), BufferRef(buffer));
  }
  if (loops.one != nullptr) {
    loops.one(x_data, out.raw(), 1);
  } else {
    loops.ComputeScalars(x_data, y_data, out.raw());
  }
  return true;
}

Outcome NodeRunner::RunSegment(Iteration& it, const Unit& unit, uint32_t first, Worker& worker) {
  const NodeRange range{unit.first_node + first, unit.first_node + unit.num_nodes};
  const bool is_done = unit.may_be_dead ? RunRange<true>(it, range, nullptr, worker)
                                        : RunRange<false>(it, range, nullptr, worker);
  if (is_done) return Outcome::kDone;
  return worker.awaited != nullptr ? Outcome::kClaimTaken : Outcome::kFailed;
}

inline absl::Status NodeRunner::Dispatch(const Call& call) {
  if (state_.needs_care || (call.node.flags & PlanNode::kHasRefs) != 0) [[unlikely]] {
    return DispatchWithCare(call);
  }
  return call.node.kind == OpKind::kKernel ? CallKernel(call) : CallBuiltin(call);
}

// If a claim is taken and the thread cannot leave the node for another one, waits here.
inline absl::Status NodeRunner::DispatchUntilFree(const Call& call) {
  absl::Status status = Dispatch(call);
  if (call.loop == nullptr && !call.worker.has_only_segment) return status;
  while (!status.ok() && call.worker.awaited != nullptr) {
    const std::shared_ptr<Claim> claim = std::exchange(call.worker.awaited, nullptr);
    const Claim::Turn turn(*claim);
    status = Dispatch(call);
  }
  return status;
}

template <bool kDeadness>
bool NodeRunner::RunRange(Iteration& it, NodeRange range, LoopState* loop, Worker& worker) {
  const Body& body = *it.body;
  for (uint32_t n = range.begin; n < range.end; ++n) {
    const PlanNode& node = body.nodes[n];
    if (state_.HasFailed()) [[unlikely]] {
      return false;
    }
    Value* const outputs = it.slots.data() + node.first_output;
    if constexpr (kDeadness) {
      const int32_t flag = body.deadness[n].flag;
      const bool is_dead = IsDead(it, node);
      if (flag >= 0) it.flags[flag] = is_dead;
      if (is_dead) {
        PassDeadness(it, node, worker);
        it.Release(node);
        continue;
      }
      for (int i = 0; i < node.num_outputs; ++i) outputs[i].is_dead = false;
    }
    const bool is_plain = !state_.needs_care && (node.flags & PlanNode::kHasRefs) == 0;
    if (!is_plain || (node.flags & PlanNode::kScalarLoop) == 0 || !TryScalarLoop(it, node)) {
      const Call call{it,   node,  it.inputs.data() + node.first_input, node.movable, outputs,
                      loop, worker};
      if (absl::Status status = DispatchUntilFree(call); !status.ok()) [[unlikely]] {
        if (worker.awaited == nullptr) state_.Fail(node, status);
        worker.stopped_at = n;
        return false;
      }
    }
    it.Release(node);
  }
  return true;
}
template bool NodeRunner::RunRange<true>(Iteration&, NodeRange, LoopState*, Worker&);
template bool NodeRunner::RunRange<false>(Iteration&, NodeRange, LoopState*, Worker&);

bool NodeRunner::HasDeadInput(const Iteration& it, const PlanNode& node) {
  const NodeDeadness& deadness = it.body->deadness[&node - it.body->nodes.data()];
  const uint32_t* control = it.body->controls.data() + deadness.first_control;
  for (uint32_t i = 0; i < deadness.num_controls; ++i) {
    if (it.flags[control[i]]) return true;
  }
  if (node.kind == OpKind::kLoop) return false;  // each of its variables is dead or alive
  Value* const* inputs = it.inputs.data() + node.first_input;
  for (int i = 0; i < node.num_inputs; ++i) {
    if (inputs[i]->is_dead) return true;
  }
  return false;
}

bool NodeRunner::IsDead(const Iteration& it, const PlanNode& node) {
  if (node.kind == OpKind::kMerge) {
    Value* const* inputs = it.inputs.data() + node.first_input;
    for (int i = 0; i < node.num_inputs; ++i) {
      if (!inputs[i]->is_dead) return false;
    }
    return true;
  }
  if (node.kind == OpKind::kControlTrigger) return false;
  return (node.flags & PlanNode::kRunsWhenDead) == 0 && HasDeadInput(it, node);
}

void NodeRunner::PassDeadness(Iteration& it, const PlanNode& node, Worker& worker) {
  for (int i = 0; i < node.num_outputs; ++i) it.slots[node.first_output + i].is_dead = true;
  Value dead;
  dead.is_dead = true;
  switch (node.kind) {
    case OpKind::kFetch:
      state_.fetches[node.aux].is_dead = true;
      break;
    case OpKind::kEnter:
      frames_.Enter(it, node, std::move(dead), worker);
      break;
    case OpKind::kExit:
      frames_.Exit(it, node, std::move(dead), worker);
      break;
    default:  // the value of a dead NextIteration is dropped
      break;
  }
}

absl::Status NodeRunner::CallBuiltin(const Call& call) {
  const PlanNode& node = call.node;
  switch (node.kind) {
    case OpKind::kKernel:
      return CallKernel(call);
    case OpKind::kPass:
      call.Pass(0, call.outputs[0]);
      return absl::OkStatus();
    case OpKind::kConstant:
      call.outputs[0].tensor = state_.plan->constants[node.aux].tensor;
      return absl::OkStatus();
    case OpKind::kFetch:
      return StoreFetch(call);
    case OpKind::kSwitch:
      return ChooseBranch(call);
    case OpKind::kMerge:
      return MergeBranches(call);
    case OpKind::kLoop:
      return RunLoop(call);
    case OpKind::kFused:
      return CallFused(call);
    case OpKind::kDelayed:
      return state_.observer == nullptr ? CheckDelayed(call) : CallKernel(call);
    case OpKind::kLoopVariable:
      return SetLoopVariable(call);
    case OpKind::kCarry:
      call.Pass(0, call.loop->carried[node.aux]);
      call.loop->goes_on = true;
      return absl::OkStatus();
    case OpKind::kLeave:
      call.Pass(0, call.loop->outputs[node.aux]);
      return absl::OkStatus();
    case OpKind::kEnter:
    case OpKind::kExit:
    case OpKind::kNextIteration:
      MoveToFrame(call);
      return absl::OkStatus();
    default:  // kNoOp, kControlTrigger
      return absl::OkStatus();
  }
}

// The path of steps with a deadline or an observer, and of nodes with references.
absl::Status NodeRunner::DispatchWithCare(const Call& call) {
  if (state_.IsOverdue()) {
    state_.TimeOut();
    return absl::CancelledError("timed out");
  }
  constexpr size_t kUsualInputs = 12;  // optimizers have most
  absl::InlinedVector<Value, kUsualInputs> read;
  absl::InlinedVector<Value*, kUsualInputs> inputs;
  Call with_values = call;
  if ((call.node.flags & PlanNode::kHasRefs) != 0) {
    read.resize(call.node.num_inputs);
    inputs.assign(call.inputs, call.inputs + call.node.num_inputs);
    SLUICE_RETURN_IF_ERROR(ReadRefs(call.it, call.node, read.data(), inputs.data(), call.worker));
    with_values.inputs = inputs.data();
  }
  NodeObserver* const observer = state_.observer;
  if (observer == nullptr) return CallBuiltin(with_values);
  if (observer->NeedsInputs()) with_values.movable = 0;
  if (call.node.kind == OpKind::kFused) return CallFused(with_values);
  const int64_t start = SteadyNowNs();
  SLUICE_RETURN_IF_ERROR(CallBuiltin(with_values));
  return observer->OnNode({call.node, start, SteadyNowNs(), with_values.inputs, call.outputs});
}

absl::Status NodeRunner::ReadRefs(const Iteration& it, const PlanNode& node, Value* read,
                                  Value** inputs, Worker& worker) const {
  const ValueRef* refs = it.body->inputs.data() + node.first_input;
  for (int i = 0; i < node.num_inputs; ++i) {
    if (!refs[i].is_ref || inputs[i]->is_dead) continue;
    Value& variable = *inputs[i];
    bool is_initialized;
    {
      const std::unique_lock lock(*variable.ref_claim, std::try_to_lock);
      if (!lock) [[unlikely]] {
        worker.awaited = KernelContext::UnownedClaim(variable.ref_claim);
        return absl::AbortedError("waits for a variable");
      }
      is_initialized = variable.ref->IsInitialized();
      if (!is_initialized) [[unlikely]] {
        is_initialized = SettleVariable(node, refs[i], variable.ref, state_.contexts[node.device]);
      }
      if (refs[i].dereference) read[i].tensor = *variable.ref;
    }
    if (!is_initialized && (refs[i].dereference || !node.node->def().allows_uninitialized_input)) {
      return Uninitialized(node, i);
    }
    if (refs[i].dereference) inputs[i] = &read[i];
  }
  return absl::OkStatus();
}

absl::Status NodeRunner::StoreFetch(const Call& call) {
  Value& fetch = state_.fetches[call.node.aux];
  call.Pass(0, fetch);
  if (IsSmallPartOfBuffer(fetch.tensor)) [[unlikely]] {
    SLUICE_ASSIGN_OR_RETURN(fetch.tensor, fetch.tensor.Clone(*state_.environment.allocator));
  }
  return absl::OkStatus();
}

absl::Status NodeRunner::PredicateError(const Tensor& predicate) {
  return InvalidArgument("The second input must be a scalar, but it has shape ",
                         predicate.shape().ToString());
}

absl::Status NodeRunner::ChooseBranch(const Call& call) {
  const Tensor& predicate = call.inputs[1]->tensor;
  if (!predicate.shape().IsScalar()) return PredicateError(predicate);
  // _SwitchN numbers its outputs. The last one also stands for all numbers out of range.
  const int last = call.node.num_outputs - 1;
  int taken = predicate.dtype() == DT_BOOL ? predicate.scalar<bool>() : predicate.scalar<int32_t>();
  if (taken < 0 || taken > last) taken = last;
  call.Pass(0, call.outputs[taken]);
  for (int i = 0; i <= last; ++i) {
    if (i != taken) call.outputs[i].is_dead = true;
  }
  return absl::OkStatus();
}

absl::Status NodeRunner::MergeBranches(const Call& call) {
  int taken = 0;
  while (call.inputs[taken]->is_dead) ++taken;  // one is alive; otherwise the node would be dead
  call.Pass(taken, call.outputs[0]);
  return SetMergeIndex(call.node, taken, call.outputs);
}

Outcome NodeRunner::RunMergeUnit(Iteration& it, const Unit& unit) {
  const PlanNode& node = it.body->nodes[unit.first_node];
  const auto index = static_cast<size_t>(&unit - it.body->units.data());
  const uint64_t word = it.pending[index].load(std::memory_order_acquire);
  Value* const outputs = it.slots.data() + node.first_output;
  const bool is_dead = (word & merge_word::kLive) == 0;
  const int32_t flag = it.body->deadness[unit.first_node].flag;
  if (flag >= 0) it.flags[flag] = is_dead;
  for (int i = 0; i < node.num_outputs; ++i) outputs[i].is_dead = is_dead;
  if (!is_dead) {
    int taken = it.merge_taken[index];
    if ((word & merge_word::kClaimed) == 0) {  // a constant, which is available from the start
      taken = 0;
      while (it.body->inputs[node.first_input + taken].base == ValueRef::kSlot) ++taken;
      outputs[0] = *it.inputs[node.first_input + taken];
    }
    if (const absl::Status status = SetMergeIndex(node, taken, outputs); !status.ok()) {
      state_.Fail(node, status);
      return Outcome::kFailed;
    }
  }
  it.Release(node);
  return Outcome::kDone;
}

absl::Status NodeRunner::SetMergeIndex(const PlanNode& node, int taken, Value* outputs) {
  if ((node.flags & PlanNode::kNeedsIndex) == 0) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(outputs[1].tensor,
                          Tensor::Allocate(*state_.environment.allocator, DT_INT32, TensorShape()));
  outputs[1].tensor.scalar<int32_t>() = taken;
  return absl::OkStatus();
}

absl::Status NodeRunner::SetLoopVariable(const Call& call) {
  Value& carried = call.loop->carried[call.node.aux];
  call.outputs[0] = std::move(carried);
  const bool is_dead = call.outputs[0].is_dead;
  call.outputs[1].is_dead = is_dead;
  carried.is_dead = true;  // until it is carried again
  if (is_dead) return absl::OkStatus();
  return SetMergeIndex(call.node, call.it.number == 0 ? 0 : 1, call.outputs);
}

void NodeRunner::MoveToFrame(const Call& call) {
  Value value;
  call.Pass(0, value);
  switch (call.node.kind) {
    case OpKind::kEnter:
      return frames_.Enter(call.it, call.node, std::move(value), call.worker);
    case OpKind::kExit:
      return frames_.Exit(call.it, call.node, std::move(value), call.worker);
    default:
      return frames_.NextIteration(call.it, call.node, std::move(value), call.worker);
  }
}

absl::Status NodeRunner::CallFused(const Call& call) {
  const FusedElementwise& fused = *state_.plan->fused[call.node.aux];
  const FusedCall values{state_.contexts[call.node.device], call.inputs, call.movable,
                         call.outputs};
  NodeObserver* const observer = state_.observer;
  if (observer == nullptr) return fused.Run(values);
  // An observer sees each node, so the nodes run one by one.
  return fused.RunOneByOne(values,
                           [&](const PlanNode& member, Value* const* inputs, uint64_t movable,
                               Value* output) -> absl::Status {
                             PlanNode node = member;
                             node.device = call.node.device;
                             if (observer->NeedsInputs()) movable = 0;
                             const int64_t start = SteadyNowNs();
                             SLUICE_RETURN_IF_ERROR(CallKernel(
                                 {call.it, node, inputs, movable, output, call.loop, call.worker}));
                             return observer->OnNode({node, start, SteadyNowNs(), inputs, output});
                           });
}

absl::Status NodeRunner::CheckDelayed(const Call& call) {
  const auto* maker = dynamic_cast<const TileMaker*>(call.node.kernel);
  return maker->ShapeOf(call.inputs[0]->tensor, call.inputs[1]->tensor).status();
}

// --- asynchronous nodes

Outcome NodeRunner::StartAsync(Iteration& it, const Unit& unit, Worker& worker) {
  const PlanNode& node = it.body->nodes[unit.first_node];
  const int32_t flag = it.body->deadness[unit.first_node].flag;
  const bool is_dead = unit.may_be_dead && IsDead(it, node);
  if (flag >= 0) it.flags[flag] = is_dead;
  if (is_dead) {
    PassDeadness(it, node, worker);
    it.Release(node);
    return Outcome::kDone;
  }
  AsyncCall& call = it.calls[unit.async_index];
  Value* const* inputs = it.inputs.data() + node.first_input;
  if ((node.flags & PlanNode::kHasRefs) != 0) {
    call.read.resize(node.num_inputs);
    call.inputs.assign(inputs, inputs + node.num_inputs);
    absl::Status status = ReadRefs(it, node, call.read.data(), call.inputs.data(), worker);
    if (!status.ok()) {
      worker.stopped_at = unit.first_node;
      if (worker.awaited != nullptr) return Outcome::kClaimTaken;
      state_.Fail(node, status);
      return Outcome::kFailed;
    }
    inputs = call.inputs.data();
  }
  Value* const outputs = it.slots.data() + node.first_output;
  for (int i = 0; i < node.num_outputs; ++i) outputs[i].is_dead = false;
  call.context.emplace(state_.contexts[node.device], *node.node, inputs, node.num_inputs,
                       node.movable, outputs, node.num_outputs, node.output_types);
  call.context->frame_id = it.frame_id;
  call.context->iteration = it.number;
  call.context->is_input_dead = unit.may_be_dead && HasDeadInput(it, node);
  call.start_ns = state_.observer != nullptr ? SteadyNowNs() : 0;
  call.state.store(AsyncCall::kStarting, std::memory_order_relaxed);
  call.is_answered = false;
  AsyncCall* const outer = std::exchange(t_starting, &call);
  const auto done = [this, &call](absl::Status status) { OnAsyncDone(call, std::move(status)); };
  const absl::Status started =
      OrOutOfMemory([&] { node.kernel->AsAsync()->ComputeAsync(*call.context, done); });
  if (!started.ok() && !call.is_answered) OnAsyncDone(call, started);
  t_starting = outer;
  // If the kernel has answered already, go on here. Otherwise `call` now belongs to the thread that
  // calls `done`.
  if (call.is_answered ||
      call.state.exchange(AsyncCall::kReturned, std::memory_order_acq_rel) == AsyncCall::kDone) {
    return EndAsync(it, unit);
  }
  return Outcome::kPending;
}

void NodeRunner::OnAsyncDone(AsyncCall& call, absl::Status status) {
  call.status = std::move(status);
  if (state_.observer != nullptr) call.end_ns = SteadyNowNs();
  if (t_starting == &call) {
    call.is_answered = true;
    return;
  }
  if (call.state.exchange(AsyncCall::kDone, std::memory_order_acq_rel) == AsyncCall::kReturned) {
    call.scheduler->Share({call.iteration, call.unit, /*has_ended=*/true});
  }
}

Outcome NodeRunner::EndAsync(Iteration& it, const Unit& unit) {
  const PlanNode& node = it.body->nodes[unit.first_node];
  AsyncCall& call = it.calls[unit.async_index];
  Value* const outputs = it.slots.data() + node.first_output;
  call.context.reset();
  for (Value& v : call.read) v.tensor.Clear();
  absl::Status status = std::exchange(call.status, absl::OkStatus());
  if (status.ok()) status = CheckOutputs(node, outputs);
  if (status.ok() && state_.observer != nullptr) {
    status = state_.observer->OnNode({node, call.start_ns, call.end_ns, nullptr, outputs});
  }
  if (!status.ok()) {
    state_.Fail(node, status);
    return Outcome::kFailed;
  }
  it.Release(node);
  return Outcome::kDone;
}

}  // namespace sluice

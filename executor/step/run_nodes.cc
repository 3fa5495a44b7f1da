// The inner loop: nodes one after the other, on values in slots.
#include <algorithm>
#include <utility>

#include "executor/cpu/steady_time.h"
#include "executor/kernel/deferred_updates.h"
#include "executor/kernel/elementwise_loops.h"
#include "executor/kernel/matrix_tiles.h"
#include "executor/plan/error_at.h"
#include "executor/plan/frame_id.h"
#include "executor/plan/fused_elementwise.h"
#include "executor/step/node_values.h"
#include "executor/step/step.h"
#include "graph/status.h"

namespace sluice {
namespace {

absl::Status NotScalar(const Tensor& predicate) {
  return InvalidArgument("The second input must be a scalar, but it has shape ",
                         predicate.shape().ToString());
}

// A variable has no elements. They may be elsewhere, and come back unless the node takes them
// there; whether there are some.
bool BringHome(const PlanNode& node, ValueRef ref, Tensor* variable, const StepContext& step) {
  if (!ref.dereference) {
    // Of these the kernel sees to it, under its own lock.
    if (node.node->def().allows_uninitialized_input) return false;
    if (node.node->AttrOr<bool>(kTakesDeferredAttr, false)) return WhoHas(variable) != nullptr;
  }
  SettleDeferred(variable, step);
  return variable->IsInitialized();
}

}  // namespace

inline void Step::Call::Pass(int input, Value& to) const {
  if (IsMovable(input)) {
    to = std::move(*inputs[input]);
  } else {
    to = *inputs[input];
  }
}

inline absl::Status Step::RunKernel(const Call& call) {
  const PlanNode& node = call.node;
  KernelContext context(contexts_[node.device], *node.node, call.inputs, node.num_inputs,
                        call.movable, call.outputs, node.num_outputs, node.output_types);
  context.frame_id = call.it.frame_id;
  context.iteration = call.it.number;
  if ((node.flags & PlanNode::kRunsWhenDead) != 0) [[unlikely]] {
    context.is_input_dead = HasDeadInput(call.it, node);
  }
  absl::Status status = node.kernel->Compute(context);
  if (!status.ok()) [[unlikely]] {
    call.worker.awaited = context.TakeAwaited();
    return status;
  }
  return CheckOutputs(node, call.outputs);
}

// What an elementwise kernel does with scalars, without the cost of calling it. False where the
// operands are none: nothing is done then.
inline bool Step::RunScalarLoop(Iteration& it, const PlanNode& node) {
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
    Buffer* const buffer = Buffer::New(*environment_.allocator, dtype, 1);
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

bool Step::RunSegment(Iteration& it, const Unit& unit, uint32_t first, Worker& worker) {
  const NodeRange range{unit.first_node + first, unit.first_node + unit.num_nodes};
  return unit.may_be_dead ? RunNodes<true>(it, range, nullptr, worker)
                          : RunNodes<false>(it, range, nullptr, worker);
}

inline absl::Status Step::RunNodeOnce(const Call& call) {
  if (attention_ || (call.node.flags & PlanNode::kHasRefs) != 0) [[unlikely]] {
    return RunCarefully(call);
  }
  return call.node.kind == OpKind::kKernel ? RunKernel(call) : RunBuiltin(call);
}

// Where a variable is taken, and the thread cannot leave the node for another, it waits here.
inline absl::Status Step::RunNode(const Call& call) {
  absl::Status status = RunNodeOnce(call);
  if (call.loop == nullptr && !call.worker.has_only_this) return status;
  while (!status.ok() && call.worker.awaited != nullptr) {
    const std::shared_ptr<Claim> claim = std::exchange(call.worker.awaited, nullptr);
    const Claim::Turn turn(*claim);
    status = RunNodeOnce(call);
  }
  return status;
}

template <bool kDeadness>
bool Step::RunNodes(Iteration& it, NodeRange range, LoopState* loop, Worker& worker) {
  const Body& body = *it.body;
  for (uint32_t n = range.begin; n < range.end; ++n) {
    const PlanNode& node = body.nodes[n];
    if (HasFailed()) [[unlikely]] {
      return false;
    }
    Value* const outputs = it.slots.data() + node.first_output;
    if constexpr (kDeadness) {
      const int32_t flag = body.deadness[n].flag;
      const bool is_dead = IsDead(it, node);
      if (flag >= 0) it.flags[flag] = is_dead;
      if (is_dead) {
        PassDeadness(it, node, worker);
        Release(it, node);
        continue;
      }
      for (int i = 0; i < node.num_outputs; ++i) outputs[i].is_dead = false;
    }
    const bool is_plain = !attention_ && (node.flags & PlanNode::kHasRefs) == 0;
    if (!is_plain || (node.flags & PlanNode::kScalarLoop) == 0 || !RunScalarLoop(it, node)) {
      const Call call{it,   node,  it.inputs.data() + node.first_input, node.movable, outputs,
                      loop, worker};
      if (absl::Status status = RunNode(call); !status.ok()) [[unlikely]] {
        if (worker.awaited == nullptr) Fail(node, status);
        worker.stopped_at = n;
        return false;
      }
    }
    Release(it, node);
  }
  return true;
}

bool Step::HasDeadInput(const Iteration& it, const PlanNode& node) {
  const NodeDeadness& deadness = it.body->deadness[&node - it.body->nodes.data()];
  const uint32_t* control = it.body->controls.data() + deadness.first_control;
  for (uint32_t i = 0; i < deadness.num_controls; ++i) {
    if (it.flags[control[i]]) return true;
  }
  if (node.kind == OpKind::kLoop) return false;  // its variables are dead or alive one by one
  Value* const* inputs = it.inputs.data() + node.first_input;
  for (int i = 0; i < node.num_inputs; ++i) {
    if (inputs[i]->is_dead) return true;
  }
  return false;
}

bool Step::IsDead(const Iteration& it, const PlanNode& node) {
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

void Step::PassDeadness(Iteration& it, const PlanNode& node, Worker& worker) {
  for (int i = 0; i < node.num_outputs; ++i) it.slots[node.first_output + i].is_dead = true;
  Value dead;
  dead.is_dead = true;
  switch (node.kind) {
    case OpKind::kFetch:
      fetches_[node.aux].is_dead = true;
      break;
    case OpKind::kEnter:
      Enter(it, node, std::move(dead), worker);
      break;
    case OpKind::kExit:
      Exit(it, node, std::move(dead), worker);
      break;
    default:  // a dead NextIteration ends there
      break;
  }
}

absl::Status Step::RunBuiltin(const Call& call) {
  const PlanNode& node = call.node;
  switch (node.kind) {
    case OpKind::kKernel:
      return RunKernel(call);
    case OpKind::kPass:
      call.Pass(0, call.outputs[0]);
      return absl::OkStatus();
    case OpKind::kConstant:
      call.outputs[0].tensor = plan_->constants[node.aux].tensor;
      return absl::OkStatus();
    case OpKind::kFetch:
      return RunFetch(call);
    case OpKind::kSwitch:
      return RunSwitch(call);
    case OpKind::kMerge:
      return RunMerge(call);
    case OpKind::kLoop:
      return RunLoop(call);
    case OpKind::kFused:
      return RunFused(call);
    case OpKind::kDelayed:
      return observer_ == nullptr ? CheckDelayed(call) : RunKernel(call);
    case OpKind::kLoopVariable: {
      Value& carried = call.loop->carried[node.aux];
      call.outputs[0] = std::move(carried);
      const bool is_dead = call.outputs[0].is_dead;
      call.outputs[1].is_dead = is_dead;
      carried.is_dead = true;  // until it is carried again
      if (is_dead) return absl::OkStatus();
      return SetMergeIndex(node, call.it.number == 0 ? 0 : 1, call.outputs);
    }
    case OpKind::kCarry:
      call.Pass(0, call.loop->carried[node.aux]);
      call.loop->goes_on = true;
      return absl::OkStatus();
    case OpKind::kLeave:
      call.Pass(0, call.loop->outputs[node.aux]);
      return absl::OkStatus();
    case OpKind::kEnter:
    case OpKind::kExit:
    case OpKind::kNextIteration: {
      Value value;
      call.Pass(0, value);
      if (node.kind == OpKind::kEnter) Enter(call.it, node, std::move(value), call.worker);
      if (node.kind == OpKind::kExit) Exit(call.it, node, std::move(value), call.worker);
      if (node.kind == OpKind::kNextIteration) {
        NextIteration(call.it, node, std::move(value), call.worker);
      }
      return absl::OkStatus();
    }
    default:  // kNoOp, kControlTrigger
      return absl::OkStatus();
  }
}

absl::Status Step::RunCarefully(const Call& call) {
  if (IsOverdue()) {
    TimeOut();
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
  if (observer_ == nullptr) return RunBuiltin(with_values);
  if (observer_->NeedsInputs()) with_values.movable = 0;
  if (call.node.kind == OpKind::kFused) return RunFused(with_values);
  const int64_t start = SteadyNowNs();
  SLUICE_RETURN_IF_ERROR(RunBuiltin(with_values));
  return observer_->OnNode({call.node, start, SteadyNowNs(), with_values.inputs, call.outputs});
}

absl::Status Step::ReadRefs(const Iteration& it, const PlanNode& node, Value* read, Value** inputs,
                            Worker& worker) const {
  const ValueRef* refs = it.body->inputs.data() + node.first_input;
  for (int i = 0; i < node.num_inputs; ++i) {
    if (!refs[i].is_ref || inputs[i]->is_dead) continue;
    Value& variable = *inputs[i];
    bool is_initialized;
    {
      const std::unique_lock lock(*variable.ref_claim, std::try_to_lock);
      if (!lock) [[unlikely]] {
        worker.awaited = std::shared_ptr<Claim>(std::shared_ptr<void>(), variable.ref_claim);
        return absl::AbortedError("waits for a variable");
      }
      is_initialized = variable.ref->IsInitialized();
      if (!is_initialized) [[unlikely]] {
        is_initialized = BringHome(node, refs[i], variable.ref, contexts_[node.device]);
      }
      if (refs[i].dereference) read[i].tensor = *variable.ref;
    }
    if (!is_initialized && !node.node->def().allows_uninitialized_input) {
      // A loop's node is one of its Enters.
      const Node* source = node.node->input(node.kind == OpKind::kLoop ? 0 : i).node;
      absl::Status status = absl::FailedPreconditionError(
          StrCat("Attempting to use uninitialized value ", source->name()));
      status.SetPayload(kUninitializedPayload, absl::Cord(source->name()));
      return status;
    }
    if (refs[i].dereference) inputs[i] = &read[i];
  }
  return absl::OkStatus();
}

absl::Status Step::RunFetch(const Call& call) {
  Value& fetch = fetches_[call.node.aux];
  call.Pass(0, fetch);
  if (fetch.tensor.IsSmallPartOfBuffer()) [[unlikely]] {
    SLUICE_ASSIGN_OR_RETURN(fetch.tensor, fetch.tensor.Clone(*environment_.allocator));
  }
  return absl::OkStatus();
}

absl::Status Step::RunSwitch(const Call& call) {
  const Tensor& predicate = call.inputs[1]->tensor;
  if (!predicate.shape().IsScalar()) {
    return NotScalar(predicate);
  }
  // _SwitchN counts its outputs, and the last one stands for all numbers that there are not.
  const int last = call.node.num_outputs - 1;
  int taken = predicate.dtype() == DT_BOOL ? predicate.scalar<bool>() : predicate.scalar<int32_t>();
  if (taken < 0 || taken > last) taken = last;
  call.Pass(0, call.outputs[taken]);
  for (int i = 0; i <= last; ++i) {
    if (i != taken) call.outputs[i].is_dead = true;
  }
  return absl::OkStatus();
}

absl::Status Step::RunMerge(const Call& call) {
  int taken = 0;
  while (call.inputs[taken]->is_dead) ++taken;  // one is alive, else the node were dead
  call.Pass(taken, call.outputs[0]);
  return SetMergeIndex(call.node, taken, call.outputs);
}

absl::Status Step::SetMergeIndex(const PlanNode& node, int taken, Value* outputs) {
  if ((node.flags & PlanNode::kNeedsIndex) == 0) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(outputs[1].tensor,
                          Tensor::Allocate(*environment_.allocator, DT_INT32, TensorShape()));
  outputs[1].tensor.scalar<int32_t>() = taken;
  return absl::OkStatus();
}

absl::Status Step::RunFused(const Call& call) {
  const FusedElementwise& fused = *plan_->fused[call.node.aux];
  const FusedCall values{contexts_[call.node.device], call.inputs, call.movable, call.outputs};
  if (observer_ == nullptr) return fused.Run(values);
  // An observer is told of each node, so each runs by itself.
  return fused.RunOneByOne(values,
                           [&](const PlanNode& member, Value* const* inputs, uint64_t movable,
                               Value* output) -> absl::Status {
                             PlanNode node = member;
                             node.device = call.node.device;
                             if (observer_->NeedsInputs()) movable = 0;
                             const int64_t start = SteadyNowNs();
                             SLUICE_RETURN_IF_ERROR(RunKernel(
                                 {call.it, node, inputs, movable, output, call.loop, call.worker}));
                             return observer_->OnNode({node, start, SteadyNowNs(), inputs, output});
                           });
}

absl::Status Step::CheckDelayed(const Call& call) {
  const auto* maker = dynamic_cast<const TileMaker*>(call.node.kernel);
  return maker->ShapeOf(call.inputs[0]->tensor, call.inputs[1]->tensor).status();
}

absl::Status Step::RunLoop(const Call& call) {
  const Loop& loop = plan_->loops[call.node.aux];
  const auto is_alive = [](const Value* v) { return !v->is_dead; };
  const bool in_phases = loop.phased_body != 0 && observer_ == nullptr &&
                         std::all_of(call.inputs, call.inputs + call.node.num_inputs, is_alive);
  std::atomic<LoopState*>& spare = loops_[2 * call.node.aux + (in_phases ? 1 : 0)];
  std::unique_ptr<LoopState> state(spare.exchange(nullptr));
  if (state == nullptr) {
    state = std::make_unique<LoopState>(this, *plan_, loop, in_phases, feeds_.data());
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
  const bool ok = in_phases ? RunPhases(*state, call.worker) : RunIterations(*state, call.worker);
  if (!ok || in_phases) it.Clear();
  for (Value& v : state->invariants) v.tensor.Clear();
  for (Value& v : state->carried) v.tensor.Clear();
  delete spare.exchange(state.release());
  return ok ? absl::OkStatus() : absl::CancelledError("the loop's body has failed");
}

bool Step::RunIterations(LoopState& loop, Worker& worker) {
  Iteration& it = loop.iteration;
  const NodeRange all{0, it.body->units[0].num_nodes};
  do {
    loop.goes_on = false;
    if (!RunNodes<true>(it, all, &loop, worker)) return false;
    ++it.number;
  } while (loop.goes_on);
  return true;
}

bool Step::RunPhases(LoopState& loop, Worker& worker) {
  Iteration& it = loop.iteration;
  const LoopPhases& phases = it.body->phases;
  const PlanNode* const nodes = it.body->nodes.data();
  const PlanNode& condition = nodes[phases.condition];
  const auto end = static_cast<uint32_t>(it.body->nodes.size());
  for (;; ++it.number) {
    if (HasFailed()) return false;
    if (attention_ && IsOverdue()) {
      TimeOut();
      return false;
    }
    for (uint32_t n = 0; n < phases.num_variables; ++n) {
      it.slots[nodes[n].first_output] = std::move(loop.carried[nodes[n].aux]);
      Release(it, nodes[n]);
    }
    if (!RunNodes<false>(it, {phases.num_variables, phases.condition}, &loop, worker)) return false;
    const Tensor& value = it.inputs[condition.first_input]->tensor;
    if (!value.shape().IsScalar()) [[unlikely]] {
      FailCondition(condition, value);
      return false;
    }
    const bool goes_on = value.scalar<bool>();
    Release(it, condition);
    if (!goes_on) return RunNodes<false>(it, {phases.first_false, end}, &loop, worker);
    if (!RunNodes<false>(it, {phases.condition + 1, phases.first_carry}, &loop, worker)) {
      return false;
    }
    for (uint32_t n = phases.first_carry; n < phases.first_false; ++n) {
      const PlanNode& node = nodes[n];
      const Call call{it,    node,  it.inputs.data() + node.first_input, node.movable, nullptr,
                      &loop, worker};
      call.Pass(0, loop.carried[node.aux]);
      Release(it, node);
    }
  }
}

// Of the node that would have found it.
void Step::FailCondition(const PlanNode& condition, const Tensor& value) {
  const auto uses = condition.node->uses();
  const auto at = std::find_if(uses.begin(), uses.end(), [](const Use& use) {
    return OpKindOf(*use.dst) == OpKind::kSwitch;
  });
  Cancel(ErrorAt(at == uses.end() ? *condition.node : *at->dst, NotScalar(value)));
}

}  // namespace sluice

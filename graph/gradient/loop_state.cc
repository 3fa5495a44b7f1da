#include "graph/gradient/loop_state.h"

#include <memory>
#include <string_view>

#include "graph/build/cond.h"
#include "graph/build/core_ops.h"
#include "graph/build/scopes.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/constant.h"
#include "graph/ir/control_flow.h"
#include "graph/status.h"

namespace sluice::gradient {
namespace {

// Sums of counters and gradients are named after the op that TensorFlow used for them at first.
constexpr std::string_view kSumName = "Add";

Output MergeTwice(Output value, std::string_view name = "") {
  return core::Merge({value, value}, name);
}

// TensorFlow looks through these nodes, but not through ops that stop gradients.
bool IsIdentity(const Node& node) {
  return node.role() == OpRole::kPass && node.traits().impurity == Impurity::kNone &&
         !node.def().not_differentiable;
}

// The constant Enter that `value` comes from through Identities and Switches only, or null.
const Node* ConstantEnterBehind(Output value) {
  while (value && (IsSwitch(*value.node) || IsIdentity(*value.node))) value = value.node->input(0);
  return value && IsConstantEnter(*value.node) ? value.node : nullptr;
}

Tensor Number(int32_t n) { return Tensor::Scalar(n); }

// The innermost cond that contains `value` but not `stack`, or null.
CondContext* CondBetween(const Node& value, const Node& stack) {
  for (ControlFlowContext* c = value.context(); c != nullptr && c != stack.context();
       c = c->outer()) {
    if (auto* cond = dynamic_cast<CondContext*>(c)) return cond;
  }
  return nullptr;
}

}  // namespace

LoopState::LoopState(Graph& graph, WhileContext* forward, LoopState* outer,
                     ControlFlowContext* call)
    : forward_exits(forward->exits),
      exits_to_come(static_cast<int>(forward->exits.size())),
      graph_(graph),
      forward_(forward),
      outer_(outer),
      call_(call) {
  ControlFlowContext* around = outer != nullptr ? outer->forward() : forward->outer();
  Output count;
  {
    InContext in(graph, around);
    count = AddForwardCounter();
  }
  if (!graph.status().ok()) return;
  WhileOptions options;
  options.parallel_iterations = forward->parallel_iterations();
  options.back_prop = forward->back_prop();
  options.swap_memory = forward->swap_memory();
  options.maximum_iterations = forward->maximum_iterations();
  ControlFlowContext* back_around = outer != nullptr ? outer->backward() : forward->outer();
  const Output stack = outer != nullptr ? outer->Push(count) : Output();
  InContext in(graph, back_around);
  auto backward = std::make_shared<WhileContext>(
      graph, graph.UniqueName(StrCat(graph.scopes().name, forward->name())), back_around, options);
  graph.Own(backward);
  backward_ = backward.get();
  backward_->history = this;
  AddBackwardCounter(outer != nullptr ? outer->Pop(stack, count) : count);
}

LoopState* LoopState::Current(const Graph& graph) {
  WhileContext* loop = LoopOf(const_cast<Graph&>(graph).scopes().context);
  return loop == nullptr ? nullptr : dynamic_cast<LoopState*>(loop->history);
}

// n = 0; while (…) ++n.
Output LoopState::AddForwardCounter() {
  const Output zero = core::Const(graph_, Number(0), "f_count");
  if (!zero) return Output();
  // Each run of an inner loop pushes before the next run does.
  if (outer_ != nullptr) graph_.AddControlEdge(outer_->ForwardAdd(), zero.node);
  InContext in(graph_, forward_);
  const Output entered = forward_->NewEnter(zero, "f_count");
  if (!entered) return Output();
  forward_->enters.push_back(entered);
  const Output merge = MergeTwice(entered);
  Node* split = merge ? core::Switch(merge, forward_->pivot) : nullptr;
  if (split == nullptr) return Output();
  const Output back = AddBackEdge(merge, core::Increment(Output(split, 1), kSumName));
  if (!back) return Output();
  forward_index_ = back.node;
  const Output count = core::Exit(Output(split, 0), "f_count");
  forward_->exits.push_back(count);
  return count;
}

// n = count; while (n >= 1) --n.
void LoopState::AddBackwardCounter(Output count) {
  if (!count) return;
  const Output one = core::Const(graph_, Number(1), "b_count");
  InContext in(graph_, backward_);
  const Output entered = backward_->NewEnter(count, "b_count");
  if (!entered) return;
  backward_->enters.push_back(entered);
  const Output merge = MergeTwice(entered);
  backward_->pivot_for_pred = merge;
  const Output more = core::GreaterEqual(merge, one);
  if (!more) return;
  backward_->pivot = core::LoopCond(more, "b_count");
  Node* split = core::Switch(merge, backward_->pivot);
  if (split == nullptr) return;
  const Output index = core::Sub(Output(split, 1), one);
  backward_->pivot_for_body = index;
  const Output back = AddBackEdge(merge, index);
  const Output last = core::Exit(Output(split, 0), "b_count");
  if (!back || !last) return;
  backward_index_ = back.node;
  backward_->exits.push_back(last);
  // Each run of an inner loop pops before the next run does.
  if (outer_ != nullptr) graph_.AddControlEdge(last.node, outer_->BackwardSync());
}

// Runs after all pushes of an iteration, including those in branches that were not taken.
Node* LoopState::ForwardSync() {
  if (forward_sync_ != nullptr) return forward_sync_;
  ControlDependencies none = ControlDependencies::None(graph_);
  forward_sync_ = core::ControlTrigger(graph_, "f_sync");
  if (forward_sync_ == nullptr) return nullptr;
  forward_sync_->set_context(forward_);
  graph_.AddControlEdge(forward_sync_, forward_index_);
  return forward_sync_;
}

Node* LoopState::BackwardSync() {
  if (backward_sync_ != nullptr) return backward_sync_;
  ControlDependencies none = ControlDependencies::None(graph_);
  backward_sync_ = core::ControlTrigger(graph_, "b_sync");
  if (backward_sync_ == nullptr) return nullptr;
  backward_sync_->set_context(backward_);
  graph_.AddControlEdge(backward_sync_, backward_index_);
  return backward_sync_;
}

Output LoopState::Push(Output value, Branch branch) {
  if (!value || !graph_.status().ok()) return Output();
  ControlDependencies none = ControlDependencies::None(graph_);
  Output stack;
  {
    InContext in(graph_, call_);
    ColocateWith with(graph_, value);
    stack = core::Stack(graph_, BaseType(value.dtype()), "f_acc");
  }
  if (!stack) return Output();
  const Output entered = forward_->AddValue(stack);
  ControlFlowContext* context = ContextOfOutputs(*value.node);
  Node* push;
  {
    InContext in(graph_, branch == Branch::kOther ? context->outer() : context);
    push = core::StackPush(entered, value, forward_->swap_memory());
  }
  if (push == nullptr) return Output();
  push->set_context(context);
  graph_.AddControlEdge(push, context == forward_ ? forward_index_ : ForwardSync());
  graph_.AddControlEdge(ForwardAdd(), push);
  return stack;
}

// `stack`, which is dead in iterations that did not take the branch, because only the branch
// pushes.
Output LoopState::InBranch(Output stack, const CondContext& cond, Branch branch) {
  Output pred;
  for (LoopState* s = this; s != nullptr && !pred; s = s->outer_) {
    if (auto it = s->history_.find(cond.pred()); it != s->history_.end()) pred = it->second;
  }
  if (!pred) pred = cond.pred();
  const int taken = branch == Branch::kOther ? 1 - cond.branch() : cond.branch();
  ColocateWith with(graph_, stack, /*ignore_existing=*/true);
  Node* split = core::Switch(stack, pred);
  return split == nullptr ? stack : Output(split, taken);
}

Output LoopState::Pop(Output stack, Output value, Branch branch) {
  if (!stack || !value || !graph_.status().ok()) return Output();
  const CondContext* cond = CondBetween(*value.node, *stack.node);
  ControlDependencies none = ControlDependencies::None(graph_);
  Output popped;
  {
    InContext in(graph_, backward_);
    if (cond != nullptr) stack = InBranch(stack, *cond, branch);
    popped = core::StackPop(stack, BaseType(value.dtype()));
  }
  if (!popped) return Output();
  popped.node->set_output_shape(0, value.shape());
  if (const HandleData* data = value.node->output_handle(value.index)) {
    popped.node->set_output_handle(0, *data);
  }
  if (backward_->parallel_iterations() > 1) graph_.AddControlEdge(popped.node, BackwardSync());
  return popped;
}

Output LoopState::RealValue(Output value) {
  if (auto it = history_.find(value); it != history_.end()) return it->second;
  Output current = value;
  LoopState* state = this;
  Output real, stack;
  while (!real && !stack && graph_.status().ok()) {
    if (const Node* enter = ConstantEnterBehind(current)) {
      current = enter->input(0);
      state = state->outer_;
      if (state != nullptr) continue;
      // The value is the same in all iterations of all differentiated loops.
      InContext in(graph_, backward_);
      real = backward_->AddValue(current);
    } else if (IsConstant(*current.node)) {
      InContext in(graph_, backward_);
      real = core::Const(graph_, *current.node->FindAttr<Tensor>("value"));
    } else {
      stack = state->Push(current);
    }
  }
  if (!real && stack) {
    real = state->Pop(stack, current);
    InContext in(graph_, backward_);
    if (real && state != this) real = backward_->AddValue(real);
  }
  if (real) history_[value] = real;
  return real;
}

Output LoopState::Predicate(Output pred) {
  if (auto it = history_.find(pred); it != history_.end()) return it->second;
  const Output real = Pop(Push(pred), pred);
  if (real) history_[pred] = real;
  return real;
}

Output LoopState::NewVariable(Output first, const PartialShape* shape) {
  const Output entered = first ? backward_->NewEnter(first, "b_acc") : Output();
  if (!entered) return Output();
  if (shape != nullptr) entered.node->set_output_shape(0, *shape);
  backward_->enters.push_back(entered);
  return entered;
}

// Zeros of the shape of the constant Enter's input, outside of the backward loop.
Output LoopState::ZerosOutside(const Node& enter, DataType dtype) {
  const Output value = enter.input(0);
  Output shape;
  if (outer_ != nullptr) {
    {
      InContext in(graph_, forward_->outer());
      shape = core::Shape(value);
    }
    const Output stack = outer_->Push(shape);
    InContext in(graph_, backward_->outer());
    return core::Filled(outer_->Pop(stack, shape), dtype, 0);
  }
  InContext in(graph_, backward_->outer());
  return core::Filled(core::Shape(value), dtype, 0);
}

Grad LoopState::Accumulate(const Node& op, const Grad& grad) {
  if (grad.is_slices()) return AccumulateSlices(op, grad.slices());
  return AccumulateDense(op, grad.dense());
}

Output LoopState::AccumulateDense(const Node& op, Output grad) {
  Output zeros;
  if (grad.shape().IsFullyDefined()) {
    InContext out(graph_, backward_->outer());
    zeros = core::Zeros(graph_, grad.dtype(), grad.shape(), "b_acc");
  } else {
    zeros = ZerosOutside(op, grad.dtype());
  }
  InContext in(graph_, backward_);
  const Output entered = NewVariable(zeros, nullptr);
  const Output merge = entered ? MergeTwice(entered, "b_acc") : Output();
  Node* split = merge ? core::Switch(merge, backward_->pivot) : nullptr;
  if (split == nullptr) return Output();
  AddBackEdge(merge, core::AddV2(Output(split, 1), grad, kSumName));
  const Output result = core::Exit(Output(split, 0), "b_acc");
  backward_->exits.push_back(result);
  return result;
}

// One row of zeros, of the shape of the rows of `op`'s input.
Output LoopState::FirstRow(const Node& op, const Output& values) {
  const PartialShape& shape = values.shape();
  if (shape.IsFullyDefined() && shape.rank() > 0) {
    PartialShape row = shape;
    row.set_dim(0, 1);
    return core::Zeros(graph_, values.dtype(), row, "b_acc");
  }
  const Output whole = op.input(0).dtype() == DT_RESOURCE ? core::VariableShape(op.input(0))
                                                          : core::Shape(op.input(0));
  const auto ints = [&](int32_t n) { return core::Const(graph_, Tensor::Vector<int32_t>({n})); };
  OutputList from_1;
  for (const int32_t n : {1, 0, 1}) from_1.push_back(ints(n));
  const Output rest = core::StridedSlice(whole, from_1, "end_mask");
  const Output one = ints(1);
  const Output axis = core::Const(graph_, Number(0), "axis");
  return core::Filled(core::ConcatV2({one, rest}, axis), values.dtype(), 0);
}

// A row of zeros with index 0, in the types of `grad`.
IndexedSlices LoopState::FirstSlices(const Node& op, const IndexedSlices& grad) {
  InContext out(graph_, backward_->outer());
  const Output values = FirstRow(op, grad.values);
  const bool narrow = grad.indices.dtype() == DT_INT32;
  const Output indices =
      core::Const(graph_, narrow ? Tensor::Vector<int32_t>({0}) : Tensor::Vector<int64_t>({0}));
  const Output& given = grad.dense_shape;
  Output sizes;
  if (given) {
    sizes = given.shape().IsFullyDefined() ? core::Zeros(graph_, given.dtype(), given.shape(), "")
                                           : core::ZerosLike(core::Shape(op.input(0)));
  }
  return {.values = values, .indices = indices, .dense_shape = sizes};
}

// Adds a variable of the backward loop for each sum. False after an error.
bool LoopState::Open(std::vector<Sum>& sums) {
  for (Sum& s : sums) s.first = NewVariable(s.first, s.shape);
  for (Sum& s : sums) s.merge = s.first ? MergeTwice(s.first, "b_acc") : Output();
  for (Sum& s : sums) s.split = s.merge ? core::Switch(s.merge, backward_->pivot) : nullptr;
  return graph_.status().ok();
}

// Each iteration appends its rows to a first row of zeros with index 0.
IndexedSlices LoopState::AccumulateSlices(const Node& op, const IndexedSlices& grad) {
  const IndexedSlices first = FirstSlices(op, grad);
  InContext in(graph_, backward_);
  PartialShape rows = grad.values.shape();
  if (rows.rank() > 0) rows.set_dim(0, -1);
  const PartialShape any = PartialShape::Vector();
  const Output& sizes = first.dense_shape;
  std::vector<Sum> sums = {{first.indices, &any, grad.indices}, {first.values, &rows, grad.values}};
  if (sizes) sums.push_back({sizes, nullptr, grad.dense_shape});
  if (!Open(sums)) return {};
  for (size_t i = 0; i < 2; ++i) {
    sums[i].next = core::Concat({Output(sums[i].split, 1), sums[i].more});
  }
  if (sizes) sums[2].next = core::Maximum(sums[2].more, Output(sums[2].split, 1));
  for (Sum& s : sums) AddBackEdge(s.merge, s.next);
  OutputList exits;
  for (Sum& s : sums) exits.push_back(core::Exit(Output(s.split, 0), "b_acc"));
  backward_->exits.insert(backward_->exits.end(), exits.begin(), exits.end());
  return {exits[1], exits[0], sizes ? exits[2] : Output()};
}

Output LoopState::SwitchFromExit(const Node& op, Output grad) {
  const Output merge = MergeTwice(grad, "b_switch");
  if (!merge) return Output();
  switches_[&op] = merge;
  switches_order_.push_back(&op);
  return merge;
}

void LoopState::SwitchFromBody(const Node& op, Output grad) {
  AddBackEdge(switches_.at(&op), grad);
}

void LoopState::CloseSwitches() {
  for (const Node* op : switches_order_) {
    const Output merge = switches_.at(op);
    const Output first = merge.node->input(0);
    if (first != merge.node->input(1)) continue;
    Output zeros;
    if (first.shape().IsFullyDefined()) {
      InContext in(graph_, backward_);
      zeros = core::Zeros(graph_, first.dtype(), first.shape(), "");
    } else {
      InContext out(graph_, backward_->outer());
      zeros = core::Filled(core::Shape(first.node->input(0)), first.dtype(), 0);
    }
    InContext in(graph_, backward_);
    AddBackEdge(merge, zeros);
  }
}

}  // namespace sluice::gradient

#include "graph/gradient/loop_state.h"

#include <memory>
#include <string_view>

#include "graph/build/cond.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/gradient/nodes.h"
#include "graph/infer/shape_context.h"
#include "graph/status.h"

namespace sluice::gradient {
namespace {

Output MergeTwice(Output value, std::string_view name = "Merge") {
  return NodeBuilder(value.graph(), "Merge", At::current())
      .Name(name)
      .Input(OutputList{value, value})
      .Finish();
}

Node* SwitchOf(Output value, Output pred, std::string_view name = "Switch") {
  return NodeBuilder(GraphOf({&value, &pred}), "Switch", At::current())
      .Name(name)
      .Input(value)
      .Input(pred)
      .Finish();
}

Output Binary(std::string_view op, std::string_view name, Output a, Output b) {
  return NodeBuilder(GraphOf({&a, &b}), op, At::current()).Name(name).Input(a).Input(b).Finish();
}

Output ExitOf(Output value, std::string_view name) { return Unary("Exit", name, value); }

// A Const of zeros, however large; invalid for types without a zero.
Output ZerosConst(Graph& graph, std::string_view name, DataType dtype, const PartialShape& shape) {
  Tensor zeros(BaseType(dtype), shape.AsShape());
  if (!zeros.IsInitialized() || !IsPlainBytes(dtype)) return Output();
  std::fill_n(static_cast<char*>(zeros.raw()), zeros.bytes(), 0);
  return Const(&graph, name, zeros);
}

// The constant Enter that `value` is, seen through Identities and Switches; null if it is none.
const Node* ConstantEnterBehind(Output value) {
  while (value) {
    const std::string& op = value.node->op();
    if (op != "Switch" && op != "RefSwitch" && op != "Identity" && op != "RefIdentity") break;
    value = value.node->input(0);
  }
  return value && IsConstantEnter(value) ? value.node : nullptr;
}

Tensor Number(int32_t n) { return Tensor::Scalar(n); }

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
  const Output zero = Const(&graph_, "f_count", Number(0));
  if (!zero) return Output();
  // One run of an inner loop pushes before the next one does.
  if (outer_ != nullptr) graph_.AddControlEdge(outer_->ForwardAdd(), zero.node);
  InContext in(graph_, forward_);
  const Output entered = forward_->NewEnter(zero, "f_count");
  if (!entered) return Output();
  forward_->enters.push_back(entered);
  const Output merge = MergeTwice(entered);
  Node* split = merge ? SwitchOf(merge, forward_->pivot) : nullptr;
  if (split == nullptr) return Output();
  Output next;
  {
    NameScope add(graph_, "Add");
    const Output one = Const(&graph_, "y", Number(1));
    next = Binary("AddV2", add.prefix(), Output(split, 1), one);
  }
  const Output back = AddBackEdge(merge, next);
  if (!back) return Output();
  forward_index_ = back.node;
  const Output count = ExitOf(Output(split, 0), "f_count");
  forward_->exits.push_back(count);
  return count;
}

// n = count; while (n >= 1) --n.
void LoopState::AddBackwardCounter(Output count) {
  if (!count) return;
  const Output one = Const(&graph_, "b_count", Number(1));
  InContext in(graph_, backward_);
  const Output entered = backward_->NewEnter(count, "b_count");
  if (!entered) return;
  backward_->enters.push_back(entered);
  const Output merge = MergeTwice(entered);
  backward_->pivot_for_pred = merge;
  const Output more = Binary("GreaterEqual", "GreaterEqual", merge, one);
  if (!more) return;
  backward_->pivot = Unary("LoopCond", "b_count", more);
  Node* split = SwitchOf(merge, backward_->pivot);
  if (split == nullptr) return;
  const Output index = Binary("Sub", "Sub", Output(split, 1), one);
  backward_->pivot_for_body = index;
  const Output back = AddBackEdge(merge, index);
  const Output last = ExitOf(Output(split, 0), "b_count");
  if (!back || !last) return;
  backward_index_ = back.node;
  backward_->exits.push_back(last);
  // One run of an inner loop pops before the next one does.
  if (outer_ != nullptr) graph_.AddControlEdge(last.node, outer_->BackwardSync());
}

// Runs when all pushes of an iteration have, also those of branches that were not taken.
Node* LoopState::ForwardSync() {
  if (forward_sync_ != nullptr) return forward_sync_;
  ControlDependencies none = ControlDependencies::None(graph_);
  forward_sync_ = NodeBuilder(&graph_, "ControlTrigger", At::current()).Name("f_sync").Finish();
  if (forward_sync_ == nullptr) return nullptr;
  forward_sync_->set_context(forward_);
  graph_.AddControlEdge(forward_sync_, forward_index_);
  return forward_sync_;
}

Node* LoopState::BackwardSync() {
  if (backward_sync_ != nullptr) return backward_sync_;
  ControlDependencies none = ControlDependencies::None(graph_);
  backward_sync_ = NodeBuilder(&graph_, "ControlTrigger", At::current()).Name("b_sync").Finish();
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
    const Output unbounded = Const(&graph_, "Const", Number(-1));
    stack = NodeBuilder(&graph_, "StackV2", At::current())
                .Name("f_acc")
                .Input(unbounded)
                .Attr("elem_type", BaseType(value.dtype()))
                .Finish();
  }
  if (!stack) return Output();
  const Output entered = forward_->AddValue(stack);
  ControlFlowContext* context = ContextOfOutputs(*value.node);
  Node* push;
  {
    InContext in(graph_, branch == Branch::kOther ? context->outer() : context);
    push = NodeBuilder(&graph_, "StackPushV2", At::current())
               .Input(entered)
               .Input(value)
               .Attr("swap_memory", forward_->swap_memory())
               .Finish();
  }
  if (push == nullptr) return Output();
  push->set_context(context);
  graph_.AddControlEdge(push, context == forward_ ? forward_index_ : ForwardSync());
  graph_.AddControlEdge(ForwardAdd(), push);
  return stack;
}

Output LoopState::Pop(Output stack, Output value, Branch branch) {
  if (!stack || !value || !graph_.status().ok()) return Output();
  CondContext* cond = nullptr;
  for (ControlFlowContext* c = value.node->context(); c != nullptr && c != stack.node->context();
       c = c->outer()) {
    cond = dynamic_cast<CondContext*>(c);
    if (cond != nullptr) break;
  }
  ControlDependencies none = ControlDependencies::None(graph_);
  Output popped;
  {
    InContext in(graph_, backward_);
    if (cond != nullptr) {
      // Only in iterations that pushed may the stack be popped.
      Output pred;
      for (LoopState* s = this; s != nullptr && !pred; s = s->outer_) {
        if (auto it = s->history_.find(cond->pred()); it != s->history_.end()) pred = it->second;
      }
      if (!pred) pred = cond->pred();
      const int taken = branch == Branch::kOther ? 1 - cond->branch() : cond->branch();
      ColocateWith with(graph_, stack, /*ignore_existing=*/true);
      if (Node* split = SwitchOf(stack, pred)) stack = Output(split, taken);
    }
    popped = NodeBuilder(&graph_, "StackPopV2", At::current())
                 .Input(stack)
                 .Attr("elem_type", BaseType(value.dtype()))
                 .Finish();
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
      // The same in all iterations of all loops that are differentiated.
      InContext in(graph_, backward_);
      real = backward_->AddValue(current);
    } else if (current.node->op() == "Const") {
      InContext in(graph_, backward_);
      real = Const(&graph_, "Const", *current.node->FindAttr<Tensor>("value"));
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

// Zeros shaped as what the constant Enter takes, made where the backward loop is entered from.
Output LoopState::ZerosOutside(const Node& enter, DataType dtype) {
  const Output value = enter.input(0);
  Output shape;
  if (outer_ != nullptr) {
    {
      InContext in(graph_, forward_->outer());
      shape = Unary("Shape", "Shape", value);
    }
    const Output stack = outer_->Push(shape);
    InContext in(graph_, backward_->outer());
    return Filled(outer_->Pop(stack, shape), BaseType(dtype), 0, "zeros");
  }
  InContext in(graph_, backward_->outer());
  return Filled(Unary("Shape", "Shape", value), BaseType(dtype), 0, "zeros");
}

Grad LoopState::Accumulate(const Node& op, const Grad& grad) {
  if (grad.is_slices()) return AccumulateSlices(op, grad.slices());
  return AccumulateDense(op, grad.dense());
}

Output LoopState::AccumulateDense(const Node& op, Output grad) {
  Output zeros;
  if (grad.shape().IsFullyDefined()) {
    InContext out(graph_, backward_->outer());
    zeros = ZerosConst(graph_, "b_acc", grad.dtype(), grad.shape());
  } else {
    zeros = ZerosOutside(op, grad.dtype());
  }
  InContext in(graph_, backward_);
  const Output entered = NewVariable(zeros, nullptr);
  const Output merge = entered ? MergeTwice(entered, "b_acc") : Output();
  Node* split = merge ? SwitchOf(merge, backward_->pivot) : nullptr;
  if (split == nullptr) return Output();
  AddBackEdge(merge, Binary("AddV2", "Add", Output(split, 1), grad));
  const Output result = ExitOf(Output(split, 0), "b_acc");
  backward_->exits.push_back(result);
  return result;
}

// Rows are appended in each iteration; the first row, of zeros, belongs to row 0.
IndexedSlices LoopState::AccumulateSlices(const Node& op, const IndexedSlices& grad) {
  Output indices, values, sizes;
  {
    InContext out(graph_, backward_->outer());
    const PartialShape& shape = grad.values.shape();
    if (shape.IsFullyDefined() && shape.rank() > 0) {
      PartialShape row = shape;
      row.set_dim(0, 1);
      values = ZerosConst(graph_, "b_acc", grad.values.dtype(), row);
    } else {
      Output whole = op.input(0).dtype() == DT_RESOURCE
                         ? Unary("VariableShape", "VariableShape", op.input(0))
                         : Unary("Shape", "Shape", op.input(0));
      auto ints = [&](std::initializer_list<int32_t> v) {
        return Const(&graph_, "Const", Tensor::Vector<int32_t>(v));
      };
      const Output rest = NodeBuilder(&graph_, "StridedSlice", At::current())
                              .Input(whole)
                              .Input(ints({1}))
                              .Input(ints({0}))
                              .Input(ints({1}))
                              .Attr("end_mask", int64_t{1})
                              .Finish();
      const Output row = NodeBuilder(&graph_, "ConcatV2", At::current())
                             .Input(OutputList{ints({1}), rest})
                             .Input(Const(&graph_, "axis", Number(0)))
                             .Finish();
      values = Filled(row, BaseType(grad.values.dtype()), 0, "zeros");
    }
    const bool narrow = grad.indices.dtype() == DT_INT32;
    indices = Const(&graph_, "Const",
                    narrow ? Tensor::Vector<int32_t>({0}) : Tensor::Vector<int64_t>({0}));
    if (grad.dense_shape) {
      if (grad.dense_shape.shape().IsFullyDefined()) {
        sizes = ZerosConst(graph_, "Const", grad.dense_shape.dtype(), grad.dense_shape.shape());
      } else {
        sizes = Unary("ZerosLike", "zeros_like", Unary("Shape", "Shape", op.input(0)));
      }
    }
  }
  InContext in(graph_, backward_);
  PartialShape rows = grad.values.shape();
  if (rows.rank() > 0) rows.set_dim(0, -1);
  const PartialShape any = PartialShape::Vector();
  struct Part {
    Output first;
    const PartialShape* shape;
    Output more;
    Output merge = {};
    Node* split = nullptr;
    Output next = {};
  };
  std::vector<Part> parts = {{indices, &any, grad.indices}, {values, &rows, grad.values}};
  if (sizes) parts.push_back({sizes, nullptr, grad.dense_shape});
  for (Part& p : parts) p.first = NewVariable(p.first, p.shape);
  for (Part& p : parts) p.merge = p.first ? MergeTwice(p.first, "b_acc") : Output();
  for (Part& p : parts) p.split = p.merge ? SwitchOf(p.merge, backward_->pivot) : nullptr;
  if (!graph_.status().ok()) return {};
  for (size_t i = 0; i < 2; ++i) {
    NameScope concat(graph_, "concat");
    const Output axis = Const(&graph_, "axis", Number(0));
    parts[i].next = NodeBuilder(&graph_, "ConcatV2", At::current())
                        .Name(concat.prefix())
                        .Input(OutputList{Output(parts[i].split, 1), parts[i].more})
                        .Input(axis)
                        .Finish();
  }
  if (sizes) {
    parts[2].next = Binary("Maximum", "Maximum", parts[2].more, Output(parts[2].split, 1));
  }
  for (Part& p : parts) AddBackEdge(p.merge, p.next);
  OutputList exits;
  for (Part& p : parts) exits.push_back(ExitOf(Output(p.split, 0), "b_acc"));
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
      zeros = ZerosConst(graph_, "Const", first.dtype(), first.shape());
    } else {
      InContext out(graph_, backward_->outer());
      zeros = Filled(Unary("Shape", "Shape", first.node->input(0)), BaseType(first.dtype()), 0,
                     "zeros");
    }
    InContext in(graph_, backward_);
    AddBackEdge(merge, zeros);
  }
}

}  // namespace sluice::gradient

#include "graph/build/while.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "graph/build/core_ops.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/ir/control_flow.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Whether the op has no control inputs, and no inputs except loop constants.
bool IsUnbound(const NodeSpec& spec) {
  return spec.control_inputs.empty() &&
         std::all_of(spec.inputs.begin(), spec.inputs.end(),
                     [](const Output& in) { return in && IsConstantEnter(*in.node); });
}

Tensor ScalarOf(DataType dtype, int value) {
  return dtype == DT_INT64 ? Tensor::Scalar<int64_t>(value) : Tensor::Scalar(value);
}

// Whether `a` knows all sizes that `b` knows, and they are equal.
bool IsAsSpecific(const PartialShape& a, const PartialShape& b) {
  if (!b.rank_known()) return true;
  if (a.rank() != b.rank()) return false;
  for (int d = 0; d < b.rank(); ++d) {
    if (b.dim(d) >= 0 && a.dim(d) != b.dim(d)) return false;
  }
  return true;
}

// Builds the nodes of one call of WhileLoop.
class LoopBuilder {
 public:
  LoopBuilder(Graph& graph, const WhileOptions& options, std::string prefix, At at)
      : graph_(graph), options_(options), prefix_(std::move(prefix)), at_(at) {}

  OutputList Build(const std::function<Output(const OutputList&)>& condition,
                   const std::function<OutputList(const OutputList&)>& body,
                   const OutputList& variables) {
    ControlFlowContext* outer = graph_.scopes().context;
    auto context = std::make_shared<WhileContext>(
        graph_, graph_.UniqueName(StrCat(graph_.scopes().name, "while_context")), outer, options_);
    graph_.Own(context);
    context_ = context.get();
    InContext inside(graph_, context_);
    MakeEnters(variables, outer);
    for (const Output& e : context_->enters) {
      merges_.push_back(e ? core::Merge({e, e}, "Merge", at_) : e);
    }
    if (!graph_.status().ok()) return {};
    context_->pivot_for_pred = merges_[0];
    const Output goes_on = condition(merges_);
    if (!CheckCondition(goes_on)) return {};
    context_->pivot = core::LoopCond(goes_on, "", at_);
    MakeSwitches();
    OutputList values;
    for (Node* s : switches_) values.push_back(core::IdentityOrRef(Output(s, 1), "", at_));
    if (!graph_.status().ok()) return {};
    context_->pivot_for_body = values[0];
    const OutputList next = body(values);
    if (!graph_.status().ok() || !CheckBody(next)) return {};
    for (size_t i = 0; i < next.size(); ++i) AddBackEdge(merges_[i], next[i]);
    for (Node* s : switches_) context_->exits.push_back(core::Exit(Output(s, 0), "", at_));
    return graph_.status().ok() ? context_->exits : OutputList();
  }

 private:
  void Fail(std::string_view text) {
    graph_.SetError(InvalidArgument("WhileLoop '", prefix_, "': ", text), at_);
  }

  // A variable that is a constant of an outer loop must enter once per iteration of that loop.
  void MakeEnters(const OutputList& variables, ControlFlowContext* outer) {
    Node* pivot = nullptr;
    for (ControlFlowContext* c = outer; c != nullptr && pivot == nullptr; c = c->outer()) {
      pivot = c->control_pivot();
    }
    for (size_t i = 0; i < variables.size(); ++i) {
      const Output value = outer != nullptr ? outer->AddValue(variables[i]) : variables[i];
      const Output entered = context_->NewEnter(value);
      if (!entered) return;
      const auto& invariants = options_.shape_invariants;
      const PartialShape shape = invariants.empty() ? value.shape() : invariants[i];
      if (!IsAsSpecific(value.shape(), shape)) {
        return Fail(StrCat("the shape invariant ", shape.ToString(), " of '", variables[i].name(),
                           "' is not compatible with its first shape, ", value.shape().ToString()));
      }
      entered.node->set_output_shape(0, shape);
      if (pivot != nullptr && IsConstantEnter(*value.node)) {
        graph_.AddControlEdge(pivot, entered.node);
      }
      context_->enters.push_back(entered);
    }
  }

  void MakeSwitches() {
    for (const Output& merge : merges_) {
      if (!context_->pivot) return;
      ColocateWith with(graph_, merge, /*ignore_existing=*/true);
      switches_.push_back(core::SwitchOrRef(merge, context_->pivot, at_));
    }
  }

  bool CheckCondition(const Output& goes_on) {
    if (!graph_.status().ok()) return false;
    if (goes_on && goes_on.dtype() == DT_BOOL) return true;
    Fail(goes_on ? StrCat("the condition must be a bool, got ", DataTypeName(goes_on.dtype()))
                 : "the condition is an invalid tensor");
    return false;
  }

  bool CheckBody(const OutputList& next) {
    // The counter for maximum_iterations comes first. Users do not know it.
    const size_t hidden = options_.maximum_iterations ? 1 : 0;
    if (next.size() != merges_.size()) {
      Fail(StrCat("the body must give a value for each of ", merges_.size() - hidden,
                  " variables, got ", next.size() - hidden));
      return false;
    }
    for (size_t i = hidden; i < next.size(); ++i) {
      const Output& before = merges_[i];
      if (!next[i] || BaseType(next[i].dtype()) != BaseType(before.dtype())) {
        Fail(StrCat("variable ", i - hidden, " is of type ", DataTypeName(BaseType(before.dtype())),
                    ", but the body gives ",
                    next[i] ? DataTypeName(BaseType(next[i].dtype())) : "an invalid tensor"));
        return false;
      }
      if (!IsAsSpecific(next[i].shape(), before.shape())) {
        Fail(StrCat("input tensor '", context_->enters[i].node->input(0).name(),
                    "' enters the loop with shape ", before.shape().ToString(), ", but has shape ",
                    next[i].shape().ToString(), " after one iteration; shape_invariants allow a ",
                    "shape to vary across iterations"));
        return false;
      }
    }
    return true;
  }

  Graph& graph_;
  const WhileOptions& options_;
  const std::string prefix_;
  const At at_;
  WhileContext* context_ = nullptr;
  OutputList merges_;
  std::vector<Node*> switches_;
};

OutputList Rest(const OutputList& values) { return OutputList(values.begin() + 1, values.end()); }

std::string CheckArguments(const OutputList& variables, const WhileOptions& options) {
  if (options.parallel_iterations < 1) {
    return StrCat("'parallel_iterations' must be positive, got ", options.parallel_iterations);
  }
  if (!options.shape_invariants.empty() && options.shape_invariants.size() != variables.size()) {
    return StrCat("expected a shape invariant for each of ", variables.size(), " variables, got ",
                  options.shape_invariants.size());
  }
  const Output& maximum = options.maximum_iterations;
  if (!maximum) return "";
  if (maximum.shape().rank_known() && maximum.shape().rank() != 0) {
    return StrCat("'maximum_iterations' must be a scalar, got shape ", maximum.shape().ToString());
  }
  if (maximum.dtype() != DT_INT32 && maximum.dtype() != DT_INT64) {
    return StrCat("'maximum_iterations' must be int32 or int64, got ",
                  DataTypeName(maximum.dtype()));
  }
  return "";
}

}  // namespace

Output AddBackEdge(Output merge, Output value) {
  if (!merge || !value) return Output();
  const Output next = core::NextIteration(value);
  if (next) merge.graph()->SetError(merge.graph()->UpdateInput(merge.node, 1, next));
  return next;
}

WhileContext::WhileContext(Graph& graph, std::string name, ControlFlowContext* outer,
                           const WhileOptions& options)
    : ControlFlowContext(Kind::kWhile, std::move(name), outer),
      graph_(graph),
      parallel_iterations_(options.parallel_iterations),
      back_prop_(options.back_prop),
      swap_memory_(options.swap_memory),
      maximum_iterations_(options.maximum_iterations) {}

Output WhileContext::NewEnter(Output value, std::string_view name) {
  return MakeEnter(value, /*is_constant=*/false, name);
}

// An Enter waits for those controls of open ControlDependencies blocks that run in the frame around
// the loop.
Output WhileContext::MakeEnter(Output value, bool is_constant, std::string_view name) {
  const std::vector<Node*> open = OpenControls(graph_.scopes(), {value});
  Node* node;
  {
    ControlDependencies none = ControlDependencies::None(graph_);
    node = core::Enter(value, this->name(), is_constant, parallel_iterations_, name).node;
  }
  if (node == nullptr) return Output();
  node->set_context(this);
  const WhileContext* outer_loop = LoopOf(outer());
  for (Node* control : open) {
    const ControlFlowContext* theirs = ContextOfOutputs(*control);
    const ControlFlowContext* c = outer();
    while (c != theirs && c != nullptr && c != outer_loop) c = c->outer();
    if (c == theirs) graph_.AddControlEdge(control, node);
  }
  // Nodes that use this Enter then count as waiting for the controls already.
  RecordInFrames(graph_.scopes(), node);
  return node;
}

Output WhileContext::AddValue(Output value) {
  if (auto it = entered_.find(value); it != entered_.end()) return it->second;
  if (Contains(value)) return value;
  if (history != nullptr && LoopOf(ContextOfOutputs(*value.node)) == history->forward()) {
    return entered_[value] = history->RealValue(value);
  }
  const Output from = outer() != nullptr ? outer()->AddValue(value) : value;
  const Output entered = from ? MakeEnter(from, /*is_constant=*/true, "") : from;
  return entered_[value] = entered;
}

// An op in the loop cannot wait for an op outside. It waits for an Identity in the loop instead,
// whose input is an output of the op outside.
void WhileContext::DrawInControls(NodeSpec& spec) {
  std::vector<Node*> inside, outside;
  for (Node* control : spec.control_inputs) {
    const bool is_inside = LoopOf(ContextOfOutputs(*control)) == this;
    (is_inside ? inside : outside).push_back(control);
  }
  spec.control_inputs = std::move(inside);
  // An op that reads only loop constants would otherwise also run in the last iteration, whose
  // condition is false.
  if ((IsUnbound(spec) || IsCall(spec.op)) && control_pivot() != nullptr) {
    spec.control_inputs.push_back(control_pivot());
  }
  for (auto it = outside.rbegin(); it != outside.rend(); ++it) {
    Node* control = *it;
    if (control->num_outputs() == 0) continue;
    ControlDependencies none = ControlDependencies::None(graph_);
    InContext in(graph_, this);
    const Output drawn = core::IdentityOrRef(control);
    if (drawn) spec.control_inputs.push_back(drawn.node);
  }
}

absl::StatusOr<ControlFlowContext*> WhileContext::Enter(NodeSpec& spec) {
  const bool reduces = TraitsOfOp(spec.op).shape_query != ShapeQuery::kNone;
  if (reduces && spec.inputs.size() == 1 && history != nullptr && spec.inputs[0]) {
    // A gradient needs only the shape of the forward value. The forward loop computes and keeps it.
    ControlFlowContext* theirs = spec.inputs[0].node->context();
    if (LoopOf(theirs) == history->forward()) {
      InContext in(graph_, theirs);
      return theirs->Enter(spec);
    }
  }
  if (spec.inputs.empty()) {
    DrawInControls(spec);
    SLUICE_RETURN_IF_ERROR(graph_.status());
    return this;
  }
  NameScope scope(graph_, spec.name + "/");
  for (Output& in : spec.inputs) {
    if (in) in = AddValue(in);
  }
  SLUICE_RETURN_IF_ERROR(graph_.status());
  DrawInControls(spec);
  SLUICE_RETURN_IF_ERROR(graph_.status());
  return this;
}

OutputList WhileLoop(const std::function<Output(const OutputList&)>& condition,
                     const std::function<OutputList(const OutputList&)>& body,
                     const OutputList& variables, const WhileOptions& options, At at) {
  Graph* graph = GraphOf({}, {&variables});
  if (graph == nullptr || !graph->status().ok()) return {};
  const bool all_valid =
      std::all_of(variables.begin(), variables.end(), [](const Output& v) { return bool(v); });
  std::string problem = CheckArguments(variables, options);
  if (!all_valid) problem = "a loop variable is an invalid tensor";
  if (!problem.empty()) {
    graph->SetError(InvalidArgument("WhileLoop '", options.name, "': ", problem), at);
    return {};
  }
  NameScope scope(*graph, options.name);
  if (!options.maximum_iterations) {
    return LoopBuilder(*graph, options, scope.prefix(), at).Build(condition, body, variables);
  }
  const Output maximum = options.maximum_iterations;
  WhileOptions counted = options;
  if (!counted.shape_invariants.empty()) {
    counted.shape_invariants.insert(counted.shape_invariants.begin(), PartialShape::Scalar());
  }
  OutputList all = {core::Const(*graph, ScalarOf(maximum.dtype(), 0), "iteration_counter")};
  all.insert(all.end(), variables.begin(), variables.end());
  const OutputList exits = LoopBuilder(*graph, counted, scope.prefix(), at)
                               .Build(
                                   [&](const OutputList& v) {
                                     const Output more = core::Less(v[0], maximum);
                                     const Output goes_on = condition(Rest(v));
                                     if (!goes_on || BaseType(goes_on.dtype()) != DT_BOOL) {
                                       return goes_on;
                                     }
                                     return core::LogicalAnd(more, goes_on);
                                   },
                                   [&](const OutputList& v) {
                                     OutputList next = {core::Increment(v[0], "add")};
                                     for (const Output& t : body(Rest(v))) next.push_back(t);
                                     return next;
                                   },
                                   all);
  return exits.empty() ? exits : Rest(exits);
}

}  // namespace sluice

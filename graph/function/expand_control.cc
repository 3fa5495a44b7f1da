// Calls that choose, repeat and differentiate, as conds, loops and gradients.
#include <algorithm>
#include <utility>

#include "graph/build/cond.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/build/while.h"
#include "graph/function/expand.h"
#include "graph/gradient/gradients.h"
#include "graph/infer/shape_context.h"
#include "graph/status.h"

namespace sluice {
namespace {

Output Binary(const char* op, Output a, Output b) {
  return NodeBuilder(GraphOf({&a, &b}), op, At::current()).Input(a).Input(b).Finish();
}

Output Unary(const char* op, Output x) {
  return NodeBuilder(x.graph(), op, At::current()).Input(x).Finish();
}

Output CastTo(Output x, DataType dtype) {
  return NodeBuilder(x.graph(), "Cast", At::current()).Input(x).Attr("DstT", dtype).Finish();
}

// What is known of the outputs' shapes from the call itself.
void SetShapes(const AttrMap& attrs, const OutputList& outputs) {
  const auto* shapes = FindAttr<std::vector<PartialShape>>(attrs, "output_shapes");
  if (shapes == nullptr || shapes->size() != outputs.size()) return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Output& out = outputs[i];
    absl::StatusOr<PartialShape> merged = out.shape().MergeWith((*shapes)[i]);
    if (merged.ok()) out.node->set_output_shape(out.index, *std::move(merged));
  }
}

std::vector<PartialShape> UnknownShapes(size_t n) { return std::vector<PartialShape>(n); }

}  // namespace

Output Expander::Number(const Tensor& value) {
  NodeBuilder builder(&graph_, "Const", At::current());
  builder.Attr("value", value).Attr("dtype", value.dtype());
  if (entry_ != nullptr && graph_.scopes().context == nullptr) builder.ControlInput(entry_);
  return builder.Finish();
}

// Branches are built by a function of Cond that returns no status: the first failure is kept.
absl::StatusOr<Expansion> Expander::Branches(const Call& call,
                                             const std::vector<FunctionAttr>& branches,
                                             size_t first, Output index, const OutputList& args) {
  auto branch = [&](size_t i) -> BranchResult {
    absl::StatusOr<Expansion> made = branches[i] == nullptr
                                         ? InvalidArgument("branch ", i, " names no function")
                                         : Body(*branches[i], args, call.device);
    if (!made.ok()) failure_.Update(made.status());
    if (!made.ok()) return OutputList();
    // One result more says that the branch is over.
    ControlFlowContext* context = graph_.scopes().context;
    ControlDependencies after(graph_,
                              std::vector<Operation>(made->controls.begin(), made->controls.end()));
    made->outputs.push_back(Unary("Identity", Output(context->control_pivot())));
    return made->outputs;
  };
  auto rest = [&]() -> BranchResult {
    if (first + 2 >= branches.size()) return branch(std::min(first + 1, branches.size() - 1));
    absl::StatusOr<Expansion> made = Branches(call, branches, first + 1, index, args);
    if (!made.ok()) failure_.Update(made.status());
    if (!made.ok()) return OutputList();
    made->outputs.push_back(made->controls[0]);
    return made->outputs;
  };
  const Output pred =
      index.dtype() == DT_BOOL
          ? index
          : Binary("Equal", index, Number(Tensor::Scalar(static_cast<int32_t>(first))));
  OutputList merged = Cond(
      pred, [&] { return branch(first); }, rest);
  SLUICE_RETURN_IF_ERROR(Take());
  Expansion result;
  result.controls = {merged.back().node};
  merged.pop_back();
  result.outputs = std::move(merged);
  return result;
}

absl::StatusOr<Expansion> Expander::If(const Call& call) {
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef then_branch, FunctionOf(call, "then_branch"));
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef else_branch, FunctionOf(call, "else_branch"));
  SLUICE_ASSIGN_OR_RETURN(const Output pred, AsBool(call.inputs[0]));
  const std::vector<FunctionAttr> branches = {std::make_shared<const FunctionRef>(then_branch),
                                              std::make_shared<const FunctionRef>(else_branch)};
  const OutputList args(call.inputs.begin() + 1, call.inputs.end());
  SLUICE_ASSIGN_OR_RETURN(Expansion result, Branches(call, branches, 0, pred, args));
  SetShapes(*call.attrs, result.outputs);
  return result;
}

absl::StatusOr<Expansion> Expander::Case(const Call& call) {
  const auto* branches = FindAttr<std::vector<FunctionAttr>>(*call.attrs, "branches");
  if (branches == nullptr || branches->empty()) return InvalidArgument("expected branches, got 0");
  const OutputList args(call.inputs.begin() + 1, call.inputs.end());
  if (branches->size() == 1) return Body(*(*branches)[0], args, call.device);
  // Everything out of range takes the last branch.
  SLUICE_ASSIGN_OR_RETURN(Expansion result, Branches(call, *branches, 0, call.inputs[0], args));
  SetShapes(*call.attrs, result.outputs);
  return result;
}

absl::StatusOr<Expansion> Expander::While(const Call& call) {
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef cond, FunctionOf(call, "cond"));
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef body, FunctionOf(call, "body"));
  if (call.inputs.empty()) return InvalidArgument("a loop without variables has no end");
  WhileOptions options;
  const auto* parallel = FindAttr<int64_t>(*call.attrs, "parallel_iterations");
  if (parallel != nullptr)
    options.parallel_iterations = std::max<int>(1, static_cast<int>(*parallel));
  options.shape_invariants = UnknownShapes(call.inputs.size());
  auto condition = [&](const OutputList& v) -> Output {
    absl::StatusOr<Expansion> made = Body(cond, v, call.device);
    if (made.ok() && made->outputs.size() != 1) {
      made = InvalidArgument("the condition must give one tensor, got ", made->outputs.size());
    }
    if (made.ok()) {
      absl::StatusOr<Output> truth = AsBool(After(*made)[0]);
      if (truth.ok()) return *truth;
      made = truth.status();
    }
    failure_.Update(made.status());
    graph_.SetError(made.status());
    return Output();
  };
  auto step = [&](const OutputList& v) -> OutputList {
    absl::StatusOr<Expansion> made = Body(body, v, call.device);
    if (made.ok()) return After(*made);
    failure_.Update(made.status());
    graph_.SetError(made.status());
    return {};
  };
  Expansion result;
  result.outputs = WhileLoop(condition, step, call.inputs, options);
  SLUICE_RETURN_IF_ERROR(Take());
  SetShapes(*call.attrs, result.outputs);
  result.controls = {result.outputs[0].node};
  return result;
}

// The first index; the step fails where `delta` never leads from it to `limit`.
absl::StatusOr<Output> Expander::CheckedStart(const Call& call, Output limit, Output delta) {
  const Output start = CastTo(call.inputs[0], DT_INT64);
  const Output towards = Binary("Greater", Binary("Mul", Binary("Sub", limit, start), delta),
                                Number(Tensor::Scalar<int64_t>(0)));
  const Output what = Number(Tensor::Scalar(std::string("Invalid start/limit/delta: ")));
  Node* check = NodeBuilder(&graph_, "Assert", At::current())
                    .Input(Binary("LogicalOr", towards, Binary("Equal", start, limit)))
                    .Input(OutputList{what, start, limit, delta})
                    .Finish();
  if (check == nullptr) return graph_.status();
  ControlDependencies after(graph_, {Operation(check)});
  return Unary("Identity", start);
}

// for (i = start; (limit - i) * delta > 0; i += delta) inputs = body(i, inputs)
absl::StatusOr<Expansion> Expander::For(const Call& call) {
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef body, FunctionOf(call, "body"));
  const Output limit = CastTo(call.inputs[1], DT_INT64);
  const Output delta = CastTo(call.inputs[2], DT_INT64);
  SLUICE_ASSIGN_OR_RETURN(const Output start, CheckedStart(call, limit, delta));
  OutputList variables = {start};
  variables.insert(variables.end(), call.inputs.begin() + 3, call.inputs.end());
  WhileOptions options;
  options.shape_invariants = UnknownShapes(variables.size());
  const Output zero = Number(Tensor::Scalar<int64_t>(0));
  auto condition = [&](const OutputList& v) {
    return Binary("Greater", Binary("Mul", Binary("Sub", limit, v[0]), delta), zero);
  };
  auto step = [&](const OutputList& v) -> OutputList {
    OutputList args(v);
    args[0] = CastTo(v[0], DT_INT32);
    absl::StatusOr<Expansion> made = Body(body, args, call.device);
    if (!made.ok()) {
      failure_.Update(made.status());
      graph_.SetError(made.status());
      return {};
    }
    OutputList next = After(*made);
    next.insert(next.begin(), Binary("AddV2", v[0], delta));
    return next;
  };
  Expansion result;
  result.outputs = WhileLoop(condition, step, variables, options);
  SLUICE_RETURN_IF_ERROR(Take());
  result.controls = {result.outputs[0].node};
  result.outputs.erase(result.outputs.begin());
  return result;
}

// Rows of the arguments go through the function one at a time, and its results become rows.
absl::StatusOr<Expansion> Expander::Map(const Call& call) {
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef function, FunctionOf(call, "f"));
  const auto* types = FindAttr<std::vector<DataType>>(*call.attrs, "Targuments");
  const auto* output_types = FindAttr<std::vector<DataType>>(*call.attrs, "output_types");
  const auto* shapes = FindAttr<std::vector<PartialShape>>(*call.attrs, "output_shapes");
  if (types == nullptr || output_types == nullptr || types->empty()) {
    return InvalidArgument("expected attributes Targuments and output_types");
  }
  const size_t num_rows = types->size();
  const Output zero = Number(Tensor::Scalar<int32_t>(0));
  const Output one = Number(Tensor::Scalar<int32_t>(1));
  auto vector = [&](int32_t n) { return Number(Tensor::Vector<int32_t>({n})); };
  const Output count = NodeBuilder(&graph_, "StridedSlice", At::current())
                           .Input(Unary("Shape", call.inputs[0]))
                           .Input(vector(0))
                           .Input(vector(1))
                           .Input(vector(1))
                           .Attr("shrink_axis_mask", int64_t{1})
                           .Finish();
  if (!count) return graph_.status();
  std::vector<Node*> arrays;
  OutputList variables = {zero};
  for (size_t i = 0; i < output_types->size(); ++i) {
    Node* array = NodeBuilder(&graph_, "TensorArrayV3", At::current())
                      .Input(count)
                      .Attr("dtype", (*output_types)[i])
                      .Attr("element_shape",
                            shapes != nullptr && i < shapes->size() ? (*shapes)[i] : PartialShape())
                      .Finish();
    if (array == nullptr) return graph_.status();
    arrays.push_back(array);
    variables.push_back(Output(array, 1));
  }
  auto step = [&](const OutputList& v) -> OutputList {
    OutputList args;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      if (i >= num_rows) {
        args.push_back(call.inputs[i]);
        continue;
      }
      args.push_back(NodeBuilder(&graph_, "GatherV2", At::current())
                         .Input(call.inputs[i])
                         .Input(v[0])
                         .Input(zero)
                         .Finish());
    }
    absl::StatusOr<Expansion> made = Body(function, args, call.device);
    if (made.ok() && made->outputs.size() != arrays.size()) {
      made = InvalidArgument("the function must give ", arrays.size(), " tensors, got ",
                             made->outputs.size());
    }
    if (!made.ok()) {
      failure_.Update(made.status());
      graph_.SetError(made.status());
      return {};
    }
    const OutputList results = After(*made);
    OutputList next = {Binary("AddV2", v[0], one)};
    for (size_t i = 0; i < arrays.size(); ++i) {
      next.push_back(NodeBuilder(&graph_, "TensorArrayWriteV3", At::current())
                         .Input(Output(arrays[i], 0))
                         .Input(v[0])
                         .Input(results[i])
                         .Input(v[i + 1])
                         .Finish());
    }
    return next;
  };
  const OutputList last =
      WhileLoop([&](const OutputList& v) { return Binary("Less", v[0], count); }, step, variables);
  SLUICE_RETURN_IF_ERROR(Take());
  const Output all =
      NodeBuilder(&graph_, "Range", At::current()).Input(zero).Input(count).Input(one).Finish();
  Expansion result;
  for (size_t i = 0; i < arrays.size(); ++i) {
    result.outputs.push_back(NodeBuilder(&graph_, "TensorArrayGatherV3", At::current())
                                 .Input(Output(arrays[i], 0))
                                 .Input(all)
                                 .Input(last[i + 1])
                                 .Attr("dtype", (*output_types)[i])
                                 .Attr("element_shape", shapes != nullptr && i < shapes->size()
                                                            ? (*shapes)[i]
                                                            : PartialShape())
                                 .Finish());
  }
  SLUICE_RETURN_IF_ERROR(graph_.status());
  result.controls = {last[0].node};
  return result;
}

// Inputs: the function's arguments, then the gradients of its results. Results: the gradients of
// the arguments, zeros where there is none.
absl::StatusOr<Expansion> Expander::Gradient(const Call& call) {
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef function, FunctionOf(call, "f"));
  const std::string given = library_.GradientOf(function.name);
  if (!given.empty()) return Body({given, function.attrs}, call.inputs, call.device);
  const auto* types = FindAttr<std::vector<DataType>>(*call.attrs, "Tout");
  if (types == nullptr || types->size() > call.inputs.size()) {
    return InvalidArgument("expected one result an argument of '", function.name, "'");
  }
  const size_t num_args = types->size();
  OutputList xs, ys;
  for (size_t i = 0; i < num_args; ++i) xs.push_back(Unary("Identity", call.inputs[i]));
  SLUICE_RETURN_IF_ERROR(graph_.status());
  SLUICE_ASSIGN_OR_RETURN(const Expansion forward, Body(function, xs, call.device));
  GradientOptions options;
  for (size_t i = 0; i < forward.outputs.size(); ++i) {
    const size_t position = num_args + i;
    if (position >= call.inputs.size()) {
      return InvalidArgument("expected a gradient for each of ", forward.outputs.size(),
                             " results of '", function.name, "', got ",
                             call.inputs.size() - num_args);
    }
    const Output& y = forward.outputs[i];
    const Output& grad = call.inputs[position];
    if (BaseType(y.dtype()) != BaseType(grad.dtype())) continue;
    if (!IsFloating(y.dtype()) && !IsComplex(y.dtype())) continue;
    ys.push_back(Unary("Identity", y));
    options.grad_ys.push_back(grad);
  }
  std::vector<Grad> grads(num_args);
  if (!ys.empty()) {
    SLUICE_ASSIGN_OR_RETURN(grads, Gradients(ys, xs, options));
  }
  Expansion result;
  for (size_t i = 0; i < num_args; ++i) {
    Output grad = ToDense(grads[i]);
    if (!grad && xs[i].dtype() == DT_RESOURCE) {
      const HandleData* data = xs[i].node->output_handle(xs[i].index);
      const DataType dtype =
          data != nullptr && data->dtype != DT_INVALID ? data->dtype : (*types)[i];
      grad = Binary("Fill", Unary("VariableShape", xs[i]),
                    CastTo(Number(Tensor::Scalar(0.0f)), dtype));
    } else if (!grad) {
      grad = Unary("ZerosLike", xs[i]);
    }
    result.outputs.push_back(grad);
  }
  SLUICE_RETURN_IF_ERROR(graph_.status());
  result.controls = forward.controls;
  return result;
}

}  // namespace sluice

// Expands calls that branch, loop and differentiate.
#include <algorithm>
#include <utility>

#include "graph/build/cond.h"
#include "graph/build/core_ops.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/build/while.h"
#include "graph/function/expand.h"
#include "graph/gradient/gradients.h"
#include "graph/infer/shape_context.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Merges the shapes that the call declares into those of its outputs.
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

Output Expander::Constant(const Tensor& value) {
  std::vector<Operation> after;
  if (entry_ != nullptr && graph_.scopes().context == nullptr) after.push_back(entry_);
  ControlDependencies controls(graph_, after);
  return core::Const(graph_, value);
}

absl::StatusOr<Expansion> Expander::Branch(const Choice& choice, size_t i) {
  if (choice.branches[i] == nullptr) return InvalidArgument("branch ", i, " names no function");
  return Body(*choice.branches[i], choice.args, choice.call.device);
}

Output Expander::IsBefore(const Choice& choice, size_t first, size_t middle, size_t end) {
  const Output index = choice.index;
  if (index.dtype() == DT_BOOL) return index;
  const auto number = [this](size_t i) {
    return Constant(Tensor::Scalar(static_cast<int32_t>(i)));
  };
  if (middle == first + 1) return core::Equal(index, number(first));
  const Output is_before = core::Less(index, number(middle));
  // The part with the last branch also runs for indices below `first`.
  if (end < choice.branches.size()) return is_before;
  return core::LogicalAnd(core::GreaterEqual(index, number(first)), is_before);
}

bool Expander::RunForEffect(const std::vector<FunctionAttr>& functions) {
  return std::any_of(functions.begin(), functions.end(), [this](const FunctionAttr& function) {
    if (function == nullptr) return true;
    const absl::StatusOr<const FunctionBody*> body = Read(function->name);
    return !body.ok() || !(*body)->controls.empty() || (*body)->returns.empty();
  });
}

absl::StatusOr<Expansion> Expander::Branches(const Choice& choice, size_t first, size_t end) {
  // A part with effects has one additional result, which indicates its end.
  const auto part = [&](size_t from, size_t to) -> BranchResult {
    absl::StatusOr<Expansion> made =
        to == from + 1 ? Branch(choice, from) : Branches(choice, from, to);
    if (!made.ok()) return Fail(made.status());
    if (!choice.has_effects) return made->outputs;
    const Output pivot(graph_.scopes().context->control_pivot());
    ControlDependencies after(graph_,
                              std::vector<Operation>(made->controls.begin(), made->controls.end()));
    made->outputs.push_back(core::Identity(pivot));
    return made->outputs;
  };
  const size_t middle = first + (end - first) / 2;
  OutputList merged = Cond(
      IsBefore(choice, first, middle, end), [&] { return part(first, middle); },
      [&] { return part(middle, end); });
  SLUICE_RETURN_IF_ERROR(TakeFailure());
  Expansion result;
  if (choice.has_effects) {
    result.controls = {merged.back().node};
    merged.pop_back();
  }
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
  SLUICE_ASSIGN_OR_RETURN(Expansion result,
                          Branches({call, branches, pred, args, RunForEffect(branches)}, 0, 2));
  SetShapes(*call.attrs, result.outputs);
  return result;
}

absl::StatusOr<Expansion> Expander::Case(const Call& call) {
  const auto* branches = FindAttr<std::vector<FunctionAttr>>(*call.attrs, "branches");
  SLUICE_INVALID_IF(branches == nullptr || branches->empty(), "expected branches, got 0");
  const OutputList args(call.inputs.begin() + 1, call.inputs.end());
  SLUICE_INVALID_IF(branches->size() == 1 && (*branches)[0] == nullptr,
                    "expected a function as branch 0, got none");
  if (branches->size() == 1) {
    return Body(*(*branches)[0], args, call.device);
  }
  SLUICE_ASSIGN_OR_RETURN(const Output index,
                          Scalar(call.inputs[0], "branch_index must be scalar, but "));
  const Choice choice{call, *branches, index, args, RunForEffect(*branches)};
  SLUICE_ASSIGN_OR_RETURN(Expansion result, Branches(choice, 0, branches->size()));
  SetShapes(*call.attrs, result.outputs);
  return result;
}

absl::StatusOr<Expansion> Expander::While(const Call& call) {
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef cond, FunctionOf(call, "cond"));
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef body, FunctionOf(call, "body"));
  SLUICE_INVALID_IF(call.inputs.empty(), "a loop without variables has no end");
  WhileOptions options;
  if (const auto* parallel = FindAttr<int64_t>(*call.attrs, "parallel_iterations")) {
    options.parallel_iterations = std::max<int>(1, static_cast<int>(*parallel));
  }
  options.shape_invariants = UnknownShapes(call.inputs.size());
  auto truth = [&](const OutputList& v) -> absl::StatusOr<Output> {
    SLUICE_ASSIGN_OR_RETURN(const Expansion made, Body(cond, v, call.device));
    if (made.outputs.size() == 1) return AsBool(After(made)[0]);
    return InvalidArgument("the condition must give one tensor, got ", made.outputs.size());
  };
  auto condition = [&](const OutputList& v) -> Output {
    absl::StatusOr<Output> goes_on = truth(v);
    if (!goes_on.ok()) Fail(goes_on.status());
    return goes_on.value_or(Output());
  };
  auto step = [&](const OutputList& v) -> OutputList {
    absl::StatusOr<Expansion> made = Body(body, v, call.device);
    return made.ok() ? After(*made) : Fail(made.status());
  };
  Expansion result;
  result.outputs = WhileLoop(condition, step, call.inputs, options);
  SLUICE_RETURN_IF_ERROR(TakeFailure());
  SetShapes(*call.attrs, result.outputs);
  result.controls = {result.outputs[0].node};
  return result;
}

absl::StatusOr<Output> Expander::Scalar(Output value, const std::string& expected) {
  if (value.shape().rank_known()) {
    SLUICE_INVALID_IF(value.shape().rank() > 0, expected, value.shape().ToString());
    return value;
  }
  const Output shape = core::Shape(value);
  Node* check = core::Assert(
      core::Equal(core::FirstElement(core::Shape(shape)), Constant(Tensor::Scalar<int32_t>(0))),
      {Constant(Tensor::Scalar(expected)), shape});
  if (check == nullptr) return graph_.status();
  ControlDependencies after(graph_, {Operation(check)});
  return core::Identity(value);
}

// Returns `start`. The step fails if steps of `delta` do not lead from it to `limit`.
absl::StatusOr<Output> Expander::CheckedStart(Output start, Output limit, Output delta) {
  const Output towards = core::Greater(core::Mul(core::Sub(limit, start), delta),
                                       Constant(Tensor::Scalar<int64_t>(0)));
  const Output what = Constant(Tensor::Scalar(std::string("Invalid start/limit/delta: ")));
  Node* check = core::Assert(core::LogicalOr(towards, core::Equal(start, limit)),
                             {what, start, limit, delta});
  if (check == nullptr) return graph_.status();
  ControlDependencies after(graph_, {Operation(check)});
  return core::Identity(start);
}

// for (i = start; (limit - i) * delta > 0; i += delta) inputs = body(i, inputs)
absl::StatusOr<Expansion> Expander::For(const Call& call) {
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef body, FunctionOf(call, "body"));
  OutputList range;  // start, limit and delta
  for (const char* name : {"start", "limit", "delta"}) {
    SLUICE_ASSIGN_OR_RETURN(const Output scalar, Scalar(call.inputs[range.size()],
                                                        StrCat(name, " must be a scalar, but ")));
    range.push_back(core::Cast(scalar, DT_INT64));
  }
  const Output limit = range[1], delta = range[2];
  SLUICE_ASSIGN_OR_RETURN(const Output start, CheckedStart(range[0], limit, delta));
  OutputList variables = {start};
  variables.insert(variables.end(), call.inputs.begin() + 3, call.inputs.end());
  WhileOptions options;
  options.shape_invariants = UnknownShapes(variables.size());
  const Output zero = Constant(Tensor::Scalar<int64_t>(0));
  auto condition = [&](const OutputList& v) {
    return core::Greater(core::Mul(core::Sub(limit, v[0]), delta), zero);
  };
  auto step = [&](const OutputList& v) -> OutputList {
    OutputList args(v);
    args[0] = core::Cast(v[0], DT_INT32);
    absl::StatusOr<Expansion> made = Body(body, args, call.device);
    if (!made.ok()) return Fail(made.status());
    OutputList next = After(*made);
    next.insert(next.begin(), core::AddV2(v[0], delta));
    return next;
  };
  Expansion result;
  result.outputs = WhileLoop(condition, step, variables, options);
  SLUICE_RETURN_IF_ERROR(TakeFailure());
  result.controls = {result.outputs[0].node};
  result.outputs.erase(result.outputs.begin());
  return result;
}

namespace {

// Collects one output of a function, call by call, as the rows of a tensor.
class RowArray {
 public:
  RowArray(Output count, DataType dtype, const PartialShape& row)
      : dtype_(dtype), row_(row), array_(core::TensorArray(count, dtype, row)) {}
  // The flow before the first write. A write takes a flow and returns the next one, which orders
  // the writes.
  Output flow() const { return array_ == nullptr ? Output() : Output(array_, 1); }
  Output Write(Output index, Output value, Output flow) const {
    return core::TensorArrayWrite(Output(array_, 0), index, value, flow);
  }
  Output Gather(Output indices, Output flow) const {
    return core::TensorArrayGather(Output(array_, 0), indices, flow, dtype_, row_);
  }

 private:
  DataType dtype_;
  PartialShape row_;
  Node* array_;
};

// Row `index` of each of the first `num_rows` inputs, and the other inputs as they are.
OutputList RowsOf(const OutputList& inputs, size_t num_rows, Output index, Output zero) {
  OutputList args = inputs;
  for (size_t i = 0; i < std::min(num_rows, inputs.size()); ++i) {
    args[i] = core::GatherV2(inputs[i], index, zero);
  }
  return args;
}

// An array for each output of the function.
std::vector<RowArray> RowArrays(Output count, const std::vector<DataType>& types,
                                const std::vector<PartialShape>* shapes) {
  std::vector<RowArray> arrays;
  for (size_t i = 0; i < types.size(); ++i) {
    const bool has_shape = shapes != nullptr && i < shapes->size();
    arrays.emplace_back(count, types[i], has_shape ? (*shapes)[i] : PartialShape());
  }
  return arrays;
}

}  // namespace

// Calls the function with one row of the arguments at a time. Its results are rows again.
absl::StatusOr<Expansion> Expander::Map(const Call& call) {
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef function, FunctionOf(call, "f"));
  const auto* types = FindAttr<std::vector<DataType>>(*call.attrs, "Targuments");
  const auto* output_types = FindAttr<std::vector<DataType>>(*call.attrs, "output_types");
  const auto* shapes = FindAttr<std::vector<PartialShape>>(*call.attrs, "output_shapes");
  SLUICE_INVALID_IF(types == nullptr || output_types == nullptr || types->empty(),
                    "expected attributes Targuments and output_types");
  // The attributes of a call inside a function are not checked against its inputs before.
  SLUICE_INVALID_IF(types->size() > call.inputs.size(), "expected ", types->size(),
                    " arguments, got ", call.inputs.size(), " inputs");
  for (size_t i = 0; i < types->size(); ++i) {
    SLUICE_INVALID_IF(call.inputs[i].shape().rank() == 0,
                      "All inputs must have rank at least 1. Input ", i, " has a rank of 0.");
  }
  const Output zero = Constant(Tensor::Scalar<int32_t>(0));
  const Output one = Constant(Tensor::Scalar<int32_t>(1));
  const Output shape = core::Shape(call.inputs[0]);
  OutputList first;
  for (const int32_t n : {0, 1, 1}) first.push_back(Constant(Tensor::Vector<int32_t>({n})));
  const Output count = core::StridedSlice(shape, first, "shrink_axis_mask");
  const std::vector<RowArray> arrays = RowArrays(count, *output_types, shapes);
  OutputList variables = {zero};
  for (const RowArray& array : arrays) variables.push_back(array.flow());
  SLUICE_RETURN_IF_ERROR(graph_.status());
  auto step = [&](const OutputList& v) -> OutputList {
    absl::StatusOr<Expansion> made =
        Body(function, RowsOf(call.inputs, types->size(), v[0], zero), call.device);
    if (made.ok() && made->outputs.size() != arrays.size()) {
      made = InvalidArgument("the function must give ", arrays.size(), " tensors, got ",
                             made->outputs.size());
    }
    if (!made.ok()) return Fail(made.status());
    const OutputList results = After(*made);
    OutputList next = {core::AddV2(v[0], one)};
    for (size_t i = 0; i < arrays.size(); ++i) {
      next.push_back(arrays[i].Write(v[0], results[i], v[i + 1]));
    }
    return next;
  };
  const OutputList last =
      WhileLoop([&](const OutputList& v) { return core::Less(v[0], count); }, step, variables);
  SLUICE_RETURN_IF_ERROR(TakeFailure());
  const Output all = core::Range(zero, count, one);
  Expansion result;
  for (size_t i = 0; i < arrays.size(); ++i) {
    result.outputs.push_back(arrays[i].Gather(all, last[i + 1]));
  }
  SLUICE_RETURN_IF_ERROR(graph_.status());
  result.controls = {last[0].node};
  return result;
}

namespace {

// Whether `grad` is a gradient that flows through `y`.
bool IsGradientOf(const Output& grad, const Output& y) {
  return BaseType(y.dtype()) == BaseType(grad.dtype()) &&
         (IsFloating(y.dtype()) || IsComplex(y.dtype()));
}

}  // namespace

Output Expander::DenseOrZeros(const Grad& grad, const Output& x, DataType declared) {
  if (Output dense = ToDense(grad)) return dense;
  if (x.dtype() != DT_RESOURCE) return core::ZerosLike(x, "");
  const HandleData* data = x.node->output_handle(x.index);
  const DataType dtype = data != nullptr && data->dtype != DT_INVALID ? data->dtype : declared;
  return core::Fill(core::VariableShape(x), core::Cast(Constant(Tensor::Scalar(0.0f)), dtype));
}

// Inputs: the function's arguments, then the gradients of its results. Results: the gradients of
// the arguments, which are zeros if there is no path.
absl::StatusOr<Expansion> Expander::Gradient(const Call& call) {
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef function, FunctionOf(call, "f"));
  const std::string given = library_.GradientOf(function.name);
  if (!given.empty()) return Body({given, function.attrs}, call.inputs, call.device);
  const auto* types = FindAttr<std::vector<DataType>>(*call.attrs, "Tout");
  SLUICE_INVALID_IF(types == nullptr || types->size() > call.inputs.size(),
                    "expected one result an argument of '", function.name, "'");
  const size_t num_args = types->size();
  OutputList xs, ys;
  for (size_t i = 0; i < num_args; ++i) xs.push_back(core::Identity(call.inputs[i]));
  SLUICE_RETURN_IF_ERROR(graph_.status());
  const bool was_differentiated = std::exchange(is_differentiated_, true);
  const bool is_op = !library_.Contains(function.name) && OpRegistry::Global().Find(function.name);
  const absl::StatusOr<Expansion> made =
      is_op ? OneOp(function, xs, call.device) : Body(function, xs, call.device);
  is_differentiated_ = was_differentiated;
  SLUICE_RETURN_IF_ERROR(made.status());
  const Expansion& forward = *made;
  GradientOptions options;
  for (size_t i = 0; i < forward.outputs.size(); ++i) {
    const size_t position = num_args + i;
    SLUICE_INVALID_IF(position >= call.inputs.size(), "expected a gradient for each of ",
                      forward.outputs.size(), " results of '", function.name, "', got ",
                      call.inputs.size() - num_args);
    const Output& y = forward.outputs[i];
    const Output& grad = call.inputs[position];
    if (!IsGradientOf(grad, y)) continue;
    ys.push_back(core::Identity(y));
    options.grad_ys.push_back(grad);
  }
  // The constants of the gradient wait for the entry, so that they belong to the frame of the call.
  ControlDependencies after(
      graph_, entry_ == nullptr ? std::vector<Operation>() : std::vector<Operation>{entry_});
  std::vector<Grad> grads(num_args);
  if (!ys.empty()) {
    SLUICE_ASSIGN_OR_RETURN(grads, Gradients(ys, xs, options));
  }
  Expansion result;
  for (size_t i = 0; i < num_args; ++i) {
    result.outputs.push_back(DenseOrZeros(grads[i], xs[i], (*types)[i]));
  }
  SLUICE_RETURN_IF_ERROR(graph_.status());
  result.controls = forward.controls;
  return result;
}

}  // namespace sluice

#include "executor/testing/test_ops.h"

#include <algorithm>
#include <utility>

#include "executor/wait/cancellation.h"
#include "graph/infer/shape_context.h"
#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice::testing {
namespace {

absl::Status Unknown(ShapeContext&) { return absl::OkStatus(); }
absl::Status FirstShape(ShapeContext& c) { return c.SetOutput(0, c.input(0)); }

// Output b has the type of input a.
void FromAToB(OpDefBuilder& op) { op.Input("a", "T").Output("b", "T").Attr("T", TypeAttr()); }

OP(Const, "")
    .Output("output", "dtype")
    .Attr("value", TensorAttr())
    .Attr("dtype", TypeAttr())
    .Role(OpRole::kConstant)
    .Shape([](ShapeContext& c) -> absl::Status {
      return c.SetOutput(0, c.attr<Tensor>("value").shape());
    });
OP(Placeholder, "")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr(PartialShape()))
    .Role(OpRole::kPlaceholder)
    .Shape([](ShapeContext& c) -> absl::Status {
      return c.SetOutput(0, c.attr<PartialShape>("shape"));
    });
OP(Identity, "")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Role(OpRole::kPass)
    .Shape(Unknown);
OP(NoOp, "").Role(OpRole::kNoOp).Shape(Unknown);
OP(ControlTrigger, "").Role(OpRole::kControlTrigger).Shape(Unknown);
OP(Switch, "")
    .Input("data", "T")
    .Input("pred", DT_BOOL)
    .Output("output_false", "T")
    .Output("output_true", "T")
    .Attr("T", TypeAttr())
    .Role(OpRole::kSwitch)
    .Shape(Unknown);
OP(Merge, "")
    .Input("inputs", "N*T")
    .Output("output", "T")
    .Output("value_index", DT_INT32)
    .Attr("T", TypeAttr())
    .Attr("N", IntAttr().Min(1))
    .Role(OpRole::kMerge)
    .Shape(Unknown);
OP(Enter, "")
    .Input("data", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("frame_name", StringAttr())
    .Attr("is_constant", BoolAttr(false))
    .Attr("parallel_iterations", IntAttr(10))
    .Role(OpRole::kEnter)
    .Shape(Unknown);
OP(Exit, "")
    .Input("data", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Role(OpRole::kExit)
    .Shape(Unknown);
OP(NextIteration, "")
    .Input("data", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Role(OpRole::kNextIteration)
    .Shape(Unknown);
OP(LoopCond, "")
    .Input("input", DT_BOOL)
    .Output("output", DT_BOOL)
    .Role(OpRole::kLoopCond)
    .Shape(Unknown);
OP(TestAdd, "").Input("a", DT_FLOAT).Input("b", DT_FLOAT).Output("c", DT_FLOAT).Shape(FirstShape);
OP(TestSub, "").Input("a", DT_FLOAT).Input("b", DT_FLOAT).Output("c", DT_FLOAT).Shape(FirstShape);
OP(TestLess, "").Input("a", DT_FLOAT).Input("b", DT_FLOAT).Output("c", DT_BOOL).Shape(Unknown);
OP(TestLogged, "").With(FromAToB).Shape(Unknown).Stateful();
OP(TestFail, "").With(FromAToB).Shape(Unknown);
OP(TestHooked, "").With(FromAToB).Attr("hook", StringAttr()).Shape(Unknown).Stateful();
OP(TestWait, "").With(FromAToB).Attr("event", StringAttr()).Shape(Unknown).Stateful();
OP(TestInstant, "").With(FromAToB).Shape(Unknown).Stateful();
OP(TestVariable, "")
    .RefOutput("ref", DT_FLOAT)
    .Attr("dtype", TypeAttr({}, DT_FLOAT))
    .Attr("shape", ShapeAttr(PartialShape()))
    .OnVariable(VariableUse::kCreates)
    .Shape(Unknown)
    .Stateful();
OP(Assign, "")
    .RefInput("ref", DT_FLOAT)
    .Input("value", DT_FLOAT)
    .RefOutput("output_ref", DT_FLOAT)
    .AllowsUninitializedInput()
    .OnVariable(VariableUse::kAssigns)
    .Shape(Unknown);
OP(TestAssignAdd, "")
    .RefInput("ref", DT_FLOAT)
    .Input("value", DT_FLOAT)
    .RefOutput("output_ref", DT_FLOAT)
    .Shape(Unknown);
OP(TestHeld, "")
    .RefInput("ref", DT_FLOAT)
    .Output("value", DT_FLOAT)
    .Attr("hook", StringAttr())
    .Shape(Unknown);

template <typename F>
absl::Status Binary(KernelContext& c, F f) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.ForwardOrAllocate({0, 1}, 0, c.input(0).shape()));
  const float* a = c.input(0).data<float>();
  const float* b = c.input(1).data<float>();
  for (int64_t i = 0; i < out->num_elements(); ++i) out->data<float>()[i] = f(a[i], b[i]);
  return absl::OkStatus();
}
absl::Status AddCompute(KernelContext& c) {
  return Binary(c, [](float a, float b) { return a + b; });
}
absl::Status SubCompute(KernelContext& c) {
  return Binary(c, [](float a, float b) { return a - b; });
}
absl::Status LessCompute(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, TensorShape()));
  out->scalar<bool>() = c.input(0).scalar<float>() < c.input(1).scalar<float>();
  return absl::OkStatus();
}
KERNEL(TestAdd, FunctionKernel<AddCompute>);
KERNEL(TestSub, FunctionKernel<SubCompute>);
KERNEL(TestLess, FunctionKernel<LessCompute>);

Mutex& TraceMutex() {
  static auto* mutex = new Mutex;
  return *mutex;
}
std::vector<std::string>& TraceLines() {
  static auto* lines = new std::vector<std::string>;
  return *lines;
}
absl::Status LoggedCompute(KernelContext& c) {
  {
    ScopedLock lock(&TraceMutex());
    TraceLines().push_back(c.name());
  }
  c.output_value(0) = std::move(c.input_value(0));
  return absl::OkStatus();
}
KERNEL(TestLogged, FunctionKernel<LoggedCompute>);

absl::Status FailCompute(KernelContext&) { return absl::InternalError("boom"); }
KERNEL(TestFail, FunctionKernel<FailCompute>);

std::map<std::string, std::function<void()>>& Hooks() {
  static auto* hooks = new std::map<std::string, std::function<void()>>;
  return *hooks;
}
void CallHook(const std::string& name) {
  std::function<void()> hook;
  {
    ScopedLock lock(&TraceMutex());
    auto it = Hooks().find(name);
    if (it != Hooks().end()) hook = it->second;
  }
  if (hook) hook();
}
class HookedKernel : public Kernel {
 public:
  explicit HookedKernel(KernelInit& init) : hook_(init.attr<std::string>("hook")) {}
  absl::Status Compute(KernelContext& c) override {
    CallHook(hook_);
    c.output_value(0) = std::move(c.input_value(0));
    return absl::OkStatus();
  }

 private:
  const std::string hook_;
};
KERNEL(TestHooked, HookedKernel);

class WaitKernel : public AsyncKernel {
 public:
  explicit WaitKernel(KernelInit& init) : event_(init.attr<std::string>("event")) {}
  void ComputeAsync(KernelContext& c, Done done) override {
    c.output_value(0) = std::move(c.input_value(0));
    Events::Get().Add(event_, c, std::move(done));
  }

 private:
  const std::string event_;
};
KERNEL(TestWait, WaitKernel);

class InstantKernel : public AsyncKernel {
 public:
  void ComputeAsync(KernelContext& c, Done done) override {
    c.output_value(0) = std::move(c.input_value(0));
    done(absl::OkStatus());
  }
};
KERNEL(TestInstant, InstantKernel);

class VariableKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    c.set_output_ref(0, &claim_, &tensor_);
    return absl::OkStatus();
  }

 private:
  Claim claim_;
  Tensor tensor_;
};
KERNEL(TestVariable, VariableKernel);

absl::Status AssignCompute(KernelContext& c) {
  const RefInput ref = c.ref_input(0);
  {
    std::unique_lock lock(*ref.claim, std::try_to_lock);
    if (!lock) return c.RunAgainAfter(ref.claim);
    SLUICE_ASSIGN_OR_RETURN(*ref.tensor, c.input(1).Clone());
  }
  c.set_output_ref(0, ref.claim, ref.tensor);
  return absl::OkStatus();
}
absl::Status AssignAddCompute(KernelContext& c) {
  const RefInput ref = c.ref_input(0);
  {
    std::unique_lock lock(*ref.claim, std::try_to_lock);
    if (!lock) return c.RunAgainAfter(ref.claim);
    if (!ref.tensor->BufferIsUnique()) {
      SLUICE_ASSIGN_OR_RETURN(*ref.tensor, ref.tensor->Clone());
    }
    ref.tensor->scalar<float>() += c.input(1).scalar<float>();
  }
  c.set_output_ref(0, ref.claim, ref.tensor);
  return absl::OkStatus();
}
KERNEL(Assign, FunctionKernel<AssignCompute>);
KERNEL(TestAssignAdd, FunctionKernel<AssignAddCompute>);

class HeldKernel : public Kernel {
 public:
  explicit HeldKernel(KernelInit& init) : hook_(init.attr<std::string>("hook")) {}
  absl::Status Compute(KernelContext& c) override {
    const RefInput ref = c.ref_input(0);
    const std::unique_lock lock(*ref.claim, std::try_to_lock);
    if (!lock) return c.RunAgainAfter(ref.claim);
    CallHook(hook_);
    c.set_output(0, *ref.tensor);
    return absl::OkStatus();
  }

 private:
  const std::string hook_;
};
KERNEL(TestHeld, HeldKernel);

Output One(NodeBuilder& builder, const std::string& name) {
  Node* node = builder.Name(name).Finish();
  return node == nullptr ? Output() : Output(node);
}

Output Unary(const char* op, Output a, const std::string& name, At at = At::current()) {
  NodeBuilder builder(a.graph(), op, at);
  builder.Input(a);
  return One(builder, name);
}
Output Of2(const char* op, Output a, Output b, const std::string& name, At at = At::current()) {
  NodeBuilder builder(a.graph(), op, at);
  builder.Input(a).Input(b);
  return One(builder, name);
}
Output MakeConst(Graph& g, Tensor value, const std::string& name) {
  NodeBuilder builder(&g, "Const", At::current());
  builder.Attr("dtype", value.dtype()).Attr("value", value);
  return One(builder, name);
}

}  // namespace

Output Const(Graph& g, float value, const std::string& name) {
  return MakeConst(g, Tensor::Scalar(value), name);
}
Output ConstInt(Graph& g, int32_t value, const std::string& name) {
  return MakeConst(g, Tensor::Scalar(value), name);
}
Output ConstBool(Graph& g, bool value, const std::string& name) {
  return MakeConst(g, Tensor::Scalar(value), name);
}
Output Placeholder(Graph& g, DataType dtype, const PartialShape& shape, const std::string& name,
                   At at) {
  NodeBuilder builder(&g, "Placeholder", at);
  builder.Attr("dtype", dtype).Attr("shape", shape);
  return One(builder, name);
}
Output Add(Output a, Output b, const std::string& name, At at) {
  return Of2("TestAdd", a, b, name, at);
}
Output Sub(Output a, Output b, const std::string& name) { return Of2("TestSub", a, b, name); }
Output Less(Output a, Output b, const std::string& name) { return Of2("TestLess", a, b, name); }
Output Identity(Output a, const std::string& name) { return Unary("Identity", a, name); }
Node* NoOp(Graph& g, const std::vector<Operation>& controls, const std::string& name) {
  NodeBuilder builder(&g, "NoOp", At::current());
  for (const Operation& c : controls) builder.ControlInput(c);
  return builder.Name(name).Finish();
}
Node* ControlTrigger(Graph& g, const std::vector<Operation>& controls) {
  NodeBuilder builder(&g, "ControlTrigger", At::current());
  for (const Operation& c : controls) builder.ControlInput(c);
  return builder.Finish();
}
Output Logged(Output a, const std::string& name, const std::vector<Operation>& controls) {
  NodeBuilder builder(a.graph(), "TestLogged", At::current());
  builder.Input(a);
  for (const Operation& c : controls) builder.ControlInput(c);
  return One(builder, name);
}
Output Fail(Output a, const std::string& name, At at) { return Unary("TestFail", a, name, at); }
Output Hooked(Output a, const std::string& name, At at) {
  NodeBuilder builder(a.graph(), "TestHooked", at);
  builder.Input(a).Attr("hook", name);
  return One(builder, name);
}
Output Wait(Output a, const std::string& name, At at) {
  NodeBuilder builder(a.graph(), "TestWait", at);
  builder.Input(a).Attr("event", name);
  return One(builder, name);
}
Output Instant(Output a, const std::string& name) { return Unary("TestInstant", a, name); }
Output Variable(Graph& g, const std::string& name, At at) {
  NodeBuilder builder(&g, "TestVariable", at);
  return One(builder, name);
}
Output Assign(Output ref, Output value, const std::string& name) {
  return Of2("Assign", ref, value, name);
}
Output AssignAdd(Output ref, Output value, const std::string& name) {
  return Of2("TestAssignAdd", ref, value, name);
}
Output Held(Output ref, const std::string& name) {
  NodeBuilder builder(ref.graph(), "TestHeld", At::current());
  builder.Input(ref).Attr("hook", name);
  return One(builder, name);
}
SwitchOutputs Switch(Output data, Output predicate, const std::string& name) {
  const Output out = Of2("Switch", data, predicate, name);
  return {Output(out.node, 0), Output(out.node, 1)};
}
MergeOutputs Merge(const OutputList& inputs, const std::string& name, bool allow_missing) {
  NodeBuilder builder(inputs[0].graph(), "Merge", At::current());
  builder.Input(inputs);
  if (allow_missing) builder.AllowMissingInputs();
  const Output out = One(builder, name);
  return {Output(out.node, 0), Output(out.node, 1)};
}
Output Enter(Output data, const std::string& frame, bool constant, int parallel_iterations,
             const std::string& name) {
  NodeBuilder builder(data.graph(), "Enter", At::current());
  builder.Input(data)
      .Attr("frame_name", frame)
      .Attr("is_constant", constant)
      .Attr("parallel_iterations", int64_t{parallel_iterations});
  return One(builder, name);
}
Output Exit(Output data, const std::string& name) { return Unary("Exit", data, name); }
Output NextIteration(Output data, const std::string& name) {
  return Unary("NextIteration", data, name);
}
Output LoopCond(Output data, const std::string& name) { return Unary("LoopCond", data, name); }

OutputList WhileLoop(const std::string& frame, const OutputList& first, const LoopFunction& cond,
                     const LoopFunction& body, int parallel_iterations) {
  Graph& g = *first[0].graph();
  OutputList merged;
  for (Output value : first) {
    const Output enter = Enter(value, frame, false, parallel_iterations);
    merged.push_back(Merge({enter, enter}).output);  // the second becomes the NextIteration
  }
  const Output goes_on = LoopCond(cond(merged)[0]);
  OutputList inside, exits;
  for (Output value : merged) {
    const SwitchOutputs split = Switch(value, goes_on);
    inside.push_back(Identity(split.if_true));
    exits.push_back(Exit(split.if_false));
  }
  const OutputList next = body(inside);
  for (size_t i = 0; i < first.size(); ++i) {
    const absl::Status linked = g.UpdateInput(merged[i].node, 1, NextIteration(next[i]));
    if (!linked.ok()) g.SetError(linked);
  }
  return exits;
}

std::vector<std::string> TakeTrace() {
  ScopedLock lock(&TraceMutex());
  return std::exchange(TraceLines(), {});
}
int CountInTrace(const std::vector<std::string>& trace, const std::string& name) {
  return static_cast<int>(std::count(trace.begin(), trace.end(), name));
}

void SetHook(const std::string& name, std::function<void()> hook) {
  ScopedLock lock(&TraceMutex());
  Hooks()[name] = std::move(hook);
}
void ClearHooks() {
  ScopedLock lock(&TraceMutex());
  Hooks().clear();
}

}  // namespace sluice::testing

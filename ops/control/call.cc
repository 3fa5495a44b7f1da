// Ops that call functions of the graph's library. graph/function replaces them with conditionals,
// loops and the bodies of functions before a graph runs.

#ifndef SLUICE_DEFINITIONS_ONLY
#include "graph/function/call_gradient.h"
#endif
#include "graph/op/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Sets the shapes in attribute output_shapes, or _output_shapes of imported nodes, or unknown
// shapes.
absl::Status DeclaredShapes(ShapeContext& c) {
  for (const char* name : {"output_shapes", "_output_shapes"}) {
    const auto* shapes = c.node().FindAttr<std::vector<PartialShape>>(name);
    if (shapes == nullptr || static_cast<int>(shapes->size()) != c.num_outputs()) continue;
    for (int i = 0; i < c.num_outputs(); ++i) {
      SLUICE_RETURN_IF_ERROR(c.SetOutput(i, (*shapes)[static_cast<size_t>(i)]));
    }
    return absl::OkStatus();
  }
  return c.SetOutputs(PartialShape());
}

// Shape function of loops: their variables keep their resources and their declared shapes.
absl::Status LoopShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (const HandleData* handle = c.InputHandle(i)) c.SetOutputHandle(i, *handle);
  }
  return DeclaredShapes(c);
}

absl::Status MapShape(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<PartialShape>>("output_shapes");
  const int64_t rows = c.input(0).rank() > 0 ? c.input(0).dim(0) : -1;
  for (int i = 0; i < c.num_outputs(); ++i) {
    const bool is_known = static_cast<size_t>(i) < shapes.size();
    SLUICE_RETURN_IF_ERROR(
        c.SetOutput(i, is_known ? PartialShape({rows}).Concatenate(shapes[static_cast<size_t>(i)])
                                : PartialShape()));
  }
  return absl::OkStatus();
}

absl::Status SymbolicGradientShape(ShapeContext& c) {
  SLUICE_INVALID_IF(c.num_inputs() < c.num_outputs(), "len(inputs) < len(outputs)");
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (c.input_type(i) == DT_RESOURCE) {
      const HandleData* handle = c.InputHandle(i);
      SLUICE_RETURN_IF_ERROR(c.SetOutput(i, handle != nullptr ? handle->shape : PartialShape()));
    } else {
      SLUICE_RETURN_IF_ERROR(c.SetOutput(i, c.input(i)));
    }
  }
  return absl::OkStatus();
}

void CallsWithInput(OpDefBuilder& op) { op.Input("input", "Tin").Output("output", "Tout"); }

void CallsWithArgs(OpDefBuilder& op) { op.Input("args", "Tin").Output("output", "Tout"); }

// Declares the types of the inputs and outputs, as lists of at least `min` types.
auto InAndOutTypes(int64_t min) { return Attrs({"Tin", "Tout"}, TypeListAttr().Min(min)); }

void CallsCase(OpDefBuilder& op) {
  op.Input("branch_index", DT_INT32)
      .With(CallsWithInput)
      .With(InAndOutTypes(0))
      .Attr("branches", FunctionListAttr().Min(1))
      .Attr("output_shapes", ShapeListAttr({}))
      .Shape(DeclaredShapes);
}

// Declares an op that calls one of two functions with lists of at least `min` values.
auto CallsIf(int64_t min) {
  return [min](OpDefBuilder& op) {
    op.Input("cond", "Tcond")
        .With(CallsWithInput)
        .Attr("Tcond", TypeAttr())
        .With(InAndOutTypes(min))
        .With(Attrs({"then_branch", "else_branch"}, FunctionAttrDef()))
        .Shape(DeclaredShapes);
  };
}

void CallsWhile(OpDefBuilder& op) {
  op.Input("input", "T")
      .Output("output", "T")
      .Attr("T", TypeListAttr().Min(0))
      .With(Attrs({"cond", "body"}, FunctionAttrDef()))
      .Shape(LoopShape);
}

void WhileAttrs(OpDefBuilder& op) {
  op.Attr("output_shapes", ShapeListAttr({})).Attr("parallel_iterations", IntAttr(10));
}

void CallsPartitioned(OpDefBuilder& op) {
  op.With(CallsWithArgs)
      .With(InAndOutTypes(0))
      .Attr("f", FunctionAttrDef())
      .With(Attrs({"config", "config_proto", "executor_type"}, StringAttr("")))
      .Shape(DeclaredShapes);
}

OP(_If, "If, under its name in rewritten graphs.").With(CallsIf(1)).Stateful().Hidden();

OP(_While, "While, under its name in rewritten graphs.").With(CallsWhile).Stateful().Hidden();

OP(Case,
   "Calls function number `branch_index` of `branches` with `input`, or the last one if the number "
   "is out of range.")
    .With(CallsCase)
    .Stateful()
    .Repeatable() GRADIENT(BranchesGradient);

OP(For,
   "Calls `body` with an index and the previous results, `input` at first, for each index from "
   "`start` to `limit` in steps of `delta`.")
    .With(Inputs({"start", "limit", "delta"}, DT_INT32))
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeListAttr().Min(0))
    .Attr("body", FunctionAttrDef())
    .Shape(UnknownOutputs());

OP(If,
   "Calls `then_branch` with `input` if `cond` is true, else `else_branch`. A number is true if it "
   "is not zero. A string, and any tensor that is no scalar, is true if it is not empty.")
    .With(CallsIf(0))
    .Attr("output_shapes", ShapeListAttr({}))
    .Stateful()
    .Repeatable() GRADIENT(BranchesGradient);

OP(MapDefun,
   "Calls `f` with each row of `arguments` and with `captured_inputs`, and stacks the results.")
    .Input("arguments", "Targuments")
    .Input("captured_inputs", "Tcaptured")
    .Output("output", "output_types")
    .Attr("Targuments", TypeListAttr().Min(1))
    .Attr("Tcaptured", TypeListAttr({}, {}).Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("f", FunctionAttrDef())
    .Attr("max_intra_op_parallelism", IntAttr(1))
    .Shape(MapShape);

OP(PartitionedCall, "Calls `f` with `args`.").With(CallsPartitioned) GRADIENT(CallGradient);

OP(RemoteCall, "Calls `f` with `args` on device `target`.")
    .Input("target", DT_STRING)
    .With(CallsWithArgs)
    .With(InAndOutTypes(1))
    .Attr("f", FunctionAttrDef())
    .Stateful()
    .Shape(DeclaredShapes);

OP(StatefulPartitionedCall, "Calls `f`, which may have side effects, with `args`.")
    .With(CallsPartitioned)
    .Stateful()
    .DistributedCommunication()
    .Repeatable() GRADIENT(CallGradient);

OP(StatelessCase, "Case whose functions have no side effects.")
    .With(CallsCase) GRADIENT(BranchesGradient);

OP(StatelessIf, "If whose functions have no side effects.")
    .With(CallsIf(0))
    .Attr("output_shapes", ShapeListAttr({})) GRADIENT(BranchesGradient);

OP(StatelessWhile, "While whose functions have no side effects.")
    .With(CallsWhile)
    .With(WhileAttrs) GRADIENT(WhileGradient);

OP(SymbolicGradient,
   "Computes the gradients of the arguments of `f`. `input` holds the arguments, and then the "
   "gradients of the results.")
    .With(CallsWithInput)
    .With(InAndOutTypes(1))
    .Attr("f", FunctionAttrDef())
    .Shape(SymbolicGradientShape);

OP(While, "Calls `body` with its previous results, `input` at first, while `cond` of them is true.")
    .With(CallsWhile)
    .With(WhileAttrs)
    .Stateful()
    .Repeatable() GRADIENT(WhileGradient);

}  // namespace
}  // namespace sluice

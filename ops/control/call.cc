// Ops that call functions of the graph's library. They have no kernels to speak of: graph/function
// makes conds, loops and bodies of them before a graph is run.

#ifndef SLUICE_DEFINITIONS_ONLY
#include "graph/function/call_gradient.h"
#endif
#include "ops/op.h"

namespace sluice {
namespace {

// What attribute output_shapes, or _output_shapes of imported nodes, says; else nothing.
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

// A loop's variables keep the shapes that they are declared with; without that, nothing is known.
absl::Status SameAsInputs(ShapeContext& c) {
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
  if (c.num_inputs() < c.num_outputs()) {
    return InvalidArgument("len(inputs) < len(outputs)");
  }
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

OP(_If, "If, as rewritten graphs name it.")
    .Input("cond", "Tcond")
    .Input("input", "Tin")
    .Output("output", "Tout")
    .Attr("Tcond", TypeAttr())
    .Attr("Tin", TypeListAttr().Min(1))
    .Attr("Tout", TypeListAttr().Min(1))
    .Attr("then_branch", FunctionAttrDef())
    .Attr("else_branch", FunctionAttrDef())
    .Stateful()
    .Hidden()
    .Shape(DeclaredShapes);

OP(_While, "While, as rewritten graphs name it.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeListAttr().Min(0))
    .Attr("cond", FunctionAttrDef())
    .Attr("body", FunctionAttrDef())
    .Stateful()
    .Hidden()
    .Shape(SameAsInputs);

OP(Case,
   "Calls the function number `branch_index` of `branches` with `input`; the last one if"
   " there is none of that number.")
    .Input("branch_index", DT_INT32)
    .Input("input", "Tin")
    .Output("output", "Tout")
    .Attr("Tin", TypeListAttr().Min(0))
    .Attr("Tout", TypeListAttr().Min(0))
    .Attr("branches", FunctionListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr({}))
    .Stateful()
    .Shape(DeclaredShapes) GRADIENT(BranchesGradient);

OP(For,
   "Calls `body` with the index and the values that it gave before, for each index from"
   " `start` to `limit` in steps of `delta`.")
    .Input("start", DT_INT32)
    .Input("limit", DT_INT32)
    .Input("delta", DT_INT32)
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeListAttr().Min(0))
    .Attr("body", FunctionAttrDef())
    .Shape(UnknownOutputs());

OP(If,
   "Calls `then_branch` with `input` if `cond` holds, else `else_branch`. A number holds"
   " if it is not zero, a string and anything but a scalar if it is not empty.")
    .Input("cond", "Tcond")
    .Input("input", "Tin")
    .Output("output", "Tout")
    .Attr("Tcond", TypeAttr())
    .Attr("Tin", TypeListAttr().Min(0))
    .Attr("Tout", TypeListAttr().Min(0))
    .Attr("then_branch", FunctionAttrDef())
    .Attr("else_branch", FunctionAttrDef())
    .Attr("output_shapes", ShapeListAttr({}))
    .Stateful()
    .Shape(DeclaredShapes) GRADIENT(BranchesGradient);

OP(MapDefun,
   "Calls `f` for each row of `arguments`, with `captured_inputs` behind it, and stacks"
   " what it gives.")
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

OP(PartitionedCall, "Calls `f` with `args`.")
    .Input("args", "Tin")
    .Output("output", "Tout")
    .Attr("Tin", TypeListAttr().Min(0))
    .Attr("Tout", TypeListAttr().Min(0))
    .Attr("f", FunctionAttrDef())
    .Attr("config", StringAttr(""))
    .Attr("config_proto", StringAttr(""))
    .Attr("executor_type", StringAttr(""))
    .Shape(DeclaredShapes) GRADIENT(CallGradient);

OP(RemoteCall, "Calls `f` with `args` on device `target`.")
    .Input("target", DT_STRING)
    .Input("args", "Tin")
    .Output("output", "Tout")
    .Attr("Tin", TypeListAttr().Min(1))
    .Attr("Tout", TypeListAttr().Min(1))
    .Attr("f", FunctionAttrDef())
    .Stateful()
    .Shape(DeclaredShapes);

OP(StatefulPartitionedCall, "Calls `f`, which may have effects, with `args`.")
    .Input("args", "Tin")
    .Output("output", "Tout")
    .Attr("Tin", TypeListAttr().Min(0))
    .Attr("Tout", TypeListAttr().Min(0))
    .Attr("f", FunctionAttrDef())
    .Attr("config", StringAttr(""))
    .Attr("config_proto", StringAttr(""))
    .Attr("executor_type", StringAttr(""))
    .Stateful()
    .DistributedCommunication()
    .Shape(DeclaredShapes) GRADIENT(CallGradient);

OP(StatelessCase, "Case whose functions have no effects.")
    .Input("branch_index", DT_INT32)
    .Input("input", "Tin")
    .Output("output", "Tout")
    .Attr("Tin", TypeListAttr().Min(0))
    .Attr("Tout", TypeListAttr().Min(0))
    .Attr("branches", FunctionListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr({}))
    .Shape(DeclaredShapes) GRADIENT(BranchesGradient);

OP(StatelessIf, "If whose functions have no effects.")
    .Input("cond", "Tcond")
    .Input("input", "Tin")
    .Output("output", "Tout")
    .Attr("Tcond", TypeAttr())
    .Attr("Tin", TypeListAttr().Min(0))
    .Attr("Tout", TypeListAttr().Min(0))
    .Attr("then_branch", FunctionAttrDef())
    .Attr("else_branch", FunctionAttrDef())
    .Attr("output_shapes", ShapeListAttr({}))
    .Shape(DeclaredShapes) GRADIENT(BranchesGradient);

OP(StatelessWhile, "While whose functions have no effects.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeListAttr().Min(0))
    .Attr("cond", FunctionAttrDef())
    .Attr("body", FunctionAttrDef())
    .Attr("output_shapes", ShapeListAttr({}))
    .Attr("parallel_iterations", IntAttr(10))
    .Shape(SameAsInputs) GRADIENT(WhileGradient);

OP(SymbolicGradient,
   "The gradients of the arguments of `f`: `input` is the arguments, then the gradients of"
   " the results.")
    .Input("input", "Tin")
    .Output("output", "Tout")
    .Attr("Tin", TypeListAttr().Min(1))
    .Attr("Tout", TypeListAttr().Min(1))
    .Attr("f", FunctionAttrDef())
    .Shape(SymbolicGradientShape);

OP(While,
   "Calls `body` with the values that it gave before, `input` first, as long as `cond` of"
   " them holds.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeListAttr().Min(0))
    .Attr("cond", FunctionAttrDef())
    .Attr("body", FunctionAttrDef())
    .Attr("output_shapes", ShapeListAttr({}))
    .Attr("parallel_iterations", IntAttr(10))
    .Stateful()
    .Shape(SameAsInputs) GRADIENT(WhileGradient);

}  // namespace
}  // namespace sluice

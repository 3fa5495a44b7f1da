// Ops that make variables for use by resource handles, and ops that change such variables.
#include "ops/op.h"
#include "ops/state/mixins.h"
#include "ops/state/variable_shape.h"

namespace sluice {
namespace {

absl::Status AssignShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, VariableShapeOf(c, 0, c.attr<DataType>("dtype")));
  return shape.MergeWith(c.input(1)).status();
}

void AssignsVariable(OpDefBuilder& op) {
  op.Input("resource", DT_RESOURCE)
      .Input("value", "dtype")
      .Attr("dtype", TypeAttr())
      .Stateful()
      .Shape(AssignShape);
}

OP(AssignAddVariableOp, "Computes variable += value.").With(AssignsVariable);

OP(AssignSubVariableOp, "Computes variable -= value.").With(AssignsVariable);

OP(AssignVariableOp,
   "Computes variable = value. Makes the variable if there is none. With `validate_shape`, the "
   "value must have the shape of the variable.")
    .With(AssignsVariable)
    .Attr("validate_shape", BoolAttr(false))
    .OnVariable(VariableUse::kAssigns);

OP(DestroyResourceOp,
   "Destroys the resource. NOT_FOUND if there is none, unless `ignore_lookup_error`.")
    .Input("resource", DT_RESOURCE)
    .Attr("ignore_lookup_error", BoolAttr(true))
    .Stateful()
    .Shape(NoOutputs());

OP(ReadVariableOp, "Returns the value of the variable. Later updates do not change it.")
    .Input("resource", DT_RESOURCE)
    .Output("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Stateful()
    .OnVariable(VariableUse::kReadsValue)
    .Repeatable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, VariableShapeOf(c, 0, c.attr<DataType>("dtype")));
      return c.SetOutput(0, std::move(shape));
    }) GRADIENT([](Backprop& b) { b.Into("resource", b.GradOf(0)); });

OP(ResourceCountUpTo,
   "Returns the value of a scalar variable and increments it. OUT_OF_RANGE if it is at `limit`.")
    .Input("resource", DT_RESOURCE)
    .Output("output", "T")
    .Attr("limit", IntAttr())
    .Attr("T", TypeAttr(IndexTypes()))
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, VariableShapeOf(c, 0, c.attr<DataType>("T")));
      SLUICE_ASSIGN_OR_RETURN(PartialShape scalar, WithRank(shape, 0));
      return c.SetOutput(0, std::move(scalar));
    });

OP(VarHandleOp,
   "Returns a handle of the variable with this container and name (`shared_name` or, without it, "
   "the name of the node). The first assignment makes the variable.")
    .Output("resource", DT_RESOURCE)
    .With(ContainerAttrs)
    .Attr("debug_name", StringAttr(""))
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr())
    .Attr("allowed_devices", StringListAttr({}))
    .OnVariable(VariableUse::kCreates)
    .SharedByReplicas()
    .Repeatable()
    .Shape([](ShapeContext& c) -> absl::Status {
      c.SetOutputHandle(0, {c.attr<DataType>("dtype"), c.attr<PartialShape>("shape")});
      return c.SetOutput(0, PartialShape::Scalar());
    });

OP(VarIsInitializedOp, "Returns whether the variable exists and has a value.")
    .Input("resource", DT_RESOURCE)
    .Output("is_initialized", DT_BOOL)
    .Stateful()
    .NotDifferentiable()
    .OnVariable(VariableUse::kInspects)
    .Repeatable()
    .Shape(ScalarOutput());

OP(VariableShape, "Returns the shape of the variable as a vector.")
    .Input("input", DT_RESOURCE)
    .Output("output", "out_type")
    .Attr("out_type", TypeAttr(IndexTypes(), DT_INT32))
    .Stateful()
    .NotDifferentiable()
    .OnVariable(VariableUse::kInspects)
    .Shape([](ShapeContext& c) -> absl::Status {
      const HandleData* handle = c.InputHandle(0);
      const bool known = handle != nullptr && handle->shape.rank_known();
      return c.SetOutput(
          0, PartialShape::Vector(known ? handle->shape.rank() : PartialShape::kUnknown));
    });

OP(_ReadVariablesOp, "Returns the values of several variables.")
    .Input("resources", "N*resource")
    .Output("values", "dtypes")
    .Attr("N", IntAttr().Min(0))
    .Attr("dtypes", TypeListAttr().Min(1))
    .Stateful()
    .OnVariable(VariableUse::kReads)
    .Shape([](ShapeContext& c) -> absl::Status {
      const auto& dtypes = c.attr<std::vector<DataType>>("dtypes");
      SLUICE_INVALID_IF(c.num_inputs() != static_cast<int>(dtypes.size()),
                        "Mismatched number of arguments to ReadVariablesOp: ", c.num_inputs(),
                        " handles, ", dtypes.size(), " types");
      for (int i = 0; i < c.num_inputs(); ++i) {
        SLUICE_ASSIGN_OR_RETURN(PartialShape shape, VariableShapeOf(c, i, dtypes[i]));
        SLUICE_RETURN_IF_ERROR(c.SetOutput(i, std::move(shape)));
      }
      return absl::OkStatus();
    });

OP(_VarHandlesOp, "Returns handles of several variables, as VarHandleOp does.")
    .Output("resources", "N*resource")
    .Attr("containers", StringListAttr())
    .Attr("shared_names", StringListAttr())
    .Attr("N", IntAttr().Min(0))
    .Attr("dtypes", TypeListAttr())
    .Attr("shapes", ShapeListAttr())
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      const auto& dtypes = c.attr<std::vector<DataType>>("dtypes");
      const auto& shapes = c.attr<std::vector<PartialShape>>("shapes");
      const size_t n = static_cast<size_t>(c.num_outputs());
      SLUICE_INVALID_IF(dtypes.size() != n || shapes.size() != n,
                        "Mismatched number of arguments to VarHandlesOp: ", n, " handles, ",
                        dtypes.size(), " types, ", shapes.size(), " shapes");
      for (int i = 0; i < c.num_outputs(); ++i) {
        c.SetOutputHandle(i, {dtypes[i], shapes[i]});
        SLUICE_RETURN_IF_ERROR(c.SetOutput(i, PartialShape::Scalar()));
      }
      return absl::OkStatus();
    });

}  // namespace
}  // namespace sluice

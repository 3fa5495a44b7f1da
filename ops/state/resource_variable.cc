// Variables behind resource handles.

#include "ops/op.h"

namespace sluice {
namespace {

// Shape and type behind the handle; TensorFlow's message where a type disagrees.
absl::StatusOr<PartialShape> VariableShapeOf(ShapeContext& c, int input, DataType dtype) {
  const HandleData* handle = c.InputHandle(input);
  if (handle == nullptr) return PartialShape::UnknownRank();
  if (handle->dtype != DT_INVALID && handle->dtype != dtype) {
    return InvalidArgument("Trying to read variable with wrong dtype. Expected ",
                           DataTypeName(handle->dtype), " got ", DataTypeName(dtype));
  }
  return handle->shape;
}

absl::Status AssignShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, VariableShapeOf(c, 0, c.attr<DataType>("dtype")));
  return shape.MergeWith(c.input(1)).status();
}

OP(AssignAddVariableOp, "variable += value.")
    .Input("resource", DT_RESOURCE)
    .Input("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Stateful()
    .Shape(AssignShape);

OP(AssignSubVariableOp, "variable -= value.")
    .Input("resource", DT_RESOURCE)
    .Input("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Stateful()
    .Shape(AssignShape);

OP(AssignVariableOp,
   "variable = value. Makes the variable if there is none. With `validate_shape` the value must "
   "have"
   " the variable's shape.")
    .Input("resource", DT_RESOURCE)
    .Input("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("validate_shape", BoolAttr(false))
    .Stateful()
    .Shape(AssignShape);

OP(DestroyResourceOp,
   "Drops the resource. NOT_FOUND where there is none, unless `ignore_lookup_error`.")
    .Input("resource", DT_RESOURCE)
    .Attr("ignore_lookup_error", BoolAttr(true))
    .Stateful()
    .Shape(NoOutputs());

OP(ReadVariableOp, "The variable's value. Later updates do not change what was read.")
    .Input("resource", DT_RESOURCE)
    .Output("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, VariableShapeOf(c, 0, c.attr<DataType>("dtype")));
      return c.SetOutput(0, std::move(shape));
    }) GRADIENT([](Backprop& b) { b.Into("resource", b.GradOf(0)); });

OP(ResourceCountUpTo,
   "The scalar variable's value, which is then one more. OUT_OF_RANGE when it has reached `limit`.")
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
   "A handle to the variable of the container and name (`shared_name`, else the node's). The "
   "variable"
   " comes into being when it is first assigned.")
    .Output("resource", DT_RESOURCE)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("debug_name", StringAttr(""))
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr())
    .Attr("allowed_devices", StringListAttr({}))
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      c.SetOutputHandle(0, {c.attr<DataType>("dtype"), c.attr<PartialShape>("shape")});
      return c.SetOutput(0, PartialShape::Scalar());
    });

OP(VarIsInitializedOp, "Whether the variable exists and has been assigned a value.")
    .Input("resource", DT_RESOURCE)
    .Output("is_initialized", DT_BOOL)
    .Stateful()
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(VariableShape, "The shape of the variable's value, as a vector.")
    .Input("input", DT_RESOURCE)
    .Output("output", "out_type")
    .Attr("out_type", TypeAttr(IndexTypes(), DT_INT32))
    .Stateful()
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      const HandleData* handle = c.InputHandle(0);
      const bool known = handle != nullptr && handle->shape.rank_known();
      return c.SetOutput(
          0, PartialShape::Vector(known ? handle->shape.rank() : PartialShape::kUnknown));
    });

OP(_ReadVariablesOp, "The values of several variables.")
    .Input("resources", "N*resource")
    .Output("values", "dtypes")
    .Attr("N", IntAttr().Min(0))
    .Attr("dtypes", TypeListAttr().Min(1))
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      const auto& dtypes = c.attr<std::vector<DataType>>("dtypes");
      if (c.num_inputs() != static_cast<int>(dtypes.size())) {
        return InvalidArgument("Mismatched number of arguments to ReadVariablesOp: ",
                               c.num_inputs(), " handles, ", dtypes.size(), " types");
      }
      for (int i = 0; i < c.num_inputs(); ++i) {
        SLUICE_ASSIGN_OR_RETURN(PartialShape shape, VariableShapeOf(c, i, dtypes[i]));
        SLUICE_RETURN_IF_ERROR(c.SetOutput(i, std::move(shape)));
      }
      return absl::OkStatus();
    });

OP(_VarHandlesOp, "Handles to several variables, each as VarHandleOp makes it.")
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
      if (dtypes.size() != n || shapes.size() != n) {
        return InvalidArgument("Mismatched number of arguments to VarHandlesOp: ", n, " handles, ",
                               dtypes.size(), " types, ", shapes.size(), " shapes");
      }
      for (int i = 0; i < c.num_outputs(); ++i) {
        c.SetOutputHandle(i, {dtypes[i], shapes[i]});
        SLUICE_RETURN_IF_ERROR(c.SetOutput(i, PartialShape::Scalar()));
      }
      return absl::OkStatus();
    });

}  // namespace
}  // namespace sluice

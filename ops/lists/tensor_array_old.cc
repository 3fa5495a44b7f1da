// TensorArrays of old graphs, named by two strings. Same objects as the ops with V3 behind.

#include "ops/lists/array_shape.h"
#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/lists/array_gradient.h"
#endif
#include "ops/op.h"

namespace sluice {
namespace {

OP(TensorArray, "Deprecated form of TensorArrayV3.")
    .Input("size", DT_INT32)
    .RefOutput("handle", DT_STRING)
    .Attr("dtype", TypeAttr())
    .Attr("dynamic_size", BoolAttr(false))
    .Attr("clear_after_read", BoolAttr(true))
    .Attr("tensor_array_name", StringAttr(""))
    .Attr("element_shape", ShapeAttr(PartialShape()))
    .Hidden()
    .Stateful()
    .Deprecated(16, "Use TensorArrayV3")
    .NotDifferentiable()
    .Shape(TensorArrayShape);

OP(TensorArrayClose, "Deprecated form of TensorArrayCloseV3.")
    .RefInput("handle", DT_STRING)
    .Deprecated(16, "Use TensorArrayCloseV3")
    .NotDifferentiable()
    .Shape(TensorArrayCloseShape);

OP(TensorArrayCloseV2, "Deprecated form of TensorArrayCloseV3.")
    .Input("handle", DT_STRING)
    .Deprecated(26, "Use TensorArrayCloseV3")
    .NotDifferentiable()
    .Shape(TensorArrayCloseShape);

OP(TensorArrayConcat, "Deprecated form of TensorArrayConcatV3.")
    .RefInput("handle", DT_STRING)
    .Input("flow_in", DT_FLOAT)
    .Output("value", "dtype")
    .Output("lengths", DT_INT64)
    .Attr("dtype", TypeAttr())
    .Attr("element_shape_except0", ShapeAttr(PartialShape()))
    .Deprecated(16, "Use TensorArrayConcatV3")
    .Shape(TensorArrayConcatShape) GRADIENT(TensorArrayConcatGradient);

OP(TensorArrayConcatV2, "Deprecated form of TensorArrayConcatV3.")
    .Input("handle", DT_STRING)
    .Input("flow_in", DT_FLOAT)
    .Output("value", "dtype")
    .Output("lengths", DT_INT64)
    .Attr("dtype", TypeAttr())
    .Attr("element_shape_except0", ShapeAttr(PartialShape()))
    .Shape(TensorArrayConcatShape) GRADIENT(TensorArrayConcatGradient);

OP(TensorArrayGather, "Deprecated form of TensorArrayGatherV3.")
    .RefInput("handle", DT_STRING)
    .Input("indices", DT_INT32)
    .Input("flow_in", DT_FLOAT)
    .Output("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("element_shape", ShapeAttr(PartialShape()))
    .Deprecated(16, "Use TensorArrayGatherV3")
    .Shape(TensorArrayGatherShape) GRADIENT(TensorArrayGatherGradient);

OP(TensorArrayGatherV2, "Deprecated form of TensorArrayGatherV3.")
    .Input("handle", DT_STRING)
    .Input("indices", DT_INT32)
    .Input("flow_in", DT_FLOAT)
    .Output("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("element_shape", ShapeAttr(PartialShape()))
    .Deprecated(26, "Use TensorArrayGatherV3")
    .Shape(TensorArrayGatherShape) GRADIENT(TensorArrayGatherGradient);

OP(TensorArrayGrad, "Deprecated form of TensorArrayGradV3.")
    .Input("handle", DT_STRING)
    .Input("flow_in", DT_FLOAT)
    .RefOutput("grad_handle", DT_STRING)
    .Attr("source", StringAttr())
    .Stateful()
    .Deprecated(16, "Use TensorArrayGradV3")
    .NotDifferentiable()
    .Shape(TensorArrayGradShape);

OP(TensorArrayGradV2, "Deprecated form of TensorArrayGradV3.")
    .Input("handle", DT_STRING)
    .Input("flow_in", DT_FLOAT)
    .Output("grad_handle", DT_STRING)
    .Attr("source", StringAttr())
    .Stateful()
    .Deprecated(26, "Use TensorArrayGradV3")
    .NotDifferentiable()
    .Shape(TensorArrayGradShape);

OP(TensorArrayPack, "Deprecated: all elements, stacked along a new first dimension.")
    .RefInput("handle", DT_STRING)
    .Input("flow_in", DT_FLOAT)
    .Output("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("element_shape", ShapeAttr(PartialShape()))
    .Deprecated(16, "Use TensorArrayGatherV3 with a range")
    .Shape(UnknownOutputs());

OP(TensorArrayRead, "Deprecated form of TensorArrayReadV3.")
    .RefInput("handle", DT_STRING)
    .Input("index", DT_INT32)
    .Input("flow_in", DT_FLOAT)
    .Output("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Deprecated(16, "Use TensorArrayReadV3")
    .Shape(TensorArrayReadShape) GRADIENT(TensorArrayReadGradient);

OP(TensorArrayReadV2, "Deprecated form of TensorArrayReadV3.")
    .Input("handle", DT_STRING)
    .Input("index", DT_INT32)
    .Input("flow_in", DT_FLOAT)
    .Output("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Deprecated(26, "Use TensorArrayReadV3")
    .Shape(TensorArrayReadShape) GRADIENT(TensorArrayReadGradient);

OP(TensorArrayScatter, "Deprecated form of TensorArrayScatterV3.")
    .RefInput("handle", DT_STRING)
    .Input("indices", DT_INT32)
    .Input("value", "T")
    .Input("flow_in", DT_FLOAT)
    .Output("flow_out", DT_FLOAT)
    .Attr("T", TypeAttr())
    .Deprecated(19, "Use TensorArrayScatterV3")
    .Shape(TensorArrayScatterShape) GRADIENT(TensorArrayScatterGradient);

OP(TensorArrayScatterV2, "Deprecated form of TensorArrayScatterV3.")
    .Input("handle", DT_STRING)
    .Input("indices", DT_INT32)
    .Input("value", "T")
    .Input("flow_in", DT_FLOAT)
    .Output("flow_out", DT_FLOAT)
    .Attr("T", TypeAttr())
    .Deprecated(26, "Use TensorArrayScatterV3")
    .Shape(TensorArrayScatterShape) GRADIENT(TensorArrayScatterGradient);

OP(TensorArraySize, "Deprecated form of TensorArraySizeV3.")
    .RefInput("handle", DT_STRING)
    .Input("flow_in", DT_FLOAT)
    .Output("size", DT_INT32)
    .Deprecated(16, "Use TensorArraySizeV3")
    .NotDifferentiable()
    .Shape(TensorArraySizeShape);

OP(TensorArraySizeV2, "Deprecated form of TensorArraySizeV3.")
    .Input("handle", DT_STRING)
    .Input("flow_in", DT_FLOAT)
    .Output("size", DT_INT32)
    .Deprecated(26, "Use TensorArraySizeV3")
    .NotDifferentiable()
    .Shape(TensorArraySizeShape);

OP(TensorArraySplit, "Deprecated form of TensorArraySplitV3.")
    .RefInput("handle", DT_STRING)
    .Input("value", "T")
    .Input("lengths", DT_INT64)
    .Input("flow_in", DT_FLOAT)
    .Output("flow_out", DT_FLOAT)
    .Attr("T", TypeAttr())
    .Deprecated(16, "Use TensorArraySplitV3")
    .Shape(TensorArraySplitShape) GRADIENT(TensorArraySplitGradient);

OP(TensorArraySplitV2, "Deprecated form of TensorArraySplitV3.")
    .Input("handle", DT_STRING)
    .Input("value", "T")
    .Input("lengths", DT_INT64)
    .Input("flow_in", DT_FLOAT)
    .Output("flow_out", DT_FLOAT)
    .Attr("T", TypeAttr())
    .Deprecated(26, "Use TensorArraySplitV3")
    .Shape(TensorArraySplitShape) GRADIENT(TensorArraySplitGradient);

OP(TensorArrayUnpack, "Deprecated: stores the rows of `value` as the elements.")
    .RefInput("handle", DT_STRING)
    .Input("value", "T")
    .Input("flow_in", DT_FLOAT)
    .Output("flow_out", DT_FLOAT)
    .Attr("T", TypeAttr())
    .Deprecated(20, "Use TensorArrayScatterV3 with a range")
    .Shape(ScalarOutput());

OP(TensorArrayV2, "Deprecated form of TensorArrayV3.")
    .Input("size", DT_INT32)
    .Output("handle", DT_STRING)
    .Attr("dtype", TypeAttr())
    .Attr("element_shape", ShapeAttr(PartialShape()))
    .Attr("dynamic_size", BoolAttr(false))
    .Attr("clear_after_read", BoolAttr(true))
    .Attr("tensor_array_name", StringAttr(""))
    .Stateful()
    .Deprecated(26, "Use TensorArrayV3")
    .NotDifferentiable()
    .Shape(TensorArrayShape);

OP(TensorArrayWrite, "Deprecated form of TensorArrayWriteV3.")
    .RefInput("handle", DT_STRING)
    .Input("index", DT_INT32)
    .Input("value", "T")
    .Input("flow_in", DT_FLOAT)
    .Output("flow_out", DT_FLOAT)
    .Attr("T", TypeAttr())
    .Deprecated(16, "Use TensorArrayWriteV3")
    .Shape(TensorArrayWriteShape) GRADIENT(TensorArrayWriteGradient);

OP(TensorArrayWriteV2, "Deprecated form of TensorArrayWriteV3.")
    .Input("handle", DT_STRING)
    .Input("index", DT_INT32)
    .Input("value", "T")
    .Input("flow_in", DT_FLOAT)
    .Output("flow_out", DT_FLOAT)
    .Attr("T", TypeAttr())
    .Deprecated(26, "Use TensorArrayWriteV3")
    .Shape(TensorArrayWriteShape) GRADIENT(TensorArrayWriteGradient);

}  // namespace
}  // namespace sluice

// The ops of this folder's tests.
#include "graph/infer/shape_context.h"
#include "graph/op/op_def.h"

namespace sluice {
namespace {

OP(Const, "")
    .Output("output", "dtype")
    .Attr("value", TensorAttr())
    .Attr("dtype", TypeAttr())
    .Role(OpRole::kConstant)
    .Shape([](ShapeContext& c) { return c.SetOutput(0, c.attr<Tensor>("value").shape()); });
OP(Placeholder, "")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr(PartialShape()))
    .Role(OpRole::kPlaceholder)
    .Shape([](ShapeContext& c) { return c.SetOutput(0, c.attr<PartialShape>("shape")); });
OP(Identity, "")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Role(OpRole::kPass)
    .Shape(SameAsInput(0));
OP(AddV2, "")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(RealTypes()))
    .Shape(BroadcastBinary());
OP(AddN, "")
    .Input("inputs", "N*T")
    .Output("sum", "T")
    .Attr("N", IntAttr().Min(1))
    .Attr("T", TypeAttr(RealTypes()))
    .Shape(AllSameShape());
OP(Split, "")
    .Input("split_dim", DT_INT32)
    .Input("value", "T")
    .Output("output", "num_split*T")
    .Attr("num_split", IntAttr().Min(1))
    .Attr("T", TypeAttr())
    .Shape(UnknownOutputs());
OP(Sum, "")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("keep_dims", BoolAttr(false))
    .Attr("T", TypeAttr(RealTypes(), DT_FLOAT))
    .Shape(UnknownOutputs());
OP(NoOp, "").Role(OpRole::kNoOp).Shape(NoOutputs());
OP(Enter, "")
    .Input("data", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("frame_name", StringAttr())
    .Role(OpRole::kEnter)
    .Shape(SameAsInput(0));
OP(Merge, "")
    .Input("inputs", "N*T")
    .Output("output", "T")
    .Output("value_index", DT_INT32)
    .Attr("T", TypeAttr())
    .Attr("N", IntAttr().Min(1))
    .Role(OpRole::kMerge)
    .Shape(UnknownOutputs());
OP(NextIteration, "")
    .Input("data", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Role(OpRole::kNextIteration)
    .Shape(SameAsInput(0));
OP(Exit, "")
    .Input("data", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Role(OpRole::kExit)
    .Shape(SameAsInput(0));
OP(Gone, "").Deprecated(21, "Use NoOp").Shape(NoOutputs());
OP(Attributes, "One attribute of each kind.")
    .Attr("s", StringAttr("x"))
    .Attr("i", IntAttr(-7).Min(-10))
    .Attr("f", FloatAttr(0.5f))
    .Attr("b", BoolAttr(true))
    .Attr("type", TypeAttr({}, DT_INT64))
    .Attr("shape", ShapeAttr({2, -1}))
    .Attr("mode", OneOf({"A", "B"}, "A"))
    .Attr("strings", StringListAttr({}))
    .Attr("ints", IntListAttr({1, 2}))
    .Attr("floats", FloatListAttr({}))
    .Attr("bools", BoolListAttr({true}))
    .Attr("types", TypeListAttr({}, {DT_FLOAT}))
    .Attr("shapes", ShapeListAttr({}))
    .Shape(NoOutputs());

}  // namespace
}  // namespace sluice

// Ops that cover every kind of argument and attribute, for generate_test.
#include <limits>

#include "graph/infer/shape_context.h"
#include "graph/op/op_def.h"

namespace sluice {

OP(SampleSource, "A tensor from nowhere.\n\nSecond paragraph.")
    .Output("y", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr(PartialShape({2, -1})))
    .Attr("label", StringAttr("a \"b\"\n"))
    .Attr("limit", FloatAttr(-std::numeric_limits<float>::infinity()))
    .Attr("rate", FloatAttr(0.1f))
    .Attr("class", IntListAttr({1, -2}))
    .Attr("flags", BoolListAttr({true, false}))
    .Attr("words", StringListAttr({}))
    .Attr("kind", TypeAttr({}, DT_INT64))
    .Attr("color", TensorAttr().Default(Tensor::Vector<uint8_t>({1, 2})))
    .Shape([](ShapeContext& c) { return c.SetOutput(0, c.attr<PartialShape>("shape")); });
OP(SampleSum, "Sum of a list.")
    .Input("inputs", "N*T")
    .Output("sum", "T")
    .Attr("N", IntAttr().Min(1))
    .Attr("T", TypeAttr())
    .Shape(AllSameShape());
OP(SampleSplit, "Parts.")
    .Input("value", "T")
    .Output("parts", "num*T")
    .Attr("num", IntAttr().Min(1))
    .Attr("mode", OneOf({"a", "b"}))
    .Attr("T", TypeAttr())
    .Shape(UnknownOutputs());
OP(SampleMixed, "Two outputs, a mixed list.")
    .Input("default", "Tin")
    .Output("first", DT_FLOAT)
    .Output("operation", "Tout")
    .Attr("Tin", TypeListAttr())
    .Attr("Tout", TypeListAttr())
    .Shape(UnknownOutputs());
OP(SampleSink, "No output.").Input("x", "T").Attr("T", TypeAttr()).Shape(NoOutputs());
OP(SampleHidden, "No builder.").Shape(NoOutputs()).Hidden();

}  // namespace sluice

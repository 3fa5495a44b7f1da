// Sums, differences and products, element by element; shapes broadcast.
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
void AddGradient(Backprop& b) {
  // Rows of a gradient pass as they are where nothing was broadcast.
  if (b.GradOf(0).is_slices() && SameKnownShapes(b.In(0), b.In(1), b.Out(0))) {
    b.Into(0, b.GradOf(0));
    b.Into(1, b.GradOf(0));
    return;
  }
  Output grad = b.Of(0);
  if (SameKnownShapes(b.In(0), b.In(1), grad)) {
    b.Into(0, grad);
    b.Into(1, grad);
    return;
  }
  IntoBroadcast(b, grad, grad);
}

// To x where `x_taken`, else to y.
void IntoTaken(Backprop& b, Output (*taken)(Output x, Output y)) {
  Output grad = b.Of("z");
  Output zeros = ZerosLike(grad);
  Output x_taken = taken(b.Value("x"), b.Value("y"));
  Output gx = SelectV2(x_taken, grad, zeros);
  Output gy = SelectV2(x_taken, zeros, grad);
  IntoBroadcast(b, gx, gy);
}
#endif

OP(Add, "x + y. Strings are joined. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T",
          TypeAttr(FloatTypes() | SignedIntTypes() | ComplexTypes() | TypeSet{DT_UINT8, DT_STRING}))
    .Shape(BroadcastBinary()) GRADIENT(AddGradient);

OP(AddV2, "x + y. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(Numbers()))
    .Commutative()
    .Aggregate()
    .Shape(BroadcastBinary()) GRADIENT(AddGradient);

OP(AddN, "The sum of tensors of one shape.")
    .Input("inputs", "N*T")
    .Output("sum", "T")
    .Attr("N", IntAttr().Min(1))
    .Attr("T", TypeAttr(NumberTypes() | TypeSet{DT_VARIANT}))
    .Commutative()
    .Aggregate()
    .Shape(AllSameShape()) GRADIENT([](Backprop& b) {
      for (int i = 0; i < b.op().num_inputs(); ++i) b.Into(i, b.GradOf(0));
    });

OP(AccumulateNV2, "AddN; TensorFlow sums the inputs as they come, into one buffer.")
    .Input("inputs", "N*T")
    .Output("sum", "T")
    .Attr("N", IntAttr().Min(1))
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("shape", ShapeAttr())
    .Commutative()
    .Aggregate()
    .Shape([](ShapeContext& c) -> absl::Status {
      return c.SetOutput(0, c.attr<PartialShape>("shape"));
    }) GRADIENT([](Backprop& b) {
      for (int i = 0; i < b.op().num_inputs(); ++i) b.Into(i, b.GradOf(0));
    });

OP(Sub, "x - y. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(Numbers()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output minus = -grad;
      if (SameKnownShapes(b.In(0), b.In(1), grad)) {
        b.Into("x", grad);
        b.Into("y", minus);
        return;
      }
      IntoBroadcast(b, grad, minus);
    });

OP(Mul, "x * y. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(Numbers()))
    .Commutative()
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      const DataType type = BaseType(grad.dtype());
      // TensorFlow's short cut, so that the nodes are the same.
      if ((type == DT_FLOAT || type == DT_INT32) &&
          SameKnownShapes(b.Value("x"), b.Value("y"), grad)) {
        b.Into("x", Mul(grad, b.Value("y")));
        b.Into("y", Mul(grad, b.Value("x")));
        return;
      }
      Output gx = Mul(grad, ConjOf(b.Value("y")));
      Output gy = Mul(ConjOf(b.Value("x")), grad);
      IntoBroadcast(b, gx, gy);
    });

OP(MulNoNan, "x * y, and 0 where y is 0 whatever x is. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatTypes() | ComplexTypes()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output gx = MulNoNan(grad, b.Value("y"));
      Output gy = MulNoNan(b.Value("x"), grad);
      IntoBroadcast(b, gx, gy);
    });

OP(SquaredDifference, "(x - y) * conj(x - y). Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatTypes() | ComplexTypes() | IndexTypes()))
    .Commutative()
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output gx;
      {
        ControlDependencies after(b.graph(), {grad});
        Output twice = Mul(NumberLike(grad, 2, "scalar"), grad);
        gx = twice * (b.Value("x") - b.Value("y"));
      }
      IntoBroadcast(b, gx, -gx);
    });

OP(Maximum, "The greater of x and y; NaN where either is. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(RealTypes()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      IntoTaken(b, [](Output x, Output y) { return GreaterEqual(x, y); });
    });

OP(Minimum, "The less of x and y; NaN where either is. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(RealTypes()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      IntoTaken(b, [](Output x, Output y) { return LessEqual(x, y); });
    });

}  // namespace
}  // namespace sluice

// Elementwise ops: sums, differences, products and extremes.
#include "graph/infer/constant_context.h"
#include "graph/infer/image_roles.h"
#include "ops/math/number_types.h"
#include "ops/op.h"

namespace sluice {
namespace {

bool IsSumOfOne(const Node& node) { return node.num_inputs() == 1; }

// Declares an op that adds a list of N tensors of equal shapes.
struct SumOp {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.Input("inputs", "N*T").Output("sum", "T").Attr("N", IntAttr().Min(1));
    op.Attr("T", TypeAttr(types)).Commutative().Aggregate();
    op.MayForwardInput().Identity(IsSumOfOne).Images(ImagesOfOneSize);
  }
};

#ifndef SLUICE_DEFINITIONS_ONLY
void SumGradient(Backprop& b) {
  for (int i = 0; i < b.op().num_inputs(); ++i) b.Into(i, b.GradOf(0));
}

void AddGradient(Backprop& b) {
  // IndexedSlices stay slices if nothing was broadcast.
  if (b.GradOf(0).is_slices() && SameKnownShapes(b.In(0), b.In(1), b.Out(0))) {
    return SumGradient(b);
  }
  Output grad = b.Of(0);
  if (SameKnownShapes(b.In(0), b.In(1), grad)) {
    b.Into(0, grad);
    b.Into(1, grad);
    return;
  }
  IntoBroadcast(b, grad, grad);
}

// Passes the gradient to x where `selects_x` is true, and to y elsewhere.
void ExtremeGradient(Backprop& b, Output (*selects_x)(Output x, Output y)) {
  Output grad = b.Of("z");
  Output zeros = ZerosLike(grad);
  Output is_x = selects_x(b.Value("x"), b.Value("y"));
  Output gx = SelectV2(is_x, grad, zeros);
  Output gy = SelectV2(is_x, zeros, grad);
  IntoBroadcast(b, gx, gy);
}
#endif

std::optional<PartialInts> ValueOfSum(ConstantContext& c) {
  return c.Broadcast([](int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::make_optional(sum);
  });
}

std::optional<PartialInts> ValueOfDifference(ConstantContext& c) {
  return c.Broadcast([](int64_t a, int64_t b) {
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? std::nullopt
                                                     : std::make_optional(difference);
  });
}

std::optional<PartialInts> ValueOfProduct(ConstantContext& c) {
  return c.Broadcast([](int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::make_optional(product);
  });
}

std::optional<PartialInts> ValueOfMaximum(ConstantContext& c) {
  return c.Broadcast([](int64_t a, int64_t b) { return std::make_optional(std::max(a, b)); });
}

std::optional<PartialInts> ValueOfMinimum(ConstantContext& c) {
  return c.Broadcast([](int64_t a, int64_t b) { return std::make_optional(std::min(a, b)); });
}

// Types for which an operation with the neutral element returns exactly the bits of x. They lack
// 16-bit floats, whose kernels replace all NaNs by the same one, and complex numbers, because the
// product (inf, 0) * 1 contains a NaN. The neutral element of sums of floats is -0, because -0 + 0
// is 0.
constexpr TypeSet kNeutralTypes = FloatAndDouble() | IntTypes();

OP(Add, "Adds x and y. Concatenates strings. Broadcasts.")
    .With(BinaryElementwise{SignedNumbers() | TypeSet{DT_UINT8, DT_STRING}})
    .ConstantValue(ValueOfSum)
    .Neutral({-0.0, kNeutralTypes, /*on_either_side=*/true}) GRADIENT(AddGradient);

OP(AddV2, "Adds x and y. Broadcasts.")
    .With(BinaryElementwise{Numbers()})
    .Commutative()
    .Aggregate()
    .ConstantValue(ValueOfSum)
    .Neutral({-0.0, kNeutralTypes, /*on_either_side=*/true}) GRADIENT(AddGradient);

OP(AddN, "Adds all inputs, which have equal shapes.")
    .With(SumOp{NumberTypes() | TypeSet{DT_VARIANT}})
    .Shape(AllSameShape()) GRADIENT(SumGradient);

OP(AccumulateNV2,
   "Adds all inputs, which have the given shape. TensorFlow adds each input when it arrives.")
    .With(SumOp{NumberTypes()})
    .Attr("shape", ShapeAttr())
    .Shape([](ShapeContext& c) -> absl::Status {
      return c.SetOutput(0, c.attr<PartialShape>("shape"));
    }) GRADIENT(SumGradient);

OP(Sub, "Subtracts y from x. Broadcasts.")
    .With(BinaryElementwise{Numbers()})
    .ConstantValue(ValueOfDifference)
    .Neutral({0.0, kNeutralTypes}) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output minus = -grad;
      if (SameKnownShapes(b.In(0), b.In(1), grad)) {
        b.Into("x", grad);
        b.Into("y", minus);
        return;
      }
      IntoBroadcast(b, grad, minus);
    });

OP(Mul, "Multiplies x and y. Broadcasts.")
    .With(BinaryElementwise{Numbers()})
    .Commutative()
    .ConstantValue(ValueOfProduct)
    .Neutral({1.0, kNeutralTypes, /*on_either_side=*/true}) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      const DataType type = BaseType(grad.dtype());
      // As in TensorFlow, fewer nodes are added in this case.
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

OP(MulNoNan, "Multiplies x and y. Returns 0 if y is 0, even if x is infinite or NaN. Broadcasts.")
    .With(BinaryElementwise{FloatAndComplex()}) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output gx = MulNoNan(grad, b.Value("y"));
      Output gy = MulNoNan(b.Value("x"), grad);
      IntoBroadcast(b, gx, gy);
    });

OP(SquaredDifference, "Computes (x - y) * conj(x - y). Broadcasts.")
    .With(BinaryElementwise{FloatAndComplex() | IndexTypes()})
    .Commutative() GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output gx;
      {
        ControlDependencies after(b.graph(), {grad});
        Output twice = Mul(NumberLike(grad, 2, "scalar"), grad);
        gx = twice * (b.Value("x") - b.Value("y"));
      }
      IntoBroadcast(b, gx, -gx);
    });

OP(Maximum, "Returns the larger of x and y, NaN if one of them is NaN. Broadcasts.")
    .With(BinaryElementwise{RealTypes()})
    .ConstantValue(ValueOfMaximum) GRADIENT([](Backprop& b) {
      ExtremeGradient(b, [](Output x, Output y) { return GreaterEqual(x, y); });
    });

OP(Minimum, "Returns the smaller of x and y, NaN if one of them is NaN. Broadcasts.")
    .With(BinaryElementwise{RealTypes()})
    .ConstantValue(ValueOfMinimum) GRADIENT([](Backprop& b) {
      ExtremeGradient(b, [](Output x, Output y) { return LessEqual(x, y); });
    });

}  // namespace
}  // namespace sluice

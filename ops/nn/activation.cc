// Ops of elementwise activation functions, and of their gradients. The output has the shape of the
// input.
#include "graph/infer/image_roles.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "graph/build/scopes.h"
#include "ops/math/exponential_builders.h"
#include "ops/nn/activation_builders.h"
#endif

namespace sluice {
namespace {

// Sets the output's shape. `gradients` and the tensor that determines the slope must have this
// shape.
absl::Status SlopeShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape merged, c.input(0).MergeWith(c.input(1)));
  return c.SetOutput(0, merged);
}

struct Activates {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.Input("features", "T")
        .Output("activations", "T")
        .Attr("T", TypeAttr(types))
        .With(ElementByElement);
  }
};

// Declares the gradient of an activation: `gradients` times the slope, which depends on the tensor
// `of`.
struct ScalesBySlope {
  TypeSet types;
  const char* of;
  void operator()(OpDefBuilder& op) const {
    op.Input("gradients", "T")
        .Input(of, "T")
        .Output("backprops", "T")
        .Attr("T", TypeAttr(types))
        .Elementwise(ElementwiseInputs::kOneShape)
        .Shape(SlopeShape);
  }
};

#ifndef SLUICE_DEFINITIONS_ONLY
// Returns the second derivative of an activation whose slope depends on its output (Elu, Selu):
// gradients * grad in the negative part, and 0 elsewhere.
Output WhereNegative(Backprop& b, Output outputs) {
  Output negative = Less(outputs, Constant(b.graph(), 0, outputs.dtype(), "Less/y"));
  return Select(negative, b.Of("backprops") * b.Value("gradients"), ZerosLike(outputs));
}
#endif

OP(Elu, "Returns x if x > 0, else exp(x) - 1.")
    .With(Activates{FloatTypes()}) GRADIENT([](Backprop& b) {
      b.Into("features", EluGrad(b.Of("activations"), b.Value("activations")));
    });

OP(EluGrad,
   "Computes the gradient of Elu from its output: gradients * (outputs + 1) if outputs < 0, else "
   "gradients.")
    .With(ScalesBySlope{FloatTypes(), "outputs"}) GRADIENT([](Backprop& b) {
      Output outputs = b.Value("outputs");
      b.Into("gradients", EluGrad(b.Of("backprops"), outputs));
      b.Into("outputs", WhereNegative(b, outputs));
    });

OP(LeakyRelu, "Returns x if x > 0, else alpha * x.")
    .Input("features", "T")
    .Output("activations", "T")
    .Attr("alpha", FloatAttr(0.2f))
    .Attr("T", TypeAttr(FloatTypes(), DT_FLOAT))
    .Images(ImagesOfOneSize)
    .Recompute(RecomputeCost::kElements)
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      b.Into("features", LeakyReluGrad(b.Of("activations"), b.Value("features"),
                                       {.alpha = b.attr<float>("alpha")}));
    });

OP(LeakyReluGrad,
   "Computes the gradient of LeakyRelu: gradients if features > 0, else alpha * gradients.")
    .Input("gradients", "T")
    .Input("features", "T")
    .Output("backprops", "T")
    .Attr("alpha", FloatAttr(0.2f))
    .Attr("T", TypeAttr(FloatTypes(), DT_FLOAT))
    .Images(ImagesOfOneSize)
    .Shape(SlopeShape) GRADIENT([](Backprop& b) {
      Output x = b.Value("features");
      b.Into("gradients", LeakyReluGrad(b.Of("backprops"), x, {.alpha = b.attr<float>("alpha")}));
      b.Into("features", ZerosLike(x));
    });

OP(Relu, "Computes max(x, 0).")
    .With(Activates{RealTypes() | TypeSet{DT_QINT8}}) GRADIENT([](Backprop& b) {
      b.Into("features", ReluGrad(b.Of("activations"), b.Value("activations")));
    });

OP(Relu6, "Computes min(max(x, 0), 6).").With(Activates{RealTypes()}) GRADIENT([](Backprop& b) {
  b.Into("features", Relu6Grad(b.Of("activations"), b.Value("activations")));
});

OP(Relu6Grad,
   "Computes the gradient of Relu6: gradients if 0 < features < 6, else 0. `features` is the input "
   "or the output of Relu6.")
    .With(ScalesBySlope{RealTypes(), "features"}) GRADIENT([](Backprop& b) {
      Output x = b.Value("features");
      b.Into("gradients", Relu6Grad(b.Of("backprops"), x));
      b.Into("features", ZerosLike(x));
    });

OP(ReluGrad,
   "Computes the gradient of Relu: gradients if features > 0, else 0. `features` is the input or "
   "the output of Relu.")
    .With(ScalesBySlope{RealTypes(), "features"}) GRADIENT([](Backprop& b) {
      Output x = b.Value("features");
      b.Into("gradients", ReluGrad(b.Of("backprops"), x));
      b.Into("features", ZerosLike(x));
    });

OP(Selu,
   "Computes scale * x if x >= 0, else scale * alpha * (exp(x) - 1). With these constants, mean 0 "
   "and variance 1 are kept from layer to layer (Klambauer et al., 2017).")
    .With(Activates{FloatTypes()}) GRADIENT([](Backprop& b) {
      b.Into("features", SeluGrad(b.Of("activations"), b.Value("activations")));
    });

OP(SeluGrad, "Computes the gradient of Selu from its output.")
    .With(ScalesBySlope{FloatTypes(), "outputs"}) GRADIENT([](Backprop& b) {
      Output outputs = b.Value("outputs");
      b.Into("gradients", SeluGrad(b.Of("backprops"), outputs));
      b.Into("outputs", WhereNegative(b, outputs));
    });

OP(Softplus, "Computes log(exp(x) + 1), without overflow for large x.")
    .With(Activates{FloatTypes()}) GRADIENT([](Backprop& b) {
      b.Into("features", b.Of("activations") * Sigmoid(b.Value("features")));
    });

// The gradient with respect to features is grad * dy * exp(x) / (1 + exp(x))^2, in a form whose
// square does not overflow.
OP(SoftplusGrad, "Computes the gradient of Softplus: gradients / (exp(-features) + 1).")
    .With(ScalesBySlope{FloatTypes(), "features"}) GRADIENT([](Backprop& b) {
      Output grad = b.Of("backprops"), x = b.Value("features");
      ControlDependencies after(b.graph(), {grad});
      b.Into("gradients", SoftplusGrad(grad, x));
      b.Into("features", grad * b.Value("gradients") / (Exp(-x) + 2.0 + Exp(x)));
    });

OP(Softsign, "Computes x / (|x| + 1).").With(Activates{FloatTypes()}) GRADIENT([](Backprop& b) {
  b.Into("features", SoftsignGrad(b.Of("activations"), b.Value("features")));
});

OP(SoftsignGrad, "Computes the gradient of Softsign: gradients / (|features| + 1)^2.")
    .With(ScalesBySlope{FloatTypes(), "features"});

}  // namespace
}  // namespace sluice

// Ops for discrete Fourier transforms over the last one, two or three dimensions. Along a dimension
// of size N, element k of the forward transform of x is the sum of x[n] exp(-2 pi i k n / N) over
// all n, where i is the imaginary unit. Inverse transforms have the other sign in the exponent, and
// are divided by N.
#include <algorithm>

#include "graph/infer/expect_size.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/audio/fft_builders.h"
#include "ops/gradient_nodes.h"
#include "ops/math/complex_builders.h"
#include "ops/math/power_builders.h"
#include "ops/math/rounding_builders.h"
#include "ops/shape_nodes.h"
#endif

namespace sluice {
namespace {

// Shape function of transforms of real numbers: the last `rank` sizes are those in fft_length,
// except that the very last one is `last(size)`.
template <typename Last>
absl::Status RealShape(ShapeContext& c, int rank, Last last) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape s, c.WithRankAtLeast(0, rank));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape length, c.WithRank(1, 1));
  SLUICE_RETURN_IF_ERROR(ExpectSize(length.dim(0), rank));
  if (!s.rank_known()) return c.SetOutput(0, s);
  const std::optional<Tensor> sizes = c.InputValue(1);
  for (int i = 0; i < rank; ++i) {
    int64_t size = sizes && sizes->num_elements() == rank ? sizes->data<int32_t>()[i] : -1;
    if (size >= 0 && i == rank - 1) size = last(size);
    s.set_dim(s.rank() - rank + i, std::max<int64_t>(size, -1));
  }
  return c.SetOutput(0, s);
}

// Declares a complex transform of the last `rank` dimensions.
auto TransformsComplex(int rank) {
  return [rank](OpDefBuilder& op) {
    op.Input("input", "Tcomplex")
        .Output("output", "Tcomplex")
        .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64))
        .Shape([rank](ShapeContext& c) -> absl::Status {
          SLUICE_ASSIGN_OR_RETURN(const PartialShape s, c.WithRankAtLeast(0, rank));
          return c.SetOutput(0, s);
        });
  };
}

void RealTransformTypes(OpDefBuilder& op) {
  op.Attr("Treal", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
      .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64));
}

auto TransformsReal(int rank) {
  return [rank](OpDefBuilder& op) {
    op.Input("input", "Treal")
        .Input("fft_length", DT_INT32)
        .Output("output", "Tcomplex")
        .With(RealTransformTypes)
        .Shape([rank](ShapeContext& c) {
          return RealShape(c, rank, [](int64_t n) { return n == 0 ? 0 : n / 2 + 1; });
        });
  };
}

auto TransformsToReal(int rank) {
  return [rank](OpDefBuilder& op) {
    op.Input("input", "Tcomplex")
        .Input("fft_length", DT_INT32)
        .Output("output", "Treal")
        .With(RealTransformTypes)
        .Shape([rank](ShapeContext& c) { return RealShape(c, rank, [](int64_t n) { return n; }); });
  };
}

#ifndef SLUICE_DEFINITIONS_ONLY
using Transform = Output (*)(Output);

// Returns the product of the last `rank` sizes of x.
Output CountOf(Output x, int rank, DataType type) {
  Output shape = ShapeNode(x);
  return Cast(ReduceProd(PartOf(shape, -rank, kToTheEnd), 0), type);
}

DataType RealOf(DataType complex) { return complex == DT_COMPLEX64 ? DT_FLOAT : DT_DOUBLE; }

// Adds the gradient of a forward transform: the inverse transform without its division.
void ForwardGradient(Backprop& b, int rank, Transform inverse) {
  Output grad = b.Of("output");
  b.Into("input", inverse(grad) * CountOf(grad, rank, grad.dtype()));
}
void InverseGradient(Backprop& b, int rank, Transform forward) {
  Output grad = b.Of("output");
  const DataType real = RealOf(grad.dtype());
  Output factor = Reciprocal(CountOf(grad, rank, real));
  b.Into("input", forward(grad) * Cast(factor, grad.dtype()));
}

Output LastSize(Output x) {
  return Reshape(PartOf(ShapeNode(x), -1, kToTheEnd), std::vector<int64_t>{});
}

// Returns `x` with its last `rank` dimensions truncated or padded with zeros to `sizes`.
Output Resized(Output x, int rank, Output sizes) {
  Output shape = ShapeNode(x);
  Output own = PartOf(shape, -rank, kToTheEnd);
  Output batch = PartOf(shape, 0, -rank);
  Output least = Minimum(own, sizes);
  Output begin = ZerosLike(shape);
  Output kept = Slice(x, begin, Concat({batch, least}, 0));
  Output after = Concat({ZerosLike(batch), sizes - least}, 0);
  return Pad(kept, Stack({ZerosLike(after), after}, 1));
}

// Adds the gradient of RFFT, whose output omits the conjugate half: y = F x for real x. So dx =
// Re(F^H g), where g is padded with zeros because no element of y counts twice.
void RfftGradient(Backprop& b, int rank, Transform inverse) {
  Output grad = b.Of("output"), sizes = b.Value("fft_length"), x = b.Value("input");
  Output whole = Resized(grad, rank, sizes);
  Output back = inverse(whole) * CountOf(whole, rank, grad.dtype());
  Output real = Real(back, {.Tout = x.dtype()});
  b.Into("input", Resized(real, rank, PartOf(ShapeNode(x), -rank, kToTheEnd)));
}

using RealTransform = Output (*)(Output, Output, DataType);

// Adds the gradient of IRFFT. Each element of the input, except the first one and the last one of
// an even length, represents two elements and counts twice. As in TensorFlow, the input must have
// the full length fft_length / 2 + 1.
void IrfftGradient(Backprop& b, int rank, RealTransform forward) {
  Output grad = b.Of("output"), sizes = b.Value("fft_length"), x = b.Value("input");
  Graph& g = b.graph();
  Output transformed = forward(grad, sizes, x.dtype());
  Output length = LastSize(grad);
  Output columns = Range(IndexScalar(g, 0), LastSize(transformed), IndexScalar(g, 1));
  // The weight is 1 at position 0 and, if the length is even, at length / 2. Elsewhere it is 2.
  Output mirrored = FloorMod(Neg(columns), Maximum(length, IndexScalar(g, 1)));
  Output weight = IndexScalar(g, 2) - Cast(Equal(mirrored, columns), DT_INT32);
  Output count = CountOf(grad, rank, grad.dtype());
  Output factor = Cast(weight, grad.dtype()) / count;
  Output result = transformed * Cast(factor, x.dtype());
  b.Into("input", Resized(result, rank, PartOf(ShapeNode(x), -rank, kToTheEnd)));
}

Output Fft1(Output x) { return FFT(x); }
Output Fft2(Output x) { return FFT2D(x); }
Output Fft3(Output x) { return FFT3D(x); }
Output Ifft1(Output x) { return IFFT(x); }
Output Ifft2(Output x) { return IFFT2D(x); }
Output Ifft3(Output x) { return IFFT3D(x); }
Output Rfft1(Output x, Output n, DataType t) { return RFFT(x, n, {.Tcomplex = t}); }
Output Rfft2(Output x, Output n, DataType t) { return RFFT2D(x, n, {.Tcomplex = t}); }
#endif

OP(FFT, "Transforms the last dimension.").With(TransformsComplex(1)) GRADIENT([](Backprop& b) {
  ForwardGradient(b, 1, Ifft1);
});

OP(FFT2D, "Transforms the last two dimensions.")
    .With(TransformsComplex(2)) GRADIENT([](Backprop& b) { ForwardGradient(b, 2, Ifft2); });

OP(FFT3D, "Transforms the last three dimensions.")
    .With(TransformsComplex(3)) GRADIENT([](Backprop& b) { ForwardGradient(b, 3, Ifft3); });

OP(IFFT, "Inverts FFT.").With(TransformsComplex(1)) GRADIENT([](Backprop& b) {
  InverseGradient(b, 1, Fft1);
});

OP(IFFT2D, "Inverts FFT2D.").With(TransformsComplex(2)) GRADIENT([](Backprop& b) {
  InverseGradient(b, 2, Fft2);
});

OP(IFFT3D, "Inverts FFT3D.").With(TransformsComplex(3)) GRADIENT([](Backprop& b) {
  InverseGradient(b, 3, Fft3);
});

OP(IRFFT, "Inverts RFFT. The input holds the first fft_length / 2 + 1 elements of the transform.")
    .With(TransformsToReal(1)) GRADIENT([](Backprop& b) { IrfftGradient(b, 1, Rfft1); });

OP(IRFFT2D, "Inverts RFFT2D.").With(TransformsToReal(2)) GRADIENT([](Backprop& b) {
  IrfftGradient(b, 2, Rfft2);
});

OP(IRFFT3D, "Inverts RFFT3D.").With(TransformsToReal(3));

OP(RFFT,
   "Transforms the first fft_length real numbers of the last dimension. Returns the first "
   "fft_length / 2 + 1 elements, because the others are conjugates of these.")
    .With(TransformsReal(1)) GRADIENT([](Backprop& b) { RfftGradient(b, 1, Ifft1); });

OP(RFFT2D, "Transforms the last dimension by RFFT and the one before by FFT.")
    .With(TransformsReal(2)) GRADIENT([](Backprop& b) { RfftGradient(b, 2, Ifft2); });

OP(RFFT3D, "Transforms the last dimension by RFFT and the two before by FFT.")
    .With(TransformsReal(3));

}  // namespace
}  // namespace sluice

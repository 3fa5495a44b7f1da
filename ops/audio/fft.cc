// Discrete Fourier transforms over the last one, two or three dimensions. Forward ones are sums of
// x[n] exp(-2 pi i k n / N); inverse ones have the other sign and are divided by N.
#include <algorithm>

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

absl::Status ComplexShape(ShapeContext& c, int rank) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape s, c.WithRankAtLeast(0, rank));
  return c.SetOutput(0, s);
}

// The sizes of the last dimensions are those of fft_length; the very last one is
// `last(fft_length)`.
template <typename Last>
absl::Status RealShape(ShapeContext& c, int rank, Last last) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape s, c.WithRankAtLeast(0, rank));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape length, c.WithRank(1, 1));
  SLUICE_RETURN_IF_ERROR(MergeDim(length.dim(0), rank).status());
  if (!s.rank_known()) return c.SetOutput(0, s);
  const std::optional<Tensor> sizes = c.InputValue(1);
  for (int i = 0; i < rank; ++i) {
    int64_t size = sizes && sizes->num_elements() == rank ? sizes->data<int32_t>()[i] : -1;
    if (size >= 0 && i == rank - 1) size = last(size);
    s.set_dim(s.rank() - rank + i, std::max<int64_t>(size, -1));
  }
  return c.SetOutput(0, s);
}

absl::Status RfftShape(ShapeContext& c, int rank) {
  return RealShape(c, rank, [](int64_t n) { return n == 0 ? 0 : n / 2 + 1; });
}
absl::Status IrfftShape(ShapeContext& c, int rank) {
  return RealShape(c, rank, [](int64_t n) { return n; });
}

#ifndef SLUICE_DEFINITIONS_ONLY
using Transform = Output (*)(Output);

// The product of the last `rank` sizes, as a number of type `type`.
Output CountOf(Output x, int rank, DataType type) {
  Output shape = ShapeNode(x);
  return Cast(ReduceProd(PartOf(shape, -rank, kToTheEnd), 0), type);
}

DataType RealOf(DataType complex) { return complex == DT_COMPLEX64 ? DT_FLOAT : DT_DOUBLE; }

// The adjoint of a forward transform is the inverse one without its division; and the other way
// round.
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

// `x` with its last `rank` dimensions cut or filled up with zeros to `sizes`.
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

// Of RFFT, whose output leaves out the conjugate half: y = F x for real x, so dx = Re(F^H g) with
// the output's gradient filled up by zeros: no element counts twice.
void RfftGradient(Backprop& b, int rank, Transform inverse) {
  Output grad = b.Of("output"), sizes = b.Value("fft_length"), x = b.Value("input");
  Output whole = Resized(grad, rank, sizes);
  Output back = inverse(whole) * CountOf(whole, rank, grad.dtype());
  Output real = Real(back, {.Tout = x.dtype()});
  b.Into("input", Resized(real, rank, PartOf(ShapeNode(x), -rank, kToTheEnd)));
}

using RealTransform = Output (*)(Output, Output, DataType);

// Of IRFFT: elements of the input that stand for two (all but the first, and the last of an even
// length) count twice. As TensorFlow's, for an input of the full length fft_length / 2 + 1.
void IrfftGradient(Backprop& b, int rank, RealTransform forward) {
  Output grad = b.Of("output"), sizes = b.Value("fft_length"), x = b.Value("input");
  Graph& g = b.graph();
  Output transformed = forward(grad, sizes, x.dtype());
  Output length = LastSize(grad);
  Output columns = Range(IndexScalar(g, 0), LastSize(transformed), IndexScalar(g, 1));
  // 2 in the middle; 1 at place 0 and at length / 2 of an even length.
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

OP(FFT, "The transform over the last dimension.")
    .Input("input", "Tcomplex")
    .Output("output", "Tcomplex")
    .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Shape([](ShapeContext& c) { return ComplexShape(c, 1); })
        GRADIENT([](Backprop& b) { ForwardGradient(b, 1, Ifft1); });

OP(FFT2D, "The transform over the last two dimensions.")
    .Input("input", "Tcomplex")
    .Output("output", "Tcomplex")
    .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Shape([](ShapeContext& c) { return ComplexShape(c, 2); })
        GRADIENT([](Backprop& b) { ForwardGradient(b, 2, Ifft2); });

OP(FFT3D, "The transform over the last three dimensions.")
    .Input("input", "Tcomplex")
    .Output("output", "Tcomplex")
    .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Shape([](ShapeContext& c) { return ComplexShape(c, 3); })
        GRADIENT([](Backprop& b) { ForwardGradient(b, 3, Ifft3); });

OP(IFFT, "The inverse of FFT.")
    .Input("input", "Tcomplex")
    .Output("output", "Tcomplex")
    .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Shape([](ShapeContext& c) { return ComplexShape(c, 1); })
        GRADIENT([](Backprop& b) { InverseGradient(b, 1, Fft1); });

OP(IFFT2D, "The inverse of FFT2D.")
    .Input("input", "Tcomplex")
    .Output("output", "Tcomplex")
    .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Shape([](ShapeContext& c) { return ComplexShape(c, 2); })
        GRADIENT([](Backprop& b) { InverseGradient(b, 2, Fft2); });

OP(IFFT3D, "The inverse of FFT3D.")
    .Input("input", "Tcomplex")
    .Output("output", "Tcomplex")
    .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Shape([](ShapeContext& c) { return ComplexShape(c, 3); })
        GRADIENT([](Backprop& b) { InverseGradient(b, 3, Fft3); });

OP(IRFFT, "The inverse of RFFT: real numbers from the first fft_length / 2 + 1 of a transform.")
    .Input("input", "Tcomplex")
    .Input("fft_length", DT_INT32)
    .Output("output", "Treal")
    .Attr("Treal", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Shape([](ShapeContext& c) { return IrfftShape(c, 1); })
        GRADIENT([](Backprop& b) { IrfftGradient(b, 1, Rfft1); });

OP(IRFFT2D, "The inverse of RFFT2D.")
    .Input("input", "Tcomplex")
    .Input("fft_length", DT_INT32)
    .Output("output", "Treal")
    .Attr("Treal", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Shape([](ShapeContext& c) { return IrfftShape(c, 2); })
        GRADIENT([](Backprop& b) { IrfftGradient(b, 2, Rfft2); });

OP(IRFFT3D, "The inverse of RFFT3D.")
    .Input("input", "Tcomplex")
    .Input("fft_length", DT_INT32)
    .Output("output", "Treal")
    .Attr("Treal", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Shape([](ShapeContext& c) { return IrfftShape(c, 3); });

OP(RFFT,
   "The transform of fft_length real numbers: its first fft_length / 2 + 1, the others are their "
   "conjugates. The input is cut where it is longer.")
    .Input("input", "Treal")
    .Input("fft_length", DT_INT32)
    .Output("output", "Tcomplex")
    .Attr("Treal", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Shape([](ShapeContext& c) { return RfftShape(c, 1); })
        GRADIENT([](Backprop& b) { RfftGradient(b, 1, Ifft1); });

OP(RFFT2D, "RFFT over the last dimension, FFT over the one before.")
    .Input("input", "Treal")
    .Input("fft_length", DT_INT32)
    .Output("output", "Tcomplex")
    .Attr("Treal", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Shape([](ShapeContext& c) { return RfftShape(c, 2); })
        GRADIENT([](Backprop& b) { RfftGradient(b, 2, Ifft2); });

OP(RFFT3D, "RFFT over the last dimension, FFT over the two before.")
    .Input("input", "Treal")
    .Input("fft_length", DT_INT32)
    .Output("output", "Tcomplex")
    .Attr("Treal", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .Attr("Tcomplex", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Shape([](ShapeContext& c) { return RfftShape(c, 3); });

}  // namespace
}  // namespace sluice

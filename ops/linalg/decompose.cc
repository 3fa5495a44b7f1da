// Ops that decompose the matrices in the last two dimensions: Cholesky, LU, QR, eigenvalues,
// singular values.
//
// The vectors of a decomposition are only determined up to a sign (a phase for complex numbers). If
// two values are equal, gradients use 0 instead of the reciprocal of their difference.
#include <algorithm>

#include "graph/tensor/sizes.h"
#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/linalg/decompose_builders.h"
#include "ops/linalg/diagonal_builders.h"
#include "ops/linalg/matrix_nodes.h"
#include "ops/linalg/solve_builders.h"
#include "ops/math/complex_builders.h"
#endif

namespace sluice {
namespace {

absl::Status EigenvaluesShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape s, Squares(c, 0));
  const PartialShape batch = BatchOf(s);
  c.SetOutput(0, batch.Concatenate({MatrixRows(s)})).IgnoreError();
  return c.SetOutput(1, c.attr<bool>("compute_v") ? s : PartialShape({0}));
}

absl::Status QrShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape s, c.WithRankAtLeast(0, 2));
  const int64_t m = MatrixRows(s), n = MatrixColumns(s);
  const int64_t p = m == 0 || n == 0 ? 0 : m < 0 || n < 0 ? -1 : std::min(m, n);
  const bool is_full = c.attr<bool>("full_matrices");
  c.SetOutput(0, BatchOf(s).Concatenate({m, is_full ? m : p})).IgnoreError();
  return c.SetOutput(1, BatchOf(s).Concatenate({is_full ? m : p, n}));
}

absl::Status SvdShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape s, c.WithRankAtLeast(0, 2));
  const int64_t m = MatrixRows(s), n = MatrixColumns(s);
  const int64_t p = m == 0 || n == 0 ? 0 : m < 0 || n < 0 ? -1 : std::min(m, n);
  const PartialShape batch = BatchOf(s);
  c.SetOutput(0, batch.Concatenate({p})).IgnoreError();
  if (!c.attr<bool>("compute_uv")) {
    c.SetOutput(1, {0}).IgnoreError();
    return c.SetOutput(2, {0});
  }
  const bool is_full = c.attr<bool>("full_matrices");
  c.SetOutput(1, batch.Concatenate({m, is_full ? m : p})).IgnoreError();
  return c.SetOutput(2, batch.Concatenate({n, is_full ? n : p}));
}

absl::Status OldEigenvaluesShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape s, Squares(c, 0));
  const int64_t side = MatrixRows(s);
  return c.SetOutput(0, BatchOf(s).Concatenate({side < 0 ? -1 : SaturatedSum(side, 1), side}));
}

// These structs declare ops that also have a deprecated Batch form with other types.
struct SquareGrad {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.Input("l", "T").Input("grad", "T").Output("output", "T").Attr("T", TypeAttr(types));
    op.Shape(SquareShape);
  }
};
struct OldEigenvalues {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.Input("input", "T").Output("output", "T").Attr("T", TypeAttr(types));
    op.Deprecated(11, "Use SelfAdjointEigV2 instead.").Shape(OldEigenvaluesShape);
  }
};
struct Eigenvalues {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.Input("input", "T").Output("e", "T").Output("v", "T").Attr("compute_v", BoolAttr(true));
    op.Attr("T", TypeAttr(types)).Shape(EigenvaluesShape);
  }
};
struct SingularValues {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.Input("input", "T").Output("s", "T").Output("u", "T").Output("v", "T");
    op.Attr("compute_uv", BoolAttr(true)).Attr("full_matrices", BoolAttr(false));
    op.Attr("T", TypeAttr(types)).Shape(SvdShape);
  }
};

#ifndef SLUICE_DEFINITIONS_ONLY
// Adds the gradient of Cholesky: the Hermitian part of L^-H P L^-1, where P is tril(L^H dL) with
// its diagonal halved. Source: Murray, "Differentiation of the Cholesky decomposition" (2016).
void CholeskyGradient(Backprop& b) {
  Output l = b.Value("output");
  Output middle =
      LowerTriangle(WithDiagonalTimes(Times(l, b.Of("output"), Form::kAdjoint, Form::kPlain), 0.5));
  Output left = MatrixTriangularSolve(l, middle, {.adjoint = true});
  Output grad = AdjointOf(MatrixTriangularSolve(l, AdjointOf(left), {.adjoint = true}));
  b.Into("input", (grad + AdjointOf(grad)) * NumberLike(grad, 0.5));
}

// Returns the gradient for matrices with at least as many rows as columns. Source: Roberts and
// Roberts, "QR and LQ Decomposition Matrix Backpropagation Algorithms for Square, Wide, and Deep
// Matrices" (2020).
Output DeepQrGradient(Output q, Output r, Output dq, Output dr) {
  // Returns x * r^-H.
  auto over_r = [&](Output x) {
    return AdjointOf(MatrixTriangularSolve(r, AdjointOf(x), {.lower = false}));
  };
  Output qdq = Times(q, dq, Form::kAdjoint, Form::kPlain);
  Output rdr = Times(r, dr, Form::kPlain, Form::kAdjoint);
  Output lower = LowerTriangle((qdq - AdjointOf(qdq)) + (rdr - AdjointOf(rdr)));
  Output grad = Times(q, dr + over_r(lower)) + over_r(dq - Times(q, qdq));
  if (!IsComplex(q.dtype())) return grad;
  Output diagonal = MatrixDiagPart(rdr - AdjointOf(qdq));
  const DataType real = q.dtype() == DT_COMPLEX64 ? DT_FLOAT : DT_DOUBLE;
  Output imaginary = diagonal - Cast(Real(diagonal, {.Tout = real}), q.dtype());
  return grad + over_r(Times(q, ConjOf(MatrixDiag(imaginary))));
}

void QrGradient(Backprop& b) {
  Output q = b.Value("q"), r = b.Value("r"), a = b.Value("input");
  const int64_t m = MatrixRows(a.shape()), n = MatrixColumns(a.shape());
  if (m < 0 || n < 0) {
    return b.Fail(absl::UnimplementedError(
        StrCat("the gradient of Qr needs the static sizes of matrices, got shape ",
               a.shape().ToString())));
  }
  if (m > n && b.attr<bool>("full_matrices")) {
    return b.Fail(absl::UnimplementedError(
        StrCat("Qr has no gradient if full_matrices is true and there are more rows than "
               "columns, got ",
               m, " rows and ", n, " columns")));
  }
  Output dq = b.Of("q"), dr = b.Of("r");
  if (m >= n) return b.Into("input", DeepQrGradient(q, r, dq, dr));
  // Let a = [x, y] and r = [u, v], where x and u are square. Then q and u are the decomposition of
  // x, and y = q v.
  Output y = PartOfAxis(a, -1, m, kToTheEnd), dv = PartOfAxis(dr, -1, m, kToTheEnd);
  Output dx =
      DeepQrGradient(q, PartOfAxis(r, -1, 0, m), dq + Times(y, dv, Form::kPlain, Form::kAdjoint),
                     PartOfAxis(dr, -1, 0, m));
  b.Into("input", Concat({dx, Times(q, dv)}, -1));
}

// Adds the gradient of Eig, for distinct eigenvalues. Source: Boeddeker et al., "On the Computation
// of Complex-valued Gradients" (2017), equation 4.77.
void EigGradient(Backprop& b) {
  Output a = b.Value("input"), e = b.Value("e"), middle;
  Output v = b.Value("v");
  if (!b.attr<bool>("compute_v")) {
    EigOutputs whole = Eig(a, e.dtype());
    v = whole.v;
    middle = MatrixDiag(b.Of("e"));
  } else {
    Output vgv = Times(v, b.Of("v"), Form::kAdjoint, Form::kPlain);
    const DataType real = e.dtype() == DT_COMPLEX64 ? DT_FLOAT : DT_DOUBLE;
    Output lengths = MatrixDiag(Cast(Real(MatrixDiagPart(vgv), {.Tout = real}), e.dtype()));
    Output along = Times(Times(v, v, Form::kAdjoint, Form::kPlain), lengths);
    middle = MatrixDiag(b.Of("e")) + ConjOf(ReciprocalDifferences(e)) * (vgv - along);
  }
  Output vt = AdjointOf(v);
  b.Into("input", Cast(MatrixSolve(vt, Times(middle, vt)), a.dtype()));
}

void SelfAdjointEigGradient(Backprop& b) {
  Output e = b.Value("e"), v = b.Value("v"), middle = MatrixDiag(Cast(b.Of("e"), e.dtype()));
  if (b.attr<bool>("compute_v")) {
    middle = middle + ReciprocalDifferences(e) * Times(v, b.Of("v"), Form::kAdjoint, Form::kPlain);
  } else {
    v = SelfAdjointEigV2(b.Value("input")).v;
  }
  Output grad = Times(v, Times(middle, v, Form::kPlain, Form::kAdjoint));
  // Only the lower triangle gets a gradient, because the op reads only this triangle.
  b.Into("input", WithDiagonalTimes(LowerTriangle(grad + AdjointOf(grad)), 0.5));
}

// Returns the gradient for matrices with at most as many rows as columns. Sources: Giles, "An
// extended collection of matrix derivative results" (2008); Townsend, "Differentiating the Singular
// Value Decomposition" (2016); Wan and Zhang (2019) for the last term, which only complex numbers
// need.
Output WideSvdGradient(Output s, Output u, Output v, Output gs, Output gu, Output gv, int64_t m,
                       int64_t n, bool is_full) {
  Output v1 = PartOfAxis(v, -1, 0, m), gv1 = PartOfAxis(gv, -1, 0, m);
  Output f = ReciprocalDifferences(s * s);
  Output v_gv = Times(v1, gv1, Form::kAdjoint, Form::kPlain);
  Output fu = f * Times(u, gu, Form::kAdjoint, Form::kPlain), fv = f * v_gv;
  Output s_mat = MatrixDiag(s), s_inverse = MatrixDiag(SafeReciprocal(s));
  Output inner =
      MatrixDiag(gs) + Times(fu + AdjointOf(fu), s_mat) + Times(s_mat, fv + AdjointOf(fv));
  Output grad = Times(u, Times(inner, v1, Form::kPlain, Form::kAdjoint));
  if (m != n) {
    Output gv1_h = AdjointOf(gv1);
    Output rest = gv1_h - Times(Times(gv1_h, v1), v1, Form::kPlain, Form::kAdjoint);
    if (is_full) {
      Output v2 = PartOfAxis(v, -1, m, n), gv2 = PartOfAxis(gv, -1, m, n);
      rest = rest -
             Times(Times(v1, gv2, Form::kAdjoint, Form::kPlain), v2, Form::kPlain, Form::kAdjoint);
    }
    grad = grad + Times(Times(u, s_inverse), rest);
  }
  if (IsComplex(u.dtype())) {
    Output phases = MatrixDiag(MatrixDiagPart(v_gv));
    Output turned = Times(s_inverse, AdjointOf(phases) - phases);
    grad = grad + Times(u, Times(turned, v1, Form::kPlain, Form::kAdjoint)) * NumberLike(u, 0.5);
  }
  return grad;
}

void SvdGradient(Backprop& b) {
  Output a = b.Value("input");
  Output gs = Cast(b.Of("s"), a.dtype());
  if (!b.attr<bool>("compute_uv")) {
    SvdOutputs whole = Svd(a);
    return b.Into("input",
                  Times(whole.u, Times(MatrixDiag(gs), whole.v, Form::kPlain, Form::kAdjoint)));
  }
  const int64_t m = MatrixRows(a.shape()), n = MatrixColumns(a.shape());
  const bool is_full = b.attr<bool>("full_matrices");
  if (m < 0 || n < 0) {
    return b.Fail(absl::UnimplementedError(
        StrCat("the gradient of Svd needs the static sizes of matrices, got shape ",
               a.shape().ToString())));
  }
  if (is_full && std::max(m, n) - std::min(m, n) > 1) {
    return b.Fail(absl::UnimplementedError(
        StrCat("Svd has no gradient if full_matrices is true and the sizes differ by more than "
               "1, got ",
               m, " rows and ", n, " columns")));
  }
  Output s = Cast(b.Value("s"), a.dtype()), u = b.Value("u"), v = b.Value("v");
  Output gu = b.Of("u"), gv = b.Of("v");
  if (m <= n) {
    b.Into("input", WideSvdGradient(s, u, v, gs, gu, gv, m, n, is_full));
  } else {  // uses the gradient for the adjoint
    b.Into("input", AdjointOf(WideSvdGradient(s, v, u, gs, gv, gu, n, m, is_full)));
  }
}
#endif

OP(Cholesky,
   "Computes the lower triangular L with input = L L^H. Reads only the lower triangle of the "
   "positive definite input. NaN if the input is not positive definite.")
    .With(SquareFunction{kFloatOrComplex}) GRADIENT(CholeskyGradient);

OP(CholeskyGrad, "Computes the gradient of Cholesky from its output l and the gradient of l.")
    .With(SquareGrad{{DT_HALF, DT_FLOAT, DT_DOUBLE}});

OP(Eig,
   "Computes complex eigenvalues and eigenvectors of square matrices, in no particular order. "
   "Eigenvectors are columns of length 1, computed only if compute_v is set.")
    .Input("input", "T")
    .Output("e", "Tout")
    .Output("v", "Tout")
    .Attr("compute_v", BoolAttr(true))
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE, DT_COMPLEX64, DT_COMPLEX128}))
    .Attr("Tout", TypeAttr(ComplexTypes()))
    .Shape(EigenvaluesShape) GRADIENT(EigGradient);

OP(Lu,
   "Computes the decomposition P input = L U. One matrix has L below its diagonal, which is all "
   "ones in L, and U. Row i of P input is row p[i] of the input.")
    .Input("input", "T")
    .Output("lu", "T")
    .Output("p", "output_idx_type")
    .Attr("T", TypeAttr(kFloatOrComplex))
    .Attr("output_idx_type", TypeAttr(IndexTypes(), DT_INT32))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape s, Squares(c, 0));
      c.SetOutput(0, s).IgnoreError();
      return c.SetOutput(1, BatchOf(s).Concatenate({MatrixRows(s)}));
    });

OP(Qr,
   "Computes the decomposition input = q r with orthonormal columns of q and upper triangular r. q "
   "is square with full_matrices, else it has as many columns as the smaller size.")
    .Input("input", "T")
    .Output("q", "T")
    .Output("r", "T")
    .Attr("full_matrices", BoolAttr(false))
    .Attr("T", TypeAttr(kFloatOrComplex))
    .Shape(QrShape) GRADIENT(QrGradient);

OP(SelfAdjointEig, "Returns eigenvalues in the first row, eigenvectors as columns of the others.")
    .With(OldEigenvalues{{DT_DOUBLE, DT_FLOAT, DT_HALF}});

OP(SelfAdjointEigV2,
   "Computes eigenvalues of self-adjoint matrices in ascending order, and eigenvectors. Reads only "
   "the lower triangle. Eigenvectors are columns of length 1, computed only if compute_v is set.")
    .With(Eigenvalues{kFloatOrComplex}) GRADIENT(SelfAdjointEigGradient);

OP(Svd,
   "Computes the decomposition input = u diag(s) v^H with singular values in descending order. u "
   "and v are square with full_matrices, else they have as many columns as there are values. They "
   "are computed only if compute_uv is set.")
    .With(SingularValues{kFloatOrComplex}) GRADIENT(SvdGradient);

OP(BatchCholesky, "An older form of Cholesky.")
    .With(SquareFunction{{DT_DOUBLE, DT_FLOAT}})
    .Deprecated(13, "Use Cholesky instead.");

OP(BatchCholeskyGrad, "An older form of CholeskyGrad.")
    .With(SquareGrad{{DT_FLOAT, DT_DOUBLE}})
    .Deprecated(13, "Use CholeskyGrad instead.");

OP(BatchSelfAdjointEig, "An older form of SelfAdjointEig.")
    .With(OldEigenvalues{{DT_DOUBLE, DT_FLOAT}});

OP(BatchSelfAdjointEigV2, "An older form of SelfAdjointEigV2.")
    .With(Eigenvalues{{DT_DOUBLE, DT_FLOAT}})
    .Deprecated(13, "Use SelfAdjointEigV2 instead.");

OP(BatchSvd, "An older form of Svd.")
    .With(SingularValues{{DT_DOUBLE, DT_FLOAT, DT_COMPLEX64, DT_COMPLEX128}})
    .Deprecated(13, "Use Svd instead.");

}  // namespace
}  // namespace sluice

// Ops that solve linear equations with the matrices in the last two dimensions.
#include "graph/infer/expect_size.h"
#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "graph/build/cond.h"
#include "ops/linalg/decompose_builders.h"
#include "ops/linalg/diagonal_builders.h"
#include "ops/linalg/matrix_nodes.h"
#include "ops/linalg/solve_builders.h"
#include "ops/math/rounding_builders.h"
#endif

namespace sluice {
namespace {

constexpr TypeSet kFullWidth{DT_DOUBLE, DT_FLOAT, DT_COMPLEX64, DT_COMPLEX128};

absl::Status TridiagonalSolveShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape diagonals, c.WithRankAtLeast(0, 2));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape rhs, c.WithRankAtLeast(1, 2));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape batch, BatchOf(diagonals).MergeWith(BatchOf(rhs)));
  SLUICE_RETURN_IF_ERROR(ExpectSize(MatrixRows(diagonals), 3));
  SLUICE_ASSIGN_OR_RETURN(const int64_t m, MergeDim(MatrixColumns(diagonals), MatrixRows(rhs)));
  return c.SetOutput(0, batch.Concatenate({m, MatrixColumns(rhs)}));
}

absl::Status TridiagonalMatMulShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape rhs, c.WithRankAtLeast(3, 2));
  PartialShape batch = BatchOf(rhs);
  int64_t m = MatrixRows(rhs);
  for (int i = 0; i < 3; ++i) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape diagonal, c.WithRankAtLeast(i, 2));
    SLUICE_ASSIGN_OR_RETURN(batch, batch.MergeWith(BatchOf(diagonal)));
    SLUICE_RETURN_IF_ERROR(ExpectSize(MatrixRows(diagonal), 1));
    SLUICE_ASSIGN_OR_RETURN(m, MergeDim(m, MatrixColumns(diagonal)));
  }
  return c.SetOutput(0, batch.Concatenate({m, MatrixColumns(rhs)}));
}

// These structs declare ops that also have a deprecated Batch form with other types.
struct Inverse {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.Input("input", "T").Output("output", "T").Attr("adjoint", BoolAttr(false));
    op.Attr("T", TypeAttr(types)).Shape(SquareShape);
  }
};
// If `has_side` is true, input `matrix` is triangular, and attribute `lower` says which triangle
// it is.
struct Solve {
  TypeSet types;
  bool has_side = false;
  void operator()(OpDefBuilder& op) const {
    op.Input("matrix", "T").Input("rhs", "T").Output("output", "T");
    if (has_side) op.Attr("lower", BoolAttr(true));
    op.Attr("adjoint", BoolAttr(false)).Attr("T", TypeAttr(types));
    op.Shape(has_side ? TriangularSolveShape : SolveShape);
  }
};
struct LeastSquares {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.Input("matrix", "T").Input("rhs", "T").Input("l2_regularizer", DT_DOUBLE);
    op.Output("output", "T").Attr("T", TypeAttr(types)).Attr("fast", BoolAttr(true));
    op.Shape(LeastSquaresShape);
  }
};

#ifndef SLUICE_DEFINITIONS_ONLY
// Returns the gradient of A for x = A^-1 y, where dy = A^-H dx: dA = -dy x^H. If A is the adjoint
// of the input, the gradient of the input is -x dy^H.
Output MatrixGradient(Output x, Output dy, bool is_adjoint) {
  return Neg(is_adjoint ? Times(x, dy, Form::kPlain, Form::kAdjoint)
                        : Times(dy, x, Form::kPlain, Form::kAdjoint));
}

void TriangularSolveGradient(Backprop& b) {
  const bool is_adjoint = b.attr<bool>("adjoint"), is_lower = b.attr<bool>("lower", true);
  Output a = b.Value("matrix");
  Graph& g = b.graph();
  Output dy = MatrixTriangularSolve(a, b.Of("output"), {.lower = is_lower, .adjoint = !is_adjoint});
  Output da = MatrixGradient(b.Value("output"), dy, is_adjoint);
  Output none = IndexScalar(g, 0, DT_INT64), all = IndexScalar(g, -1, DT_INT64);
  da = is_lower ? MatrixBandPart(da, all, none) : MatrixBandPart(da, none, all);
  IntoBatches(b, da, dy);
}

void BandedSolveGradient(Backprop& b) {
  const bool is_adjoint = b.attr<bool>("adjoint"), is_lower = b.attr<bool>("lower", true);
  Output a = b.Value("matrix");
  Graph& g = b.graph();
  Output dy = BandedTriangularSolve(a, b.Of("output"), {.lower = is_lower, .adjoint = !is_adjoint});
  Output da = MatrixGradient(b.Value("output"), dy, is_adjoint);
  Output shape = ShapeNode(a);
  Output bands = Reshape(PartOf(shape, -2, -1), std::vector<int64_t>{});
  Output zero = IndexScalar(g, 0), one = IndexScalar(g, 1);
  Output k = is_lower ? Pack({one - bands, zero}) : Pack({zero, bands - one});
  da = MatrixDiagPartV3(da, k, NumberLike(da, 0), {.align = "LEFT_RIGHT"});
  IntoBatches(b, da, dy);
}

// Solves (a^H a + l2) x = y or (a a^H + l2) x = y by a Cholesky decomposition.
struct Gramian {
  Gramian(Output a, Output l2, bool is_first_kind) {
    Output product = is_first_kind ? Times(a, a, Form::kAdjoint, Form::kPlain)
                                   : Times(a, a, Form::kPlain, Form::kAdjoint);
    factor = Cholesky(MatrixSetDiag(product, MatrixDiagPart(product) + Cast(l2, a.dtype())));
  }
  Output Solve(Output y) const {
    return MatrixTriangularSolve(factor, MatrixTriangularSolve(factor, y), {.adjoint = true});
  }
  Output factor;
};

// Both functions return the gradients of a and y. TallGradient is for the normal equations of the
// first kind, x = (a^H a + l2)^-1 a^H y, and WideGradient for those of the second kind, x = a^H (a
// a^H + l2)^-1 y.
OutputList TallGradient(Output a, Output y, Output l2, Output x, Output dx) {
  Gramian gramian(a, l2, true);
  Output z = gramian.Solve(dx);
  Output xz = Times(x, z, Form::kPlain, Form::kAdjoint);
  Output da = Times(y, z, Form::kPlain, Form::kAdjoint) - Times(a, xz + AdjointOf(xz));
  return {da, Times(a, z)};
}
OutputList WideGradient(Output a, Output y, Output l2, Output dx) {
  Gramian gramian(a, l2, false);
  Output dy = gramian.Solve(Times(a, dx)), z = gramian.Solve(y);
  Output away = dx - Times(a, dy, Form::kAdjoint, Form::kPlain);
  Output da = Times(z, away, Form::kPlain, Form::kAdjoint) -
              Times(dy, Times(z, a, Form::kAdjoint, Form::kPlain));
  return {da, dy};
}

void LeastSquaresGradient(Backprop& b) {
  if (!b.attr<bool>("fast", true)) {
    return b.Fail(absl::UnimplementedError("MatrixSolveLs has no gradient if fast is false"));
  }
  Output a = b.Value("matrix"), y = b.Value("rhs"), l2 = b.Value("l2_regularizer");
  Output x = b.Value("output"), dx = b.Of("output");
  const int64_t m = MatrixRows(a.shape()), n = MatrixColumns(a.shape());
  OutputList grads;
  if (m < 0 || n < 0) {
    Output shape = ShapeNode(a);
    Output is_tall = GreaterEqual(Reshape(PartOf(shape, -2, -1), std::vector<int64_t>{}),
                                  Reshape(PartOf(shape, -1, kToTheEnd), std::vector<int64_t>{}));
    grads = Cond(
        is_tall, [&] { return TallGradient(a, y, l2, x, dx); },
        [&] { return WideGradient(a, y, l2, dx); });
    if (grads.size() != 2) return;
  } else {
    grads = m >= n ? TallGradient(a, y, l2, x, dx) : WideGradient(a, y, l2, dx);
  }
  b.Into("matrix", grads[0]);
  b.Into("rhs", grads[1]);
}

// Shifts x along an axis by one position towards the front or the back, and fills the gap with
// zeros.
enum class Towards { kFront, kBack };
Output Shifted(Output x, int axis, Towards end) {
  const bool front = end == Towards::kFront;
  Output rest = PartOfAxis(x, axis, front ? 1 : 0, front ? kToTheEnd : -1);
  Output zero = ZerosLike(PartOfAxis(x, axis, 0, 1));
  return front ? Concat({rest, zero}, axis) : Concat({zero, rest}, axis);
}

void TridiagonalMatMulGradient(Backprop& b) {
  Output x = ConjOf(b.Value("rhs")), grad = b.Of("output");
  auto into = [&](const char* arg, Output factor) {
    b.Into(arg, ExpandDims(ReduceSum(factor * grad, -1), -2));
  };
  into("superdiag", Shifted(x, -2, Towards::kFront));
  into("maindiag", x);
  into("subdiag", Shifted(x, -2, Towards::kBack));
  b.Into("rhs", Shifted(AdjointOf(b.Value("superdiag")) * grad, -2, Towards::kBack) +
                    AdjointOf(b.Value("maindiag")) * grad +
                    Shifted(AdjointOf(b.Value("subdiag")) * grad, -2, Towards::kFront));
}

void TridiagonalSolveGradient(Backprop& b) {
  Output diagonals = b.Value("diagonals"), x = b.Value("output");
  auto row = [&](int64_t i) { return PartOfAxis(diagonals, -2, i, i + 1); };
  // The adjoint exchanges the subdiagonal and the superdiagonal, and with them the ends at which
  // they are padded.
  Output adjoint = ConjOf(Concat(
      {Shifted(row(2), -1, Towards::kFront), row(1), Shifted(row(0), -1, Towards::kBack)}, -2));
  Output dy = TridiagonalSolve(adjoint, b.Of("output"),
                               {.partial_pivoting = b.attr<bool>("partial_pivoting", true),
                                .perturb_singular = b.attr<bool>("perturb_singular")});
  b.Into("rhs", dy);
  Output xc = ConjOf(x);
  auto diagonal = [&](Output factor) { return ExpandDims(ReduceSum(dy * factor, -1), -2); };
  b.Into("diagonals", Neg(Concat({diagonal(Shifted(xc, -2, Towards::kFront)), diagonal(xc),
                                  diagonal(Shifted(xc, -2, Towards::kBack))},
                                 -2)));
}
#endif

OP(BandedTriangularSolve,
   "Solves matrix * output = rhs. The rows of `matrix` are the diagonals of a triangular matrix: "
   "the main one and those next to it, below (lower) or above.")
    .With(Solve{kFloatOrComplex, true})
    .Shape(BandedSolveShape) GRADIENT(BandedSolveGradient);

OP(MatrixInverse, "Computes inverses of matrices or of their adjoints.")
    .With(Inverse{kFloatOrComplex}) GRADIENT([](Backprop& b) {
      Output inverse = b.Value("output"), grad = b.Of("output");
      const bool is_adjoint = b.attr<bool>("adjoint");
      Output inner = is_adjoint ? Times(grad, inverse, Form::kAdjoint, Form::kPlain)
                                : Times(grad, inverse, Form::kPlain, Form::kAdjoint);
      b.Into("input", Neg(Times(inverse, inner, is_adjoint ? Form::kPlain : Form::kAdjoint)));
    });

OP(MatrixSolve, "Solves matrix * output = rhs, or with the adjoint of the matrix.")
    .With(Solve{kFloatOrComplex}) GRADIENT([](Backprop& b) {
      const bool is_adjoint = b.attr<bool>("adjoint");
      Output dy = MatrixSolve(b.Value("matrix"), b.Of("output"), {.adjoint = !is_adjoint});
      b.Into("matrix", MatrixGradient(b.Value("output"), dy, is_adjoint));
      b.Into("rhs", dy);
    });

OP(MatrixSolveLs,
   "Minimizes |matrix * output - rhs|^2 + l2_regularizer |output|^2, and returns the shortest "
   "solution if there are more columns than rows. With `fast` it solves the normal equations, else "
   "it uses a complete orthogonal decomposition and ignores l2_regularizer.")
    .With(LeastSquares{kFloatOrComplex}) GRADIENT(LeastSquaresGradient);

OP(MatrixTriangularSolve,
   "Solves matrix * output = rhs, or with the adjoint of the matrix. Reads one triangle of the "
   "matrix. Batch dimensions broadcast.")
    .With(Solve{kFloatOrComplex | TypeSet{DT_BFLOAT16}, true}) GRADIENT(TriangularSolveGradient);

OP(TridiagonalMatMul,
   "Computes the product of a tridiagonal matrix and a dense one. The last element of superdiag "
   "and the first of subdiag are ignored.")
    .Input("superdiag", "T")
    .Input("maindiag", "T")
    .Input("subdiag", "T")
    .Input("rhs", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(kFullWidth))
    .Shape(TridiagonalMatMulShape) GRADIENT(TridiagonalMatMulGradient);

OP(TridiagonalSolve,
   "Solves matrix * output = rhs. The rows of `diagonals` are the superdiagonal, diagonal and "
   "subdiagonal of a matrix. NaN for a singular matrix unless perturb_singular is set.")
    .Input("diagonals", "T")
    .Input("rhs", "T")
    .Output("output", "T")
    .Attr("partial_pivoting", BoolAttr(true))
    .Attr("perturb_singular", BoolAttr(false))
    .Attr("T", TypeAttr(kFullWidth))
    .Shape(TridiagonalSolveShape) GRADIENT(TridiagonalSolveGradient);

OP(BatchMatrixInverse, "An older form of MatrixInverse.")
    .With(Inverse{{DT_DOUBLE, DT_FLOAT}})
    .Deprecated(13, "Use MatrixInverse instead.");

OP(BatchMatrixSolve, "An older form of MatrixSolve.")
    .With(Solve{{DT_DOUBLE, DT_FLOAT}})
    .Deprecated(13, "Use MatrixSolve instead.");

OP(BatchMatrixSolveLs, "An older form of MatrixSolveLs.")
    .With(LeastSquares{{DT_DOUBLE, DT_FLOAT}})
    .Deprecated(13, "Use MatrixSolveLs instead.");

OP(BatchMatrixTriangularSolve, "An older form of MatrixTriangularSolve.")
    .With(Solve{{DT_DOUBLE, DT_FLOAT}, true})
    .Deprecated(13, "Use MatrixTriangularSolve instead.");

}  // namespace
}  // namespace sluice

// Ops on diagonals of tensors, and of the matrices in the last two dimensions.
//
// Diagonal k of a matrix has the elements (i, i + k). A band consists of the diagonals lower to
// upper. They are packed as rows, as long as the longest diagonal, and aligned left or right.
#include <algorithm>

#include "graph/tensor/sizes.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/linalg/diagonal_builders.h"
#endif

namespace sluice {
namespace {

PartialShape Leading(const PartialShape& s, int count) {
  return PartialShape(s.dims().subspan(0, count));
}

int64_t MinOrUnknown(int64_t a, int64_t b) { return a < 0 || b < 0 ? -1 : std::min(a, b); }

struct Band {
  int64_t lower, upper;
  bool is_one() const { return lower == upper; }
  int64_t count() const { return upper - lower + 1; }
};

// Returns the band in input i, or nothing if the input is not constant.
absl::StatusOr<std::optional<Band>> BandOf(ShapeContext& c, int i) {
  SLUICE_RETURN_IF_ERROR(c.WithRankAtMost(i, 1).status());
  std::optional<Tensor> k = c.InputValue(i);
  if (!k) return std::nullopt;
  const int64_t n = k->num_elements();
  SLUICE_INVALID_IF(n != 1 && n != 2,
                    "diag_index must be scalar or vector with one or two elements, got ",
                    k->shape().ToString());
  const Band band{k->data<int32_t>()[0], k->data<int32_t>()[n - 1]};
  SLUICE_INVALID_IF(band.lower > band.upper,
                    "lower_diag_index is greater than upper_diag_index: ", band.lower, " > ",
                    band.upper);
  return band;
}

absl::Status CheckInMatrix(const Band& band, int64_t rows, int64_t columns) {
  for (int64_t k : {band.lower, band.upper}) {
    const bool below = rows >= 0 && k <= -rows, above = columns >= 0 && k >= columns;
    SLUICE_INVALID_IF(k != 0 && (below || above), k == band.lower ? "lower" : "upper",
                      "_diag_index is out of bound: ", k, " in a matrix of ", rows, " rows and ",
                      columns, " columns");
  }
  return absl::OkStatus();
}

int64_t LongestDiagonal(const Band& band, int64_t rows, int64_t columns) {
  if (rows < 0 || columns < 0) return -1;
  return std::min(rows + std::min<int64_t>(band.upper, 0),
                  columns - std::max<int64_t>(band.lower, 0));
}

absl::Status DiagPartOfBandShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRankAtLeast(0, 2));
  SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  SLUICE_ASSIGN_OR_RETURN(std::optional<Band> band, BandOf(c, 1));
  if (!band || !input.rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
  const int64_t rows = input.dim(input.rank() - 2), columns = input.dim(input.rank() - 1);
  SLUICE_RETURN_IF_ERROR(CheckInMatrix(*band, rows, columns));
  PartialShape out = Leading(input, input.rank() - 2);
  if (!band->is_one()) out.AddDim(band->count());
  out.AddDim(LongestDiagonal(*band, rows, columns));
  return c.SetOutput(0, out);
}

// Returns the number of rows or columns in input i. -1 requests as few as possible. Returns nothing
// if the input is not constant.
std::optional<int64_t> SizeIn(ShapeContext& c, int i) {
  std::optional<Tensor> t = c.InputValue(i);
  if (!t || t->num_elements() != 1) return std::nullopt;
  return t->data<int32_t>()[0];
}

// Checks that `diagonal` has a row for each diagonal of the band. `count` is the number of its
// rows, or -1 if it is unknown.
absl::Status CheckCount(int64_t count, const Band& band) {
  if (count < 0 || count == band.count()) return absl::OkStatus();
  return InvalidArgument(
      "The number of rows of `diagonal` doesn't match the number of "
      "diagonals implied from `d_lower` and `d_upper`.");
}

// Appends the number of rows and columns of the matrices to `out`. `length` is the length of the
// longest diagonal. If `rows` or `columns` is -1, uses the smallest possible number. If both are
// -1, the matrices are square.
absl::Status AddSizes(int64_t length, const Band& band, int64_t rows, int64_t columns,
                      PartialShape* out) {
  const int64_t least_rows = SaturatedSum(length, -std::min<int64_t>(band.upper, 0));
  const int64_t least_columns = SaturatedSum(length, std::max<int64_t>(band.lower, 0));
  SLUICE_INVALID_IF(rows >= 0 && rows < least_rows, "num_rows is too small");
  SLUICE_INVALID_IF(columns >= 0 && columns < least_columns, "num_cols is too small");
  const bool square = rows < 0 && columns < 0;
  const int64_t side = std::max(least_rows, least_columns);
  out->AddDim(rows >= 0 ? rows : (square ? side : least_rows));
  out->AddDim(columns >= 0 ? columns : (square ? side : least_columns));
  return absl::OkStatus();
}

void AddKnownSizes(const std::optional<int64_t>& rows, const std::optional<int64_t>& columns,
                   PartialShape* out) {
  out->AddDim(rows && *rows >= 0 ? *rows : -1);
  out->AddDim(columns && *columns >= 0 ? *columns : -1);
}

absl::Status DiagOfBandShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape diagonal, c.WithRankAtLeast(0, 1));
  for (int i = 2; i <= 4; ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  SLUICE_ASSIGN_OR_RETURN(std::optional<Band> band, BandOf(c, 1));
  if (!band || !diagonal.rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
  if (!band->is_one()) {
    SLUICE_ASSIGN_OR_RETURN(diagonal, WithRank(diagonal, std::max(diagonal.rank(), 2)));
    SLUICE_RETURN_IF_ERROR(CheckCount(diagonal.dim(diagonal.rank() - 2), *band));
  }
  PartialShape out = Leading(diagonal, diagonal.rank() - (band->is_one() ? 1 : 2));
  const int64_t length = diagonal.dim(diagonal.rank() - 1);
  const std::optional<int64_t> rows = SizeIn(c, 2), columns = SizeIn(c, 3);
  if (length < 0 || !rows || !columns) {
    AddKnownSizes(rows, columns, &out);
    return c.SetOutput(0, out);
  }
  SLUICE_RETURN_IF_ERROR(AddSizes(length, *band, *rows, *columns, &out));
  return c.SetOutput(0, out);
}

absl::Status SetDiagOfBandShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRankAtLeast(0, 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape diagonal, c.WithRankAtLeast(1, 1));
  SLUICE_ASSIGN_OR_RETURN(std::optional<Band> band, BandOf(c, 2));
  if (!band) return c.SetOutput(0, input);
  const int extra = band->is_one() ? 1 : 2;
  if (input.rank_known()) {
    const int rank = input.rank();
    SLUICE_RETURN_IF_ERROR(CheckInMatrix(*band, input.dim(rank - 2), input.dim(rank - 1)));
    SLUICE_ASSIGN_OR_RETURN(diagonal, WithRank(diagonal, rank - 2 + extra));
    SLUICE_ASSIGN_OR_RETURN(PartialShape batch,
                            Leading(input, rank - 2).MergeWith(Leading(diagonal, rank - 2)));
    const int64_t longest = LongestDiagonal(*band, input.dim(rank - 2), input.dim(rank - 1));
    SLUICE_RETURN_IF_ERROR(MergeDim(diagonal.dim(diagonal.rank() - 1), longest).status());
    if (extra == 2) {
      SLUICE_RETURN_IF_ERROR(MergeDim(diagonal.dim(diagonal.rank() - 2), band->count()).status());
    }
    return c.SetOutput(0, batch.Concatenate({input.dim(rank - 2), input.dim(rank - 1)}));
  }
  if (!diagonal.rank_known()) return c.SetOutput(0, input);
  SLUICE_ASSIGN_OR_RETURN(diagonal, WithRank(diagonal, std::max(diagonal.rank(), extra)));
  return c.SetOutput(0, Leading(diagonal, diagonal.rank() - extra).Concatenate({-1, -1}));
}

absl::Status MatrixDiagShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.WithRankAtLeast(0, 1));
  if (!in.rank_known()) return c.SetOutput(0, in);
  return c.SetOutput(0, in.Concatenate({in.dim(in.rank() - 1)}));
}

absl::Status MatrixDiagPartShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.WithRankAtLeast(0, 2));
  if (!in.rank_known()) return c.SetOutput(0, in);
  const int r = in.rank();
  return c.SetOutput(0,
                     Leading(in, r - 2).Concatenate({MinOrUnknown(in.dim(r - 2), in.dim(r - 1))}));
}

constexpr TypeSet kDiagonalTypes = {DT_BFLOAT16, DT_HALF,  DT_FLOAT,     DT_DOUBLE,
                                    DT_INT32,    DT_INT64, DT_COMPLEX64, DT_COMPLEX128};

void MainDiag(OpDefBuilder& op) {
  op.Input("diagonal", "T").Output("output", "T").Attr("T", TypeAttr()).Shape(MatrixDiagShape);
}
void MainDiagPart(OpDefBuilder& op) {
  op.Input("input", "T").Output("diagonal", "T").Attr("T", TypeAttr()).Shape(MatrixDiagPartShape);
}
void SetDiag(OpDefBuilder& op) {
  op.Input("input", "T").Input("diagonal", "T").Output("output", "T").Attr("T", TypeAttr());
}

// The following functions declare ops on a band of diagonals, which input k selects.
void DiagOfBand(OpDefBuilder& op) {
  op.Input("diagonal", "T").Input("k", DT_INT32).Input("num_rows", DT_INT32);
  op.Input("num_cols", DT_INT32).Input("padding_value", "T").Output("output", "T");
  op.Attr("T", TypeAttr()).Shape(DiagOfBandShape);
}
void DiagPartOfBand(OpDefBuilder& op) {
  op.Input("input", "T").Input("k", DT_INT32).Input("padding_value", "T").Output("diagonal", "T");
  op.Attr("T", TypeAttr()).Shape(DiagPartOfBandShape);
}
void AlignAttr(OpDefBuilder& op) {
  op.Attr("align", OneOf({"LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"}, "RIGHT_LEFT"));
}

#ifndef SLUICE_DEFINITIONS_ONLY
std::string Align(Backprop& b) { return b.attr<std::string>("align"); }

// Returns the sizes of the matrices of `x`, or nothing if they are unknown.
std::optional<std::pair<int64_t, int64_t>> MatrixSizes(Output x) {
  const PartialShape& s = x.shape();
  if (!s.rank_known() || s.rank() < 2) return std::nullopt;
  const int64_t rows = s.dim(s.rank() - 2), columns = s.dim(s.rank() - 1);
  if (rows < 0 || columns < 0) return std::nullopt;
  return std::make_pair(rows, columns);
}

Output ZeroLike(Output x) { return Constant(*x.graph(), 0, x.dtype()); }
#endif

OP(Diag,
   "Returns a tensor of twice the rank with `diagonal` on its diagonal: output[i, …, i, …] = "
   "diagonal[i, …].")
    .Input("diagonal", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(kDiagonalTypes))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.WithRankAtLeast(0, 1));
      return c.SetOutput(0, in.Concatenate(in));
    }) GRADIENT([](Backprop& b) { b.Into("diagonal", DiagPart(b.Of("output"))); });

OP(DiagPart, "Returns the diagonal of a tensor whose shape is a shape repeated twice.")
    .Input("input", "T")
    .Output("diagonal", "T")
    .Attr("T", TypeAttr(kDiagonalTypes))
    .Shape([](ShapeContext& c) -> absl::Status {
      const PartialShape& in = c.input(0);
      if (!in.rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
      SLUICE_INVALID_IF(in.rank() % 2 != 0 || in.rank() <= 0,
                        "Input must have even and non-zero rank, input rank is ", in.rank());
      const int half = in.rank() / 2;
      PartialShape out = Leading(in, half);
      for (int i = 0; i < half; ++i) {
        SLUICE_ASSIGN_OR_RETURN(const int64_t size, MergeDim(in.dim(i), in.dim(half + i)));
        out.set_dim(i, size);
      }
      return c.SetOutput(0, out);
    }) GRADIENT([](Backprop& b) { b.Into("input", Diag(b.Of("diagonal"))); });

OP(MatrixBandPart,
   "Sets elements to zero except num_lower diagonals below and num_upper above the main one. A "
   "negative number keeps all diagonals.")
    .Input("input", "T")
    .Input("num_lower", "Tindex")
    .Input("num_upper", "Tindex")
    .Output("band", "T")
    .Attr("T", TypeAttr())
    .Attr("Tindex", TypeAttr(IndexTypes(), DT_INT64))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      b.Into("input", MatrixBandPart(b.Of("band"), b.Value("num_lower"), b.Value("num_upper")));
    });

OP(MatrixDiag,
   "Returns square matrices with the last dimension of `diagonal` as main diagonals and zeros "
   "elsewhere.")
    .With(MainDiag) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output");
      b.Into("diagonal", MatrixDiagPartV3(grad, Constant(b.graph(), 0, DT_INT32), ZeroLike(grad)));
    });

OP(MatrixDiagPart, "Returns the main diagonals of matrices.")
    .With(MainDiagPart) GRADIENT([](Backprop& b) {
      b.Into("input", MatrixSetDiag(ZerosLike(b.Value("input")), b.Of("diagonal")));
    });

OP(MatrixDiagPartV2,
   "Returns band k (a diagonal, or the lowest and the highest) of matrices. Shorter diagonals are "
   "aligned left and padded with padding_value.")
    .With(DiagPartOfBand) GRADIENT([](Backprop& b) {
      Output grad = b.Of("diagonal"), k = b.Value("k");
      if (auto sizes = MatrixSizes(b.Value("input"))) {
        b.Into("input", MatrixDiagV2(grad, k, Constant(b.graph(), sizes->first, DT_INT32),
                                     Constant(b.graph(), sizes->second, DT_INT32), ZeroLike(grad)));
      } else {
        b.Into("input", MatrixSetDiagV2(ZerosLike(b.Value("input")), grad, k));
      }
    });

OP(MatrixDiagPartV3,
   "MatrixDiagPartV2 with alignment: the first word of `align` is for diagonals above the main "
   "one, the second for those below.")
    .With(DiagPartOfBand)
    .With(AlignAttr) GRADIENT([](Backprop& b) {
      const std::string align = Align(b);
      Output grad = b.Of("diagonal"), k = b.Value("k");
      if (auto sizes = MatrixSizes(b.Value("input"))) {
        b.Into("input", MatrixDiagV3(grad, k, Constant(b.graph(), sizes->first, DT_INT32),
                                     Constant(b.graph(), sizes->second, DT_INT32), ZeroLike(grad),
                                     {.align = align}));
      } else {
        b.Into("input", MatrixSetDiagV3(ZerosLike(b.Value("input")), grad, k, {.align = align}));
      }
    });

OP(MatrixDiagV2,
   "Returns matrices with the diagonals of band k and padding_value elsewhere. num_rows and "
   "num_cols may be -1 for the smallest matrices that have these diagonals.")
    .With(DiagOfBand) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output");
      b.Into("diagonal", MatrixDiagPartV2(grad, b.Value("k"), ZeroLike(grad)));
    });

OP(MatrixDiagV3, "MatrixDiagV2 with alignment, as MatrixDiagPartV3.")
    .With(DiagOfBand)
    .With(AlignAttr) GRADIENT([](Backprop& b) {
      const std::string align = Align(b);
      Output grad = b.Of("output");
      b.Into("diagonal", MatrixDiagPartV3(grad, b.Value("k"), ZeroLike(grad), {.align = align}));
    });

OP(MatrixSetDiag, "Replaces the main diagonals of matrices.")
    .With(SetDiag)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRankAtLeast(0, 2));
      SLUICE_ASSIGN_OR_RETURN(PartialShape diagonal, c.WithRankAtLeast(1, 1));
      if (!input.rank_known()) {
        if (!diagonal.rank_known()) return c.SetOutput(0, input);
        return c.SetOutput(0, Leading(diagonal, diagonal.rank() - 1).Concatenate({-1, -1}));
      }
      const int r = input.rank();
      SLUICE_ASSIGN_OR_RETURN(diagonal, WithRank(diagonal, r - 1));
      SLUICE_ASSIGN_OR_RETURN(PartialShape batch,
                              Leading(input, r - 2).MergeWith(Leading(diagonal, r - 2)));
      SLUICE_RETURN_IF_ERROR(
          MergeDim(MinOrUnknown(input.dim(r - 2), input.dim(r - 1)), diagonal.dim(r - 2)).status());
      return c.SetOutput(0, batch.Concatenate({input.dim(r - 2), input.dim(r - 1)}));
    }) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output");
      b.Into("input", MatrixSetDiag(grad, ZerosLike(b.Value("diagonal"))));
      b.Into("diagonal", MatrixDiagPart(grad));
    });

OP(MatrixSetDiagV2, "Replaces band k of matrices.")
    .With(SetDiag)
    .Input("k", DT_INT32)
    .Shape(SetDiagOfBandShape) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output"), k = b.Value("k");
      b.Into("input", MatrixSetDiagV2(grad, ZerosLike(b.Value("diagonal")), k));
      b.Into("diagonal", MatrixDiagPartV2(grad, k, ZeroLike(grad)));
    });

OP(MatrixSetDiagV3, "MatrixSetDiagV2 with alignment, as MatrixDiagPartV3.")
    .With(SetDiag)
    .Input("k", DT_INT32)
    .With(AlignAttr)
    .Shape(SetDiagOfBandShape) GRADIENT([](Backprop& b) {
      const std::string align = Align(b);
      Output grad = b.Of("output"), k = b.Value("k");
      b.Into("input", MatrixSetDiagV3(grad, ZerosLike(b.Value("diagonal")), k, {.align = align}));
      b.Into("diagonal", MatrixDiagPartV3(grad, k, ZeroLike(grad), {.align = align}));
    });

OP(BatchMatrixBandPart, "An older form of MatrixBandPart.")
    .Input("input", "T")
    .Input("num_lower", DT_INT64)
    .Input("num_upper", DT_INT64)
    .Output("band", "T")
    .Attr("T", TypeAttr())
    .Deprecated(14, "Use MatrixBandPart")
    .Shape(SameAsInput(0));

OP(BatchMatrixDiag, "An older form of MatrixDiag.").With(MainDiag).Deprecated(14, "Use MatrixDiag");

OP(BatchMatrixDiagPart, "An older form of MatrixDiagPart.")
    .With(MainDiagPart)
    .Deprecated(14, "Use MatrixDiagPart");

OP(BatchMatrixSetDiag, "An older form of MatrixSetDiag.")
    .With(SetDiag)
    .Deprecated(14, "Use MatrixSetDiag")
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice

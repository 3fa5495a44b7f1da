#include <cstring>
#include <initializer_list>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/elements.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

// Types whose zero consists of zero bytes.
constexpr TypeSet kPlain = RealTypes() | ComplexTypes() | TypeSet{DT_BOOL};
constexpr TypeSet kDiagonal = {DT_HALF,  DT_FLOAT,     DT_DOUBLE,    DT_INT32,
                               DT_INT64, DT_COMPLEX64, DT_COMPLEX128};

void ClearBytes(Tensor* t) {
  if (t->bytes() > 0) std::memset(t->raw(), 0, t->bytes());
}

absl::Status Diag(KernelContext& c) {
  const Tensor& in = c.input(0);
  SLUICE_INVALID_IF(in.rank() < 1, "Input must be at least rank 1, got 0");
  TensorShape shape = in.shape();
  for (int64_t d : in.shape().dims()) shape.AddDim(d);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  ClearBytes(out);
  const int64_t n = in.num_elements();
  CopyBox box;
  box.dims = {{n, 1, n + 1}};
  CopyStrided(c, in.dtype(), in.raw(), out->raw(), std::move(box));
  return absl::OkStatus();
}
KERNEL(Diag, FunctionKernel<Diag>, {"T", kDiagonal});

absl::Status DiagPart(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int half = in.rank() / 2;
  SLUICE_INVALID_IF(in.rank() == 0 || in.rank() % 2 != 0,
                    "The rank of the tensor should be even and positive, got shape ",
                    in.shape().ToString());
  for (int i = 0; i < half; ++i) {
    SLUICE_INVALID_IF(in.dim(i) != in.dim(i + half), "Invalid shape ", in.shape().ToString(),
                      ": dimensions ", i, " and ", i + half, " do not match.");
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out,
                          c.AllocateOutput(0, TensorShape(in.shape().dims().subspan(0, half))));
  const int64_t n = out->num_elements();
  CopyBox box;
  box.dims = {{n, n + 1, 1}};
  CopyStrided(c, in.dtype(), in.raw(), out->raw(), std::move(box));
  return absl::OkStatus();
}
KERNEL(DiagPart, FunctionKernel<DiagPart>, {"T", kDiagonal});

// Returns inputs num_lower and num_upper of MatrixBandPart.
absl::StatusOr<std::array<int64_t, 2>> LimitsOf(const KernelContext& c, int64_t rows,
                                                int64_t columns) {
  std::array<int64_t, 2> limits;
  for (int i : {1, 2}) {
    const Tensor& limit = c.input(i);
    const char* name = i == 1 ? "num_lower" : "num_upper";
    SLUICE_INVALID_IF(limit.rank() != 0, name, " must be scalar, got shape ",
                      limit.shape().ToString());
    limits[i - 1] = IntAt(limit, 0);
    SLUICE_INVALID_IF(limits[i - 1] > (i == 1 ? rows : columns), name,
                      " must be negative or less or equal to number of ",
                      i == 1 ? "rows (" : "columns (", i == 1 ? rows : columns,
                      ") got: ", limits[i - 1]);
  }
  return limits;
}

absl::Status MatrixBandPart(KernelContext& c) {
  const Tensor& in = c.input(0);
  SLUICE_INVALID_IF(in.rank() < 2,
                    "input must be at least 2-dim, received shape: ", in.shape().ToString());
  const int64_t rows = in.dim(in.rank() - 2), columns = in.dim(in.rank() - 1);
  SLUICE_ASSIGN_OR_RETURN(const auto limits, LimitsOf(c, rows, columns));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
  const int64_t size = static_cast<int64_t>(DataTypeSize(in.dtype()));
  const char* from = static_cast<const char*>(in.raw());
  char* to = static_cast<char*>(out->raw());
  const int64_t lines = columns == 0 ? 0 : in.num_elements() / columns;
  c.ParallelFor(lines, static_cast<double>(columns * size) * 0.1, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t row = line % rows;
      const int64_t first =
          limits[0] < 0 ? 0 : std::min(std::max<int64_t>(row - limits[0], 0), columns);
      const int64_t last =
          limits[1] < 0 ? columns : std::clamp<int64_t>(row + limits[1] + 1, first, columns);
      char* y = to + line * columns * size;
      std::memset(y, 0, static_cast<size_t>(first * size));
      std::memcpy(y + first * size, from + (line * columns + first) * size,
                  static_cast<size_t>((last - first) * size));
      std::memset(y + last * size, 0, static_cast<size_t>((columns - last) * size));
    }
  });
  return absl::OkStatus();
}
KERNEL(MatrixBandPart, FunctionKernel<MatrixBandPart>, {"T", kPlain});
KERNEL(BatchMatrixBandPart, FunctionKernel<MatrixBandPart>, {"T", kPlain});

// The diagonals lower to upper of a matrix, and their positions in packed form, which has a row as
// long as the longest diagonal for each diagonal.
struct Band {
  int64_t lower = 0, upper = 0;
  int64_t rows = 0, columns = 0;
  bool left_above = true, left_below = true;

  bool is_one() const { return lower == upper; }
  int64_t count() const { return upper - lower + 1; }
  int64_t Length(int64_t k) const {
    return std::min(rows + std::min<int64_t>(k, 0), columns - std::max<int64_t>(k, 0));
  }
  int64_t longest() const {
    return std::min(rows + std::min<int64_t>(upper, 0), columns - std::max<int64_t>(lower, 0));
  }
  int64_t Offset(int64_t k) const {
    const bool left = (k >= 0 && left_above) || (k <= 0 && left_below);
    return left ? 0 : longest() - Length(k);
  }
  // Calls f(position in the packed form, position in the matrix, step in the matrix, length) for
  // each diagonal.
  template <typename F>
  void ForDiagonals(const F& f) const {
    for (int64_t k = upper; k >= lower; --k) {
      const int64_t start = k >= 0 ? k : -k * columns;
      f((upper - k) * longest() + Offset(k), start, columns + 1, Length(k));
    }
  }
};

void SetAlignment(const KernelInit& init, Band* band) {
  const std::string align = init.AttrOr<std::string>("align", "LEFT_LEFT");
  band->left_above = align == "LEFT_LEFT" || align == "LEFT_RIGHT";
  band->left_below = align == "LEFT_LEFT" || align == "RIGHT_LEFT";
}

absl::Status ReadBand(const Tensor& k, Band* band) {
  const int64_t n = k.num_elements();
  SLUICE_INVALID_IF(k.rank() > 1 || n < 1 || n > 2,
                    "diag_index must be a scalar or vector of one or two elements, got ",
                    "shape: ", k.shape().ToString());
  band->lower = k.data<int32_t>()[0];
  band->upper = k.data<int32_t>()[n - 1];
  SLUICE_INVALID_IF(band->lower > band->upper,
                    "lower_diag_index must not be larger than upper_diag_index: ", band->lower,
                    " > ", band->upper);
  return absl::OkStatus();
}

absl::Status CheckBand(const Band& b) {
  for (int64_t k : {b.lower, b.upper}) {
    SLUICE_INVALID_IF(k != 0 && (k <= -b.rows || k >= b.columns), k == b.lower ? "lower" : "upper",
                      "_diag_index is out of bound: ", k, " in a matrix of ", b.rows, " rows and ",
                      b.columns, " columns");
  }
  return absl::OkStatus();
}

// Copies between packed diagonals and matrices.
enum class Copy { kToMatrix, kFromMatrix };
template <typename E>
void CopyBand(KernelContext& c, const Band& band, int64_t matrices, Copy direction, E* packed,
              E* matrix) {
  const int64_t packed_size = band.count() * band.longest();
  const int64_t matrix_size = band.rows * band.columns;
  c.ParallelFor(matrices, static_cast<double>(packed_size), [&](int64_t begin, int64_t end) {
    for (int64_t m = begin; m < end; ++m) {
      band.ForDiagonals([&](int64_t at, int64_t start, int64_t step, int64_t length) {
        E* p = packed + m * packed_size + at;
        E* q = matrix + m * matrix_size + start;
        if (direction == Copy::kToMatrix) {
          for (int64_t i = 0; i < length; ++i) q[i * step] = p[i];
        } else {
          for (int64_t i = 0; i < length; ++i) p[i] = q[i * step];
        }
      });
    }
  });
}

void CopyBandOf(KernelContext& c, const Band& band, int64_t matrices, Copy direction,
                const Tensor& packed, const Tensor& matrix) {
  // Avoids a long loop, because there may be a huge number of empty matrices.
  if (packed.num_elements() == 0 || matrix.num_elements() == 0) return;
  WithElement(packed.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    if constexpr (std::is_trivially_copyable_v<E>) {
      CopyBand<E>(c, band, matrices, direction, const_cast<E*>(packed.data<E>()),
                  const_cast<E*>(matrix.data<E>()));
    }
  });
}

TensorShape Leading(const TensorShape& s, int count) {
  return TensorShape(s.dims().subspan(0, count));
}

// Returns the first `count` sizes of `s`, followed by `others`.
absl::StatusOr<TensorShape> LeadingAnd(const TensorShape& s, int count,
                                       std::initializer_list<int64_t> others) {
  std::vector<int64_t> dims(s.dims().begin(), s.dims().begin() + count);
  dims.insert(dims.end(), others);
  return TensorShape::Make(dims);
}

// Returns the shape of the packed diagonals of matrices.
absl::StatusOr<TensorShape> PackedShape(const Band& band, const TensorShape& matrices) {
  const int batch = matrices.rank() - 2;
  return band.is_one() ? LeadingAnd(matrices, batch, {band.longest()})
                       : LeadingAnd(matrices, batch, {band.count(), band.longest()});
}

int64_t MatricesOf(const TensorShape& shape, int batch_rank) {
  return Leading(shape, batch_rank).num_elements();
}

// The first input is `input`. MatrixDiagPartV2 and V3 also have k and padding_value.
class MatrixDiagPartKernel : public Kernel {
 public:
  explicit MatrixDiagPartKernel(KernelInit& init) { SetAlignment(init, &band_); }

  absl::Status Compute(KernelContext& c) override {
    const Tensor& in = c.input(0);
    Band band = band_;
    const bool has_band = c.num_inputs() > 1;
    if (has_band) {
      SLUICE_RETURN_IF_ERROR(ReadBand(c.input(1), &band));
      SLUICE_INVALID_IF(c.input(2).num_elements() != 1 || c.input(2).rank() != 0,
                        "padding_value must be scalar, got shape ", c.input(2).shape().ToString());
    }
    SLUICE_INVALID_IF(in.rank() < 2,
                      "input must be at least 2-dim, received shape: ", in.shape().ToString());
    const int batch = in.rank() - 2;
    band.rows = in.dim(batch);
    band.columns = in.dim(batch + 1);
    if (has_band) SLUICE_RETURN_IF_ERROR(CheckBand(band));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, PackedShape(band, in.shape()));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (!band.is_one()) {
      FillElements(c, out->dtype(), c.input(2).raw(), out->raw(), out->num_elements());
    }
    CopyBandOf(c, band, MatricesOf(in.shape(), batch), Copy::kFromMatrix, *out, in);
    return absl::OkStatus();
  }

 private:
  Band band_;
};
KERNEL(MatrixDiagPart, MatrixDiagPartKernel, {"T", kPlain});
KERNEL(BatchMatrixDiagPart, MatrixDiagPartKernel, {"T", kPlain});
KERNEL(MatrixDiagPartV2, MatrixDiagPartKernel, {"T", kPlain});
KERNEL(MatrixDiagPartV3, MatrixDiagPartKernel, {"T", kPlain});

// The first input is `diagonal`. MatrixDiagV2 and V3 also have k, num_rows, num_cols and
// padding_value.
class MatrixDiagKernel : public Kernel {
 public:
  explicit MatrixDiagKernel(KernelInit& init) { SetAlignment(init, &band_); }

  absl::Status Compute(KernelContext& c) override {
    const Tensor& diagonal = c.input(0);
    Band band = band_;
    int64_t rows = -1, columns = -1;
    if (c.num_inputs() > 1) {
      SLUICE_RETURN_IF_ERROR(ReadBand(c.input(1), &band));
      for (int i = 2; i <= 4; ++i) {
        if (c.input(i).rank() == 0) continue;
        return InvalidArgument(i == 4 ? "padding_value" : "num_rows and num_cols",
                               " must be scalar, got shape ", c.input(i).shape().ToString());
      }
      rows = c.input(2).scalar<int32_t>();
      columns = c.input(3).scalar<int32_t>();
    }
    const int extra = band.is_one() ? 1 : 2;
    SLUICE_INVALID_IF(diagonal.rank() < extra, "diagonal must be at least ", extra,
                      "-dim, received shape: ", diagonal.shape().ToString());
    SLUICE_INVALID_IF(!band.is_one() && diagonal.dim(diagonal.rank() - 2) != band.count(),
                      "The number of diagonals provided in the input does not match the "
                      "lower_diag_index and upper_diag_index range.");
    SLUICE_RETURN_IF_ERROR(FindSizes(diagonal.dim(diagonal.rank() - 1), rows, columns, &band));
    const int batch = diagonal.rank() - extra;
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                            LeadingAnd(diagonal.shape(), batch, {band.rows, band.columns}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (c.num_inputs() > 1) {
      FillElements(c, out->dtype(), c.input(4).raw(), out->raw(), out->num_elements());
    } else {
      ClearBytes(out);
    }
    CopyBandOf(c, band, MatricesOf(shape, batch), Copy::kToMatrix, diagonal, *out);
    return absl::OkStatus();
  }

 private:
  static absl::Status FindSizes(int64_t length, int64_t rows, int64_t columns, Band* band) {
    const int64_t least_rows = SaturatedSum(length, -std::min<int64_t>(band->upper, 0));
    const int64_t least_columns = SaturatedSum(length, std::max<int64_t>(band->lower, 0));
    SLUICE_INVALID_IF(rows != -1 && rows < least_rows, "The number of rows is too small.");
    SLUICE_INVALID_IF(columns != -1 && columns < least_columns,
                      "The number of columns is too small.");
    if (rows == -1 && columns == -1) {
      rows = columns = std::max(least_rows, least_columns);
    } else if (rows == -1) {
      rows = least_rows;
    } else if (columns == -1) {
      columns = least_columns;
    }
    SLUICE_INVALID_IF(rows != least_rows && columns != least_columns,
                      "The number of rows or columns is not consistent with the specified "
                      "d_lower, d_upper, and diagonal.");
    band->rows = rows;
    band->columns = columns;
    return absl::OkStatus();
  }

  Band band_;
};
KERNEL(MatrixDiag, MatrixDiagKernel, {"T", kPlain});
KERNEL(BatchMatrixDiag, MatrixDiagKernel, {"T", kPlain});
KERNEL(MatrixDiagV2, MatrixDiagKernel, {"T", kPlain});
KERNEL(MatrixDiagV3, MatrixDiagKernel, {"T", kPlain});

// The first inputs are `input` and `diagonal`. MatrixSetDiagV2 and V3 also have k.
class MatrixSetDiagKernel : public Kernel {
 public:
  explicit MatrixSetDiagKernel(KernelInit& init) { SetAlignment(init, &band_); }

  absl::Status Compute(KernelContext& c) override {
    const Tensor &in = c.input(0), &diagonal = c.input(1);
    Band band = band_;
    if (c.num_inputs() > 2) SLUICE_RETURN_IF_ERROR(ReadBand(c.input(2), &band));
    SLUICE_INVALID_IF(in.rank() < 2 || diagonal.rank() < 1,
                      "input must be at least 2-dim, received shape: ", in.shape().ToString());
    const int batch = in.rank() - 2;
    band.rows = in.dim(batch);
    band.columns = in.dim(batch + 1);
    if (c.num_inputs() > 2) SLUICE_RETURN_IF_ERROR(CheckBand(band));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape expected, PackedShape(band, in.shape()));
    SLUICE_INVALID_IF(
        !(expected == diagonal.shape()),
        "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1]"
        " is not equal to the longests diagonal in range [lower_diag_index:upper_diag_index]: "
        "expected ",
        expected.ToString(), ", got ", diagonal.shape().ToString());
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.ForwardOrAllocate({0}, 0, in.shape()));
    if (out->raw() != in.raw() && in.bytes() > 0) std::memcpy(out->raw(), in.raw(), in.bytes());
    CopyBandOf(c, band, MatricesOf(in.shape(), batch), Copy::kToMatrix, diagonal, *out);
    return absl::OkStatus();
  }

 private:
  Band band_;
};
KERNEL(MatrixSetDiag, MatrixSetDiagKernel, {"T", kPlain});
KERNEL(BatchMatrixSetDiag, MatrixSetDiagKernel, {"T", kPlain});
KERNEL(MatrixSetDiagV2, MatrixSetDiagKernel, {"T", kPlain});
KERNEL(MatrixSetDiagV3, MatrixSetDiagKernel, {"T", kPlain});

}  // namespace
}  // namespace sluice

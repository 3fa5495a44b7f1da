#include <algorithm>
#include <complex>

#include "executor/kernel/context.h"
#include "ops/loops/cast_loops.h"
#include "ops/loops/elementwise.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

template <typename T>
constexpr bool kIsComplex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;

template <typename T>
T Conjugate(T x) {
  if constexpr (kIsComplex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

// sums[row][begin, end) += value * b[column][begin, end) for each entry of A. Rows of `sums` and b
// have `width` elements. `row_at` is the position of the row in a pair of indices.
template <typename T, typename Index>
SLUICE_TARGET_CLONES void AddProducts(const Index* indices, int row_at, const T* values,
                                      int64_t count, const T* b, int64_t begin, int64_t end,
                                      int64_t width, T* sums) {
  for (int64_t i = 0; i < count; ++i) {
    const T value = values[i];
    const T* from = b + indices[2 * i + 1 - row_at] * width;
    T* to = sums + indices[2 * i + row_at] * width;
    SLUICE_INDEPENDENT
    for (int64_t k = begin; k < end; ++k) {
      to[k] = WrappingAdd(to[k], WrappingMultiply(value, from[k]));
    }
  }
}

// Whether 0 <= row < rows and 0 <= column < columns for each entry of A.
template <typename Index>
SLUICE_TARGET_CLONES bool AreWithin(const Index* indices, int row_at, int64_t count, int64_t rows,
                                    int64_t columns) {
  bool is_outside = false;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = indices[2 * i + row_at], column = indices[2 * i + 1 - row_at];
    is_outside |= (row < 0) | (row >= rows) | (column < 0) | (column >= columns);
  }
  return !is_outside;
}

// Calls f(pairs of indices).
template <typename F>
decltype(auto) WithPairs(const Tensor& indices, F f) {
  return indices.dtype() == DT_INT64 ? f(indices.data<int64_t>()) : f(indices.data<int32_t>());
}

class SparseMatMulKernel : public Kernel {
 public:
  explicit SparseMatMulKernel(KernelInit& init)
      : adjoint_a_(init.attr<bool>("adjoint_a")), adjoint_b_(init.attr<bool>("adjoint_b")) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(CheckShapes(c));
    const Tensor &shape = c.input(2), &b = c.input(3);
    const int64_t* sizes = shape.data<int64_t>();
    const int64_t rows = sizes[adjoint_a_ ? 1 : 0], inner = sizes[adjoint_a_ ? 0 : 1];
    SLUICE_INVALID_IF(rows < 0 || inner < 0, "a_shape must be non-negative");
    SLUICE_INVALID_IF(b.dim(adjoint_b_ ? 1 : 0) != inner,
                      "Cannot multiply A and B because inner dimension does not match: ", inner,
                      " vs. ", b.dim(adjoint_b_ ? 1 : 0), ". Did you forget a transpose?");
    SLUICE_RETURN_IF_ERROR(CheckEntries(c, rows, inner));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {rows, b.dim(adjoint_b_ ? 0 : 1)}));
    return RunAs(c, out);
  }

 private:
  absl::Status RunAs(KernelContext& c, Tensor* out) const {
    switch (out->dtype()) {
      case DT_DOUBLE:
        return Run<double>(c, out);
      case DT_INT32:
        return Run<int32_t>(c, out);
      case DT_COMPLEX64:
        return Run<complex64>(c, out);
      case DT_COMPLEX128:
        return Run<complex128>(c, out);
      default:
        return Run<float>(c, out);
    }
  }

  static absl::Status CheckShapes(const KernelContext& c) {
    const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2), &b = c.input(3);
    SLUICE_INVALID_IF(b.rank() != 2, "Tensor 'b' is not a matrix");
    SLUICE_INVALID_IF(shape.rank() != 1 || shape.num_elements() != 2,
                      "Tensor 'a_shape' must have 2 elements, got shape ",
                      shape.shape().ToString());
    SLUICE_INVALID_IF(values.rank() != 1, "Tensor 'a_values' is not a vector");
    SLUICE_INVALID_IF(indices.rank() != 2 || indices.dim(1) != 2,
                      "Tensor 'a_indices' must be a matrix of 2 columns, got shape ",
                      indices.shape().ToString());
    SLUICE_INVALID_IF(indices.dim(0) != values.dim(0),
                      "Number of rows of a_indices does not match number of entries in ",
                      "a_values: ", indices.dim(0), " vs. ", values.dim(0));
    return absl::OkStatus();
  }

  absl::Status CheckEntries(const KernelContext& c, int64_t rows, int64_t inner) const {
    return WithPairs(c.input(0), [&](const auto* pairs) -> absl::Status {
      const int64_t *sizes = c.input(2).data<int64_t>(), count = c.input(1).dim(0);
      if (AreWithin(pairs, RowAt(), count, rows, inner)) return absl::OkStatus();
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = pairs[2 * i + RowAt()], column = pairs[2 * i + 1 - RowAt()];
        SLUICE_INVALID_IF(row < 0 || row >= rows || column < 0 || column >= inner, "entry ", i,
                          " of A, (", pairs[2 * i], ", ", pairs[2 * i + 1],
                          "), is out of bounds of its shape [", sizes[0], ", ", sizes[1], "]");
      }
      return absl::OkStatus();
    });
  }

  // The position of the row of the adjoint or plain A in a pair of indices.
  int RowAt() const { return adjoint_a_ ? 1 : 0; }

  // `t` converted to type T.
  template <typename T>
  static absl::StatusOr<Tensor> As(KernelContext& c, const Tensor& t) {
    if (t.dtype() == kDataTypeOf<T>) return t;
    SLUICE_ASSIGN_OR_RETURN(Tensor wide, c.AllocateTemp(kDataTypeOf<T>, t.shape()));
    FindCastLoop(t.dtype(), kDataTypeOf<T>, false)(t.raw(), wide.raw(), t.num_elements());
    return wide;
  }

  template <typename T>
  static absl::StatusOr<Tensor> Adjoint(KernelContext& c, const Tensor& t) {
    SLUICE_ASSIGN_OR_RETURN(Tensor adjoint, c.AllocateTemp(t.dtype(), {t.dim(1), t.dim(0)}));
    const T* from = t.data<T>();
    T* to = adjoint.data<T>();
    for (int64_t i = 0; i < t.dim(1); ++i) {
      for (int64_t j = 0; j < t.dim(0); ++j) *to++ = Conjugate(from[j * t.dim(1) + i]);
    }
    return adjoint;
  }

  template <typename T>
  static absl::StatusOr<Tensor> Conjugates(KernelContext& c, const Tensor& t) {
    SLUICE_ASSIGN_OR_RETURN(Tensor conjugates, c.AllocateTemp(t.dtype(), t.shape()));
    std::transform(t.data<T>(), t.data<T>() + t.num_elements(), conjugates.data<T>(), Conjugate<T>);
    return conjugates;
  }

  template <typename T>
  absl::Status Run(KernelContext& c, Tensor* out) const {
    SLUICE_ASSIGN_OR_RETURN(Tensor values, As<T>(c, c.input(1)));
    SLUICE_ASSIGN_OR_RETURN(Tensor b, As<T>(c, c.input(3)));
    if (adjoint_a_ && kIsComplex<T>) {
      SLUICE_ASSIGN_OR_RETURN(values, Conjugates<T>(c, values));
    }
    if (adjoint_b_) {
      SLUICE_ASSIGN_OR_RETURN(b, Adjoint<T>(c, b));
    }
    Tensor product = *out;
    if (out->dtype() != kDataTypeOf<T>) {
      SLUICE_ASSIGN_OR_RETURN(product, c.AllocateTemp(kDataTypeOf<T>, out->shape()));
    }
    T* to = product.data<T>();
    std::fill_n(to, product.num_elements(), T(0));
    const int64_t width = out->dim(1), count = values.num_elements();
    WithPairs(c.input(0), [&](const auto* pairs) {
      // Each thread computes some columns, so no two write the same element.
      c.ParallelFor(width, 0.2 * static_cast<double>(count), [&](int64_t begin, int64_t end) {
        AddProducts(pairs, RowAt(), values.data<T>(), count, b.data<T>(), begin, end, width, to);
      });
    });
    if (out->dtype() != kDataTypeOf<T>) {
      FindCastLoop(kDataTypeOf<T>, out->dtype(), false)(product.raw(), out->raw(),
                                                        out->num_elements());
    }
    return absl::OkStatus();
  }

  const bool adjoint_a_, adjoint_b_;
};
KERNEL(SparseTensorDenseMatMul, SparseMatMulKernel,
       {"T", FloatTypes() | ComplexTypes() | TypeSet{DT_INT32}});

}  // namespace
}  // namespace sluice

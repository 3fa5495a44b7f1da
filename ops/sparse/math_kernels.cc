#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/arithmetic.h"
#include "ops/loops/elements.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/strided_copy.h"
#include "ops/sparse/entries.h"

namespace sluice {
namespace {

constexpr TypeSet kNumbers = RealTypes() | ComplexTypes();

// Returns the absolute value of an element of a tensor of numbers.
double Magnitude(const Tensor& t, int64_t i) {
  double magnitude = 0;
  WithType(t.dtype(), NumberList(), [&]<typename T>(ElementTag<T>) {
    if constexpr (std::is_integral_v<T> || kIsFloat16<T>) {
      magnitude = std::abs(static_cast<double>(t.data<T>()[i]));
    } else {
      magnitude = std::abs(t.data<T>()[i]);
    }
  });
  return magnitude;
}

// Calls f(entry of a, entry of b) for each index that is in a or b, in row-major order. An entry is
// -1 if the tensor does not have the index.
template <typename F>
void ForUnion(const Entries& a, const Entries& b, const F& f) {
  int64_t i = 0, j = 0;
  while (i < a.count() || j < b.count()) {
    const int order = i == a.count() ? 1 : j == b.count() ? -1 : a.Compare(i, b, j);
    f(order <= 0 ? i : -1, order >= 0 ? j : -1);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
}

absl::Status CheckSameShape(const Entries& a, const Entries& b) {
  if (a.rank() == b.rank() && a.shape().flat<int64_t>() == b.shape().flat<int64_t>()) {
    return absl::OkStatus();
  }
  return InvalidArgument("Operands' shapes do not match: got [", a.shape().SummarizeValues(-1),
                         "] and [", b.shape().SummarizeValues(-1), "]");
}

absl::Status SparseAdd(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Entries a, Entries::Of(c, 0, "a"));
  SLUICE_ASSIGN_OR_RETURN(const Entries b, Entries::Of(c, 3, "b"));
  SLUICE_RETURN_IF_ERROR(CheckSameShape(a, b));
  const Tensor& limit = c.input(6);
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(limit, 0, "The magnitude threshold must be a scalar: got shape "));
  const DataType type = a.values().dtype();
  const size_t size = DataTypeSize(type);
  const ArithmeticRow add = FindArithmetic(ArithmeticOp::kAdd, type);
  SLUICE_ASSIGN_OR_RETURN(Tensor sums, c.AllocateTemp(type, TensorShape({a.count() + b.count()})));
  std::vector<int64_t> indices, picked;
  int64_t next = 0;
  // Drops small sums, but only if both tensors have the entry.
  const double least = limit.num_elements() == 1 ? Magnitude(limit, 0) : 0;
  ForUnion(a, b, [&](int64_t i, int64_t j) {
    const bool in_a = i >= 0;
    std::memcpy(ElementAt(sums.raw(), next, size),
                ElementAt((in_a ? a : b).values().raw(), in_a ? i : j, size), size);
    if (in_a && j >= 0) {
      add(ElementAt(sums.raw(), next, size), ElementAt(b.values().raw(), j, size), 1);
    }
    if (!in_a || j < 0 || Magnitude(sums, next) >= least) {
      const int64_t* at = in_a ? a.indices_of(i) : b.indices_of(j);
      indices.insert(indices.end(), at, at + a.rank());
      picked.push_back(next);
    }
    ++next;
  });
  c.set_output(2, a.shape());
  return SetEntries(c, 0, 1, indices, a.rank(), sums, picked);
}
KERNEL(SparseAdd, FunctionKernel<SparseAdd>,
       {"T", SignedIntTypes() | ComplexTypes() | TypeSet{DT_FLOAT, DT_DOUBLE}},
       {"Treal", SignedIntTypes() | TypeSet{DT_FLOAT, DT_DOUBLE}});

absl::Status CheckAddGrad(const Tensor& grad, const Tensor& sum) {
  SLUICE_INVALID_IF(grad.rank() != 1 || sum.rank() != 2,
                    "Input backprop_val_grad and sum_indices should be a vector and a ",
                    "matrix but received shapes: ", grad.shape().ToString(), " and ",
                    sum.shape().ToString());
  SLUICE_INVALID_IF(
      grad.num_elements() != sum.dim(0),
      "# elements of backprop_val_grad and # rows of sum_indices should match (#nnz of sum): got ",
      grad.num_elements(), " and ", sum.dim(0));
  return absl::OkStatus();
}

// Passes the gradient of the sum to those entries of both operands that have the same index.
absl::Status SparseAddGrad(KernelContext& c) {
  const Tensor &grad = c.input(0), &sum = c.input(3);
  SLUICE_RETURN_IF_ERROR(CheckAddGrad(grad, sum));
  const int64_t rank = sum.dim(1);
  const size_t size = DataTypeSize(grad.dtype());
  for (int k : {0, 1}) {
    const Tensor& own = c.input(1 + k);
    SLUICE_INVALID_IF(own.rank() != 2 || own.dim(1) != rank,
                      "The densified operands should have the same ndims, got ",
                      own.shape().ToString(), " and ", sum.shape().ToString());
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(k, {own.dim(0)}));
    if (out->bytes() > 0) std::memset(out->raw(), 0, out->bytes());
    const int64_t *x = own.data<int64_t>(), *y = sum.data<int64_t>();
    for (int64_t i = 0, j = 0; i < own.dim(0) && j < sum.dim(0);) {
      const bool before = std::lexicographical_compare(x + i * rank, x + (i + 1) * rank,
                                                       y + j * rank, y + (j + 1) * rank);
      if (before) {
        ++i;
      } else if (std::equal(x + i * rank, x + (i + 1) * rank, y + j * rank)) {
        std::memcpy(ElementAt(out->raw(), i++, size), ElementAt(grad.raw(), j++, size), size);
      } else {
        ++j;
      }
    }
  }
  return absl::OkStatus();
}
KERNEL(SparseAddGrad, FunctionKernel<SparseAddGrad>,
       {"T", SignedIntTypes() | ComplexTypes() | TypeSet{DT_FLOAT, DT_DOUBLE}});

template <ArithmeticOp kOp>
absl::Status Extreme(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Entries a, Entries::Of(c, 0, "a"));
  SLUICE_ASSIGN_OR_RETURN(const Entries b, Entries::Of(c, 3, "b"));
  SLUICE_RETURN_IF_ERROR(CheckSameShape(a, b));
  SLUICE_RETURN_IF_ERROR(a.CheckTuples());
  SLUICE_RETURN_IF_ERROR(b.CheckTuples());
  const DataType type = a.values().dtype();
  const size_t size = DataTypeSize(type);
  SLUICE_ASSIGN_OR_RETURN(Tensor other, c.AllocateTemp(type, TensorShape({a.count() + b.count()})));
  SLUICE_ASSIGN_OR_RETURN(Tensor result, c.AllocateTemp(type, other.shape()));
  std::vector<int64_t> indices, picked;
  int64_t next = 0;
  auto put = [&](Tensor& to, const Entries& from, int64_t i) {
    if (i < 0) {
      std::memset(ElementAt(to.raw(), next, size), 0, size);
    } else {
      std::memcpy(ElementAt(to.raw(), next, size), ElementAt(from.values().raw(), i, size), size);
    }
  };
  ForUnion(a, b, [&](int64_t i, int64_t j) {
    put(result, a, i);
    put(other, b, j);
    const int64_t* at = i >= 0 ? a.indices_of(i) : b.indices_of(j);
    indices.insert(indices.end(), at, at + a.rank());
    picked.push_back(next++);
  });
  FindArithmetic(kOp, type)(result.raw(), other.raw(), next);
  return SetEntries(c, 0, 1, indices, a.rank(), result, picked);
}
KERNEL(SparseSparseMaximum, FunctionKernel<Extreme<ArithmeticOp::kMax>>, {"T", RealTypes()});
KERNEL(SparseSparseMinimum, FunctionKernel<Extreme<ArithmeticOp::kMin>>, {"T", RealTypes()});

// Combines each entry with the dense element at its position. The dense tensor is broadcast.
template <ArithmeticOp kOp>
absl::Status WithDense(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Entries e, Entries::Of(c, 0, "sp"));
  const Tensor& dense = c.input(3);
  SLUICE_RETURN_IF_ERROR(e.CheckBounds());
  const int missing = e.rank() - dense.rank();
  bool fits = missing >= 0;
  for (int d = 0; fits && d < dense.rank(); ++d) {
    fits = dense.dim(d) == e.size(d + missing) || dense.dim(d) == 1;
  }
  SLUICE_INVALID_IF(!fits, "SparseDenseBinaryOpShared broadcasts dense to sparse only; got ",
                    "incompatible shapes: [", e.shape().SummarizeValues(-1), "] vs. ",
                    dense.shape().ToString());
  const size_t size = DataTypeSize(dense.dtype());
  SLUICE_ASSIGN_OR_RETURN(Tensor other, c.AllocateTemp(dense.dtype(), e.values().shape()));
  for (int64_t i = 0; i < e.count(); ++i) {
    int64_t position = 0;
    for (int d = 0; d < dense.rank(); ++d) {
      position = position * dense.dim(d) + (dense.dim(d) == 1 ? 0 : e.index(i, d + missing));
    }
    std::memcpy(ElementAt(other.raw(), i, size), ElementAt(dense.raw(), position, size), size);
  }
  SLUICE_INVALID_IF(
      kOp == ArithmeticOp::kDiv && HasIntegerZero(dense.dtype(), other.raw(), e.count()),
      "Integer division by zero");
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, e.values().shape()));
  if (out->bytes() > 0) std::memcpy(out->raw(), e.values().raw(), out->bytes());
  FindArithmetic(kOp, dense.dtype())(out->raw(), other.raw(), e.count());
  return absl::OkStatus();
}
KERNEL(SparseDenseCwiseAdd, FunctionKernel<WithDense<ArithmeticOp::kAdd>>, {"T", RealTypes()});
KERNEL(SparseDenseCwiseDiv, FunctionKernel<WithDense<ArithmeticOp::kDiv>>, {"T", RealTypes()});
KERNEL(SparseDenseCwiseMul, FunctionKernel<WithDense<ArithmeticOp::kMul>>, {"T", RealTypes()});

absl::Status CheckDenseAdd(const Tensor& indices, const Tensor& values, const Tensor& shape,
                           const Tensor& b) {
  SLUICE_INVALID_IF(indices.rank() != 2 || values.rank() != 1 || shape.rank() != 1,
                    "Input a_indices, a_values and a_shape should be a matrix and vectors ",
                    "but received shapes: ", indices.shape().ToString(), ", ",
                    values.shape().ToString(), " and ", shape.shape().ToString());
  SLUICE_INVALID_IF(values.dim(0) != indices.dim(0),
                    "The values and indices should match: ", values.dim(0), " and ",
                    indices.dim(0));
  SLUICE_INVALID_IF(shape.num_elements() != b.rank() || indices.dim(1) != b.rank(),
                    "Two operands have different ranks; received: ", shape.num_elements(), " and ",
                    b.rank());
  for (int d = 0; d < b.rank(); ++d) {
    SLUICE_INVALID_IF(IntAt(shape, d) != b.dim(d), "Dimension ", d,
                      " does not equal (no broadcasting is supported): ", "sparse side ",
                      IntAt(shape, d), " vs dense side ", b.dim(d));
  }
  return absl::OkStatus();
}

absl::Status SparseTensorDenseAdd(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2), &b = c.input(3);
  SLUICE_RETURN_IF_ERROR(CheckDenseAdd(indices, values, shape, b));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.ForwardOrAllocate({3}, 0, b.shape()));
  if (out->raw() != b.raw() && b.bytes() > 0) std::memcpy(out->raw(), b.raw(), b.bytes());
  const size_t size = DataTypeSize(b.dtype());
  const ArithmeticRow add = FindArithmetic(ArithmeticOp::kAdd, b.dtype());
  for (int64_t i = 0; i < values.dim(0); ++i) {
    int64_t position = 0;
    for (int d = 0; d < b.rank(); ++d) {
      const int64_t at = IntAt(indices, i * b.rank() + d);
      SLUICE_INVALID_IF(at < 0 || at >= out->dim(d),
                        "Sparse tensor has an invalid index on dimension ", d, ": ", at,
                        " is not in [0, ", out->dim(d), ")");
      position = position * out->dim(d) + at;
    }
    add(ElementAt(out->raw(), position, size), ElementAt(values.raw(), i, size), 1);
  }
  return absl::OkStatus();
}
KERNEL(SparseTensorDenseAdd, FunctionKernel<SparseTensorDenseAdd>, {"T", kNumbers});

// Returns whether each dimension is reduced.
absl::StatusOr<std::vector<bool>> ReducedDims(const Entries& e, const Tensor& axes) {
  std::vector<bool> reduced(static_cast<size_t>(e.rank()), false);
  for (int64_t axis : IntsOf(axes)) {
    SLUICE_INVALID_IF(axis < -e.rank() || axis >= e.rank(), "Invalid reduction dimension ", axis,
                      ", for input with ", e.rank(), " dimensions.");
    reduced[static_cast<size_t>((axis + e.rank()) % e.rank())] = true;
  }
  return reduced;
}

// Computes the sums or maxima of entries, as a dense or a sparse tensor.
class SparseReduceKernel : public Kernel {
 public:
  explicit SparseReduceKernel(KernelInit& init)
      : keeps_dims_(init.attr<bool>("keep_dims")),
        op_(init.node().op().find("Max") != std::string::npos ? ArithmeticOp::kMax
                                                              : ArithmeticOp::kAdd) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const Entries e, Entries::Of(c, 0, "input"));
    SLUICE_RETURN_IF_ERROR(e.CheckElements());
    SLUICE_RETURN_IF_ERROR(e.CheckBounds());
    SLUICE_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedDims(e, c.input(3)));
    std::vector<int64_t> sizes;
    for (int d = 0; d < e.rank(); ++d) {
      if (!reduced[static_cast<size_t>(d)]) sizes.push_back(e.size(d));
      if (reduced[static_cast<size_t>(d)] && keeps_dims_) sizes.push_back(1);
    }
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(sizes));
    Groups groups;
    for (int64_t i = 0; i < e.count(); ++i) {
      int64_t place = 0;
      for (int d = 0; d < e.rank(); ++d) {
        if (!reduced[static_cast<size_t>(d)]) place = place * e.size(d) + e.index(i, d);
      }
      groups[place].push_back(i);
    }
    return c.num_outputs() == 1 ? SetDense(c, e, shape, groups) : SetSparse(c, e, shape, groups);
  }

 private:
  // The entries that are combined, by their position in the output.
  using Groups = std::map<int64_t, std::vector<int64_t>>;

  void Reduce(const Entries& e, const std::vector<int64_t>& group, void* to) const {
    const size_t size = DataTypeSize(e.values().dtype());
    const ArithmeticRow apply = FindArithmetic(op_, e.values().dtype());
    std::memcpy(to, ElementAt(e.values().raw(), group[0], size), size);
    for (size_t k = 1; k < group.size(); ++k) {
      apply(to, ElementAt(e.values().raw(), group[k], size), 1);
    }
  }

  absl::Status SetDense(KernelContext& c, const Entries& e, const TensorShape& shape,
                        const Groups& groups) const {
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->bytes() > 0) std::memset(out->raw(), 0, out->bytes());
    for (const auto& [place, group] : groups) {
      Reduce(e, group, ElementAt(out->raw(), place, DataTypeSize(out->dtype())));
    }
    return absl::OkStatus();
  }

  absl::Status SetSparse(KernelContext& c, const Entries& e, const TensorShape& shape,
                         const Groups& groups) const {
    const auto n = static_cast<int64_t>(groups.size());
    SLUICE_ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(0, {n, shape.rank()}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, {n}));
    int64_t next = 0;
    for (const auto& [place, group] : groups) {
      int64_t rest = place;
      for (int d = shape.rank() - 1; d >= 0; --d) {
        indices->data<int64_t>()[next * shape.rank() + d] = rest % shape.dim(d);
        rest /= shape.dim(d);
      }
      Reduce(e, group, ElementAt(values->raw(), next++, DataTypeSize(values->dtype())));
    }
    c.set_output(2, Tensor::Vector<int64_t>(shape.dims()));
    return absl::OkStatus();
  }

  const bool keeps_dims_;
  const ArithmeticOp op_;
};
KERNEL(SparseReduceSum, SparseReduceKernel, {"T", kNumbers});
KERNEL(SparseReduceSumSparse, SparseReduceKernel, {"T", kNumbers});
KERNEL(SparseReduceMax, SparseReduceKernel, {"T", RealTypes()});
KERNEL(SparseReduceMaxSparse, SparseReduceKernel, {"T", RealTypes()});

template <typename T>
absl::Status SparseSoftmax(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Entries e, Entries::Of(c, 0, "sp"));
  SLUICE_INVALID_IF(e.rank() < 2, "Input should have rank >= 2, but got shape: [",
                    e.shape().SummarizeValues(-1), "]");
  SLUICE_RETURN_IF_ERROR(e.CheckElements());
  SLUICE_RETURN_IF_ERROR(e.CheckOrdered());
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, e.values().shape()));
  const T* x = e.values().data<T>();
  for (int64_t begin = 0; begin < e.count();) {
    int64_t end = begin;
    double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
    while (end < e.count() &&
           std::equal(e.indices_of(begin), e.indices_of(begin) + e.rank() - 1, e.indices_of(end))) {
      greatest = std::max(greatest, static_cast<double>(x[end++]));
    }
    for (int64_t i = begin; i < end; ++i) sum += std::exp(static_cast<double>(x[i]) - greatest);
    for (; begin < end; ++begin) {
      out->data<T>()[begin] =
          static_cast<T>(std::exp(static_cast<double>(x[begin]) - greatest) / sum);
    }
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(SparseSoftmax, "T", SparseSoftmax, TypeList<half, float, double>);

}  // namespace
}  // namespace sluice

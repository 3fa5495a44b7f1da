#include <algorithm>
#include <cstring>
#include <numeric>

#include "executor/kernel/context.h"
#include "graph/tensor/room.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/arithmetic.h"
#include "ops/loops/constant_element.h"
#include "ops/loops/elements.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/strided_copy.h"
#include "ops/loops/wrapping.h"
#include "ops/sparse/entries.h"

namespace sluice {
namespace {

absl::Status CheckToDense(const Tensor& indices, const Tensor& sizes, const Tensor& values,
                          const Tensor& fallback) {
  SLUICE_INVALID_IF(indices.rank() > 2,
                    "sparse_indices should be a scalar, vector, or matrix, got shape ",
                    indices.shape().ToString());
  const int64_t count = indices.rank() > 0 ? indices.dim(0) : 1;
  const int64_t rank = indices.rank() > 1 ? indices.dim(1) : 1;
  SLUICE_INVALID_IF(sizes.rank() != 1 || sizes.num_elements() != rank,
                    "output_shape has incorrect number of elements: ", sizes.num_elements(),
                    " should be: ", rank);
  SLUICE_INVALID_IF(values.rank() > 1 || (values.rank() == 1 && values.num_elements() != count),
                    "sparse_values has incorrect shape ", values.shape().ToString(),
                    ", should be [] or [", count, "]");
  SLUICE_RETURN_IF_ERROR(ExpectRank(fallback, 0, "default_value should be a scalar, got shape "));
  return absl::OkStatus();
}

// The inputs are sparse_indices (a scalar, vector or matrix), output_shape, sparse_values (a scalar
// or vector) and default_value.
absl::Status SparseToDense(KernelContext& c, Attr<bool, "validate_indices"> checks_order) {
  const Tensor &indices = c.input(0), &sizes = c.input(1), &values = c.input(2),
               &fallback = c.input(3);
  SLUICE_RETURN_IF_ERROR(CheckToDense(indices, sizes, values, fallback));
  int64_t count = indices.rank() > 0 ? indices.dim(0) : 1;
  const int64_t rank = indices.rank() > 1 ? indices.dim(1) : 1;
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(IntsOf(sizes)));
  // Indices of rank 0 have no elements, so there may be a huge number of them. Two suffice to
  // detect that one is repeated.
  if (rank == 0 && values.rank() == 0) count = std::min<int64_t>(count, 2);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  FillElements(c, out->dtype(), fallback.raw(), out->raw(), out->num_elements());
  return WithElement(out->dtype(), [&](auto tag) -> absl::Status {
    using E = typename decltype(tag)::type;
    int64_t before = -1;
    for (int64_t i = 0; i < count; ++i) {
      int64_t position = 0;
      for (int64_t d = 0; d < rank; ++d) {
        const int64_t at = IntAt(indices, i * rank + d), size = shape.dim(static_cast<int>(d));
        SLUICE_INVALID_IF(at < 0 || at >= size, "indices[", i,
                          "] is out of bounds: need 0 <= index < ", shape.ToString(), ", got ", at,
                          " in dimension ", d);
        position = position * size + at;
      }
      SLUICE_INVALID_IF(checks_order && position <= before, "indices[", i, "] is ",
                        position == before ? "repeated"
                                           : "out of order. Many sparse ops require sorted "
                                             "indices. Use `tf.sparse.reorder`");
      before = position;
      out->data<E>()[position] = values.data<E>()[values.rank() == 0 ? 0 : i];
    }
    return absl::OkStatus();
  });
}
KERNEL(SparseToDense, FunctionKernel<SparseToDense>);

absl::Status SparseReorder(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Entries e, Entries::Of(c, 0, "input"));
  std::vector<int64_t> order(static_cast<size_t>(e.count()));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&e](int64_t i, int64_t j) { return e.Compare(i, e, j) < 0; });
  std::vector<int64_t> indices;
  for (int64_t i : order) {
    indices.insert(indices.end(), e.indices_of(i), e.indices_of(i) + e.rank());
  }
  return SetEntries(c, 0, 1, indices, e.rank(), e.values(), order);
}
KERNEL(SparseReorder, FunctionKernel<SparseReorder>);

// Returns the new shape. Replaces -1 by the size that it stands for.
absl::StatusOr<std::vector<int64_t>> NewShape(const Tensor& from, const Tensor& to) {
  int64_t elements = 1, known = 1, unknown = -1;
  for (int64_t size : from.flat<int64_t>()) {
    elements = MultiplyWithoutOverflow(elements, std::max<int64_t>(size, 0));
    SLUICE_INVALID_IF(elements < 0, "Input tensor has too many elements");
  }
  std::vector<int64_t> sizes(to.flat<int64_t>().begin(), to.flat<int64_t>().end());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == -1) {
      SLUICE_INVALID_IF(unknown != -1, "only one output dimension may be -1, not both ", unknown,
                        " and ", d);
      unknown = static_cast<int64_t>(d);
    } else if (sizes[d] < 0) {
      return InvalidArgument("size ", d, " must be non-negative, not ", sizes[d]);
    } else {
      known = MultiplyWithoutOverflow(known, sizes[d]);
      SLUICE_INVALID_IF(known < 0, "new shape has too many elements");
    }
  }
  if (unknown != -1) {
    SLUICE_INVALID_IF(
        known == 0,
        "reshape cannot infer the missing input size for an empty tensor unless all specified "
        "input sizes are non-zero");
    sizes[static_cast<size_t>(unknown)] = elements / known;
    known *= elements / known;
  }
  SLUICE_INVALID_IF(known != elements, "Input to reshape is a tensor with ", elements,
                    " dense values, but the requested shape has ", known);
  return sizes;
}

absl::Status CheckReshape(const Tensor& indices, const Tensor& from, const Tensor& to) {
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(indices, 2, "Input indices should be a matrix but received shape "));
  SLUICE_INVALID_IF(from.rank() != 1 || to.rank() != 1,
                    "Input and target shape should be vectors but received shapes ",
                    from.shape().ToString(), " and ", to.shape().ToString());
  SLUICE_INVALID_IF(indices.dim(1) != from.num_elements(),
                    "Input tensor rank must match input shape length, got ", indices.dim(1),
                    " and ", from.num_elements());
  return absl::OkStatus();
}

absl::Status SparseReshape(KernelContext& c) {
  const Tensor &indices = c.input(0), &from = c.input(1), &to = c.input(2);
  SLUICE_RETURN_IF_ERROR(CheckReshape(indices, from, to));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, NewShape(from, to));
  const int64_t rank = indices.dim(1), new_rank = to.num_elements();
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {indices.dim(0), new_rank}));
  // Skips indices of rank 0: they have no elements, so there may be a huge number of them.
  const int64_t count = rank == 0 && new_rank == 0 ? 0 : indices.dim(0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = 0;
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t at = indices.data<int64_t>()[i * rank + d], size = from.data<int64_t>()[d];
      SLUICE_INVALID_IF(at < 0 || at >= size, "indices[", i, ",", d, "] = ", at, " is not in [0, ",
                        size, ")");
      position = position * size + at;
    }
    for (int64_t d = new_rank - 1; d >= 0; --d) {
      const int64_t size = std::max<int64_t>(sizes[static_cast<size_t>(d)], 1);
      out->data<int64_t>()[i * new_rank + d] = position % size;
      position /= size;
    }
  }
  c.set_output(1, IntTensor(sizes));
  return absl::OkStatus();
}
KERNEL(SparseReshape, FunctionKernel<SparseReshape>);

// The place of an entry: the number of its tensor, and its number in the tensor.
struct Place {
  int64_t tensor, entry;
};

absl::Status Join(KernelContext& c, const std::vector<Entries>& parts,
                  const std::vector<int64_t>& offsets, int dim, const std::vector<int64_t>& shape) {
  std::vector<Place> order;
  for (size_t t = 0; t < parts.size(); ++t) {
    for (int64_t i = 0; i < parts[t].count(); ++i) order.push_back({static_cast<int64_t>(t), i});
  }
  const int rank = parts[0].rank();
  auto at = [&](const Place& p, int d) {
    // The sum may wrap around, because indices outside the shape may be huge.
    return WrappingAdd(parts[p.tensor].index(p.entry, d), d == dim ? offsets[p.tensor] : 0);
  };
  std::stable_sort(order.begin(), order.end(), [&](const Place& a, const Place& b) {
    for (int d = 0; d < rank; ++d) {
      if (at(a, d) != at(b, d)) return at(a, d) < at(b, d);
    }
    return false;
  });
  const auto n = static_cast<int64_t>(order.size());
  SLUICE_ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(0, {n, rank}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, {n}));
  WithElement(values->dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i) {
      for (int d = 0; d < rank; ++d) indices->data<int64_t>()[i * rank + d] = at(order[i], d);
      values->data<E>()[i] = parts[order[i].tensor].values().data<E>()[order[i].entry];
    }
  });
  c.set_output(2, IntTensor(shape));
  return absl::OkStatus();
}

absl::Status SparseConcat(KernelContext& c, Attr<int64_t, "concat_dim"> dim_attr) {
  const int n = c.num_inputs() / 3;
  std::vector<Entries> parts;
  for (int i = 0; i < n; ++i) {
    SLUICE_ASSIGN_OR_RETURN(Entries e,
                            Entries::Of(c.input(i), c.input(n + i), c.input(2 * n + i), "concat"));
    if (!e.CheckElements().ok()) {
      return absl::InternalError("Encountered overflow from large input shape.");
    }
    parts.push_back(e);
  }
  const int rank = parts[0].rank();
  const int64_t dim = dim_attr < 0 ? dim_attr + rank : dim_attr;
  SLUICE_INVALID_IF(dim < 0 || dim >= rank, "Concat dimension must be in range [", -rank, ", ",
                    rank, "), got ", dim_attr.value);
  std::vector<int64_t> shape(parts[0].shape().flat<int64_t>().begin(),
                             parts[0].shape().flat<int64_t>().end());
  std::vector<int64_t> offsets = {0};
  for (int i = 0; i < n; ++i) {
    SLUICE_INVALID_IF(parts[i].rank() != rank, "Ranks of all input tensors must match: expected ",
                      rank, " but got ", parts[i].rank(), " at position ", i);
    for (int d = 0; d < rank; ++d) {
      SLUICE_INVALID_IF(d != dim && parts[i].size(d) != shape[static_cast<size_t>(d)],
                        "Input shapes must match: expected ", shape[static_cast<size_t>(d)],
                        " for dimension ", d, " but got ", parts[i].size(d), " at position ", i);
    }
    int64_t end;
    SLUICE_INVALID_IF(
        __builtin_add_overflow(offsets.back(), parts[i].size(static_cast<int>(dim)), &end),
        "expected a size that fits in int64 for dimension ", dim, ", got more up to position ", i);
    offsets.push_back(end);
  }
  shape[static_cast<size_t>(dim)] = offsets.back();
  return Join(c, parts, offsets, static_cast<int>(dim), shape);
}
KERNEL(SparseConcat, FunctionKernel<SparseConcat>);

// Sets outputs to the entries in a box, with indices relative to its corner.
absl::Status SetBox(KernelContext& c, const Entries& e, int first, int step,
                    const std::vector<int64_t>& start, const std::vector<int64_t>& size) {
  std::vector<int64_t> indices, picked;
  for (int64_t i = 0; i < e.count(); ++i) {
    bool inside = true;
    for (int d = 0; d < e.rank(); ++d) {
      const int64_t begin = start[static_cast<size_t>(d)], at = e.index(i, d);
      inside = inside && at >= begin && at < SaturatedSum(begin, size[static_cast<size_t>(d)]);
    }
    if (!inside) continue;
    picked.push_back(i);
    for (int d = 0; d < e.rank(); ++d) {
      indices.push_back(e.index(i, d) - start[static_cast<size_t>(d)]);
    }
  }
  c.set_output(first + 2 * step, IntTensor(size));
  return SetEntries(c, first, first + step, indices, e.rank(), e.values(), picked);
}

absl::Status SparseSlice(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Entries e, Entries::Of(c, 0, "input"));
  SLUICE_RETURN_IF_ERROR(e.CheckElements());
  const Tensor &start = c.input(3), &size = c.input(4);
  for (const Tensor* t : {&start, &size}) {
    SLUICE_INVALID_IF(t->rank() != 1 || t->num_elements() != e.rank(), "Expected ",
                      t == &start ? "start" : "size", " to be a vector of length ", e.rank(),
                      " but got shape ", t->shape().ToString());
  }
  std::vector<int64_t> from, kept;
  for (int d = 0; d < e.rank(); ++d) {
    from.push_back(start.data<int64_t>()[d]);
    const int64_t wanted = size.data<int64_t>()[d];
    SLUICE_INVALID_IF(wanted < 0, "expected size to be non-negative, got ", wanted);
    const int64_t end = std::min(SaturatedSum(from.back(), wanted), e.size(d));
    kept.push_back(end > from.back() ? end - from.back() : 0);
  }
  return SetBox(c, e, 0, 1, from, kept);
}
KERNEL(SparseSlice, FunctionKernel<SparseSlice>);

absl::Status CheckSliceGrad(const Tensor& grad, const Tensor& in, const Tensor& start,
                            const Tensor& out) {
  SLUICE_INVALID_IF(grad.rank() != 1 || in.rank() != 2 || out.rank() != 2,
                    "Input backprop_val_grad should be a vector and indices matrices but ",
                    "received shapes ", grad.shape().ToString(), ", ", in.shape().ToString(),
                    " and ", out.shape().ToString());
  SLUICE_INVALID_IF(
      in.dim(1) != out.dim(1) || start.num_elements() != in.dim(1) || start.rank() != 1,
      "The input and output should have the same ndims: got: ", in.dim(1), " and ", out.dim(1),
      ", start ", start.shape().ToString());
  SLUICE_INVALID_IF(grad.num_elements() != out.dim(0),
                    "# elements of backprop_val_grad and # rows of output_indices should match ",
                    "(#nnz of sum): got ", grad.num_elements(), " and ", out.dim(0));
  return absl::OkStatus();
}

absl::Status SparseSliceGrad(KernelContext& c) {
  const Tensor &grad = c.input(0), &in = c.input(1), &start = c.input(2), &out = c.input(3);
  SLUICE_RETURN_IF_ERROR(CheckSliceGrad(grad, in, start, out));
  SLUICE_ASSIGN_OR_RETURN(Tensor * to, c.AllocateOutput(0, {in.dim(0)}));
  if (to->bytes() > 0) std::memset(to->raw(), 0, to->bytes());
  const int64_t rank = in.dim(1);
  const size_t size = DataTypeSize(grad.dtype());
  // Finds the common indices in one pass, because both lists have the same order.
  int64_t next = 0;
  for (int64_t i = 0; i < in.dim(0) && next < out.dim(0); ++i) {
    bool same = true;
    for (int64_t d = 0; d < rank; ++d) {
      same =
          same && in.data<int64_t>()[i * rank + d] ==
                      WrappingAdd(out.data<int64_t>()[next * rank + d], start.data<int64_t>()[d]);
    }
    if (!same) continue;
    std::memcpy(ElementAt(to->raw(), i, size), ElementAt(grad.raw(), next++, size), size);
  }
  if (next != out.dim(0)) {
    return absl::InternalError(
        StrCat("Elements of backprop_val_grad aren't all propagated: ", next, " of ", out.dim(0)));
  }
  return absl::OkStatus();
}
KERNEL(SparseSliceGrad, FunctionKernel<SparseSliceGrad>, {"T", RealTypes() | ComplexTypes()});

absl::Status SparseSplit(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Entries e, Entries::Of(c, 1, "input"));
  SLUICE_RETURN_IF_ERROR(e.CheckElements());
  SLUICE_RETURN_IF_ERROR(e.CheckTuples());
  const Tensor& dim_t = c.input(0);
  SLUICE_INVALID_IF(dim_t.num_elements() != 1, "split_dim should be a scalar, got shape ",
                    dim_t.shape().ToString());
  const int64_t dim = dim_t.data<int64_t>()[0] + (dim_t.data<int64_t>()[0] < 0 ? e.rank() : 0);
  SLUICE_INVALID_IF(dim < 0 || dim >= e.rank(), "Input axis should be in range [", -e.rank(), ", ",
                    e.rank(), "), got ", dim_t.data<int64_t>()[0]);
  const int n = c.num_outputs() / 3;
  const int64_t size = e.size(static_cast<int>(dim));
  SLUICE_INVALID_IF(n > size,
                    "Input num_split should be between 1 and the splitting dimension size (", size,
                    "), got ", n);
  std::vector<int64_t> start(static_cast<size_t>(e.rank()), 0);
  std::vector<int64_t> kept(e.shape().flat<int64_t>().begin(), e.shape().flat<int64_t>().end());
  for (int i = 0; i < n; ++i) {
    kept[static_cast<size_t>(dim)] = size / n + (i < size % n ? 1 : 0);
    SLUICE_RETURN_IF_ERROR(SetBox(c, e, i, n, start, kept));
    start[static_cast<size_t>(dim)] += kept[static_cast<size_t>(dim)];
  }
  return absl::OkStatus();
}
KERNEL(SparseSplit, FunctionKernel<SparseSplit>);

absl::Status CheckRows(const Entries& e) {
  SLUICE_INVALID_IF(e.rank() == 0, "Dense shape cannot be empty.");
  const int64_t rows = e.size(0);
  SLUICE_INVALID_IF(rows < 0, "Dimension ", rows, " must be >= 0");
  SLUICE_INVALID_IF(
      rows == 0 && e.count() > 0,
      "Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = ", e.count());
  return absl::OkStatus();
}

absl::Status SparseFillEmptyRows(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Entries e, Entries::Of(c, 0, "input"));
  const Tensor& fallback = c.input(3);
  SLUICE_RETURN_IF_ERROR(ExpectRank(fallback, 0, "default_value must be a scalar, saw: "));
  SLUICE_RETURN_IF_ERROR(CheckRows(e));
  const int64_t rows = e.size(0);
  SLUICE_RETURN_IF_ERROR(CheckRoom(rows, sizeof(int64_t), "rows"));
  std::vector<int64_t> count(static_cast<size_t>(rows), 0);
  for (int64_t i = 0; i < e.count(); ++i) {
    const int64_t row = e.index(i, 0);
    SLUICE_INVALID_IF(row < 0 || row >= rows, "indices(", i, ", 0) is invalid: ", row,
                      " >= ", rows);
    ++count[static_cast<size_t>(row)];
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * empty, c.AllocateOutput(2, {rows}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * map, c.AllocateOutput(3, {e.count()}));
  std::vector<int64_t> next(static_cast<size_t>(rows));
  int64_t total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    empty->data<bool>()[row] = count[static_cast<size_t>(row)] == 0;
    next[static_cast<size_t>(row)] = total;
    total += std::max<int64_t>(count[static_cast<size_t>(row)], 1);
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(0, {total, e.rank()}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, {total}));
  std::fill_n(indices->data<int64_t>(), indices->num_elements(), int64_t{0});
  WithElement(values->dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    for (int64_t row = 0; row < rows; ++row) {
      if (count[static_cast<size_t>(row)] > 0) continue;
      const int64_t to = next[static_cast<size_t>(row)];
      indices->data<int64_t>()[to * e.rank()] = row;
      values->data<E>()[to] = fallback.data<E>()[0];
    }
    for (int64_t i = 0; i < e.count(); ++i) {
      const int64_t to = next[static_cast<size_t>(e.index(i, 0))]++;
      std::copy_n(e.indices_of(i), e.rank(), indices->data<int64_t>() + to * e.rank());
      values->data<E>()[to] = e.values().data<E>()[i];
      map->data<int64_t>()[i] = to;
    }
  });
  return absl::OkStatus();
}
KERNEL(SparseFillEmptyRows, FunctionKernel<SparseFillEmptyRows>);

// Computes the gradient of SparseFillEmptyRows and RaggedFillEmptyRows.
absl::Status FillEmptyRowsGrad(KernelContext& c) {
  const Tensor &map = c.input(0), &grad = c.input(1);
  SLUICE_RETURN_IF_ERROR(ExpectRank(map, 1, "reverse_index_map must be a vector, saw: "));
  SLUICE_RETURN_IF_ERROR(ExpectRank(grad, 1, "grad_values must be a vector, saw: "));
  SLUICE_ASSIGN_OR_RETURN(Tensor * d_values, c.AllocateOutput(0, map.shape()));
  SLUICE_ASSIGN_OR_RETURN(Tensor * d_default, c.AllocateOutput(1, {}));
  const size_t size = DataTypeSize(grad.dtype());
  const ArithmeticRow add = FindArithmetic(ArithmeticOp::kAdd, grad.dtype());
  std::memset(d_default->raw(), 0, size);
  std::vector<bool> used(static_cast<size_t>(grad.num_elements()), false);
  for (int64_t i = 0; i < map.num_elements(); ++i) {
    const int64_t from = map.data<int64_t>()[i];
    SLUICE_INVALID_IF(from < 0 || from >= grad.num_elements(),
                      "Elements in reverse index must be in [0, ", grad.num_elements(),
                      ") but got ", from);
    std::memcpy(ElementAt(d_values->raw(), i, size), ElementAt(grad.raw(), from, size), size);
    used[static_cast<size_t>(from)] = true;
  }
  for (int64_t i = 0; i < grad.num_elements(); ++i) {
    if (!used[static_cast<size_t>(i)]) add(d_default->raw(), ElementAt(grad.raw(), i, size), 1);
  }
  return absl::OkStatus();
}
KERNEL(RaggedFillEmptyRowsGrad, FunctionKernel<FillEmptyRowsGrad>,
       {"T", RealTypes() | ComplexTypes()});
KERNEL(SparseFillEmptyRowsGrad, FunctionKernel<FillEmptyRowsGrad>,
       {"T", RealTypes() | ComplexTypes()});

}  // namespace
}  // namespace sluice

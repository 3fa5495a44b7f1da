// Datasets of tensors and numbers.
#include <algorithm>
#include <limits>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/limited_heap.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"
#include "ops/data/shuffle.h"

namespace sluice {
namespace {

using Next = absl::StatusOr<bool>;
using Iterating = absl::StatusOr<IteratorPointer>;
using MadeDataset = absl::StatusOr<DatasetPointer>;

MadeDataset TensorDataset(const KernelContext& c) {
  Tensors components = InputsFrom(c, 0);
  DatasetFacts facts;
  if (components[0].rank() > 0) facts.rows = components[0].dim(0);
  return DatasetOf(std::move(facts), {std::move(components)});
}

MadeDataset ListDataset(const KernelContext& c) {
  const auto types = c.node().AttrOr<std::vector<DataType>>("output_types", {});
  const Tensors tensors = InputsFrom(c, 0);
  SLUICE_INVALID_IF(tensors.size() % types.size() != 0, "Number of tensors (", tensors.size(),
                    ") must be a multiple of the number of components (", types.size(), ").");
  std::vector<Tensors> elements;
  for (auto at = tensors.begin(); at != tensors.end();) {
    const auto end = at + static_cast<std::ptrdiff_t>(types.size());
    elements.emplace_back(at, end);
    at = end;
  }
  return DatasetOf({}, std::move(elements));
}

// Copies row `row` of each component into new buffers.
absl::StatusOr<Tensors> CopyRow(const Tensors& components, int64_t row) {
  Tensors copies;
  for (const Tensor& t : components) {
    TensorShape shape = t.shape();
    shape.RemoveDim(0);
    SLUICE_ASSIGN_OR_RETURN(Tensor copy, t.SliceRows(row, row + 1).Reshaped(shape).Clone());
    copies.push_back(std::move(copy));
  }
  return copies;
}

MadeDataset TensorSliceDataset(const KernelContext& c) {
  const Tensors components = InputsFrom(c, 0);
  for (const Tensor& component : components) {
    SLUICE_INVALID_IF(component.rank() == 0, "All components must be at least 1-dimensional");
    SLUICE_INVALID_IF(component.dim(0) != components[0].dim(0),
                      "All components must have the same size in the 0th dimension, got ",
                      components[0].dim(0), " and ", component.dim(0));
  }
  const auto iterate = [components](Reading& reading) -> Iterating {
    return MakeIterator([components, &reading, row = int64_t{0}](Tensors* element) mutable -> Next {
      SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
      if (row >= components[0].dim(0)) return false;
      SLUICE_ASSIGN_OR_RETURN(*element, CopyRow(components, row));
      ++row;
      return true;
    });
  };
  DatasetFacts facts{.cardinality = components[0].dim(0)};
  if (components[0].rank() > 1) facts.rows = components[0].dim(1);
  return MakeDataset(std::move(facts), iterate,
                     [components](int64_t i, Reading&) { return CopyRow(components, i); });
}

// Returns the number of values before `stop`.
int64_t RangeSize(int64_t start, int64_t stop, int64_t step) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  // Uses unsigned numbers, because a difference of two int64 values may overflow.
  const auto distance = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                                 : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  const uint64_t size = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  const uint64_t count = (distance - 1) / size + 1;
  constexpr auto kLargest = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(count, static_cast<uint64_t>(kLargest)));
}

MadeDataset RangeDataset(const KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto start, ScalarInput<int64_t>(c, "start"));
  SLUICE_ASSIGN_OR_RETURN(const auto stop, ScalarInput<int64_t>(c, "stop"));
  SLUICE_ASSIGN_OR_RETURN(const auto step, ScalarInput<int64_t>(c, "step"));
  SLUICE_INVALID_IF(step == 0, "step must be a non-zero integer.");
  const auto types = c.node().AttrOr<std::vector<DataType>>("output_types", {});
  const DataType type = types.size() == 1 ? types[0] : DT_INT64;
  if (type != DT_INT64 && type != DT_INT32) {
    return absl::UnimplementedError(
        StrCat("RangeDataset of ", DataTypeName(type), " is not supported"));
  }
  const auto scalar = [type](int64_t value) {
    return type == DT_INT64 ? Tensor::Scalar<int64_t>(value)
                            : Tensor::Scalar<int32_t>(static_cast<int32_t>(value));
  };
  const auto iterate = [=](Reading& reading) -> Iterating {
    return MakeIterator([=, &reading, next = start](Tensors* element) mutable -> Next {
      SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
      if (step > 0 ? next >= stop : next <= stop) return false;
      *element = {scalar(next)};
      if (__builtin_add_overflow(next, step, &next)) next = stop;
      return true;
    });
  };
  return MakeDataset({.cardinality = RangeSize(start, stop, step)}, iterate,
                     [=](int64_t i, Reading&) -> absl::StatusOr<Tensors> {
                       // Uses unsigned numbers, because `i * step` may overflow.
                       return Tensors{scalar(static_cast<int64_t>(
                           static_cast<uint64_t>(start) +
                           static_cast<uint64_t>(i) * static_cast<uint64_t>(step)))};
                     });
}

MadeDataset RandomDataset(const KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto seed, ScalarInput<int64_t>(c, "seed"));
  SLUICE_ASSIGN_OR_RETURN(const auto seed2, ScalarInput<int64_t>(c, "seed2"));
  constexpr bool kReshuffle = false;
  return RandomNumbers(std::make_shared<ShuffleSeeds>(c.name(), seed, seed2, kReshuffle));
}

// --- rows of a sparse tensor

struct SparseRows {
  Tensor indices, values, dense_shape;
  // Returns the row that has the entries [first, last).
  absl::StatusOr<Tensors> Row(int64_t first, int64_t last) const;
};

absl::StatusOr<Tensors> SparseRows::Row(int64_t first, int64_t last) const {
  const int64_t rank = dense_shape.num_elements();
  SLUICE_ASSIGN_OR_RETURN(Tensor row_indices,
                          Tensor::Allocate(LimitedHeap(), DT_INT64, {last - first, rank - 1}));
  for (int64_t k = first; k < last; ++k) {
    std::copy_n(indices.data<int64_t>() + k * rank + 1, rank - 1,
                row_indices.data<int64_t>() + (k - first) * (rank - 1));
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor row_values, values.SliceRows(first, last).Clone());
  SLUICE_ASSIGN_OR_RETURN(Tensor row_shape, dense_shape.SliceRows(1, rank).Clone());
  return Tensors{std::move(row_indices), std::move(row_values), std::move(row_shape)};
}

absl::Status CheckSparse(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(indices, 2, "Input indices must be a matrix. Got: "));
  SLUICE_RETURN_IF_ERROR(ExpectRank(values, 1, "Input values must be a vector. Got: "));
  SLUICE_RETURN_IF_ERROR(ExpectRank(shape, 1, "Input shape must be a vector. Got: "));
  SLUICE_INVALID_IF(values.dim(0) != indices.dim(0),
                    "Number of values must match first dimension of indices. Got ", values.dim(0),
                    " values, indices shape: ", indices.shape().ToString());
  SLUICE_INVALID_IF(shape.dim(0) != indices.dim(1),
                    "Number of dimensions must match second dimension of indices. Got ",
                    shape.dim(0), " dimensions, indices shape: ", indices.shape().ToString());
  SLUICE_INVALID_IF(shape.num_elements() == 0, "The shape argument requires at least one element.");
  for (int64_t size : shape.flat<int64_t>()) {
    if (size >= 0) continue;
    return InvalidArgument("Expected shape dimensions to be non-negative, got ", size);
  }
  return absl::OkStatus();
}

MadeDataset SparseTensorSliceDataset(const KernelContext& c) {
  const SparseRows rows{.indices = c.input(0), .values = c.input(1), .dense_shape = c.input(2)};
  SLUICE_RETURN_IF_ERROR(CheckSparse(rows.indices, rows.values, rows.dense_shape));
  const int64_t entries = rows.values.dim(0), rank = rows.dense_shape.dim(0);
  const auto row_of = [indices = rows.indices, rank](int64_t entry) {
    return indices.data<int64_t>()[entry * rank];
  };
  for (int64_t k = 0; k < entries; ++k) {
    if (row_of(k) < (k == 0 ? -1 : row_of(k - 1))) {
      return absl::UnimplementedError(
          "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered "
          "input is not currently supported.");
    }
  }
  const int64_t num_rows = rows.dense_shape.data<int64_t>()[0];
  const auto iterate = [=](Reading& reading) -> Iterating {
    return MakeIterator(
        [=, &reading, row = int64_t{0}, first = int64_t{0}](Tensors* element) mutable -> Next {
          if (row == num_rows) return false;
          SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
          while (first < entries && row_of(first) < row) ++first;
          int64_t last = first;
          while (last < entries && row_of(last) == row) ++last;
          SLUICE_ASSIGN_OR_RETURN(*element, rows.Row(first, last));
          first = last;
          ++row;
          return true;
        });
  };
  return MakeDataset({.cardinality = num_rows}, iterate);
}

KERNEL(ExperimentalRandomDataset, DatasetKernel<RandomDataset>);
KERNEL(ListDataset, DatasetKernel<ListDataset>);
KERNEL(RandomDataset, DatasetKernel<RandomDataset>);
KERNEL(RangeDataset, DatasetKernel<RangeDataset>);
KERNEL(SparseTensorSliceDataset, DatasetKernel<SparseTensorSliceDataset>,
       {"Tvalues",
        TypeSet{DT_BFLOAT16, DT_BOOL,   DT_COMPLEX128, DT_COMPLEX64, DT_DOUBLE, DT_FLOAT,
                DT_HALF,     DT_INT16,  DT_INT32,      DT_INT64,     DT_INT8,   DT_QINT32,
                DT_QINT8,    DT_QUINT8, DT_RESOURCE,   DT_STRING,    DT_UINT16, DT_UINT32,
                DT_UINT64,   DT_UINT8,  DT_VARIANT}});
KERNEL(TensorDataset, DatasetKernel<TensorDataset>);
KERNEL(TensorSliceDataset, DatasetKernel<TensorSliceDataset>);

}  // namespace
}  // namespace sluice

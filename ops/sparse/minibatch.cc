#include "ops/sparse/minibatch.h"

#include <algorithm>

#include "graph/status.h"
#include "graph/tensor/room.h"
#include "ops/loops/elements.h"

namespace sluice {

absl::StatusOr<SparseParts> SparseInput(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(c.input(0), 2, "Input indices should be a matrix but received shape "));
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(c.input(1), 1, "Input values should be a vector but received shape "));
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(c.input(2), 1, "Input shape should be a vector but received shape "));
  return SparseParts{c.input(0), c.input(1), c.input(2)};
}

namespace {

// The memory of one example, including its buffers of indices and values.
constexpr size_t kBytesOfExample = sizeof(SparseParts) + 4 * kTensorAlignment;

std::string IndexText(const int64_t* at, int64_t rank) {
  std::string text = "[";
  for (int64_t d = 0; d < rank; ++d) StrAppend(&text, d == 0 ? "" : ",", at[d]);
  return text + "]";
}

absl::Status CheckMinibatch(const SparseParts& m) {
  const int64_t rank = m.shape.dim(0), count = m.values.dim(0);
  SLUICE_INVALID_IF(rank <= 1, "Rank of input SparseTensor should be > 1, but saw rank: ", rank);
  SLUICE_INVALID_IF(m.indices.dim(0) != count || m.indices.dim(1) != rank, "expected an index of ",
                    rank, " numbers for each of ", count, " values, got indices of shape ",
                    m.indices.shape().ToString());
  const int64_t* size = m.shape.data<int64_t>();
  SLUICE_INVALID_IF(size[0] < 0, "expected a batch size of 0 or more, got ", size[0]);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t* at = m.indices.data<int64_t>() + i * rank;
    for (int64_t d = 0; d < rank; ++d) {
      if (at[d] >= 0 && at[d] < size[d]) continue;
      return InvalidArgument("indices[", i, "] = ", IndexText(at, rank),
                             " is out of bounds: need 0 <= index < ", IndexText(size, rank));
    }
    if (i == 0 || std::lexicographical_compare(at - rank, at, at, at + rank)) continue;
    const bool repeated = std::equal(at - rank, at, at);
    return InvalidArgument(
        "indices[", i, "] = ", IndexText(at, rank),
        repeated ? " is repeated" : " is out of order. Many sparse ops require sorted indices.");
  }
  return absl::OkStatus();
}

// Copies `n` elements to a tensor of the same type.
void CopyElements(const Tensor& from, int64_t begin, int64_t n, Tensor* to, int64_t at) {
  WithElement(from.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    std::copy_n(from.data<E>() + begin, n, to->data<E>() + at);
  });
}

}  // namespace

absl::StatusOr<std::vector<SparseParts>> SplitMinibatch(const SparseParts& minibatch) {
  SLUICE_RETURN_IF_ERROR(CheckMinibatch(minibatch));
  const int64_t rank = minibatch.shape.dim(0), count = minibatch.values.dim(0);
  const int64_t* indices = minibatch.indices.data<int64_t>();
  const Tensor own_shape = Tensor::Vector<int64_t>(minibatch.shape.flat<int64_t>().subspan(1));
  const int64_t batch = minibatch.shape.data<int64_t>()[0];
  // Checks the batch size first, so that a hostile one does not exhaust the memory.
  SLUICE_RETURN_IF_ERROR(CheckRoom(batch, kBytesOfExample, "sparse tensors"));
  std::vector<SparseParts> examples(static_cast<size_t>(batch));
  int64_t begin = 0;
  for (int64_t row = 0; row < batch; ++row) {
    int64_t end = begin;
    while (end < count && indices[end * rank] == row) ++end;
    SparseParts& example = examples[static_cast<size_t>(row)];
    SLUICE_ASSIGN_OR_RETURN(example.indices,
                            Tensor::Allocate(Heap(), DT_INT64, {end - begin, rank - 1}));
    for (int64_t i = begin; i < end; ++i) {
      std::copy_n(indices + i * rank + 1, rank - 1,
                  example.indices.data<int64_t>() + (i - begin) * (rank - 1));
    }
    SLUICE_ASSIGN_OR_RETURN(example.values,
                            Tensor::Allocate(Heap(), minibatch.values.dtype(), {end - begin}));
    CopyElements(minibatch.values, begin, end - begin, &example.values, 0);
    example.shape = own_shape;
    begin = end;
  }
  return examples;
}

namespace {

absl::Status CheckExample(const SparseParts& e, int64_t i, int64_t rank, DataType dtype) {
  SLUICE_INVALID_IF(e.indices.dtype() != DT_INT64 || e.indices.rank() != 2,
                    "Expected SparseTensor[", i, "] to have int64 indices that are a matrix, got ",
                    DataTypeName(e.indices.dtype()), " ", e.indices.shape().ToString());
  SLUICE_INVALID_IF(e.values.rank() != 1 || e.shape.dtype() != DT_INT64 || e.shape.rank() != 1,
                    "Expected SparseTensor[", i, "] to have a vector of values and an ",
                    "int64 vector as shape, got ", e.values.shape().ToString(), " and ",
                    DataTypeName(e.shape.dtype()), " ", e.shape.shape().ToString());
  SLUICE_INVALID_IF(e.values.dtype() != dtype, "Requested SparseTensor of type ",
                    DataTypeName(dtype), " but SparseTensor[", i,
                    "].values.dtype() == ", DataTypeName(e.values.dtype()));
  SLUICE_INVALID_IF(e.shape.dim(0) != rank,
                    "Inconsistent shape across SparseTensors: rank prior to SparseTensor[", i,
                    "] was: ", rank, " but rank of SparseTensor[", i, "] is: ", e.shape.dim(0));
  SLUICE_INVALID_IF(e.indices.dim(0) != e.values.dim(0) || e.indices.dim(1) != rank,
                    "SparseTensor[", i, "]: expected an index of ", rank, " numbers for each of ",
                    e.values.dim(0), " values, got indices of shape ",
                    e.indices.shape().ToString());
  return absl::OkStatus();
}

}  // namespace

absl::Status SetMinibatch(KernelContext& c, const std::vector<SparseParts>& examples,
                          const TensorShape& outer, DataType dtype) {
  const int64_t own = examples.empty() ? 0 : examples[0].shape.num_elements();
  const int64_t rank = own + outer.rank();
  int64_t count = 0;
  std::vector<int64_t> sizes(static_cast<size_t>(own), 0);
  for (size_t i = 0; i < examples.size(); ++i) {
    const SparseParts& e = examples[i];
    SLUICE_RETURN_IF_ERROR(CheckExample(e, static_cast<int64_t>(i), own, dtype));
    count += e.values.dim(0);
    for (int64_t d = 0; d < own; ++d) {
      sizes[static_cast<size_t>(d)] =
          std::max(sizes[static_cast<size_t>(d)], e.shape.data<int64_t>()[d]);
    }
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(0, {count, rank}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, {count}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * shape, c.AllocateOutput(2, {rank}));
  std::copy(outer.dims().begin(), outer.dims().end(), shape->data<int64_t>());
  std::copy(sizes.begin(), sizes.end(), shape->data<int64_t>() + outer.rank());
  int64_t* to = indices->data<int64_t>();
  int64_t at = 0;
  for (size_t i = 0; i < examples.size(); ++i) {
    const SparseParts& e = examples[i];
    for (int64_t k = 0; k < e.values.dim(0); ++k) {
      auto rest = static_cast<int64_t>(i);
      for (int d = outer.rank() - 1; d >= 0; --d) {
        to[d] = rest % outer.dim(d);
        rest /= outer.dim(d);
      }
      std::copy_n(e.indices.data<int64_t>() + k * own, own, to + outer.rank());
      to += rank;
    }
    CopyElements(e.values, 0, e.values.dim(0), values, at);
    at += e.values.dim(0);
  }
  return absl::OkStatus();
}

}  // namespace sluice

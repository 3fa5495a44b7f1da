#include "ops/state/tuples.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "graph/status.h"
#include "graph/tensor/room.h"

namespace sluice {

void CopyElements(const Tensor& from, int64_t from_offset, int64_t count, Tensor* to,
                  int64_t to_offset) {
  switch (from.dtype()) {
    case DT_STRING:
      std::copy_n(from.data<std::string>() + from_offset, count,
                  to->data<std::string>() + to_offset);
      return;
    case DT_RESOURCE:
      std::copy_n(from.data<ResourceHandle>() + from_offset, count,
                  to->data<ResourceHandle>() + to_offset);
      return;
    case DT_VARIANT:
      std::copy_n(from.data<Variant>() + from_offset, count, to->data<Variant>() + to_offset);
      return;
    default: {
      const size_t size = DataTypeSize(from.dtype());
      if (count > 0) {
        std::memcpy(static_cast<char*>(to->raw()) + to_offset * size,
                    static_cast<const char*>(from.raw()) + from_offset * size, count * size);
      }
    }
  }
}

void CopyCorner(const Tensor& from, absl::Span<const int64_t> to_shape, Tensor* to,
                int64_t to_offset) {
  const int rank = from.rank();
  if (rank == 0) return CopyElements(from, 0, 1, to, to_offset);
  if (from.num_elements() == 0) return;
  const int64_t run = from.dim(rank - 1);
  std::vector<int64_t> position(rank, 0);
  for (int64_t done = 0; done < from.num_elements(); done += run) {
    int64_t offset = 0;
    for (int d = 0; d < rank; ++d) offset = offset * to_shape[d] + position[d];
    CopyElements(from, done, run, to, to_offset + offset);
    for (int d = rank - 2; d >= 0 && ++position[d] == from.dim(d); --d) position[d] = 0;
  }
}

void FillElements(const Tensor& value, Tensor* to, int64_t at, int64_t count) {
  if (count <= 0) return;
  CopyElements(value, 0, 1, to, at);
  // Each copy doubles the filled part.
  for (int64_t done = 1; done < count; done *= 2) {
    CopyElements(*to, at, std::min(done, count - done), to, at + done);
  }
}

absl::StatusOr<std::vector<Tensors>> SplitRows(Allocator& allocator, const Tensors& batch) {
  if (batch.empty()) return std::vector<Tensors>(1);
  // Checks the number of rows: if they have no elements, there may be any number, but each row
  // takes memory.
  constexpr size_t kBytesOfTensor = sizeof(Tensor) + 2 * kTensorAlignment;
  SLUICE_RETURN_IF_ERROR(CheckRoom(batch[0].dim(0), sizeof(Tensors) + batch.size() * kBytesOfTensor,
                                   "rows of a batch"));
  std::vector<Tensors> rows(batch[0].dim(0));
  for (const Tensor& t : batch) {
    TensorShape shape = t.shape();
    shape.RemoveDim(0);
    const int64_t size = shape.num_elements();
    for (size_t i = 0; i < rows.size(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(Tensor row, Tensor::Allocate(allocator, t.dtype(), shape));
      CopyElements(t, static_cast<int64_t>(i) * size, size, &row, 0);
      rows[i].push_back(std::move(row));
    }
  }
  return rows;
}

absl::StatusOr<Tensors> StackRows(Allocator& allocator, const std::vector<Tensors>& rows) {
  Tensors batch;
  for (size_t j = 0; j < rows[0].size(); ++j) {
    TensorShape shape = rows[0][j].shape();
    const int64_t size = shape.num_elements();
    shape.InsertDim(0, static_cast<int64_t>(rows.size()));
    SLUICE_ASSIGN_OR_RETURN(Tensor stacked, Tensor::Allocate(allocator, rows[0][j].dtype(), shape));
    for (size_t i = 0; i < rows.size(); ++i) {
      CopyElements(rows[i][j], 0, size, &stacked, static_cast<int64_t>(i) * size);
    }
    batch.push_back(std::move(stacked));
  }
  return batch;
}

absl::StatusOr<Tensors> StackPadded(Allocator& allocator, const std::vector<Tensors>& rows) {
  Tensors batch;
  for (size_t j = 0; j < rows[0].size(); ++j) {
    std::vector<int64_t> sizes(rows[0][j].shape().dims().begin(), rows[0][j].shape().dims().end());
    for (const Tensors& row : rows) {
      for (size_t d = 0; d < sizes.size(); ++d) {
        sizes[d] = std::max(sizes[d], row[j].dim(static_cast<int>(d)));
      }
    }
    SLUICE_ASSIGN_OR_RETURN(TensorShape shape, TensorShape::Make(sizes));
    const int64_t size = shape.num_elements();
    shape.InsertDim(0, static_cast<int64_t>(rows.size()));
    SLUICE_ASSIGN_OR_RETURN(Tensor stacked, Tensor::Allocate(allocator, rows[0][j].dtype(), shape));
    // Fills the padding with zeros, because bytes are not initialised. Objects are constructed
    // empty.
    if (stacked.bytes() > 0) std::memset(stacked.raw(), 0, stacked.bytes());
    for (size_t i = 0; i < rows.size(); ++i) {
      CopyCorner(rows[i][j], sizes, &stacked, static_cast<int64_t>(i) * size);
    }
    batch.push_back(std::move(stacked));
  }
  return batch;
}

}  // namespace sluice

// Reads index tensors of type int32 or int64, and reports indices that are out of range.
#ifndef SLUICE_OPS_LOOPS_ROW_INDEX_H_
#define SLUICE_OPS_LOOPS_ROW_INDEX_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "graph/status.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// Returns the smallest i for which rows[i] is outside [0, limit), or -1 if there is none. `rows`
// has n elements, and limit >= 0. Row is int8_t, uint8_t, int16_t, int32_t or int64_t.
template <typename Row>
int64_t FirstOutside(const Row* rows, int64_t n, int64_t limit);

// The elements of an index tensor as int64. The tensor must outlive the object.
class RowIndex {
 public:
  explicit RowIndex(const Tensor& t)
      : data_(t.raw()), is_int64_(t.dtype() == DT_INT64), size_(t.num_elements()) {}
  int64_t size() const { return size_; }
  int64_t operator[](int64_t i) const {
    return is_int64_ ? static_cast<const int64_t*>(data_)[i]
                     : static_cast<const int32_t*>(data_)[i];
  }
  int64_t FirstOutside(int64_t limit) const {
    return is_int64_ ? sluice::FirstOutside(static_cast<const int64_t*>(data_), size_, limit)
                     : sluice::FirstOutside(static_cast<const int32_t*>(data_), size_, limit);
  }

 private:
  const void* data_;
  bool is_int64_;
  int64_t size_;
};

// The coordinates of element number `flat`, in row-major order, of a tensor of this shape: "1,2",
// or
// "" for a scalar.
inline std::string PositionText(const TensorShape& shape, int64_t flat) {
  std::string text;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    text = std::to_string(flat % shape.dim(d)) + (text.empty() ? "" : ",") + text;
    flat /= shape.dim(d);
  }
  return text;
}

// INVALID_ARGUMENT "indices[1,2] = 7 is not in [0, 5)" for the first index outside [0, limit).
inline absl::Status CheckRowsInside(const Tensor& indices, int64_t limit) {
  const RowIndex rows(indices);
  const int64_t bad = rows.FirstOutside(limit);
  if (bad < 0) return absl::OkStatus();
  return InvalidArgument("indices[", PositionText(indices.shape(), bad), "] = ", rows[bad],
                         " is not in [0, ", limit, ")");
}

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_ROW_INDEX_H_

#include "ops/sparse/entries.h"

#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "graph/status.h"
#include "ops/loops/elements.h"

namespace sluice {

absl::StatusOr<Entries> Entries::Of(const Tensor& indices, const Tensor& values,
                                    const Tensor& shape, const char* name) {
  SLUICE_INVALID_IF(indices.rank() != 2, "Input ", name,
                    " indices should be a matrix but received shape ", indices.shape().ToString());
  SLUICE_INVALID_IF(values.rank() != 1, "Input ", name,
                    " values should be a vector but received shape ", values.shape().ToString());
  SLUICE_INVALID_IF(shape.rank() != 1, "Input ", name,
                    " shape should be a vector but received shape ", shape.shape().ToString());
  SLUICE_INVALID_IF(indices.dim(0) != values.dim(0), "Number of ", name,
                    " values must match first dimension of indices. ", "Got ", values.dim(0),
                    " values, indices shape: ", indices.shape().ToString());
  SLUICE_INVALID_IF(indices.dim(1) != shape.dim(0), "Number of ", name,
                    " dimensions must match second dimension of ", "indices. Got ", shape.dim(0),
                    " dimensions, indices shape: ", indices.shape().ToString());
  return Entries(indices, values, shape);
}

absl::Status Entries::CheckElements() const {
  int64_t elements = 1;
  for (int d = 0; d < rank(); ++d) {
    SLUICE_INVALID_IF(size(d) < 0, "Expected shape dimensions to be non-negative, got ", size(d));
    const int64_t before = elements;
    elements = MultiplyWithoutOverflow(before, size(d));
    SLUICE_INVALID_IF(elements < 0, "Encountered overflow when multiplying ", before, " with ",
                      size(d), ", result: ", elements);
  }
  return absl::OkStatus();
}

absl::Status Entries::CheckBounds() const {
  for (int64_t i = 0; i < count(); ++i) {
    for (int d = 0; d < rank(); ++d) {
      if (index(i, d) >= 0 && index(i, d) < size(d)) continue;
      return InvalidArgument("indices[", i, "] is out of bounds: ", index(i, d), " is not in [0, ",
                             size(d), ") in dimension ", d);
    }
  }
  return absl::OkStatus();
}

absl::Status Entries::CheckTuples() const {
  for (int64_t i = 0; i < count(); ++i) {
    const absl::Span<const int64_t> tuple(indices_of(i), static_cast<size_t>(rank()));
    for (int d = 0; d < rank(); ++d) {
      SLUICE_INVALID_IF(tuple[d] < 0 || tuple[d] >= size(d), "Sparse index tuple indices[", i,
                        ", :] = [", absl::StrJoin(tuple, ", "), "] is out of bounds: ", tuple[d],
                        " is not in [0, ", size(d), ") in dimension ", d);
    }
  }
  return absl::OkStatus();
}

absl::Status Entries::CheckOrdered() const {
  SLUICE_RETURN_IF_ERROR(CheckBounds());
  for (int64_t i = 1; i < count(); ++i) {
    const int order = Compare(i - 1, *this, i);
    SLUICE_INVALID_IF(order >= 0, "indices[", i, "] is ", order == 0 ? "repeated" : "out of order",
                      ". Many sparse ops require sorted indices.");
  }
  return absl::OkStatus();
}

int Entries::Compare(int64_t i, const Entries& other, int64_t j) const {
  for (int d = 0; d < rank(); ++d) {
    if (index(i, d) != other.index(j, d)) return index(i, d) < other.index(j, d) ? -1 : 1;
  }
  return 0;
}

Tensor IntTensor(const std::vector<int64_t>& values) {
  return Tensor::Vector<int64_t>(absl::MakeConstSpan(values));
}

absl::Status SetEntries(KernelContext& c, int first, int values_output,
                        const std::vector<int64_t>& indices, int rank, const Tensor& from,
                        const std::vector<int64_t>& picked) {
  const auto n = static_cast<int64_t>(picked.size());
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(first, {n, rank}));
  std::copy(indices.begin(), indices.end(), out->data<int64_t>());
  SLUICE_ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(values_output, {n}));
  WithElement(from.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i) values->data<E>()[i] = from.data<E>()[picked[i]];
  });
  return absl::OkStatus();
}

}  // namespace sluice

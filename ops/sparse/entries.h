// The entries of a sparse tensor, as kernels meet them: indices [entries, rank], values [entries],
// shape [rank].
//
// Thread safety: values over tensors that outlive them. Errors: INVALID_ARGUMENT.
#ifndef SLUICE_OPS_SPARSE_ENTRIES_H_
#define SLUICE_OPS_SPARSE_ENTRIES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class Entries {
 public:
  // Ranks and sizes must fit each other. `name` begins the messages.
  static absl::StatusOr<Entries> Of(const Tensor& indices, const Tensor& values,
                                    const Tensor& shape, const char* name);

  int64_t count() const { return values_->num_elements(); }
  int rank() const { return static_cast<int>(shape_->num_elements()); }
  int64_t size(int d) const { return shape_->data<int64_t>()[d]; }
  int64_t index(int64_t entry, int d) const {
    return indices_->data<int64_t>()[entry * rank() + d];
  }
  const int64_t* indices_of(int64_t entry) const {
    return indices_->data<int64_t>() + entry * rank();
  }
  const Tensor& indices() const { return *indices_; }
  const Tensor& values() const { return *values_; }
  const Tensor& shape() const { return *shape_; }

  // The dense shape; an error where it is none.
  absl::StatusOr<TensorShape> DenseShape() const;
  // Every index lies inside the shape.
  absl::Status CheckBounds() const;
  // The same, and indices rise, the first dimension slowest, none twice.
  absl::Status CheckOrdered() const;
  // Negative, zero or positive, as entry i stands before, at or behind entry j of `other`.
  int Compare(int64_t i, const Entries& other, int64_t j) const;
  // Row-major position in the dense tensor.
  int64_t Position(int64_t entry) const;

 private:
  Entries(const Tensor& indices, const Tensor& values, const Tensor& shape)
      : indices_(&indices), values_(&values), shape_(&shape) {}
  const Tensor *indices_, *values_, *shape_;
};

// Outputs `first` (indices, from rows of `rank` numbers) and the next (values taken from `from`, at
// `picked`).
absl::Status SetEntries(KernelContext& c, int first, int values_output,
                        const std::vector<int64_t>& indices, int rank, const Tensor& from,
                        const std::vector<int64_t>& picked);

// An int64 vector.
Tensor IntTensor(const std::vector<int64_t>& values);

}  // namespace sluice

#endif  // SLUICE_OPS_SPARSE_ENTRIES_H_

// The entries of a sparse tensor: indices [entries, rank], values [entries] and shape [rank].
//
// Lifetime: the tensors must outlive the object.
// Errors: INVALID_ARGUMENT if the tensors are not a valid sparse tensor.
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
  // Checks ranks and sizes. Errors mention `name`.
  static absl::StatusOr<Entries> Of(const Tensor& indices, const Tensor& values,
                                    const Tensor& shape, const char* name);
  // Reads inputs first, first + 1 and first + 2.
  static absl::StatusOr<Entries> Of(KernelContext& c, int first, const char* name) {
    return Of(c.input(first), c.input(first + 1), c.input(first + 2), name);
  }

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

  // Checks that the dense shape has no negative size and at most as many elements as int64 counts.
  absl::Status CheckElements() const;
  // Checks that all indices are inside the shape.
  absl::Status CheckBounds() const;
  // Checks what CheckBounds checks, but has the error text of TensorFlow's SparseSplit.
  absl::Status CheckTuples() const;
  // Checks what CheckBounds checks, and that indices are in row-major order without duplicates.
  absl::Status CheckOrdered() const;
  // Negative, zero or positive if entry i is before, equal to or after entry j of `other` in
  // row-major order.
  int Compare(int64_t i, const Entries& other, int64_t j) const;

 private:
  Entries(const Tensor& indices, const Tensor& values, const Tensor& shape)
      : indices_(&indices), values_(&values), shape_(&shape) {}
  const Tensor *indices_, *values_, *shape_;
};

// Sets the indices and values of a sparse output. Output `first` becomes `indices`, which has
// `rank` numbers per row. Output `values_output` becomes the values of `from` at the positions
// `picked`.
absl::Status SetEntries(KernelContext& c, int first, int values_output,
                        const std::vector<int64_t>& indices, int rank, const Tensor& from,
                        const std::vector<int64_t>& picked);

// Returns the numbers as an int64 vector.
Tensor IntTensor(const std::vector<int64_t>& values);

}  // namespace sluice

#endif  // SLUICE_OPS_SPARSE_ENTRIES_H_

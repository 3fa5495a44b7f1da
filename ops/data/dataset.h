// Datasets: what a variant tensor of tf.data holds, and the iterators over them.
//
// A dataset is immutable; an iterator is used by one thread at a time. Elements are tuples of
// tensors, one a component.
// Errors: those of files, functions and shapes; an iterator may be asked on after an error, for the
// element behind it.
#ifndef SLUICE_OPS_DATA_DATASET_H_
#define SLUICE_OPS_DATA_DATASET_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "executor/step/cancellation.h"
#include "graph/tensor/tensor.h"
#include "graph/tensor/variant.h"

namespace sluice {

// What one reading of a dataset shares with all that it is made of.
struct Reading {
  Reading() = default;
  // A part that can end before the rest.
  explicit Reading(Reading& whole) : cancellation(&whole.cancellation) {}
  // Cancelled when nobody wants more of it: functions and threads end.
  CancellationManager cancellation;
};

class DatasetIterator {
 public:
  virtual ~DatasetIterator() = default;
  // False at the end, where `*element` says nothing.
  virtual absl::StatusOr<bool> Next(Tensors* element) = 0;
};
using IteratorPointer = std::unique_ptr<DatasetIterator>;

class Dataset {
 public:
  virtual ~Dataset() = default;
  // `reading` outlives the iterator.
  virtual absl::StatusOr<IteratorPointer> Iterate(Reading& reading) const = 0;
};
using DatasetPointer = std::shared_ptr<const Dataset>;

// A dataset that functions make: `iterate` is called for each reading.
DatasetPointer MakeDataset(std::function<absl::StatusOr<IteratorPointer>(Reading&)> iterate);
// An iterator that is a function.
IteratorPointer MakeIterator(std::function<absl::StatusOr<bool>(Tensors*)> next);

class DatasetVariant : public VariantObject {
 public:
  explicit DatasetVariant(DatasetPointer dataset) : dataset_(std::move(dataset)) {}
  std::string TypeName() const override { return "tensorflow::DatasetVariantWrapper"; }
  const DatasetPointer& dataset() const { return dataset_; }

 private:
  const DatasetPointer dataset_;
};

// The dataset in a tensor. INVALID_ARGUMENT on anything else.
absl::StatusOr<DatasetPointer> DatasetIn(const Tensor& tensor);
Tensor TensorOf(DatasetPointer dataset);

// A scalar input of a kernel that makes a dataset. INVALID_ARGUMENT "<name> must be a scalar".
template <typename T>
absl::StatusOr<T> ScalarInput(const KernelContext& c, int i, const char* name) {
  if (c.input(i).num_elements() == 1 && c.input(i).rank() == 0) return c.input(i).scalar<T>();
  return absl::InvalidArgumentError(std::string(name) + " must be a scalar");
}

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_DATASET_H_

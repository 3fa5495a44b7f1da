// Datasets: what a variant tensor of tf.data holds, and the iterators over them.
//
// A dataset is immutable; an iterator is used by one thread at a time. Elements are tuples of
// tensors, one a component.
// Errors: those of files, functions and shapes; an iterator may be asked on after an error, for the
// element behind it.
#ifndef SLUICE_OPS_DATA_DATASET_H_
#define SLUICE_OPS_DATA_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "executor/wait/cancellation.h"
#include "graph/status.h"
#include "graph/tensor/tensor.h"
#include "graph/tensor/variant.h"

namespace sluice {

// What one reading of a dataset shares with all that it is made of.
struct Reading {
  Reading() = default;
  // A part that can end before the rest.
  explicit Reading(Reading& whole) : cancellation(&whole.cancellation) {}
  // Of a step.
  explicit Reading(CancellationManager* step) : cancellation(step) {}
  // Cancelled when nobody wants more of it: functions and threads end.
  CancellationManager cancellation;
};

// CANCELLED where nobody wants more. What has more elements than anybody can wait for asks for each
// of them, for the sake of datasets that pass many over or keep them all.
absl::Status CheckWanted(const Reading& reading);

class DatasetIterator {
 public:
  virtual ~DatasetIterator() = default;
  // False at the end, where `*element` says nothing.
  virtual absl::StatusOr<bool> Next(Tensors* element) = 0;
};
using IteratorPointer = std::unique_ptr<DatasetIterator>;

// What is known of a dataset before anybody reads it.
struct DatasetFacts {
  static constexpr int64_t kInfinite = -1, kUnknown = -2;
  int64_t cardinality = kUnknown;  // of its elements
  int64_t rows = -1;               // first size of every element; -1: not known, or not the same
  // tensorflow.data.Options, serialised, of the dataset and all that it is made of.
  std::string options;

  bool is_finite() const { return cardinality >= 0; }
  // a + b and a * b of finite cardinalities; unknown where they are too large.
  static int64_t Sum(int64_t a, int64_t b);
  static int64_t Product(int64_t a, int64_t b);
  // Of a dataset of this one's elements, `count` of them.
  DatasetFacts WithCardinality(int64_t count) const;
  // The same, where the number n of elements, if it is known and finite, becomes f(n).
  template <typename F>
  DatasetFacts Scaled(F f) const {
    return is_finite() ? WithCardinality(f(cardinality)) : *this;
  }
  // Of a dataset of other elements, as many.
  DatasetFacts OfOtherElements() const;
  // Of a dataset made of this one and another, about whose elements nothing is known.
  DatasetFacts And(const DatasetFacts& other) const;
};

class Dataset {
 public:
  explicit Dataset(DatasetFacts facts) : facts_(std::move(facts)) {}
  virtual ~Dataset() = default;
  // `reading` outlives the iterator.
  virtual absl::StatusOr<IteratorPointer> Iterate(Reading& reading) const = 0;
  const DatasetFacts& facts() const { return facts_; }

 private:
  const DatasetFacts facts_;
};
using DatasetPointer = std::shared_ptr<const Dataset>;

// A dataset that functions make: `iterate` is called for each reading.
DatasetPointer MakeDataset(DatasetFacts facts,
                           std::function<absl::StatusOr<IteratorPointer>(Reading&)> iterate);
// These elements.
DatasetPointer DatasetOf(DatasetFacts facts, std::vector<Tensors> elements);
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
  return InvalidArgument(name, " must be a scalar");
}

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_DATASET_H_

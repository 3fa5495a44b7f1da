// A Dataset is a sequence of elements, which a variant tensor of tf.data holds. A DatasetIterator
// reads the elements.
//
// An element is a tuple of tensors, one per component.
// Thread safety: a dataset is immutable. Only one thread at a time may use an iterator.
// Errors: those of files, functions and shapes. After an error, Next continues with the element
// after the failed one.
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
#include "graph/op/attr.h"
#include "graph/status.h"
#include "graph/tensor/tensor.h"
#include "graph/tensor/variant.h"
#include "ops/data/reader_gate.h"

namespace sluice {

class SeedLog;  // ops/data/iterator_position.h

// Receives measurements of a reading, which is one pass over a dataset. Thread safety: Add may be
// called from any thread.
class MeasurementSink {
 public:
  virtual ~MeasurementSink() = default;
  // Adds a measurement of element `step` of the reading, counted from 0.
  virtual absl::Status Add(const std::string& name, double value, int64_t step) = 0;
};

// One pass over a dataset. The iterator of the dataset and the iterators of all datasets that it
// reads share one Reading.
struct Reading {
  Reading() = default;
  // Makes a reading that is a part of the reading `whole`. The part ends when `whole` ends, or
  // earlier.
  explicit Reading(Reading& whole)
      : cancellation(&whole.cancellation),
        seeds(whole.seeds),
        gate(whole.gate),
        reads_ahead(whole.gate != nullptr),
        measurements(whole.measurements) {}
  // The reading ends if the step is cancelled.
  explicit Reading(CancellationManager* step) : cancellation(step) {}
  // Cancelled when the reading ends, so that functions and threads end too.
  CancellationManager cancellation;
  // Records the random seeds that the reading draws, so that its position can be saved. Null if the
  // position is never saved.
  std::shared_ptr<SeedLog> seeds;
  // Pauses the reading while no call waits for an element. Null if the reading never pauses.
  ReaderGate* gate = nullptr;
  // Whether the reading prefetches. The gate then pauses it only some time after the last call.
  bool reads_ahead = false;
  std::shared_ptr<MeasurementSink> measurements;  // null: nothing is measured
};

// Returns CANCELLED if the reading has ended, and blocks while the reading pauses. An iterator that
// may skip or store many elements in one call of Next must call this function for each of these
// elements, so that the call of Next can be cancelled.
absl::Status CheckNotCancelled(const Reading& reading);

class DatasetIterator {
 public:
  virtual ~DatasetIterator() = default;
  // Reads the next element. False at the end; `*element` is then unspecified.
  virtual absl::StatusOr<bool> Next(Tensors* element) = 0;
};
using IteratorPointer = std::unique_ptr<DatasetIterator>;

// Facts about a dataset that are known without reading it.
struct DatasetFacts {
  static constexpr int64_t kInfinite = -1, kUnknown = -2;
  int64_t cardinality = kUnknown;  // number of elements
  int64_t rows = -1;  // size of dimension 0 of every element. -1: unknown, or not always equal
  // Serialised tensorflow.data.Options of the dataset and of all datasets that it reads.
  std::string options;

  bool is_finite() const { return cardinality >= 0; }
  // Sum returns a + b, and Product returns a * b. Both arguments are finite cardinalities. kUnknown
  // on overflow.
  static int64_t Sum(int64_t a, int64_t b);
  static int64_t Product(int64_t a, int64_t b);
  // Facts about a dataset that consists of `count` elements of this dataset.
  DatasetFacts WithCardinality(int64_t count) const;
  // Facts about a dataset that consists of f(n) elements of this dataset, where n is the
  // cardinality of this dataset. Infinite and unknown cardinalities stay as they are.
  template <typename F>
  DatasetFacts Scaled(F f) const {
    return is_finite() ? WithCardinality(f(cardinality)) : *this;
  }
  // Facts about a dataset with the cardinality and options of this dataset, but other elements.
  // Their `rows` are unknown.
  DatasetFacts OfOtherElements() const;
  // Facts about a dataset that reads this dataset and another one. It has the options of both. Its
  // cardinality and `rows` are unknown.
  DatasetFacts And(const DatasetFacts& other) const;
};

class Dataset {
 public:
  explicit Dataset(DatasetFacts facts) : facts_(std::move(facts)) {}
  virtual ~Dataset() = default;
  // `reading` must outlive the iterator.
  virtual absl::StatusOr<IteratorPointer> Iterate(Reading& reading) const = 0;
  // Whether At can read an element without reading the elements before it.
  virtual bool has_random_access() const { return false; }
  // The element at `index`, counted from 0. UNIMPLEMENTED if there is no random access,
  // FAILED_PRECONDITION if the cardinality is not finite, OUT_OF_RANGE if `index` is not below the
  // cardinality.
  virtual absl::StatusOr<Tensors> At(int64_t index, Reading& reading) const;
  const DatasetFacts& facts() const { return facts_; }

 private:
  const DatasetFacts facts_;
};
using DatasetPointer = std::shared_ptr<const Dataset>;

// A function that returns the element at `index`, which is below the cardinality.
using ElementAt = std::function<absl::StatusOr<Tensors>(int64_t index, Reading& reading)>;

// Makes a dataset that calls `iterate` for each reading. It has random access if `at` is not null.
DatasetPointer MakeDataset(DatasetFacts facts,
                           std::function<absl::StatusOr<IteratorPointer>(Reading&)> iterate,
                           ElementAt at = nullptr);
// Makes a dataset that reads from `input`. For each reading it calls start(iterator over input,
// reading), which returns the iterator over the new dataset.
template <typename Start>
DatasetPointer MakeDatasetOver(DatasetPointer input, DatasetFacts facts, Start start,
                               ElementAt at = nullptr) {
  return MakeDataset(
      std::move(facts),
      [input = std::move(input),
       start = std::move(start)](Reading& reading) -> absl::StatusOr<IteratorPointer> {
        SLUICE_ASSIGN_OR_RETURN(IteratorPointer inner, input->Iterate(reading));
        return IteratorPointer(start(std::move(inner), reading));
      },
      std::move(at));
}
// Returns the ElementAt for a dataset that has the same elements as `input`.
inline ElementAt SameElementOf(DatasetPointer input) {
  return [input = std::move(input)](int64_t i, Reading& reading) { return input->At(i, reading); };
}
// A dataset of the given elements.
DatasetPointer DatasetOf(DatasetFacts facts, std::vector<Tensors> elements);

// An iterator whose Next calls `next(element)`.
template <typename F>
IteratorPointer MakeIterator(F next) {
  class FunctionIterator final : public DatasetIterator {
   public:
    explicit FunctionIterator(F function) : next_(std::move(function)) {}
    absl::StatusOr<bool> Next(Tensors* element) override { return next_(element); }

   private:
    F next_;
  };
  return std::make_unique<FunctionIterator>(std::move(next));
}

// The op that made a dataset, with its attributes and inputs. A dataset's fingerprint is computed
// from its origin. Datasets with equal origins have equal elements, unless the elements depend on
// files, random numbers or state.
struct DatasetOrigin {
  std::string op;
  AttrMap attrs;
  Tensors inputs;  // among them the datasets that it reads, with their own origins
};

class DatasetVariant : public VariantObject {
 public:
  DatasetVariant(DatasetPointer dataset, int depth, std::shared_ptr<const DatasetOrigin> origin)
      : dataset_(std::move(dataset)), depth_(depth), origin_(std::move(origin)) {}
  std::string TypeName() const override { return "tensorflow::DatasetVariantWrapper"; }
  const DatasetPointer& dataset() const { return dataset_; }
  // The length of the longest chain of datasets, beginning with this one, in which each reads the
  // next.
  int depth() const { return depth_; }
  // Null if no op made the dataset, but another dataset did (a window).
  const std::shared_ptr<const DatasetOrigin>& origin() const { return origin_; }

 private:
  const DatasetPointer dataset_;
  const int depth_;
  const std::shared_ptr<const DatasetOrigin> origin_;
};

// The dataset in a tensor. INVALID_ARGUMENT if the tensor holds none.
absl::StatusOr<DatasetPointer> DatasetIn(const Tensor& tensor);
Tensor TensorOf(DatasetPointer dataset, int depth = 1,
                std::shared_ptr<const DatasetOrigin> origin = nullptr);
// The largest DatasetVariant::depth. It is limited because a call of DatasetIterator::Next needs a
// stack frame per dataset of the chain.
inline constexpr int kMaxDatasetDepth = 1000;
// Calls `take(element, reading)` for each element, until `take` or the dataset returns an error or
// the step is cancelled. Blocks.
absl::Status ReadAll(
    const KernelContext& c, const Dataset& dataset,
    const std::function<absl::Status(const Tensors& element, Reading& reading)>& take);
// Sets output 0 of the kernel to `dataset`, which reads the datasets among the kernel's inputs.
// RESOURCE_EXHAUSTED if its depth (DatasetVariant::depth) would exceed kMaxDatasetDepth.
absl::Status SetDatasetOutput(KernelContext& c, DatasetPointer dataset);

// INVALID_ARGUMENT if the element differs from `types` or `shapes`. `shapes` may be shorter than
// `types`; the last components may then have any shape.
absl::Status CheckElement(const Tensors& element, const std::vector<DataType>& types,
                          const std::vector<PartialShape>& shapes);

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_DATASET_H_

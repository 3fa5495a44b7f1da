// The resource behind iterator handles: a dataset, which a thread reads, and a position in it.
//
// An element is read when a call requests it. If the call is cancelled, the reading pauses, and the
// next call gets the element.
// Thread safety: all methods may be called from any thread. Callbacks run exactly once, without a
// lock, in the order of the calls.
// Errors: OUT_OF_RANGE "End of sequence" after the last element; FAILED_PRECONDITION before
// SetDataset; CANCELLED if the caller is cancelled; RESOURCE_EXHAUSTED if no thread can be started;
// errors of the dataset, after which the next element can be requested.
#ifndef SLUICE_OPS_DATA_ITERATOR_RESOURCE_H_
#define SLUICE_OPS_DATA_ITERATOR_RESOURCE_H_

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_reader.h"
#include "ops/data/iterator_position.h"

namespace sluice {

class IteratorResource : public Resource, public std::enable_shared_from_this<IteratorResource> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow4data16IteratorResourceE";
  static constexpr const char* kStringPrefix = "iterator\n";
  using Taken = DatasetReader::Taken;

  IteratorResource(std::string name, std::vector<DataType> types, std::vector<PartialShape> shapes);

  // Makes `dataset` the iterator's dataset, and moves to its beginning.
  absl::Status SetDataset(const DatasetPointer& dataset);
  // The number of elements and errors of the dataset that GetNext has delivered, and the state of
  // each generator of random seeds before the reading first used it. FAILED_PRECONDITION before
  // SetDataset.
  absl::StatusOr<IteratorPosition> Position() const;
  // Moves to a position in the dataset. Blocks while it reads the elements before the position
  // again. Cancelling `cancellation`, which may be null, ends this. After an error, the iterator
  // has no dataset.
  absl::Status MoveTo(const IteratorPosition& position, CancellationManager* cancellation);
  // Passes the next element or an error to `taken`.
  void GetNext(const Caller& caller, Taken taken);
  std::string DebugString() const override;
  const std::string& name() const { return name_; }

 private:
  using Source = DatasetReader::Source;
  struct State : DatasetReader::State {
    using DatasetReader::State::State;
    // Elements and errors of the dataset that GetNext has not delivered yet.
    std::deque<absl::StatusOr<Tensors>> ready ABSL_GUARDED_BY(attempts.mutex());
    // Number of elements that calls wait for and that the thread has not begun to read.
    int64_t requested ABSL_GUARDED_BY(attempts.mutex()) = 0;
    // Number of elements and errors of the dataset that GetNext has delivered.
    int64_t taken ABSL_GUARDED_BY(attempts.mutex()) = 0;
  };
  // Makes the source for a new reading of `dataset`. Its generators of random seeds start with the
  // states in `seeds`.
  absl::StatusOr<std::shared_ptr<Source>> Begin(const DatasetPointer& dataset, SeedStates seeds);
  // Starts a thread that reads `source`, of which `taken` elements were taken already.
  // RESOURCE_EXHAUSTED if no thread can be started.
  absl::Status Install(const std::shared_ptr<Source>& source, int64_t taken);
  // The function that the thread runs. Reads an element of `source` for each request, until the
  // state has another source.
  static void Read(const std::shared_ptr<State>& state, const std::shared_ptr<Source>& source);

  const std::string name_;
  const std::shared_ptr<State> state_;
  DatasetReader reader_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_ITERATOR_RESOURCE_H_

// The resource behind the handle of a MultiDeviceIterator. It reads a dataset once and deals the
// elements out to shards: element i goes to shard i modulo the number of shards, whatever the order
// of the calls.
//
// A thread reads the dataset, from the first call of GetNext on. It reads up to `max_buffer_size`
// elements ahead for each shard. If the shard of the next element already has that many, the thread
// waits until GetNext takes an element of this shard.
// Thread safety: all methods may be called from any thread. A callback runs exactly once, without a
// lock. The callbacks of one shard run in the order of the calls.
// Errors: OUT_OF_RANGE "End of sequence" after the last element; FAILED_PRECONDITION before
// SetDataset; INVALID_ARGUMENT if there is no such shard, or if the incarnation (SetDataset) is not
// the current one; CANCELLED if the caller is cancelled; RESOURCE_EXHAUSTED if the thread cannot be
// started;
// errors of the dataset, each for the shard whose element failed.
// Reference: TensorFlow's multi_device_iterator_ops.cc.
#ifndef SLUICE_OPS_PIPELINE_MULTI_DEVICE_ITERATOR_H_
#define SLUICE_OPS_PIPELINE_MULTI_DEVICE_ITERATOR_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_reader.h"

namespace sluice {

class MultiDeviceIterator final : public Resource,
                                  public std::enable_shared_from_this<MultiDeviceIterator> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow4data19MultiDeviceIteratorE";
  static constexpr const char* kStringPrefix = "multi_device_iterator\n";
  using Taken = DatasetReader::Taken;

  MultiDeviceIterator(std::string name, size_t shards, std::vector<DataType> types,
                      std::vector<PartialShape> shapes);

  // Lets the following calls of GetNext read `dataset` from its beginning. Returns the incarnation:
  // a number of this reading, which these calls must pass.
  absl::StatusOr<int64_t> SetDataset(const DatasetPointer& dataset, int64_t max_buffer_size);
  void GetNext(const Caller& caller, int64_t shard, int64_t incarnation, Taken taken);
  std::string DebugString() const override;

 private:
  using Source = DatasetReader::Source;
  struct Shard {
    std::deque<absl::StatusOr<Tensors>> ready;
    // Number of elements that calls wait for and that the thread has not begun to read.
    int64_t requested = 0;
  };
  struct State : DatasetReader::State {
    State(const std::string& name, size_t num_shards);
    bool ShouldRead() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(attempts.mutex());

    std::vector<Shard> shards ABSL_GUARDED_BY(attempts.mutex());
    size_t turn ABSL_GUARDED_BY(attempts.mutex()) = 0;  // the shard of the next element
    int64_t incarnation ABSL_GUARDED_BY(attempts.mutex()) = 0;
    bool has_begun ABSL_GUARDED_BY(attempts.mutex()) = false;  // a call requested an element
    int64_t max_buffer_size ABSL_GUARDED_BY(attempts.mutex()) = 0;
  };
  // The body of the thread.
  static void Read(const std::shared_ptr<State>& state, const std::shared_ptr<Source>& source);

  const std::shared_ptr<State> state_;
  DatasetReader reader_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_PIPELINE_MULTI_DEVICE_ITERATOR_H_

// An iterator as ops see it: a place in a dataset, read by a thread of its own, since what a
// dataset does (files, functions) may take its time and no step's thread waits for it.
//
// Elements are read when somebody asks; one that was read for a step that was cancelled is the next
// one's. Thread safety: all methods from any thread. Callbacks are called exactly once, without a
// lock, in the order in which they came.
// Errors: OUT_OF_RANGE "End of sequence"; FAILED_PRECONDITION before SetDataset; CANCELLED; those
// of the dataset, after which the next element may be asked for.
#ifndef SLUICE_OPS_DATA_ITERATOR_RESOURCE_H_
#define SLUICE_OPS_DATA_ITERATOR_RESOURCE_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/data/dataset.h"
#include "ops/staging/attempts.h"

namespace sluice {

class IteratorResource : public Resource, public std::enable_shared_from_this<IteratorResource> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow4data16IteratorResourceE";
  using Taken = std::function<void(absl::StatusOr<Tensors>)>;

  IteratorResource(std::string name, std::vector<DataType> types, std::vector<PartialShape> shapes);
  ~IteratorResource() override;

  // Goes in front of its first element.
  absl::Status SetDataset(const DatasetPointer& dataset);
  void GetNext(const Caller& caller, Taken taken);
  std::string DebugString() const override;
  const std::string& name() const { return name_; }

 private:
  // One reading of a dataset, and its thread.
  struct Source {
    Reading reading;
    IteratorPointer iterator;
    bool stop = false;  // guarded by State's mutex
  };
  // What the thread and the resource share; the thread may outlive the resource.
  struct State {
    State(const std::string& name)
        : attempts("iterator '" + name + "'", [this] {
            return source == nullptr ? "no dataset" : at_end ? "at its end" : "reading";
          }) {}
    Attempts attempts;
    // All guarded by attempts.mutex().
    std::condition_variable wake;
    std::shared_ptr<Source> source;
    std::deque<absl::StatusOr<Tensors>> ready;
    int64_t asked = 0;  // elements that somebody waits for, and nobody reads yet
    bool at_end = false;
  };
  static void Read(const std::shared_ptr<State>& state, const std::shared_ptr<Source>& source);
  void Stop();
  absl::Status CheckElement(const Tensors& element) const;

  const std::string name_;
  const std::vector<DataType> types_;
  const std::vector<PartialShape> shapes_;
  const std::shared_ptr<State> state_;
  std::mutex thread_mutex_;
  std::thread thread_;  // guarded by thread_mutex_
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_ITERATOR_RESOURCE_H_

// Reads datasets, one after another, for a resource that hands out their elements, such as an
// iterator. It reads on its own thread, so that no thread of a step waits for files or functions.
//
// Thread safety: all methods may be called from any thread. `attempts.mutex()` guards the State.
// Lifetime: the destructor ends the reading. The thread may outlive the reader.
#ifndef SLUICE_OPS_DATA_DATASET_READER_H_
#define SLUICE_OPS_DATA_DATASET_READER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "executor/wait/thread.h"
#include "graph/mutex.h"
#include "ops/data/dataset.h"
#include "ops/staging/attempts.h"

namespace sluice {

class DatasetReader {
 public:
  using Taken = std::function<void(absl::StatusOr<Tensors>)>;

  // One reading of a dataset.
  struct Source {
    explicit Source(DatasetPointer own_dataset) : dataset(std::move(own_dataset)) {}
    const DatasetPointer dataset;
    Reading reading;
    IteratorPointer iterator;
  };
  // The state that the resource's methods share with the reading thread.
  struct State {
    // `resource` names the resource in stall reports, which list the calls that wait.
    explicit State(std::string resource);
    Attempts attempts;  // the calls that wait for an element. Also has the lock of this struct
    CondVar wake;       // wakes the reading thread
    // Pauses the reading thread. Open while calls wait, and while a reading starts or stops.
    ReaderGate gate;
    // The source that is being read. If a thread finds here another source than its own, it ends.
    std::shared_ptr<Source> source ABSL_GUARDED_BY(attempts.mutex());
    bool at_end ABSL_GUARDED_BY(attempts.mutex()) = false;
  };

  // `types` and `shapes` are those of the components of an element.
  DatasetReader(std::string name, std::vector<DataType> types, std::vector<PartialShape> shapes,
                std::shared_ptr<State> state);
  ~DatasetReader() { Stop(); }

  // Ends the reading.
  void Stop() ABSL_LOCKS_EXCLUDED(thread_mutex_);
  // Ends the current reading, if any, and starts a thread that runs `read`, which reads `source`.
  // Before that, calls `reset` with the lock attempts.mutex() held. `reset` prepares the members
  // that the resource has added to State. RESOURCE_EXHAUSTED if no thread can be started.
  absl::Status Start(const std::shared_ptr<Source>& source, const std::function<void()>& reset,
                     const std::function<void()>& read) ABSL_LOCKS_EXCLUDED(thread_mutex_);
  // Runs `attempt(&element)` until it yields an element or an error (Attempts::RunFor), checks the
  // element, and passes the element or the error to `taken`. Keeps the gate open until then.
  // `owner` is the resource, which owns this reader. Attempts with the same number `line` end in
  // the order of their arrival. Attempts::kNoLine: this attempt has no order.
  template <typename F>
  void Take(std::shared_ptr<Resource> owner, const Caller& caller, int line, F attempt,
            Taken taken) {
    state_->gate.Enter();
    auto finish = [this, owner, taken = std::move(taken)](absl::StatusOr<Tensors> next) {
      state_->gate.Leave();
      if (next.ok()) {
        const absl::Status status = CheckElement(*next, types_, shapes_);
        if (!status.ok()) next = status;
      }
      taken(std::move(next));
    };
    state_->attempts.RunFor<Tensors>(owner, caller, line, std::move(attempt), std::move(finish));
  }

 private:
  const std::string name_;
  const std::vector<DataType> types_;
  const std::vector<PartialShape> shapes_;
  const std::shared_ptr<State> state_;
  Mutex thread_mutex_;
  Thread thread_ ABSL_GUARDED_BY(thread_mutex_);
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_DATASET_READER_H_

// Queues of tensors between steps of a graph. Attempts to put elements and attempts to take
// elements wait in two lines. Subclasses decide in which order the elements are taken.
//
// An element is a tuple of tensors, one per component. The attempts of a line succeed in the order
// of their arrival, and only the first one makes progress:
//   Q1. In the line of takers, only the first attempt can hold elements.
//   Q2. A taker that fails or is cancelled returns its elements to the front of the queue. Elements
//       that a cancelled attempt to put has already put stay in the queue.
//   Q3. After every change, both lines are tried until neither makes progress.
//
// Thread safety: all methods may be called from any thread.
// Blocking: no method blocks a thread. A callback runs exactly once, without the queue's lock:
// before the method returns, or in the later call or cancellation that ends the attempt.
// Limits: at most `capacity` elements. Those that the first taker already holds do not count.
// Errors: OUT_OF_RANGE if the queue is closed and has too few elements; CANCELLED if a caller
// enqueues to a closed queue or is cancelled; INVALID_ARGUMENT for a wrong dtype or shape. The
// texts are TensorFlow's.
#ifndef SLUICE_OPS_DATAFLOW_QUEUE_H_
#define SLUICE_OPS_DATAFLOW_QUEUE_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "graph/mutex.h"
#include "graph/tensor/tensor.h"
#include "ops/state/wait.h"

namespace sluice {

struct QueueSpec {
  std::string kind;  // "FIFOQueue", for messages
  std::string name;
  int64_t capacity = -1;             // negative for no limit
  std::vector<DataType> types;       // of the components
  std::vector<PartialShape> shapes;  // of the components. Empty for any shapes
  // For RandomShuffleQueue.
  int64_t min_after_dequeue = 0;
  int64_t seed = 0;
  int64_t seed2 = 0;
};

class QueueResource : public Resource, public std::enable_shared_from_this<QueueResource> {
 public:
  static constexpr char kTypeName[] = "N10tensorflow14QueueInterfaceE";
  using Done = std::function<void(absl::Status)>;
  using Taken = std::function<void(absl::StatusOr<Tensors>)>;

  explicit QueueResource(QueueSpec options);

  void Enqueue(const Caller& caller, Tensors element, Done done);
  // Enqueues row i of every component as element i, one by one as capacity becomes free. With
  // `replaces`, removes all elements of the queue just before the first row enters.
  void EnqueueMany(const Caller& caller, Tensors batch, Done done, bool replaces = false);
  void Dequeue(const Caller& caller, Taken taken);
  // Dequeues without waiting, or returns nothing if the caller would have to wait.
  std::optional<Tensors> DequeueAtOnce(const Caller& caller);
  // Dequeues `count` elements, stacked along a new first dimension. With `allow_fewer` it takes
  // fewer elements, at least one, from a closed queue.
  void DequeueMany(const Caller& caller, int64_t count, Taken taken, bool allow_fewer = false);
  void DequeueUpTo(const Caller& caller, int64_t count, Taken taken) {
    DequeueMany(caller, count, std::move(taken), /*allow_fewer=*/true);
  }
  // Closes the queue once all waiting attempts to enqueue have succeeded. With
  // `cancel_pending_enqueues`, ends these attempts with CANCELLED and closes the queue immediately.
  // Errors of later dequeues contain `reason`.
  void Close(const Caller& caller, bool cancel_pending_enqueues, Done done,
             const std::string& reason = "");

  bool is_closed() const;
  int64_t size() const;
  const QueueSpec& options() const { return options_; }
  // Types of the components of a dequeued element. It may lack components that were enqueued.
  virtual absl::Span<const DataType> taken_types() const { return options_.types; }
  std::string DebugString() const override;

  // INVALID_ARGUMENT "Shared queue 'q' has capacity 3 but requested capacity was 4" if a node that
  // shares this queue by name requests another kind, capacity, type or shape.
  virtual absl::Status CheckSame(const QueueSpec& requested) const;

 protected:
  // --- elements
  virtual int64_t Count() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  // Number of elements that can be taken now. Less than Count if some must stay.
  virtual int64_t Available(bool closed) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return Count();
  }
  virtual void Put(Tensors element) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  virtual Tensors Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  // Puts back `elements`, in the order in which they were taken, so that Take yields them again.
  virtual void PutBack(std::vector<Tensors> elements) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  // Called when DequeueMany has taken all its `rows` from the queue, before its callback gets them.
  // May remove further elements from the queue.
  virtual void Completed(const std::vector<Tensors>& rows) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {}
  // Text about the rows of an incomplete batch, for stall reports. A stall report is a list of all
  // operations that wait.
  virtual std::string DescribeRows(const std::vector<Tensors>& rows) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return "";
  }

  // --- checks and results
  virtual absl::Status CheckElement(const Tensors& element) const;
  virtual absl::Status CheckBatch(const Tensors& batch) const;
  // Returns the batch for DequeueMany: per component, the tensors of all `rows`, stacked along a
  // new first dimension. There is at least one row.
  virtual absl::StatusOr<Tensors> Stack(Allocator& allocator, std::vector<Tensors> rows) const;
  // Whether the component shapes are known. DequeueMany requires them.
  virtual bool HasShapes() const;
  // A batch without elements.
  virtual Tensors EmptyBatch() const;
  // The kind of queue in messages about single elements.
  virtual std::string kind_of_one() const { return options_.kind; }

  // Calls `change`, which may change the queue's elements, with the lock held. The elements that
  // the first taker holds are returned to the queue before that. If `takers_end` is an error, the
  // waiting takers end with this error.
  void Change(const absl::Status& takers_end, const std::function<void()>& change)
      ABSL_LOCKS_EXCLUDED(mutex_);

  mutable Mutex mutex_;
  const QueueSpec options_;

 private:
  enum class Action { kPut, kClose, kTake };
  struct Attempt {
    int64_t id;
    Action action;
    Caller caller;
    std::vector<Tensors> rows;  // kPut: elements left, in reverse order. kTake: taken so far
    int64_t missing = 0;        // kTake: number of elements still to take
    bool is_many = false;
    bool allow_fewer = false;
    bool replaces = false;  // kPut: the queue's elements are still to be removed
    Done done;
    Taken taken;
    Wait wait;
    absl::Status status;
    std::string reason;  // kClose
  };
  using Line = std::list<Attempt>;
  enum class Progress { kNone, kSome, kComplete };

  // If no attempt waits and the queue is not full, puts the element without making an Attempt and
  // returns true.
  bool PutAtOnce(Tensors& element);
  void Submit(Attempt attempt) ABSL_LOCKS_EXCLUDED(mutex_);
  // Tries both lines (Q3). When an attempt ends, moves it to `complete`.
  void TryLines(Line* complete) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool TryLine(Line& line, Line* complete) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Progress TryPut(Attempt& attempt) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Progress TryClose(Attempt& attempt) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Progress TryTake(Attempt& attempt) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends an attempt with CANCELLED.
  void CancelAttempt(Line& line, Line::iterator attempt, Line* complete)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Cancel(int64_t id) ABSL_LOCKS_EXCLUDED(mutex_);
  // Calls the callbacks of the attempts.
  void Finish(Line complete) ABSL_LOCKS_EXCLUDED(mutex_);
  std::string DescribeAttempt(int64_t id) const ABSL_LOCKS_EXCLUDED(mutex_);
  std::string State() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Waiting attempts keep the queue alive.
  Line putting_ ABSL_GUARDED_BY(mutex_);
  Line taking_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::string reason_ ABSL_GUARDED_BY(mutex_);  // why the queue was closed, if it is known
  int64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_QUEUE_H_

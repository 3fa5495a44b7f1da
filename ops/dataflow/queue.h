// A queue of tensors between steps of a graph: two lines of attempts, to put elements in and to
// take elements out. What order elements come out in is the subclass's.
//
// An element is a tuple of tensors, one a component. Attempts of each line succeed in the order in
// which they came; only the head of a line makes progress:
//   Q1. an attempt in the line of takers, but for the head, holds no element;
//   Q2. an attempt that fails or is cancelled gives back the elements that it holds, to the front;
//   Q3. after every change both lines are tried until neither moves.
//
// Thread safety: all methods may be called from any thread.
// Blocking: none blocks a thread. Callbacks are called exactly once, never while this queue's lock
// is
//   held: at once, or by whoever makes the attempt succeed, or when the caller is cancelled.
// Limits: at most `capacity` elements, not counting those that the head of the takers holds.
// Errors: OUT_OF_RANGE when closed and too few elements are left; CANCELLED when closed (putting)
// or
//   when the caller is cancelled; INVALID_ARGUMENT on a wrong dtype or shape. Texts are
//   TensorFlow's.
#ifndef SLUICE_OPS_DATAFLOW_QUEUE_H_
#define SLUICE_OPS_DATAFLOW_QUEUE_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "graph/tensor/tensor.h"
#include "ops/state/wait.h"

namespace sluice {

struct QueueSpec {
  std::string kind;  // "FIFOQueue", as messages say it
  std::string name;
  int64_t capacity = -1;             // negative: no bound
  std::vector<DataType> types;       // of the components
  std::vector<PartialShape> shapes;  // of the components, or empty: any
  // Of a queue that shuffles.
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
  ~QueueResource() override;

  void Enqueue(const Caller& caller, Tensors element, Done done);
  // Row i of every component makes element i. Rows go in one by one, as there is room.
  // With `replaces` they take the place of the elements that are there when their turn comes.
  void EnqueueMany(const Caller& caller, Tensors batch, Done done, bool replaces = false);
  void Dequeue(const Caller& caller, Taken taken);
  // The same where nobody has to wait for it.
  std::optional<Tensors> DequeueAtOnce(const Caller& caller);
  // `count` elements, stacked along a new first dimension.
  void DequeueMany(const Caller& caller, int64_t count, Taken taken);
  // The same; once the queue is closed, fewer elements will do, but not none.
  void DequeueUpTo(const Caller& caller, int64_t count, Taken taken);
  // Takes its turn behind the attempts to put elements in that came before it; with
  // `cancel_pending_enqueues` these end with CANCELLED. `reason` is told to who finds too few
  // elements.
  void Close(const Caller& caller, bool cancel_pending_enqueues, Done done,
             const std::string& reason = "");

  bool is_closed() const;
  int64_t size() const;
  const QueueSpec& options() const { return options_; }
  // Of the components of an element that is taken; may lack what only goes in.
  virtual absl::Span<const DataType> taken_types() const { return options_.types; }
  std::string DebugString() const override;

  // Whether a second op of this name asks for the same queue; "Shared queue 'q' has capacity 3 but
  // requested capacity was 4" otherwise.
  virtual absl::Status CheckSame(const QueueSpec& requested) const;

 protected:
  // --- elements; called with the lock held
  virtual int64_t Count() const = 0;
  // How many may be taken now: less than Count where some must stay.
  virtual int64_t Available(bool closed) const { return Count(); }
  virtual void Put(Tensors element) = 0;
  virtual Tensors Take() = 0;
  // In front, in this order; what was taken last is back in its place.
  virtual void PutBack(std::vector<Tensors> elements) = 0;
  // A batch is complete: who asked for it will get `rows`. Elements may be removed.
  virtual void Completed(const std::vector<Tensors>& rows) {}
  // What a report adds about the rows of a batch that is not complete.
  virtual std::string DescribeRows(const std::vector<Tensors>& rows) const { return ""; }

  // --- what differs in checks and results; called without the lock
  virtual absl::Status CheckElement(const Tensors& element) const;
  virtual absl::Status CheckBatch(const Tensors& batch) const;
  // Stacks rows; there is at least one.
  virtual absl::StatusOr<Tensors> Stack(Allocator& allocator, std::vector<Tensors> rows) const;
  // Whether DequeueMany can say what it returns.
  virtual bool HasShapes() const;
  // A batch of no elements.
  virtual Tensors EmptyBatch() const;
  // The kind as messages of single elements say it.
  virtual std::string kind_of_one() const { return options_.kind; }

  absl::Status CheckTypes(const Tensors& tuple) const;
  // Changes the elements in place of an attempt; what the head of the takers holds is given back
  // before. Who waits to take ends with `takers_end`, unless that is OK.
  void Change(const absl::Status& takers_end, const std::function<void()>& change);
  std::mutex& mutex() const { return mutex_; }
  const QueueSpec options_;

 private:
  enum class Action { kPut, kClose, kTake };
  struct Attempt {
    int64_t id;
    Action action;
    Caller caller;
    std::vector<Tensors> rows;  // kPut: still to go in, in reverse; kTake: taken so far
    int64_t wanted = 0;         // kTake: still to be taken
    bool is_many = false;
    bool fewer_will_do = false;
    bool replaces = false;  // kPut: and has not done so yet
    Done done;
    Taken taken;
    Wait wait;
    absl::Status status;
    std::string reason;  // kClose
  };
  using Line = std::list<Attempt>;
  enum class Progress { kNone, kSome, kComplete };

  // One element in where nobody waits: no attempt has to be made of it.
  bool PutAtOnce(Tensors& element);
  void Submit(Line& line, Attempt attempt);
  // Both lines, until neither moves; complete attempts are moved to `complete`. Lock held.
  void TryLines(Line* complete);
  bool TryLine(Line& line, Line* complete);
  Progress TryPut(Attempt& attempt);
  Progress TryClose(Attempt& attempt);
  void SetClosed(const std::string& reason);  // lock held
  Progress TryTake(Attempt& attempt);
  void Cancel(int64_t id);
  // Calls the callbacks. Lock not held.
  void Finish(Line complete);
  void FinishTake(Attempt& attempt);
  void TakeMany(const Caller& caller, int64_t count, bool fewer_will_do, Taken taken);
  std::string DescribeAttempt(int64_t id) const;
  std::string State() const;  // lock held

  mutable std::mutex mutex_;
  Line putting_;         // guarded by mutex_
  Line taking_;          // guarded by mutex_
  bool closed_ = false;  // guarded by mutex_
  std::string reason_;   // guarded by mutex_; why it was closed, "" unless somebody said so
  int64_t next_id_ = 1;  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_QUEUE_H_

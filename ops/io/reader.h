// A reader reads records from files. It takes the names of the files (units of work) from a queue.
//
// The reads of a reader are served one after the other, in the order of their arrival. A read that
// needs a new file waits for the queue, without holding a thread or a lock.
//
// Thread safety: all methods may be called from any thread. Callbacks run exactly once, without a
// lock.
// Errors: OUT_OF_RANGE if the queue is closed and empty; CANCELLED if the caller is cancelled;
// those of files; INVALID_ARGUMENT if the elements of the queue are not names. After an error, the
// reader keeps its position in the current file.
#ifndef SLUICE_OPS_IO_READER_H_
#define SLUICE_OPS_IO_READER_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "graph/mutex.h"
#include "ops/dataflow/queue.h"
#include "ops/state/wait.h"

namespace sluice {

struct Record {
  std::string key;
  std::string value;
};

class Reader : public Resource, public std::enable_shared_from_this<Reader> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow15ReaderInterfaceE";
  using Records = std::vector<Record>;
  using Done = std::function<void(absl::StatusOr<Records>)>;

  // Messages name the reader by `kind` and `name`: "TextLineReader 'lines'".
  Reader(std::string kind, std::string name) : kind_(std::move(kind)), name_(std::move(name)) {}

  // Reads the next record.
  void Read(const Caller& caller, std::shared_ptr<QueueResource> queue, Done done);
  // Reads `count` records, or fewer, but at least one, if the current file ends.
  void ReadUpTo(const Caller& caller, std::shared_ptr<QueueResource> queue, int64_t count,
                Done done);

  int64_t num_records_produced() const;
  int64_t num_work_units_completed() const;
  absl::Status Reset();
  // UNIMPLEMENTED for readers that can be in the middle of a file, because the position in a file
  // is not saved. RestoreState returns INVALID_ARGUMENT if `state` is not a valid state.
  absl::StatusOr<std::string> SerializeState() const;
  absl::Status RestoreState(const std::string& state);

  std::string DebugString() const override;
  const std::string& kind() const { return kind_; }

 protected:
  // The virtual methods differ between the kinds of readers. `work` is the string that was
  // dequeued, usually the name of a file. StartWork begins to read it.
  virtual absl::Status StartWork(const std::string& work)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_) = 0;
  // Reads the next record. Returns false at the end of the work, without a record. Sets `*is_last`
  // if the record that it returns is the only one of the work.
  virtual absl::StatusOr<bool> Next(const std::string& work, Record* record, bool* is_last)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_) = 0;
  // Ends the work, for example by closing the file.
  virtual void FinishWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_) {}
  // Whether SerializeState and RestoreState are implemented.
  virtual bool HasState() const { return false; }

  std::string Describe() const;

  mutable Mutex state_mutex_;

 private:
  struct Request {
    int64_t id = 0;
    Caller caller;
    std::shared_ptr<QueueResource> queue;
    int64_t records_max = 1;
    Done done;
    Records records;
    Wait wait;
  };
  using Line = std::list<Request>;

  void Submit(Request request);
  void Cancel(int64_t id);
  // Serves requests in order, until one has to wait for its queue.
  void Serve();
  // True if the request is complete, false if it needs another unit of work.
  bool ReadWork(Request& request, absl::Status* status);
  absl::Status ReadState(const std::string& bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  void ResetState() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  void StartDequeued(absl::StatusOr<Tensors> element, absl::Status* status);
  // Continues after the first request has received its work or an error.
  void Resume(const absl::Status& status);
  // Removes the first request and calls its callback. Returns whether there is another request.
  bool Answer(const absl::Status& status);

  const std::string kind_;
  const std::string name_;

  Mutex line_mutex_;
  Line line_ ABSL_GUARDED_BY(line_mutex_);  // the first request is being served
  int64_t next_id_ ABSL_GUARDED_BY(line_mutex_) = 1;

  std::string work_ ABSL_GUARDED_BY(state_mutex_);
  int64_t work_started_ ABSL_GUARDED_BY(state_mutex_) = 0;
  int64_t work_finished_ ABSL_GUARDED_BY(state_mutex_) = 0;
  int64_t records_produced_ ABSL_GUARDED_BY(state_mutex_) = 0;
};

}  // namespace sluice

#endif  // SLUICE_OPS_IO_READER_H_

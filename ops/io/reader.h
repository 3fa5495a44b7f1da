// Readers: records from files (units of work) whose names come out of a queue.
//
// Reads of one reader are served one after the other, in the order in which they came. One that
// needs a new file asks the queue for a name and waits there without holding a thread or a lock.
//
// Thread safety: all methods from any thread. Callbacks are called exactly once, without a lock.
// Errors: those of the queue (OUT_OF_RANGE when it is closed and empty, CANCELLED), of the files,
// INVALID_ARGUMENT on a queue of anything but names. After an error the file at hand is left where
// it was.
#ifndef SLUICE_OPS_IO_READER_H_
#define SLUICE_OPS_IO_READER_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
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

  // `kind` and `name` are what messages say: "TextLineReader 'lines'".
  Reader(std::string kind, std::string name) : kind_(std::move(kind)), name_(std::move(name)) {}

  // The next record.
  void Read(const Caller& caller, std::shared_ptr<QueueResource> queue, Done done);
  // At least one record and at most `count`: fewer where the file at hand ends.
  void ReadUpTo(const Caller& caller, std::shared_ptr<QueueResource> queue, int64_t count,
                Done done);

  int64_t num_records_produced() const;
  int64_t num_work_units_completed() const;
  absl::Status Reset();
  // UNIMPLEMENTED for readers that stand in the middle of a file.
  absl::StatusOr<std::string> SerializeState() const;
  absl::Status RestoreState(const std::string& state);

  std::string DebugString() const override;
  const std::string& kind() const { return kind_; }

 protected:
  // What a kind of reader is; called with the state's lock held.
  virtual absl::Status StartWork(const std::string& work) = 0;
  // False at the end of the work. A reader whose work is one record sets `*is_last`.
  virtual absl::StatusOr<bool> Next(const std::string& work, Record* record, bool* is_last) = 0;
  virtual void FinishWork() {}
  virtual bool HasState() const { return false; }

  std::string Describe() const;

 private:
  struct Request {
    int64_t id = 0;
    Caller caller;
    std::shared_ptr<QueueResource> queue;
    int64_t wanted = 1;
    Done done;
    Records records;
    Wait wait;
  };
  using Line = std::list<Request>;

  void Submit(Request request);
  void Cancel(int64_t id);
  // Serves the head of the line, and those behind it, until one has to wait for its queue.
  void Serve();
  // True when the head is answered; false when it needs another unit of work.
  bool ReadWork(Request& request, absl::Status* status);
  void TakeWork(absl::StatusOr<Tensors> element, absl::Status* status);
  // The head's work has come, or its error.
  void Resume(const absl::Status& status);
  // Takes the head off the line and answers it. Whether there is another.
  bool Answer(const absl::Status& status);

  const std::string kind_;
  const std::string name_;

  std::mutex line_mutex_;
  Line line_;            // guarded by line_mutex_; the head is being served
  int64_t next_id_ = 1;  // guarded by line_mutex_

  mutable std::mutex state_mutex_;
  // All guarded by state_mutex_.
  std::string work_;
  int64_t work_started_ = 0;
  int64_t work_finished_ = 0;
  int64_t records_produced_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_OPS_IO_READER_H_

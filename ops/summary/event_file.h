// A file of events for TensorBoard.
//
// Its name is `<logdir>/events.out.tfevents.<seconds>.<host><suffix>`. It is a record file
// (ops/io/record_file.h) whose records are events. The first event is the version of the format. An
// existing file is never overwritten, unlike in TensorFlow: the seconds in the name are increased
// until the name is new.
//
// Thread safety: all methods may be called from any thread.
// Errors: those of the file system, with the name of the file; FAILED_PRECONDITION after Close;
// INVALID_ARGUMENT if an event has more than 2 GiB. After the first error of the file system, the
// file does not change and every call returns this error.
#ifndef SLUICE_OPS_SUMMARY_EVENT_FILE_H_
#define SLUICE_OPS_SUMMARY_EVENT_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/files/file_system.h"
#include "graph/format/messages.h"
#include "graph/mutex.h"

namespace sluice {

class EventFile {
 public:
  // Makes the file, its folder and the parents of the folder.
  static absl::StatusOr<std::unique_ptr<EventFile>> Open(const std::string& logdir,
                                                         std::string_view suffix = "");
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  absl::Status Write(const pb::Event& event);
  // Writes a serialised Event.
  absl::Status WriteBytes(std::string_view event);
  // Passes the written events to the operating system, so that readers see them and they survive a
  // crash of the program.
  absl::Status Flush();
  absl::Status Close();
  const std::string& path() const { return path_; }

 private:
  EventFile(std::string path, std::unique_ptr<WritableFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  absl::Status FlushLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  Mutex mutex_;
  std::unique_ptr<WritableFile> file_ ABSL_GUARDED_BY(mutex_);  // null after Close
  std::string buffer_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);  // the first error
};

// Seconds since 1970, the time of an event.
double WallTime();

}  // namespace sluice

#endif  // SLUICE_OPS_SUMMARY_EVENT_FILE_H_

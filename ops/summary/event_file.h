// One event file: what TensorBoard reads.
//
// `<logdir>/events.out.tfevents.<seconds>.<host><suffix>`, record framing (ops/io/record_file.h),
// first the event that says the file's version. A file that is there is never overwritten: the
// seconds in the name are then one more (TensorFlow overwrites it).
//
// Thread safety: all methods from any thread. Errors: what the file system says, with the file's
// name; after the first one the file is as it was, and every call returns it.
#ifndef SLUICE_OPS_SUMMARY_EVENT_FILE_H_
#define SLUICE_OPS_SUMMARY_EVENT_FILE_H_

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/format/messages.h"

namespace sluice {

class EventFile {
 public:
  // Makes the folder (and those above it) and the file.
  static absl::StatusOr<std::unique_ptr<EventFile>> Open(const std::string& logdir,
                                                         std::string_view suffix = "");
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  absl::Status Write(const pb::Event& event);
  // An Event, serialised.
  absl::Status WriteBytes(std::string_view event);
  // The file has all that was written: readers and a crash of the program find it.
  absl::Status Flush();
  absl::Status Close();
  const std::string& path() const { return path_; }

 private:
  EventFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  absl::Status Append(std::string_view bytes);

  const std::string path_;
  std::mutex mutex_;
  std::FILE* file_;      // guarded by mutex_; null when closed
  absl::Status status_;  // guarded by mutex_; the first error
};

// Seconds since 1970, as events carry them.
double WallTime();

}  // namespace sluice

#endif  // SLUICE_OPS_SUMMARY_EVENT_FILE_H_

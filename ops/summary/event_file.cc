#include "ops/summary/event_file.h"

#include <unistd.h>

#include <chrono>

#include "absl/strings/str_format.h"
#include "executor/files/file_policy.h"
#include "executor/files/files.h"
#include "graph/format/proto/event.pb.h"
#include "graph/status.h"
#include "ops/io/record_file.h"

namespace sluice {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;

std::string HostName() {
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

}  // namespace

double WallTime() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

absl::StatusOr<std::unique_ptr<EventFile>> EventFile::Open(const std::string& logdir,
                                                           std::string_view suffix) {
  SLUICE_ASSIGN_OR_RETURN(FileSystem * files, FileSystemOf(logdir));
  SLUICE_RETURN_IF_ERROR(MakeDirectories(logdir));
  const double now = WallTime();
  const std::string host = HostName();
  for (auto seconds = static_cast<int64_t>(now);; ++seconds) {
    const std::string path =
        StrCat(logdir, logdir.ends_with('/') ? "" : "/", "events.out.tfevents.",
               absl::StrFormat("%010d", seconds), ".", host, suffix);
    AuditFile("write", path);
    absl::StatusOr<std::unique_ptr<WritableFile>> made = files->Write(path, WriteMode::kNew);
    if (absl::IsAlreadyExists(made.status())) continue;
    SLUICE_RETURN_IF_ERROR(made.status());
    std::unique_ptr<EventFile> file(new EventFile(path, *std::move(made)));
    pb::Event first;
    first.set_wall_time(now);
    first.set_file_version("brain.Event:2");
    first.mutable_source_metadata()->set_writer("tensorflow.core.util.events_writer");
    SLUICE_RETURN_IF_ERROR(file->Write(first));
    SLUICE_RETURN_IF_ERROR(file->Flush());
    return file;
  }
}

EventFile::~EventFile() { Close().IgnoreError(); }

absl::Status EventFile::Write(const pb::Event& event) {
  std::string bytes;
  SLUICE_INVALID_IF(!event.SerializeToString(&bytes), "expected an event of less than 2 GiB for '",
                    path_, "'");
  return WriteBytes(bytes);
}

absl::Status EventFile::WriteBytes(std::string_view event) {
  const RecordFrame frame(event);
  ScopedLock lock(&mutex_);
  if (file_ == nullptr && status_.ok()) {
    return absl::FailedPreconditionError(StrCat(path_, " is closed"));
  }
  for (std::string_view part : {frame.header(), event, frame.footer()}) buffer_.append(part);
  return buffer_.size() < kBufferBytes ? status_ : FlushLocked();
}

absl::Status EventFile::FlushLocked() {
  if (file_ != nullptr && status_.ok()) status_ = file_->Write(buffer_);
  buffer_.clear();
  return status_;
}

absl::Status EventFile::Flush() {
  ScopedLock lock(&mutex_);
  return FlushLocked();
}

absl::Status EventFile::Close() {
  ScopedLock lock(&mutex_);
  if (file_ == nullptr) return status_;
  FlushLocked().IgnoreError();  // status_ keeps the error
  status_.Update(file_->Close());
  file_ = nullptr;
  return status_;
}

}  // namespace sluice

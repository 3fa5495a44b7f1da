#include "ops/summary/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "graph/format/proto/event.pb.h"
#include "graph/status.h"
#include "ops/io/byte_source.h"
#include "ops/io/record_file.h"

namespace sluice {
namespace {

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
  std::error_code error;
  std::filesystem::create_directories(logdir, error);
  if (error) return FileError(logdir, error.value());
  const double now = WallTime();
  const std::string host = HostName();
  for (auto seconds = static_cast<int64_t>(now);; ++seconds) {
    const std::string path =
        StrCat(logdir, logdir.ends_with('/') ? "" : "/", "events.out.tfevents.",
               absl::StrFormat("%010d", seconds), ".", host, suffix);
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) return FileError(path, errno);
    std::unique_ptr<EventFile> file(new EventFile(path, fdopen(descriptor, "wb")));
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
  for (std::string_view part : {frame.header(), event, frame.footer()}) {
    SLUICE_RETURN_IF_ERROR(Append(part));
  }
  return absl::OkStatus();
}

absl::Status EventFile::Append(std::string_view bytes) {
  if (!status_.ok()) return status_;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    status_ = FileError(path_, errno);
  }
  return status_;
}

absl::Status EventFile::Flush() {
  ScopedLock lock(&mutex_);
  if (file_ != nullptr && status_.ok() && std::fflush(file_) != 0) {
    status_ = FileError(path_, errno);
  }
  return status_;
}

absl::Status EventFile::Close() {
  ScopedLock lock(&mutex_);
  if (file_ == nullptr) return status_;
  if (std::fclose(file_) != 0) status_.Update(FileError(path_, errno));
  file_ = nullptr;
  return status_;
}

}  // namespace sluice

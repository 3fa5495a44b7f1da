#include "ops/checkpoint/files.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>

#include "graph/status.h"

namespace sluice {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;
constexpr size_t kHookedWriteBytes = 64;

// Set while no thread writes.
FileHook* hook = nullptr;

absl::Status Announce(FileChange::Kind kind, const std::string& path, const std::string& to = "") {
  return hook == nullptr ? absl::OkStatus() : (*hook)({kind, path, to});
}

absl::Status Failed(const std::string& path, int error = errno) {
  absl::Status status = absl::ErrnoToStatus(error, "");
  return absl::Status(status.code(), StrCat(path, "; ", std::strerror(error)));
}

int OpenFile(const std::string& path, int flags) {
  int fd;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

}  // namespace

void SetFileHook(FileHook h) {
  delete hook;
  hook = h ? new FileHook(std::move(h)) : nullptr;
}

absl::StatusOr<std::unique_ptr<CheckpointFileWriter>> CheckpointFileWriter::Create(
    const std::string& path) {
  SLUICE_RETURN_IF_ERROR(Announce(FileChange::kCreate, path));
  const int fd = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (fd < 0) return Failed(path);
  return std::unique_ptr<CheckpointFileWriter>(new CheckpointFileWriter(path, fd));
}

CheckpointFileWriter::~CheckpointFileWriter() {
  if (fd_ >= 0) close(fd_);
}

absl::Status CheckpointFileWriter::Append(std::string_view bytes) {
  size_ += static_cast<int64_t>(bytes.size());
  if (buffer_.size() + bytes.size() <= kBufferBytes) {
    buffer_.append(bytes);
    return absl::OkStatus();
  }
  SLUICE_RETURN_IF_ERROR(Flush());
  if (bytes.size() >= kBufferBytes) return Write(bytes);
  buffer_.append(bytes);
  return absl::OkStatus();
}

absl::Status CheckpointFileWriter::Flush() {
  absl::Status written = Write(buffer_);
  buffer_.clear();
  return written;
}

absl::Status CheckpointFileWriter::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t piece =
        hook == nullptr ? bytes.size()
                        : std::min(bytes.size(), std::max(kHookedWriteBytes, bytes.size() / 4));
    SLUICE_RETURN_IF_ERROR(Announce(FileChange::kWrite, path_));
    const ssize_t n = write(fd_, bytes.data(), piece);
    if (n < 0) {
      if (errno == EINTR) continue;
      return Failed(path_);
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status CheckpointFileWriter::SyncAndClose() {
  SLUICE_RETURN_IF_ERROR(Flush());
  SLUICE_RETURN_IF_ERROR(Announce(FileChange::kSync, path_));
  if (fsync(fd_) != 0) return Failed(path_);
  const int fd = std::exchange(fd_, -1);
  if (close(fd) != 0) return Failed(path_);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<FileReader>> FileReader::Open(const std::string& path) {
  const int fd = OpenFile(path, O_RDONLY);
  if (fd < 0) return Failed(path);
  struct stat info;
  if (fstat(fd, &info) != 0) {
    const int error = errno;
    close(fd);
    return Failed(path, error);
  }
  if (S_ISDIR(info.st_mode)) {
    close(fd);
    return absl::FailedPreconditionError(StrCat(path, "; Is a directory"));
  }
  return std::unique_ptr<FileReader>(new FileReader(path, fd, info.st_size));
}

FileReader::~FileReader() { close(fd_); }

absl::Status FileReader::ReadAt(int64_t offset, int64_t n, void* to) const {
  char* at = static_cast<char*>(to);
  while (n > 0) {
    const ssize_t got = pread(fd_, at, static_cast<size_t>(n), offset);
    if (got < 0) {
      if (errno == EINTR) continue;
      return Failed(path_);
    }
    if (got == 0) {
      return absl::OutOfRangeError(StrCat(path_, ": the file ends ", n, " bytes too early"));
    }
    at += got;
    offset += got;
    n -= got;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<FileReader> file, FileReader::Open(path));
  std::string contents(static_cast<size_t>(file->size()), '\0');
  SLUICE_RETURN_IF_ERROR(file->ReadAt(0, file->size(), contents.data()));
  if (file->size() > 0) return contents;
  // Files in /proc and pipes have size 0.
  const int fd = OpenFile(path, O_RDONLY);
  if (fd < 0) return Failed(path);
  char piece[4096];
  ssize_t n;
  while ((n = read(fd, piece, sizeof(piece))) > 0) contents.append(piece, static_cast<size_t>(n));
  close(fd);
  return contents;
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view contents) {
  const std::string temporary = TemporaryName(path);
  absl::Status status = [&] {
    SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointFileWriter> file,
                            CheckpointFileWriter::Create(temporary));
    SLUICE_RETURN_IF_ERROR(file->Append(contents));
    SLUICE_RETURN_IF_ERROR(file->SyncAndClose());
    SLUICE_RETURN_IF_ERROR(RenameFile(temporary, path));
    return SyncDirectory(DirectoryOf(path));
  }();
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

bool FileExists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

absl::StatusOr<double> ModificationTime(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return Failed(path);
  return static_cast<double>(info.st_mtim.tv_sec) +
         1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
}

absl::Status RenameFile(const std::string& from, const std::string& to) {
  SLUICE_RETURN_IF_ERROR(Announce(FileChange::kRename, from, to));
  return rename(from.c_str(), to.c_str()) == 0 ? absl::OkStatus() : Failed(from);
}

absl::Status RemoveFile(const std::string& path) {
  SLUICE_RETURN_IF_ERROR(Announce(FileChange::kRemove, path));
  return unlink(path.c_str()) == 0 ? absl::OkStatus() : Failed(path);
}

absl::Status RemoveEmptyDirectory(const std::string& path) {
  SLUICE_RETURN_IF_ERROR(Announce(FileChange::kRemove, path));
  return rmdir(path.c_str()) == 0 ? absl::OkStatus() : Failed(path);
}

absl::Status MakeDirectories(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (!part.empty() && !FileExists(part)) {
      SLUICE_RETURN_IF_ERROR(Announce(FileChange::kMakeDirectory, part));
      if (mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) return Failed(part);
      SLUICE_RETURN_IF_ERROR(SyncDirectory(DirectoryOf(part)));
    }
    if (end == path.npos) return absl::OkStatus();
  }
}

absl::Status SyncDirectory(const std::string& path) {
  SLUICE_RETURN_IF_ERROR(Announce(FileChange::kSyncDirectory, path));
  const int fd = OpenFile(path, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return Failed(path);
  const int result = fsync(fd);
  const int error = errno;
  close(fd);
  // Some file systems do not support it.
  return result == 0 || error == EINVAL || error == EROFS ? absl::OkStatus() : Failed(path, error);
}

absl::StatusOr<std::vector<std::string>> MatchFiles(const std::string& pattern) {
  glob_t found;
  std::vector<std::string> paths;
  const int result = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  if (result == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (result == GLOB_NOSPACE) return absl::ResourceExhaustedError(StrCat(pattern, "; no memory"));
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string EscapePattern(std::string_view path) {
  std::string pattern;
  for (char c : path) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string DirectoryOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return std::string(slash == 0 ? "/" : path.substr(0, slash));
}

std::string BaseNameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == path.npos ? path : path.substr(slash + 1));
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  if (directory.empty() || name.starts_with('/')) return std::string(name);
  return StrCat(directory, directory.ends_with('/') ? "" : "/", name);
}

std::string TemporaryName(const std::string& path) {
  static std::atomic<uint64_t> next{(uint64_t{std::random_device()()} << 32) |
                                    std::random_device()()};
  return StrCat(path, ".tempstate", next.fetch_add(0x9e3779b97f4a7c15u));
}

}  // namespace sluice

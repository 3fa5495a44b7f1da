#include "executor/files/local_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "executor/files/confined_open.h"
#include "executor/files/file_policy.h"
#include "executor/files/file_waiter.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Repeats a system call that a signal interrupts.
template <typename F>
auto Uninterrupted(F call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(other.Release()) {}
  ~Descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }
  int Release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

bool IsConfined() { return !GetFilePolicy().root.empty(); }

std::string PathOf(const std::string& path) { return LocalPath(path).value_or(path); }

// `name` is the path as the caller wrote it.
absl::StatusOr<Descriptor> OpenConfined(const ConfinedPath& at, const std::string& name,
                                        int flags) {
  Descriptor file(Uninterrupted([&] { return OpenBeneath(at.root, at.path.c_str(), flags); }));
  if (file.get() >= 0) return file;
  if (errno != EXDEV) return FileError(name, errno);
  return absl::PermissionDeniedError(
      StrCat(name, "; a symbolic link leaves '", GetFilePolicy().root, "' or is absolute"));
}

absl::StatusOr<Descriptor> Open(const std::string& path, int flags) {
  if (IsConfined()) {
    SLUICE_ASSIGN_OR_RETURN(const ConfinedPath at, Confine(path));
    return OpenConfined(at, path, flags);
  }
  const std::string local = PathOf(path);
  Descriptor file(Uninterrupted([&] { return open(local.c_str(), flags | O_CLOEXEC, 0666); }));
  if (file.get() < 0) return FileError(path, errno);
  return file;
}

struct OpenFile {
  Descriptor descriptor;
  struct stat info;
};

bool IsFifo(const std::string& path) {
  const absl::StatusOr<Descriptor> file = Open(path, O_PATH);
  struct stat info;
  return file.ok() && fstat(file->get(), &info) == 0 && S_ISFIFO(info.st_mode);
}

// Opens a file that the policy allows and that is not a directory. Opening a FIFO would wait for
// its other end without O_NONBLOCK. A reader waits for a writer at its first read instead, where
// the wait can be cancelled. A writer has nothing to wait for that could be cancelled, so it is
// FAILED_PRECONDITION if nobody reads.
absl::StatusOr<OpenFile> OpenPermitted(const std::string& path, int flags) {
  const bool special_files = GetFilePolicy().special_files;
  absl::StatusOr<Descriptor> file = Open(path, flags | O_NONBLOCK);
  if (!file.ok()) {
    const bool has_no_reader = file.status().code() == absl::ErrnoToStatusCode(ENXIO) &&
                               (flags & O_ACCMODE) == O_WRONLY && special_files && IsFifo(path);
    if (!has_no_reader) return file.status();
    return absl::FailedPreconditionError(StrCat(path, "; no process reads this FIFO"));
  }
  struct stat info;
  if (fstat(file->get(), &info) != 0) return FileError(path, errno);
  if (S_ISDIR(info.st_mode)) return FileError(path, EISDIR);
  if (special_files || S_ISREG(info.st_mode)) return OpenFile{*std::move(file), info};
  return absl::PermissionDeniedError(StrCat(path, "; expected a regular file"));
}

// Waits until a descriptor with O_NONBLOCK can be read or written.
absl::Status Await(const std::string& path, int descriptor, FileAccess access) {
  if (FileWaiter* const waiter = FileWaiter::Current()) {
    return Annotate(waiter->Await(descriptor, access), StrCat(path, "; "));
  }
  pollfd ready = {descriptor, PollEventOf(access), 0};
  const int count = Uninterrupted([&] { return poll(&ready, 1, -1); });
  return count < 0 ? FileError(path, errno) : absl::OkStatus();
}

// While it lives, a write of its thread to a FIFO without readers fails with EPIPE. Otherwise the
// signal that comes with the error would end the process.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &former_);
  }
  ~NoBrokenPipeSignal() {
    const int error = errno;
    const timespec now = {};
    if (!was_pending_) Uninterrupted([&] { return sigtimedwait(&pipe_, nullptr, &now); });
    pthread_sigmask(SIG_SETMASK, &former_, nullptr);
    errno = error;
  }
  NoBrokenPipeSignal(const NoBrokenPipeSignal&) = delete;
  NoBrokenPipeSignal& operator=(const NoBrokenPipeSignal&) = delete;

 private:
  sigset_t pipe_;
  sigset_t former_;
  bool was_pending_;
};

// A name in a directory, for system calls that change directories.
struct Entry {
  Descriptor opened;  // the directory, if it is confined
  std::string name;
  int directory() const { return opened.get() >= 0 ? opened.get() : AT_FDCWD; }
};

absl::StatusOr<Entry> EntryOf(const std::string& path) {
  if (!IsConfined()) return Entry{Descriptor(-1), PathOf(path)};
  SLUICE_ASSIGN_OR_RETURN(ConfinedPath at, Confine(path));
  const size_t slash = at.path.rfind('/');
  std::string name = at.path.substr(slash + 1);
  at.path = slash == std::string::npos ? "." : at.path.substr(0, slash);
  SLUICE_ASSIGN_OR_RETURN(Descriptor directory, OpenConfined(at, path, O_PATH | O_DIRECTORY));
  return Entry{std::move(directory), std::move(name)};
}

// glob() lists directories with these functions, which cannot leave the root.
void ListConfined(glob_t* found) {
  static constexpr auto kStat = [](const char* path, int flags, struct stat* info) {
    const absl::StatusOr<Descriptor> file = Open(path, O_PATH | flags);
    return file.ok() ? fstat(file->get(), info) : -1;
  };
  found->gl_opendir = [](const char* path) -> void* {
    absl::StatusOr<Descriptor> folder = Open(path, O_RDONLY | O_DIRECTORY);
    return folder.ok() ? fdopendir(folder->Release()) : nullptr;
  };
  found->gl_readdir = [](void* folder) { return readdir(static_cast<DIR*>(folder)); };
  found->gl_closedir = [](void* folder) { closedir(static_cast<DIR*>(folder)); };
  found->gl_stat = [](const char* path, struct stat* info) { return kStat(path, 0, info); };
  found->gl_lstat = [](const char* path, struct stat* info) {
    return kStat(path, O_NOFOLLOW, info);
  };
}

class LocalReader final : public FileReader {
 public:
  LocalReader(std::string path, int descriptor, const struct stat& info)
      : FileReader(std::move(path)),
        descriptor_(descriptor),
        size_(info.st_size),
        is_stream_(!S_ISREG(info.st_mode)) {}
  ~LocalReader() override { close(descriptor_); }

  int64_t size() const override { return size_; }
  absl::StatusOr<int64_t> ReadSome(int64_t offset, int64_t n, char* to) const override {
    int64_t done = 0;
    while (done < n) {
      const auto rest = static_cast<size_t>(n - done);
      if (is_stream_) SLUICE_RETURN_IF_ERROR(Await(path(), descriptor_, FileAccess::kRead));
      const ssize_t got = Uninterrupted([&] {
        return is_stream_ ? read(descriptor_, to + done, rest)
                          : pread(descriptor_, to + done, rest, offset + done);
      });
      if (got < 0 && errno == EAGAIN && is_stream_) continue;
      if (got < 0) return FileError(path(), errno);
      if (got == 0) break;
      done += got;
    }
    return done;
  }

 private:
  const int descriptor_;
  const int64_t size_;
  const bool is_stream_;
};

class LocalWriter final : public WritableFile {
 public:
  LocalWriter(std::string path, int descriptor, const struct stat& info)
      : path_(std::move(path)), descriptor_(descriptor), is_stream_(!S_ISREG(info.st_mode)) {}
  ~LocalWriter() override {
    if (descriptor_ >= 0) close(descriptor_);
  }

  absl::StatusOr<size_t> WriteSome(std::string_view bytes) override {
    while (true) {
      if (is_stream_) SLUICE_RETURN_IF_ERROR(Await(path_, descriptor_, FileAccess::kWrite));
      const ssize_t n = WriteOnce(bytes);
      if (n >= 0) return static_cast<size_t>(n);
      if (errno != EAGAIN || !is_stream_) return FileError(path_, errno);
    }
  }
  absl::Status Sync() override { return Result(fsync(descriptor_)); }
  absl::Status Close() override { return Result(close(std::exchange(descriptor_, -1))); }

 private:
  ssize_t WriteOnce(std::string_view bytes) const {
    const auto once = [&] { return write(descriptor_, bytes.data(), bytes.size()); };
    if (!is_stream_) return Uninterrupted(once);
    const NoBrokenPipeSignal no_signal;
    return Uninterrupted(once);
  }
  absl::Status Result(int result) const {
    return result == 0 ? absl::OkStatus() : FileError(path_, errno);
  }
  const std::string path_;
  int descriptor_;
  const bool is_stream_;
};

class LocalFiles final : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<FileReader>> Read(const std::string& path) override {
    SLUICE_ASSIGN_OR_RETURN(OpenFile file, OpenPermitted(path, O_RDONLY));
    return std::make_unique<LocalReader>(path, file.descriptor.Release(), file.info);
  }

  absl::StatusOr<std::unique_ptr<WritableFile>> Write(const std::string& path,
                                                      WriteMode mode) override {
    const int more = mode == WriteMode::kTruncate ? O_TRUNC
                     : mode == WriteMode::kAppend ? O_APPEND
                                                  : O_EXCL;
    SLUICE_ASSIGN_OR_RETURN(OpenFile file, OpenPermitted(path, O_WRONLY | O_CREAT | more));
    return std::make_unique<LocalWriter>(path, file.descriptor.Release(), file.info);
  }

  absl::StatusOr<FileInfo> Info(const std::string& path) override {
    SLUICE_ASSIGN_OR_RETURN(const Descriptor file, Open(path, O_PATH));
    struct stat info;
    if (fstat(file.get(), &info) != 0) return FileError(path, errno);
    return FileInfo{.is_directory = S_ISDIR(info.st_mode),
                    .modified_s = static_cast<double>(info.st_mtim.tv_sec) +
                                  1e-9 * static_cast<double>(info.st_mtim.tv_nsec)};
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    SLUICE_ASSIGN_OR_RETURN(const Entry source, EntryOf(from));
    SLUICE_ASSIGN_OR_RETURN(const Entry target, EntryOf(to));
    return Result(from, renameat(source.directory(), source.name.c_str(), target.directory(),
                                 target.name.c_str()));
  }
  absl::Status Remove(const std::string& path) override { return Unlink(path, 0); }
  absl::Status RemoveEmptyDirectory(const std::string& path) override {
    return Unlink(path, AT_REMOVEDIR);
  }
  absl::Status MakeDirectory(const std::string& path) override {
    SLUICE_ASSIGN_OR_RETURN(const Entry entry, EntryOf(path));
    if (mkdirat(entry.directory(), entry.name.c_str(), 0777) == 0 || errno == EEXIST) {
      return absl::OkStatus();
    }
    return FileError(path, errno);
  }

  absl::Status SyncDirectory(const std::string& path) override {
    SLUICE_ASSIGN_OR_RETURN(const Descriptor directory, Open(path, O_RDONLY | O_DIRECTORY));
    const int error = fsync(directory.get()) == 0 ? 0 : errno;
    // Some file systems do not support fsync of directories.
    const bool done = error == 0 || error == EINVAL || error == EROFS;
    return done ? absl::OkStatus() : FileError(path, error);
  }

  absl::StatusOr<std::vector<std::string>> Match(const std::string& pattern) override {
    const std::string_view prefix =
        std::string_view(pattern).substr(0, pattern.size() - ParseUri(pattern).path.size());
    glob_t found = {};
    if (IsConfined()) ListConfined(&found);
    const int result =
        glob(PathOf(pattern).c_str(), IsConfined() ? GLOB_NOSORT | GLOB_ALTDIRFUNC : GLOB_NOSORT,
             nullptr, &found);
    std::vector<std::string> paths;
    for (size_t i = 0; result == 0 && i < found.gl_pathc; ++i) {
      paths.push_back(StrCat(prefix, found.gl_pathv[i]));
    }
    globfree(&found);
    if (result == GLOB_NOSPACE) return absl::ResourceExhaustedError(StrCat(pattern, "; no memory"));
    return paths;
  }

 private:
  static absl::Status Result(const std::string& path, int result) {
    return result == 0 ? absl::OkStatus() : FileError(path, errno);
  }
  static absl::Status Unlink(const std::string& path, int flags) {
    SLUICE_ASSIGN_OR_RETURN(const Entry entry, EntryOf(path));
    return Result(path, unlinkat(entry.directory(), entry.name.c_str(), flags));
  }
};

}  // namespace

std::unique_ptr<FileSystem> MakeLocalFiles() { return std::make_unique<LocalFiles>(); }

}  // namespace sluice

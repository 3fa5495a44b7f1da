#include "executor/files/local_files.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "graph/status.h"

namespace sluice {
namespace {

std::string PathOf(const std::string& path) { return LocalPath(path).value_or(path); }

// Repeats a system call that a signal interrupts.
template <typename F>
auto Uninterrupted(F call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

int Open(const std::string& path, int flags) {
  const std::string local = PathOf(path);
  return Uninterrupted([&] { return open(local.c_str(), flags | O_CLOEXEC, 0666); });
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
      const ssize_t got = Uninterrupted([&] {
        return is_stream_ ? read(descriptor_, to + done, rest)
                          : pread(descriptor_, to + done, rest, offset + done);
      });
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
  LocalWriter(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  ~LocalWriter() override {
    if (descriptor_ >= 0) close(descriptor_);
  }

  absl::StatusOr<size_t> WriteSome(std::string_view bytes) override {
    const ssize_t n = Uninterrupted([&] { return write(descriptor_, bytes.data(), bytes.size()); });
    if (n < 0) return FileError(path_, errno);
    return static_cast<size_t>(n);
  }
  absl::Status Sync() override { return Result(fsync(descriptor_)); }
  absl::Status Close() override { return Result(close(std::exchange(descriptor_, -1))); }

 private:
  absl::Status Result(int result) const {
    return result == 0 ? absl::OkStatus() : FileError(path_, errno);
  }
  const std::string path_;
  int descriptor_;
};

class LocalFiles final : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<FileReader>> Read(const std::string& path) override {
    const int descriptor = Open(path, O_RDONLY);
    if (descriptor < 0) return FileError(path, errno);
    struct stat info;
    const int error = fstat(descriptor, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;
    if (error == 0) return std::make_unique<LocalReader>(path, descriptor, info);
    close(descriptor);
    return FileError(path, error);
  }

  absl::StatusOr<std::unique_ptr<WritableFile>> Write(const std::string& path,
                                                      WriteMode mode) override {
    const int more = mode == WriteMode::kTruncate ? O_TRUNC
                     : mode == WriteMode::kAppend ? O_APPEND
                                                  : O_EXCL;
    const int descriptor = Open(path, O_WRONLY | O_CREAT | more);
    if (descriptor < 0) return FileError(path, errno);
    return std::make_unique<LocalWriter>(path, descriptor);
  }

  absl::StatusOr<FileInfo> Info(const std::string& path) override {
    struct stat info;
    if (stat(PathOf(path).c_str(), &info) != 0) return FileError(path, errno);
    return FileInfo{.is_directory = S_ISDIR(info.st_mode),
                    .modified_s = static_cast<double>(info.st_mtim.tv_sec) +
                                  1e-9 * static_cast<double>(info.st_mtim.tv_nsec)};
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    return Result(from, rename(PathOf(from).c_str(), PathOf(to).c_str()));
  }
  absl::Status Remove(const std::string& path) override {
    return Result(path, unlink(PathOf(path).c_str()));
  }
  absl::Status RemoveEmptyDirectory(const std::string& path) override {
    return Result(path, rmdir(PathOf(path).c_str()));
  }
  absl::Status MakeDirectory(const std::string& path) override {
    if (mkdir(PathOf(path).c_str(), 0777) == 0 || errno == EEXIST) return absl::OkStatus();
    return FileError(path, errno);
  }

  absl::Status SyncDirectory(const std::string& path) override {
    const int descriptor = Open(path, O_RDONLY | O_DIRECTORY);
    if (descriptor < 0) return FileError(path, errno);
    const int error = fsync(descriptor) == 0 ? 0 : errno;
    close(descriptor);
    // Some file systems do not support it.
    const bool done = error == 0 || error == EINVAL || error == EROFS;
    return done ? absl::OkStatus() : FileError(path, error);
  }

  absl::StatusOr<std::vector<std::string>> Match(const std::string& pattern) override {
    const std::string_view prefix =
        std::string_view(pattern).substr(0, pattern.size() - ParseUri(pattern).path.size());
    glob_t found;
    const int result = glob(PathOf(pattern).c_str(), GLOB_NOSORT, nullptr, &found);
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
};

}  // namespace

std::unique_ptr<FileSystem> MakeLocalFiles() { return std::make_unique<LocalFiles>(); }

}  // namespace sluice

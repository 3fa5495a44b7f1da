// Finds the file system for a path by its URI scheme. "file://" and paths without a scheme are the
// local disk. Object stores are added with RegisterFileSystem.
//
// A path is a URI "scheme://host/path" or a local path. Functions and errors use it as the user
// wrote it.
// Thread safety: any thread may use file systems and readers. One thread at a time may use a file
//   that is written.
// Errors: "<path>; <reason>". PERMISSION_DENIED if the policy of the process (file_policy.h)
//   forbids the path. UNIMPLEMENTED "File system scheme 's3' not implemented (file: …)".
// Reference: TensorFlow's FileSystemRegistry.
#ifndef SLUICE_EXECUTOR_FILES_FILE_SYSTEM_H_
#define SLUICE_EXECUTOR_FILES_FILE_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sluice {

// A file that is open for reading.
class FileReader {
 public:
  static absl::StatusOr<std::unique_ptr<FileReader>> Open(const std::string& path);
  virtual ~FileReader() = default;
  const std::string& path() const { return path_; }
  // The number of bytes. It is 0 for streams and for files of /proc, although bytes can be read
  // from them.
  virtual int64_t size() const = 0;
  // Reads up to `n` bytes and returns their number, which is smaller only at the end. Streams are
  // read in order and ignore `offset`.
  virtual absl::StatusOr<int64_t> ReadSome(int64_t offset, int64_t n, char* to) const = 0;
  // Reads exactly `n` bytes. OUT_OF_RANGE if the file ends before.
  absl::Status ReadAt(int64_t offset, int64_t n, void* to) const;

 protected:
  explicit FileReader(std::string path) : path_(std::move(path)) {}

 private:
  const std::string path_;
};

// A file that is open for writing. The destructor closes it.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  // Writes at least one byte, and returns the number of bytes written.
  virtual absl::StatusOr<size_t> WriteSome(std::string_view bytes) = 0;
  // Makes the bytes durable.
  virtual absl::Status Sync() = 0;
  virtual absl::Status Close() = 0;
  absl::Status Write(std::string_view bytes);
};

enum class WriteMode {
  kTruncate,
  kAppend,
  kNew,  // ALREADY_EXISTS if there is such a file
};

struct FileInfo {
  bool is_directory = false;
  double modified_s = 0;  // seconds since 1970
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual absl::StatusOr<std::unique_ptr<FileReader>> Read(const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> Write(const std::string& path,
                                                              WriteMode mode) = 0;
  // NOT_FOUND if there is no such file or directory.
  virtual absl::StatusOr<FileInfo> Info(const std::string& path) = 0;
  // Replaces `to` if it is an existing file.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  virtual absl::Status Remove(const std::string& path) = 0;
  virtual absl::Status RemoveEmptyDirectory(const std::string& path) = 0;
  // Makes one directory, unless it exists.
  virtual absl::Status MakeDirectory(const std::string& path) = 0;
  // Makes the names in a directory durable.
  virtual absl::Status SyncDirectory(const std::string& path) = 0;
  // The paths that match a pattern of `*`, `?` and `[…]`. They begin with the pattern's scheme and
  // host.
  virtual absl::StatusOr<std::vector<std::string>> Match(const std::string& pattern) = 0;
};

// "s3", "bucket" and "/a/b" of "s3://bucket/a/b". A local path has only a path.
struct Uri {
  std::string_view scheme;
  std::string_view host;
  std::string_view path;
};
Uri ParseUri(std::string_view path);

// Adds a file system for the program's lifetime. Replaces the scheme's previous one.
void RegisterFileSystem(const std::string& scheme, std::unique_ptr<FileSystem> files);
// UNIMPLEMENTED if the path's scheme has no file system.
absl::StatusOr<FileSystem*> FileSystemOf(std::string_view path);
// Returns the path of a local file in the form that system calls need. UNIMPLEMENTED if another
// file system has the file.
absl::StatusOr<std::string> LocalPath(std::string_view path);
// The local path of a file that the caller opens itself and maps into memory. PERMISSION_DENIED if
// the policy forbids it (file_policy.h).
absl::StatusOr<std::string> PathToMap(const std::string& path);
// The error of a failed system call on a file.
absl::Status FileError(const std::string& path, int error_number);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FILES_FILE_SYSTEM_H_

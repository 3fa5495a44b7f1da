// Defines the interface of file systems, and finds the file system of a path by its URI scheme.
// "file://" and paths without a scheme are the local disk. Programs add file systems of other
// schemes, such as object stores, with RegisterFileSystem.
//
// A path is a URI "scheme://host/path" or a local path. File systems get the path with its scheme
// and host, and errors show it, as the user wrote it.
// Thread safety: any thread may use file systems and readers. One thread at a time may use a
//   WritableFile.
// Errors: "<path>; <reason>". PERMISSION_DENIED if the policy of the process (file_policy.h)
//   forbids the path. UNIMPLEMENTED "File system scheme 's3' not implemented (file: …)" if no
//   file system is registered for the scheme.
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
  // The number of bytes in the file. It is 0 for streams, such as FIFOs, and for files of /proc,
  // although bytes can be read from them.
  virtual int64_t size() const = 0;
  // Reads up to `n` bytes from `offset` on into `to`, and returns how many it has read. Fewer than
  // `n` bytes mean that the file has ended. Streams ignore `offset` and are read in order.
  virtual absl::StatusOr<int64_t> ReadSome(int64_t offset, int64_t n, char* to) const = 0;
  // Reads exactly `n` bytes from `offset` on into `to`. OUT_OF_RANGE if the file ends before.
  absl::Status ReadAt(int64_t offset, int64_t n, void* to) const;

 protected:
  explicit FileReader(std::string path) : path_(std::move(path)) {}

 private:
  const std::string path_;
};

// A file that is open for writing. The destructor closes the file, but cannot report an error.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  // Writes the first bytes of `bytes`, at least one, and returns how many it has written.
  virtual absl::StatusOr<size_t> WriteSome(std::string_view bytes) = 0;
  // Returns when the bytes written so far are on the disk, where they survive a crash.
  virtual absl::Status Sync() = 0;
  virtual absl::Status Close() = 0;
  absl::Status Write(std::string_view bytes);
};

enum class WriteMode {
  kTruncate,
  kAppend,
  kNew,  // Write returns ALREADY_EXISTS if the file exists
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
  // If there is a file `to`, it is replaced.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  virtual absl::Status Remove(const std::string& path) = 0;
  virtual absl::Status RemoveEmptyDirectory(const std::string& path) = 0;
  // Makes one directory, whose parent must exist. OK if the directory exists already.
  virtual absl::Status MakeDirectory(const std::string& path) = 0;
  // Returns when the names in the directory are on the disk, so that files that were created,
  // renamed or removed stay so after a crash. Does nothing on file systems that cannot do this.
  virtual absl::Status SyncDirectory(const std::string& path) = 0;
  // Returns the paths that match a pattern, in any order. The pattern may contain `*`, `?` and
  // `[…]`, as in shells. The paths begin with the scheme and host of the pattern, if it has them.
  virtual absl::StatusOr<std::vector<std::string>> Match(const std::string& pattern) = 0;
};

// The parts of a path. "s3://bucket/a/b" has the scheme "s3", the host "bucket" and the path
// "/a/b". A local path without a scheme has an empty scheme and an empty host.
struct Uri {
  std::string_view scheme;
  std::string_view host;
  std::string_view path;
};
// The result points into the characters of `path`.
Uri ParseUri(std::string_view path);

// Uses `files` for all paths with this scheme, until the program ends. Replaces the file system
// that the scheme had before.
void RegisterFileSystem(const std::string& scheme, std::unique_ptr<FileSystem> files);
// Returns the file system for the path's scheme, which lives until the program ends. UNIMPLEMENTED
// if the scheme has no file system.
absl::StatusOr<FileSystem*> FileSystemOf(std::string_view path);
// Returns the path of a local file in the form that system calls need, without scheme and host.
// UNIMPLEMENTED if the file is not on the local disk. Does not check the policy for local files.
absl::StatusOr<std::string> LocalPath(std::string_view path);
// Returns the local path of a file that the caller opens itself and maps into memory.
// PERMISSION_DENIED if the policy forbids to map files (file_policy.h). UNIMPLEMENTED if the file
// is not on the local disk.
absl::StatusOr<std::string> PathToMap(const std::string& path);
// Returns the error of a failed system call on a file: "<path>; <text for the error number>".
// `error_number` is the value of errno.
absl::Status FileError(const std::string& path, int error_number);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FILES_FILE_SYSTEM_H_

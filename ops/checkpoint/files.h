// Files as checkpoints need them: buffered writing that reaches the disk when it says so, reading
// at offsets, names by pattern, and a hook before each change for tests that break things.
//
// Thread safety: the functions from any thread; a reader from any thread, a writer from one.
// Errors: TensorFlow's: "<path>; No such file or directory", with the code of the errno.
#ifndef SLUICE_OPS_CHECKPOINT_FILES_H_
#define SLUICE_OPS_CHECKPOINT_FILES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sluice {

class CheckpointFileWriter {
 public:
  // A new, empty file; one of that name is emptied.
  static absl::StatusOr<std::unique_ptr<CheckpointFileWriter>> Create(const std::string& path);
  ~CheckpointFileWriter();
  CheckpointFileWriter(const CheckpointFileWriter&) = delete;
  CheckpointFileWriter& operator=(const CheckpointFileWriter&) = delete;

  absl::Status Append(std::string_view bytes);
  // What was appended so far.
  int64_t size() const { return size_; }
  // Writes what is buffered, waits until the disk has it, and closes.
  absl::Status SyncAndClose();

 private:
  CheckpointFileWriter(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  absl::Status Flush();
  absl::Status Write(std::string_view bytes);

  const std::string path_;
  int fd_;
  int64_t size_ = 0;
  std::string buffer_;
};

class FileReader {
 public:
  static absl::StatusOr<std::unique_ptr<FileReader>> Open(const std::string& path);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }
  // Exactly `n` bytes. OUT_OF_RANGE where the file ends before.
  absl::Status ReadAt(int64_t offset, int64_t n, void* to) const;

 private:
  FileReader(std::string path, int fd, int64_t size)
      : path_(std::move(path)), fd_(fd), size_(size) {}
  const std::string path_;
  const int fd_;
  const int64_t size_;
};

absl::StatusOr<std::string> ReadWholeFile(const std::string& path);
// Through a temporary file and a rename: readers see the old contents or the new, also after a
// crash.
absl::Status WriteFileAtomically(const std::string& path, std::string_view contents);

bool FileExists(const std::string& path);
// Seconds since 1970. NOT_FOUND.
absl::StatusOr<double> ModificationTime(const std::string& path);
absl::Status RenameFile(const std::string& from, const std::string& to);
absl::Status RemoveFile(const std::string& path);
absl::Status RemoveEmptyDirectory(const std::string& path);
// With its parents; one that exists is fine.
absl::Status MakeDirectories(const std::string& path);
// Waits until the disk has the names in the directory: renames and new files.
absl::Status SyncDirectory(const std::string& path);
// Paths that match a pattern of `*`, `?` and `[…]`, sorted; none is no error.
absl::StatusOr<std::vector<std::string>> MatchFiles(const std::string& pattern);

// The pattern that matches `path` alone.
std::string EscapePattern(std::string_view path);

// "a/b" of "a/b/c"; "." of "c"; "/" of "/c".
std::string DirectoryOf(std::string_view path);
std::string BaseNameOf(std::string_view path);
// `name` below `directory`, unless it is absolute or there is no directory.
std::string JoinPath(std::string_view directory, std::string_view name);
// A name next to `path` that no other writer uses: "<path>.tempstate<number>".
std::string TemporaryName(const std::string& path);

// A change that is about to be made to the file system.
struct FileChange {
  enum Kind { kCreate, kWrite, kSync, kRename, kRemove, kMakeDirectory, kSyncDirectory };
  Kind kind;
  std::string path;
  std::string to;  // of a rename
};
// Called before every change of this process, from the thread that makes it; an error is returned
// in place of the change. Files are then written in small pieces, so that a crash can leave a part.
// For tests: set while nothing is written; null takes it away.
using FileHook = std::function<absl::Status(const FileChange&)>;
void SetFileHook(FileHook hook);

}  // namespace sluice

#endif  // SLUICE_OPS_CHECKPOINT_FILES_H_

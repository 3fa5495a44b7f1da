// Files of checkpoints: buffered writing with a sync to the disk, reading at offsets, names by
// pattern, and a hook before each change for tests that inject faults.
//
// Thread safety: the functions and readers may be used from any thread, a writer from one.
// Errors: TensorFlow's "<path>; No such file or directory" with the code of the errno.
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
  // Creates an empty file. Truncates an existing one.
  static absl::StatusOr<std::unique_ptr<CheckpointFileWriter>> Create(const std::string& path);
  ~CheckpointFileWriter();
  CheckpointFileWriter(const CheckpointFileWriter&) = delete;
  CheckpointFileWriter& operator=(const CheckpointFileWriter&) = delete;

  absl::Status Append(std::string_view bytes);
  // Number of bytes that were appended.
  int64_t size() const { return size_; }
  // Writes the buffer, syncs to the disk and closes the file.
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
  // Reads exactly `n` bytes. OUT_OF_RANGE if the file ends before.
  absl::Status ReadAt(int64_t offset, int64_t n, void* to) const;

 private:
  FileReader(std::string path, int fd, int64_t size)
      : path_(std::move(path)), fd_(fd), size_(size) {}
  const std::string path_;
  const int fd_;
  const int64_t size_;
};

absl::StatusOr<std::string> ReadWholeFile(const std::string& path);
// Writes a temporary file and renames it, so that readers see either the old or the new contents,
// even after a crash.
absl::Status WriteFileAtomically(const std::string& path, std::string_view contents);

bool FileExists(const std::string& path);
// Seconds since 1970. NOT_FOUND.
absl::StatusOr<double> ModificationTime(const std::string& path);
absl::Status RenameFile(const std::string& from, const std::string& to);
absl::Status RemoveFile(const std::string& path);
absl::Status RemoveEmptyDirectory(const std::string& path);
// Makes the directory and its parents, unless they exist.
absl::Status MakeDirectories(const std::string& path);
// Syncs the names in the directory (new and renamed files) to the disk.
absl::Status SyncDirectory(const std::string& path);
// Sorted paths that match a pattern of `*`, `?` and `[…]`. There may be none.
absl::StatusOr<std::vector<std::string>> MatchFiles(const std::string& pattern);

// A pattern that matches `path` only.
std::string EscapePattern(std::string_view path);

// "a/b" of "a/b/c"; "." of "c"; "/" of "/c".
std::string DirectoryOf(std::string_view path);
std::string BaseNameOf(std::string_view path);
// `directory`/`name`, or `name` if it is absolute or `directory` is empty.
std::string JoinPath(std::string_view directory, std::string_view name);
// A unique name in the directory of `path`: "<path>.tempstate<number>".
std::string TemporaryName(const std::string& path);

// A change that is about to be made to the file system.
struct FileChange {
  enum Kind { kCreate, kWrite, kSync, kRename, kRemove, kMakeDirectory, kSyncDirectory };
  Kind kind;
  std::string path;
  std::string to;  // new name if it is renamed
};
// For tests. Called before every change, in the thread that makes it. If it returns an error, the
// change is not made and fails with this error. With a hook, files are written in small pieces, so
// that a simulated crash can leave a part of them. Set it while no file is written; null removes
// it.
using FileHook = std::function<absl::Status(const FileChange&)>;
void SetFileHook(FileHook hook);

}  // namespace sluice

#endif  // SLUICE_OPS_CHECKPOINT_FILES_H_

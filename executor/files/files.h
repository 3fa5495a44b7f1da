// Functions for files of every file system: buffered writing with a sync, reading and writing of
// whole files, directories, names by pattern, and a hook for tests that inject faults.
//
// Thread safety: the functions may be called from any thread. One thread at a time may use a
// FileWriter.
// Errors: the errors of file_system.h.
#ifndef SLUICE_EXECUTOR_FILES_FILES_H_
#define SLUICE_EXECUTOR_FILES_FILES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/files/file_system.h"

namespace sluice {

// Writes a file through a buffer.
class FileWriter {
 public:
  // Creates an empty file. Truncates an existing one.
  static absl::StatusOr<std::unique_ptr<FileWriter>> Create(const std::string& path);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  absl::Status Append(std::string_view bytes);
  // The number of bytes that were appended.
  int64_t size() const { return size_; }
  // Writes the buffer, syncs to the disk and closes the file.
  absl::Status SyncAndClose();

 private:
  FileWriter(std::string path, std::unique_ptr<WritableFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  absl::Status Flush();
  absl::Status Write(std::string_view bytes);

  const std::string path_;
  const std::unique_ptr<WritableFile> file_;
  int64_t size_ = 0;
  std::string buffer_;
};

absl::StatusOr<std::string> ReadWholeFile(const std::string& path);
// Writes a temporary file and renames it, so that readers see either the old or the new contents,
// even after a crash.
absl::Status WriteFileAtomically(const std::string& path, std::string_view contents);

// Creates the file. ALREADY_EXISTS if it exists, also if another thread or process creates it at
// the same time. Does not sync.
absl::Status WriteNewFile(const std::string& path, std::string_view contents);

// Appends to the file, which need not exist. Does not sync.
absl::Status AppendToFile(const std::string& path, std::string_view text);

// Whether there is a file or a directory of this path. False also if the file policy forbids the
// path, or if no file system handles its scheme ("s3" in "s3://b/c").
bool FileExists(const std::string& path);
bool IsDirectory(const std::string& path);
// Returns the time in seconds since 1970. NOT_FOUND if there is no such file.
absl::StatusOr<double> ModificationTime(const std::string& path);
absl::Status RenameFile(const std::string& from, const std::string& to);
absl::Status RemoveFile(const std::string& path);
// Removes a file that a failed write has left. Does not call the FileHook, and ignores errors.
void Discard(const std::string& path);
absl::Status RemoveEmptyDirectory(const std::string& path);
// Makes the directory and its parents, unless they exist.
absl::Status MakeDirectories(const std::string& path);
// Syncs the names in the directory (new and renamed files) to the disk.
absl::Status SyncDirectory(const std::string& path);
// Returns the sorted paths that match a pattern with `*`, `?` and `[…]`. The list may be empty.
absl::StatusOr<std::vector<std::string>> MatchFiles(const std::string& pattern);

// Returns a pattern for MatchFiles that matches `path` only.
std::string EscapePattern(std::string_view path);

// "a/b" of "a/b/c"; "." of "c"; "/" of "/c"; "s3://b/" of "s3://b/c".
std::string DirectoryOf(std::string_view path);
std::string BaseNameOf(std::string_view path);
// Returns `directory`/`name`. Returns `name` if it is absolute, has a scheme, or `directory` is
// empty.
std::string JoinPath(std::string_view directory, std::string_view name);
// A unique name in the directory of `path`: "<path>.tempstate<number>".
std::string TemporaryName(const std::string& path);

// A change that is about to be made to the file system.
struct FileChange {
  enum Kind { kCreate, kWrite, kSync, kRename, kRemove, kMakeDirectory, kSyncDirectory };
  Kind kind;
  std::string path;
  std::string to;  // kRename: the new path
};
// For tests. Called before every change by FileWriter and the functions above, except AppendToFile
// and Discard, in the thread that makes the change. If it returns an error, the change is not made
// and fails with this error. With a hook, files are written in small pieces, so that a simulated
// crash can leave a part of them. Call SetFileHook while no file is written. Null removes the hook.
using FileHook = std::function<absl::Status(const FileChange&)>;
void SetFileHook(FileHook hook);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FILES_FILES_H_

// Limits the files that the ops of this process may use. A server restricts its clients with it.
//
// Thread safety: all functions may be called from any thread. Set the policy before other threads
//   use files.
// Errors: PERMISSION_DENIED "<path>; <what the policy forbids>" from every function of
//   file_system.h that the policy concerns.
#ifndef SLUICE_EXECUTOR_FILES_FILE_POLICY_H_
#define SLUICE_EXECUTOR_FILES_FILE_POLICY_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sluice {

struct FilePolicy {
  // Whether files can be used at all.
  bool files = true;
  // Only files of the local disk that are in this folder can be used. Relative paths begin in it.
  // Forbidden are paths with "..", absolute symbolic links, and links that lead out of the folder.
  // Empty: no limit.
  std::string root;
  // Whether FIFOs, devices and sockets can be opened. Reads from them may block or never end.
  bool special_files = true;
  // Whether files can be mapped into memory. If a mapped file is truncated or damaged, the next
  // read of its memory ends the process. If there is a root, files cannot be mapped, whatever the
  // value.
  bool mapped_files = true;
};

// Sets the policy of this process. NOT_FOUND if the root does not exist, FAILED_PRECONDITION if it
// is not a folder. UNIMPLEMENTED if the kernel cannot confine paths (Linux before 5.6).
absl::Status SetFilePolicy(FilePolicy policy);
const FilePolicy& GetFilePolicy();

// A path relative to the folder that is open as descriptor `root`.
struct ConfinedPath {
  int root;
  std::string path;
};
// Returns the path relative to FilePolicy::root. The policy must have a root. PERMISSION_DENIED if
// the path is outside of the root or contains "..". Symbolic links are checked later, when the path
// is opened.
absl::StatusOr<ConfinedPath> Confine(std::string_view path);
// Whether the path is the root or one of the folders that contain the root. False without a root.
bool IsAboveRoot(std::string_view local_path);

// Called before a file is used, with its path and "read", "write", "rename", "remove" or "map"
// (into memory).
using FileAudit = std::function<void(std::string_view action, const std::string& path)>;
// Sets the function that is called. Null removes it. Call SetFileAudit before other threads use
// files.
void SetFileAudit(FileAudit audit);
// Calls the function that SetFileAudit has set, if any.
void AuditFile(std::string_view action, const std::string& path);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FILES_FILE_POLICY_H_

#include "executor/files/file_policy.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "executor/files/confined_open.h"
#include "executor/files/file_system.h"
#include "graph/status.h"

namespace sluice {
namespace {

std::vector<std::string> PartsOf(std::string_view path) {
  return absl::StrSplit(std::string(path), '/', absl::SkipEmpty());
}

// Turns "//a/./b/" into "/a/b".
std::string WithoutEmptyParts(std::string_view path) {
  std::string result;
  for (const std::string& part : PartsOf(path)) {
    if (part == ".") continue;
    if (!result.empty() || path.starts_with('/')) result += '/';
    result += part;
  }
  return result;
}

struct Rules {
  FilePolicy policy;
  // The root as the policy names it, if that is an absolute path, and the root with its symbolic
  // links resolved.
  std::string roots[2];
  int root = AT_FDCWD;
};

// Changed only while no other thread uses files. Descriptors of former roots stay open.
Rules& CurrentRules() {
  static Rules* rules = new Rules;
  return *rules;
}

FileAudit* audit_function = nullptr;

bool IsInFolder(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

absl::Status SetFilePolicy(FilePolicy policy) {
  Rules rules;
  rules.policy = std::move(policy);
  if (const std::string& root = rules.policy.root; !root.empty()) {
    const std::unique_ptr<char, void (*)(void*)> real(realpath(root.c_str(), nullptr), &std::free);
    if (real == nullptr) return FileError(root, errno);
    rules.roots[0] = root.starts_with('/') ? WithoutEmptyParts(root) : real.get();
    rules.roots[1] = WithoutEmptyParts(real.get());
    rules.root = open(real.get(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (rules.root < 0) return FileError(root, errno);
    const int probe = OpenBeneath(rules.root, ".", O_PATH);
    if (probe < 0) {
      const int error = errno;
      close(rules.root);
      return absl::UnimplementedError(
          StrCat("cannot confine files to '", root,
                 "': openat2 failed: ", FileError(root, error).message()));
    }
    close(probe);
  }
  CurrentRules() = std::move(rules);
  return absl::OkStatus();
}

const FilePolicy& GetFilePolicy() { return CurrentRules().policy; }

absl::StatusOr<ConfinedPath> Confine(std::string_view path) {
  const Rules& rules = CurrentRules();
  const Uri uri = ParseUri(path);
  const auto outside = [&] {
    return absl::PermissionDeniedError(
        StrCat(path, "; the file is outside of '", rules.policy.root, "'"));
  };
  if (!uri.scheme.empty() && uri.scheme != "file") return outside();
  for (const std::string& part : PartsOf(uri.path)) {
    if (part == "..") {
      return absl::PermissionDeniedError(
          StrCat(path, "; '..' is forbidden, as files are confined to a folder"));
    }
  }
  const std::string local = WithoutEmptyParts(uri.path);
  const auto relative = [&](size_t from) {
    return ConfinedPath{rules.root, local.size() > from ? local.substr(from) : "."};
  };
  if (uri.scheme.empty() && !path.starts_with('/')) return relative(0);
  for (const std::string& root : rules.roots) {
    if (IsInFolder(local, root)) return relative(root.size() + 1);
  }
  return outside();
}

bool IsAboveRoot(std::string_view local_path) {
  const Rules& rules = CurrentRules();
  if (rules.policy.root.empty() || !local_path.starts_with('/')) return false;
  const std::string path = WithoutEmptyParts(local_path);
  return IsInFolder(rules.roots[0], path) || IsInFolder(rules.roots[1], path);
}

void SetFileAudit(FileAudit audit) {
  delete audit_function;
  audit_function = audit ? new FileAudit(std::move(audit)) : nullptr;
}

void AuditFile(std::string_view action, const std::string& path) {
  if (audit_function != nullptr) (*audit_function)(action, path);
}

}  // namespace sluice

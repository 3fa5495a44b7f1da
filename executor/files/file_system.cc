#include "executor/files/file_system.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>

#include "executor/files/file_policy.h"
#include "executor/files/local_files.h"
#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {
namespace {

class FileSystems {
 public:
  static FileSystems& Global() {
    static FileSystems* systems = new FileSystems;
    return *systems;
  }
  void Add(const std::string& scheme, std::unique_ptr<FileSystem> files) {
    ScopedLock lock(&mutex_);
    // A replaced file system may still be in use.
    all_.push_back(std::move(files));
    by_scheme_[scheme] = all_.back().get();
  }
  FileSystem* Find(std::string_view scheme) const {
    ScopedLock lock(&mutex_);
    auto found = by_scheme_.find(scheme);
    return found == by_scheme_.end() ? nullptr : found->second;
  }

 private:
  FileSystems() {
    all_.push_back(MakeLocalFiles());
    by_scheme_[""] = by_scheme_["file"] = all_.back().get();
  }

  mutable Mutex mutex_;
  std::vector<std::unique_ptr<FileSystem>> all_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, FileSystem*, std::less<>> by_scheme_ ABSL_GUARDED_BY(mutex_);
};

bool IsSchemeCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
}

}  // namespace

Uri ParseUri(std::string_view path) {
  const size_t colon = path.find("://");
  const std::string_view scheme = path.substr(0, colon);
  const bool is_uri = colon != path.npos && !scheme.empty() &&
                      std::isalpha(static_cast<unsigned char>(scheme[0])) != 0 &&
                      std::all_of(scheme.begin(), scheme.end(), IsSchemeCharacter);
  if (!is_uri) return {.scheme = "", .host = "", .path = path};
  const std::string_view rest = path.substr(colon + 3);
  const size_t slash = std::min(rest.find('/'), rest.size());
  return {.scheme = scheme, .host = rest.substr(0, slash), .path = rest.substr(slash)};
}

void RegisterFileSystem(const std::string& scheme, std::unique_ptr<FileSystem> files) {
  FileSystems::Global().Add(scheme, std::move(files));
}

absl::StatusOr<FileSystem*> FileSystemOf(std::string_view path) {
  const std::string_view scheme = ParseUri(path).scheme;
  const FilePolicy& policy = GetFilePolicy();
  if (!policy.files) {
    return absl::PermissionDeniedError(StrCat(path, "; this server uses no files"));
  }
  if (!policy.root.empty()) SLUICE_RETURN_IF_ERROR(Confine(path).status());
  if (FileSystem* files = FileSystems::Global().Find(scheme)) return files;
  return absl::UnimplementedError(
      StrCat("File system scheme '", scheme, "' not implemented (file: '", path, "')"));
}

absl::StatusOr<std::string> LocalPath(std::string_view path) {
  const Uri uri = ParseUri(path);
  if (uri.scheme.empty()) return std::string(path);
  if (uri.scheme == "file") return std::string(uri.path.empty() ? "/" : uri.path);
  SLUICE_RETURN_IF_ERROR(FileSystemOf(path).status());
  return absl::UnimplementedError(StrCat("expected a local file, got '", path, "'"));
}

absl::StatusOr<std::string> PathToMap(const std::string& path) {
  SLUICE_RETURN_IF_ERROR(FileSystemOf(path).status());
  const FilePolicy& policy = GetFilePolicy();
  if (!policy.mapped_files || !policy.root.empty()) {
    return absl::PermissionDeniedError(
        StrCat(path, "; this server maps no files into memory, as a damaged one would end it"));
  }
  AuditFile("map", path);
  return LocalPath(path);
}

absl::Status FileError(const std::string& path, int error_number) {
  return absl::Status(absl::ErrnoToStatus(error_number, "").code(),
                      StrCat(path, "; ", std::strerror(error_number)));
}

absl::StatusOr<std::unique_ptr<FileReader>> FileReader::Open(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(FileSystem * files, FileSystemOf(path));
  AuditFile("read", path);
  return files->Read(path);
}

absl::Status FileReader::ReadAt(int64_t offset, int64_t n, void* to) const {
  SLUICE_ASSIGN_OR_RETURN(const int64_t got, ReadSome(offset, n, static_cast<char*>(to)));
  if (got == n) return absl::OkStatus();
  return absl::OutOfRangeError(
      StrCat(path_, "; Read less bytes than requested: expected ", n, ", got ", got));
}

absl::Status WritableFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    SLUICE_ASSIGN_OR_RETURN(const size_t written, WriteSome(bytes));
    bytes.remove_prefix(written);
  }
  return absl::OkStatus();
}

}  // namespace sluice

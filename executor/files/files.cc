#include "executor/files/files.h"

#include <algorithm>
#include <atomic>
#include <random>

#include "executor/files/file_policy.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;
constexpr size_t kHookedWriteBytes = 64;

// Changed only while no thread writes.
FileHook* hook = nullptr;

absl::Status Announce(FileChange::Kind kind, const std::string& path, const std::string& to = "") {
  return hook == nullptr ? absl::OkStatus() : (*hook)({kind, path, to});
}

}  // namespace

void SetFileHook(FileHook h) {
  delete hook;
  hook = h ? new FileHook(std::move(h)) : nullptr;
}

absl::StatusOr<std::unique_ptr<FileWriter>> FileWriter::Create(const std::string& path) {
  SLUICE_RETURN_IF_ERROR(Announce(FileChange::kCreate, path));
  SLUICE_ASSIGN_OR_RETURN(FileSystem * files, FileSystemOf(path));
  AuditFile("write", path);
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file,
                          files->Write(path, WriteMode::kTruncate));
  return std::unique_ptr<FileWriter>(new FileWriter(path, std::move(file)));
}

absl::Status FileWriter::Append(std::string_view bytes) {
  size_ += static_cast<int64_t>(bytes.size());
  if (buffer_.size() + bytes.size() <= kBufferBytes) {
    buffer_.append(bytes);
    return absl::OkStatus();
  }
  SLUICE_RETURN_IF_ERROR(Flush());
  if (bytes.size() >= kBufferBytes) return Write(bytes);
  buffer_.append(bytes);
  return absl::OkStatus();
}

absl::Status FileWriter::Flush() {
  absl::Status written = Write(buffer_);
  buffer_.clear();
  return written;
}

absl::Status FileWriter::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t piece =
        hook == nullptr ? bytes.size()
                        : std::min(bytes.size(), std::max(kHookedWriteBytes, bytes.size() / 4));
    SLUICE_RETURN_IF_ERROR(Announce(FileChange::kWrite, path_));
    SLUICE_ASSIGN_OR_RETURN(const size_t written, file_->WriteSome(bytes.substr(0, piece)));
    bytes.remove_prefix(written);
  }
  return absl::OkStatus();
}

absl::Status FileWriter::SyncAndClose() {
  SLUICE_RETURN_IF_ERROR(Flush());
  SLUICE_RETURN_IF_ERROR(Announce(FileChange::kSync, path_));
  SLUICE_RETURN_IF_ERROR(file_->Sync());
  return file_->Close();
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<FileReader> file, FileReader::Open(path));
  std::string contents(static_cast<size_t>(file->size()), '\0');
  if (file->size() > 0) {
    SLUICE_RETURN_IF_ERROR(file->ReadAt(0, file->size(), contents.data()));
    return contents;
  }
  char piece[4096];
  while (true) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t n, file->ReadSome(static_cast<int64_t>(contents.size()),
                                                            sizeof(piece), piece));
    if (n == 0) return contents;
    contents.append(piece, static_cast<size_t>(n));
  }
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view contents) {
  const std::string temporary = TemporaryName(path);
  absl::Status status = [&] {
    SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<FileWriter> file, FileWriter::Create(temporary));
    SLUICE_RETURN_IF_ERROR(file->Append(contents));
    SLUICE_RETURN_IF_ERROR(file->SyncAndClose());
    SLUICE_RETURN_IF_ERROR(RenameFile(temporary, path));
    return SyncDirectory(DirectoryOf(path));
  }();
  if (!status.ok()) Discard(temporary);
  return status;
}

absl::Status WriteNewFile(const std::string& path, std::string_view contents) {
  SLUICE_RETURN_IF_ERROR(Announce(FileChange::kCreate, path));
  SLUICE_ASSIGN_OR_RETURN(FileSystem * files, FileSystemOf(path));
  AuditFile("write", path);
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                          files->Write(path, WriteMode::kNew));
  absl::Status status = file->Write(contents);
  if (status.ok()) status = file->Close();
  if (!status.ok()) Discard(path);
  return status;
}

absl::Status AppendToFile(const std::string& path, std::string_view text) {
  SLUICE_ASSIGN_OR_RETURN(FileSystem * files, FileSystemOf(path));
  AuditFile("write", path);
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                          files->Write(path, WriteMode::kAppend));
  SLUICE_RETURN_IF_ERROR(file->Write(text));
  return file->Close();
}

namespace {

absl::StatusOr<FileInfo> InfoOf(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(FileSystem * files, FileSystemOf(path));
  return files->Info(path);
}

}  // namespace

bool FileExists(const std::string& path) { return InfoOf(path).ok(); }

bool IsDirectory(const std::string& path) {
  const absl::StatusOr<FileInfo> info = InfoOf(path);
  return info.ok() && info->is_directory;
}

absl::StatusOr<double> ModificationTime(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(const FileInfo info, InfoOf(path));
  return info.modified_s;
}

absl::Status RenameFile(const std::string& from, const std::string& to) {
  SLUICE_RETURN_IF_ERROR(Announce(FileChange::kRename, from, to));
  SLUICE_ASSIGN_OR_RETURN(FileSystem * files, FileSystemOf(from));
  SLUICE_ASSIGN_OR_RETURN(const FileSystem* target, FileSystemOf(to));
  AuditFile("rename", from);
  AuditFile("write", to);
  if (files == target) return files->Rename(from, to);
  return absl::UnimplementedError(StrCat("Renaming ", from, " to ", to, " not implemented"));
}

absl::Status RemoveFile(const std::string& path) {
  SLUICE_RETURN_IF_ERROR(Announce(FileChange::kRemove, path));
  SLUICE_ASSIGN_OR_RETURN(FileSystem * files, FileSystemOf(path));
  AuditFile("remove", path);
  return files->Remove(path);
}

void Discard(const std::string& path) {
  if (const absl::StatusOr<FileSystem*> files = FileSystemOf(path); files.ok()) {
    AuditFile("remove", path);
    (*files)->Remove(path).IgnoreError();
  }
}

absl::Status RemoveEmptyDirectory(const std::string& path) {
  SLUICE_RETURN_IF_ERROR(Announce(FileChange::kRemove, path));
  SLUICE_ASSIGN_OR_RETURN(FileSystem * files, FileSystemOf(path));
  AuditFile("remove", path);
  return files->RemoveEmptyDirectory(path);
}

absl::Status MakeDirectories(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(FileSystem * files, FileSystemOf(path));
  const size_t first = path.size() - ParseUri(path).path.size();
  for (size_t end = path.find('/', first + 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    const bool exists = part.empty() || IsAboveRoot(ParseUri(part).path) || FileExists(part);
    if (!exists) {
      SLUICE_RETURN_IF_ERROR(Announce(FileChange::kMakeDirectory, part));
      SLUICE_RETURN_IF_ERROR(files->MakeDirectory(part));
      SLUICE_RETURN_IF_ERROR(SyncDirectory(DirectoryOf(part)));
    }
    if (end == path.npos) return absl::OkStatus();
  }
}

absl::Status SyncDirectory(const std::string& path) {
  SLUICE_RETURN_IF_ERROR(Announce(FileChange::kSyncDirectory, path));
  SLUICE_ASSIGN_OR_RETURN(FileSystem * files, FileSystemOf(path));
  return files->SyncDirectory(path);
}

absl::StatusOr<std::vector<std::string>> MatchFiles(const std::string& pattern) {
  SLUICE_ASSIGN_OR_RETURN(FileSystem * files, FileSystemOf(pattern));
  SLUICE_ASSIGN_OR_RETURN(std::vector<std::string> paths, files->Match(pattern));
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string EscapePattern(std::string_view path) {
  std::string pattern;
  for (char c : path) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string DirectoryOf(std::string_view path) {
  const std::string_view in_root = ParseUri(path).path;
  const std::string_view root = path.substr(0, path.size() - in_root.size());
  const size_t slash = in_root.rfind('/');
  if (slash == in_root.npos) return std::string(root.empty() ? "." : root);
  return StrCat(root, in_root.substr(0, std::max<size_t>(slash, 1)));
}

std::string BaseNameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == path.npos ? path : path.substr(slash + 1));
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  if (directory.empty() || name.starts_with('/') || !ParseUri(name).scheme.empty())
    return std::string(name);
  return StrCat(directory, directory.ends_with('/') ? "" : "/", name);
}

std::string TemporaryName(const std::string& path) {
  static std::atomic<uint64_t> next{(uint64_t{std::random_device()()} << 32) |
                                    std::random_device()()};
  return StrCat(path, ".tempstate", next.fetch_add(0x9e3779b97f4a7c15u));
}

}  // namespace sluice

#include "tools/npz/npz.h"

#include <fstream>
#include <memory>
#include <utility>

#include "absl/strings/strip.h"
#include "graph/status.h"
#include "minizip/unzip.h"
#include "minizip/zip.h"

namespace sluice {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr int kNameBytesMax = 1 << 16;
constexpr unsigned kChunkBytes = 1 << 20;

struct CloseArchive {
  void operator()(void* file) const { unzClose(file); }
};
using Archive = std::unique_ptr<void, CloseArchive>;

absl::Status Invalid(const std::string& path, std::string_view member, std::string_view what) {
  return InvalidArgument("'", path, "'", member.empty() ? "" : " array '", member,
                         member.empty() ? ": " : "': ", what);
}

// Whether the file is a zip archive without members, which minizip does not open. It begins with
// the record that ends the directory.
bool HasNoMembers(const std::string& path) {
  constexpr std::string_view kEndOfDirectory = "PK\x05\x06";
  std::string start(kEndOfDirectory.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return file && start == kEndOfDirectory;
}

absl::StatusOr<std::string> CurrentName(unzFile file, const std::string& path) {
  unz_file_info64 info;
  std::string name(kNameBytesMax, '\0');
  if (unzGetCurrentFileInfo64(file, &info, name.data(), name.size(), nullptr, 0, nullptr, 0) !=
          UNZ_OK ||
      info.size_filename >= name.size()) {
    return Invalid(path, "", "not a zip archive that can be read");
  }
  name.resize(info.size_filename);
  return name;
}

// Reads the member's bytes. Memory grows with the bytes that are read, so a false size in the
// archive costs none.
absl::StatusOr<std::string> CurrentContent(unzFile file, const std::string& path,
                                           std::string_view member) {
  if (unzOpenCurrentFile(file) != UNZ_OK) return Invalid(path, member, "cannot be unpacked");
  std::string content;
  int read = 0;
  do {
    const size_t old_size = content.size();
    content.resize(old_size + kChunkBytes);
    read = unzReadCurrentFile(file, content.data() + old_size, kChunkBytes);
    content.resize(old_size + (read > 0 ? read : 0));
  } while (read > 0);
  const bool whole = unzCloseCurrentFile(file) == UNZ_OK;
  if (read < 0 || !whole) return Invalid(path, member, "is damaged");
  return content;
}

absl::Status WriteMember(zipFile file, const std::string& name, std::string_view content) {
  zip_fileinfo info = {};
  const int zip64 = content.size() >= 0xffffffff;
  bool good = zipOpenNewFileInZip64(file, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr,
                                    /*method=*/0, /*level=*/0, zip64) == ZIP_OK;
  while (good && !content.empty()) {
    const std::string_view chunk = content.substr(0, kChunkBytes);
    good = zipWriteInFileInZip(file, chunk.data(), static_cast<unsigned>(chunk.size())) == ZIP_OK;
    content.remove_prefix(chunk.size());
  }
  good = zipCloseFileInZip(file) == ZIP_OK && good;
  return good ? absl::OkStatus() : absl::DataLossError(StrCat("cannot write ", name));
}

}  // namespace

absl::StatusOr<std::map<std::string, NpyArray>> ReadNpz(const std::string& path) {
  const Archive archive(unzOpen64(path.c_str()));
  if (archive == nullptr) {
    if (HasNoMembers(path)) return std::map<std::string, NpyArray>();
    return absl::NotFoundError(StrCat("'", path, "' cannot be opened as a .npz file"));
  }
  std::map<std::string, NpyArray> arrays;
  int at = unzGoToFirstFile(archive.get());
  for (; at == UNZ_OK; at = unzGoToNextFile(archive.get())) {
    SLUICE_ASSIGN_OR_RETURN(const std::string name, CurrentName(archive.get(), path));
    const std::string key(absl::StripSuffix(name, ToAbsl(kSuffix)));
    SLUICE_ASSIGN_OR_RETURN(const std::string content, CurrentContent(archive.get(), path, key));
    absl::StatusOr<NpyArray> array = ParseNpy(content);
    if (!array.ok()) return Invalid(path, key, ToStd(array.status().message()));
    if (!arrays.emplace(key, *std::move(array)).second) return Invalid(path, key, "is there twice");
  }
  if (at != UNZ_END_OF_LIST_OF_FILE) return Invalid(path, "", "is damaged");
  return arrays;
}

absl::Status WriteNpz(const std::string& path, const std::map<std::string, NpyArray>& arrays) {
  const zipFile file = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  if (file == nullptr) {
    return absl::PermissionDeniedError(StrCat("'", path, "' cannot be written"));
  }
  absl::Status status;
  for (const auto& [name, array] : arrays) {
    status.Update(WriteMember(file, StrCat(name, kSuffix), FormatNpy(array)));
  }
  if (zipClose(file, nullptr) != ZIP_OK) status.Update(absl::DataLossError("cannot write"));
  if (status.ok()) return status;
  return absl::Status(status.code(), StrCat("'", path, "': ", status.message()));
}

}  // namespace sluice

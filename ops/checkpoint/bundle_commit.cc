#include "ops/checkpoint/bundle_commit.h"

#include "absl/strings/str_format.h"
#include "graph/status.h"
#include "ops/checkpoint/bundle.h"
#include "ops/checkpoint/table.h"

namespace sluice {
namespace {

absl::StatusOr<std::vector<std::string>> DataFiles(const std::string& prefix) {
  return MatchFiles(EscapePattern(prefix) + ".data-[0-9]*-of-[0-9]*");
}

// Returns a number of shards for the names of the data files: at least `least`, and different from
// that of an existing checkpoint, whose files must not be overwritten before the commit.
absl::StatusOr<int> FreeShardCount(const std::string& prefix, int least) {
  if (!FileExists(BundleIndexName(prefix))) return least;
  SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> taken, DataFiles(prefix));
  for (int shards = least;; ++shards) {
    const std::string ending = absl::StrFormat("-of-%05d", shards);
    bool is_free = true;
    for (const std::string& file : taken) is_free &= !file.ends_with(ending);
    if (is_free) return shards;
  }
}

absl::Status WriteIndex(const std::string& path, const BundleEntries& entries, int shards) {
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<FileWriter> file, FileWriter::Create(path));
  TableWriter table(file.get(), Compression::kNone);
  pb::BundleHeaderProto header;
  header.set_num_shards(shards);
  header.set_endianness(pb::BundleHeaderProto::LITTLE);
  header.mutable_version()->set_producer(1);
  SLUICE_RETURN_IF_ERROR(table.Add("", header.SerializeAsString()));
  for (const auto& [key, entry] : entries) {
    SLUICE_RETURN_IF_ERROR(table.Add(key, entry.SerializeAsString()));
  }
  SLUICE_RETURN_IF_ERROR(table.Finish());
  return file->SyncAndClose();
}

}  // namespace

std::string BundleIndexName(std::string_view prefix) { return StrCat(prefix, ".index"); }

std::string BundleDataName(std::string_view prefix, int shard, int shards) {
  return StrCat(prefix, absl::StrFormat(".data-%05d-of-%05d", shard, shards));
}

absl::Status CommitBundle(const std::string& prefix, const std::vector<std::string>& data_files,
                          const BundleEntries& entries) {
  const int least = std::max<int>(1, static_cast<int>(data_files.size()));
  SLUICE_ASSIGN_OR_RETURN(const int shards, FreeShardCount(prefix, least));
  const std::string index = BundleIndexName(prefix);
  const std::string temporary = TemporaryName(index);
  const std::string directory = DirectoryOf(prefix);
  absl::Status status = [&] {
    SLUICE_RETURN_IF_ERROR(WriteIndex(temporary, entries, shards));
    for (size_t i = 0; i < data_files.size(); ++i) {
      SLUICE_RETURN_IF_ERROR(
          RenameFile(data_files[i], BundleDataName(prefix, static_cast<int>(i), shards)));
    }
    // The index must not reach the disk before the data files that it refers to.
    SLUICE_RETURN_IF_ERROR(SyncDirectory(directory));
    return RenameFile(temporary, index);
  }();
  if (!status.ok()) {
    Discard(temporary);
    return status;
  }
  SLUICE_RETURN_IF_ERROR(SyncDirectory(directory));
  // Removes data files of the replaced checkpoint or of an interrupted save.
  SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> all, DataFiles(prefix));
  const std::string ending = absl::StrFormat("-of-%05d", shards);
  for (const std::string& file : all) {
    if (!file.ends_with(ending)) SLUICE_RETURN_IF_ERROR(RemoveFile(file));
  }
  return absl::OkStatus();
}

absl::Status RemoveBundle(const std::string& prefix) {
  SLUICE_RETURN_IF_ERROR(RemoveFile(BundleIndexName(prefix)));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> files, DataFiles(prefix));
  for (const std::string& file : files) SLUICE_RETURN_IF_ERROR(RemoveFile(file));
  return absl::OkStatus();
}

}  // namespace sluice

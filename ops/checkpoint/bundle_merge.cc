// Implements MergeBundles, which merges several checkpoints into one (bundle.h).
#include <filesystem>
#include <set>

#include "absl/strings/escaping.h"
#include "graph/status.h"
#include "ops/checkpoint/bundle.h"
#include "ops/checkpoint/bundle_commit.h"

namespace sluice {
namespace {

// Adds the entries of one source. The slices of a tensor may be spread over the sources.
absl::Status Join(const BundleEntries& source, const std::string& prefix,
                  const std::map<int, int>& new_shards, BundleEntries* all) {
  for (const auto& [key, entry] : source) {
    auto [it, is_new] = all->emplace(key, entry);
    pb::BundleEntryProto& joined = it->second;
    if (is_new) {
      if (entry.slices_size() == 0) joined.set_shard_id(new_shards.at(entry.shard_id()));
      continue;
    }
    SLUICE_INVALID_IF(entry.slices_size() == 0 || joined.slices_size() == 0,
                      "Duplicate tensor keyed by ", absl::CHexEscape(key),
                      " encountered, when merging prefix: ", prefix);
    SLUICE_INVALID_IF(joined.dtype() != entry.dtype() ||
                          joined.shape().SerializeAsString() != entry.shape().SerializeAsString(),
                      "parts of '", absl::CHexEscape(key),
                      "' have different types or shapes, when merging prefix: ", prefix);
    joined.mutable_slices()->MergeFrom(entry.slices());
  }
  return absl::OkStatus();
}

// A form of the prefix that is the same for all its spellings, such as "a/b" and "a//./b", and for
// all links to its folder.
std::filesystem::path NormalForm(const std::string& prefix) {
  const absl::StatusOr<std::string> local = LocalPath(prefix);
  std::error_code error;
  const std::filesystem::path path(local.value_or(prefix));
  const std::filesystem::path known =
      local.ok() ? std::filesystem::weakly_canonical(path, error) : path;
  return known.empty() ? path.lexically_normal() : known.lexically_normal();
}

absl::Status RemoveSources(const std::vector<std::string>& sources,
                           const std::string& destination) {
  std::set<std::string> directories;
  for (const std::string& source : sources) {
    // The index of this source is the merged one by now.
    if (NormalForm(source) == NormalForm(destination)) continue;
    SLUICE_RETURN_IF_ERROR(RemoveFile(BundleIndexName(source)));
    directories.insert(DirectoryOf(source));
  }
  for (const std::string& directory : directories) {
    // Keeps a directory that contains other files.
    RemoveEmptyDirectory(directory).IgnoreError();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MergeBundles(const std::vector<std::string>& sources, const std::string& destination,
                          MergeOptions options) {
  BundleEntries entries;
  std::vector<std::string> data_files;
  std::vector<std::string> found;
  for (const std::string& source : sources) {
    absl::StatusOr<std::unique_ptr<BundleReader>> opened = BundleReader::Open(source);
    if (absl::IsNotFound(opened.status())) {
      if (options.allow_missing_files) continue;
      return InvalidArgument("allow_missing_files was set to false and ", source,
                             " did not exist.");
    }
    SLUICE_RETURN_IF_ERROR(opened.status());
    const std::unique_ptr<BundleReader> reader = *std::move(opened);
    std::map<int, int> new_shards;
    for (const auto& [key, entry] : reader->entries_) {
      if (entry.slices_size() > 0 || new_shards.contains(entry.shard_id())) continue;
      if (entry.shard_id() < 0 || entry.shard_id() >= reader->num_shards_) {
        return reader->Damaged(
            StrCat("'", absl::CHexEscape(key), "' is in shard ", entry.shard_id()));
      }
      new_shards[entry.shard_id()] = static_cast<int>(data_files.size());
      data_files.push_back(BundleDataName(source, entry.shard_id(), reader->num_shards_));
    }
    SLUICE_RETURN_IF_ERROR(Join(reader->entries_, source, new_shards, &entries));
    found.push_back(source);
  }
  SLUICE_INVALID_IF(found.empty(),
                    "At least one prefix checkpoint file must exist, but none existed.");
  SLUICE_RETURN_IF_ERROR(CommitBundle(destination, data_files, entries));
  return options.delete_old_dirs ? RemoveSources(found, destination) : absl::OkStatus();
}

}  // namespace sluice

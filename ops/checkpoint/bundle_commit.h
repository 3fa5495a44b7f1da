// The last step of writing or merging a bundle: its files get their final names.
#ifndef SLUICE_OPS_CHECKPOINT_BUNDLE_COMMIT_H_
#define SLUICE_OPS_CHECKPOINT_BUNDLE_COMMIT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "graph/format/proto/tensor_bundle.pb.h"

namespace sluice {

using BundleEntries = std::map<std::string, pb::BundleEntryProto, std::less<>>;

// Renames data_files[i], which must have been synced to the disk, to the data file of shard i of
// `prefix`. Then writes the index with `entries`.
absl::Status CommitBundle(const std::string& prefix, const std::vector<std::string>& data_files,
                          const BundleEntries& entries);

}  // namespace sluice

#endif  // SLUICE_OPS_CHECKPOINT_BUNDLE_COMMIT_H_

// Reads and writes the folders of snapshots and saved datasets, in TensorFlow's layout.
//
//   <folder>/snapshot.metadata                     which run is valid, and whether it is complete
//   <folder>/<run>/<shard>.shard/<number>.snapshot the elements (element_file.h)
//
// A run is one writing of a dataset to the folder. The metadata of a new run replaces that of the
// previous run atomically.
// Thread safety: the functions have no shared state.
// Errors: those of files and of element files.
// Reference: TensorFlow's core/data/snapshot_utils.h.
#ifndef SLUICE_OPS_PIPELINE_SNAPSHOT_FOLDER_H_
#define SLUICE_OPS_PIPELINE_SNAPSHOT_FOLDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/format/proto/snapshot.pb.h"
#include "ops/data/dataset.h"
#include "ops/pipeline/element_file.h"

namespace sluice {

using SnapshotMetadata = pb::data::experimental::SnapshotMetadataRecord;

// Returns nothing if there is no metadata. DATA_LOSS if the metadata is damaged.
absl::StatusOr<std::optional<SnapshotMetadata>> ReadSnapshotMetadata(const std::string& folder);
// Creates `run_folder`, and `folder` if it does not exist. Writes metadata which says that the run
// is not complete yet, and that its elements have `types`.
absl::Status BeginRun(const std::string& folder, const std::string& run_folder, int64_t version,
                      const std::vector<DataType>& types, SnapshotMetadata* metadata);
// Writes metadata which says that the run is complete.
absl::Status EndRun(const std::string& folder, SnapshotMetadata* metadata);
int64_t MicrosecondsSince1970();
// A random number, for the name of a run.
uint64_t NewRunId();
// The name of an element file: "<folder>/<number of 8 digits>.snapshot".
std::string SnapshotFileName(const std::string& folder, uint64_t number);

// Describes the run that WriteRun writes.
struct NewRun {
  std::string folder;
  ElementFormat format;
  // Returns the number of the shard that an element belongs to. Not set: all belong to shard 0.
  std::function<absl::StatusOr<int64_t>(const Tensors&, Reading&)> shard_of;
  SnapshotMetadata metadata;     // with the fingerprint of the dataset, if there is one
  std::vector<DataType> types;   // empty: those of the first element
  bool counts_elements = false;  // writes the number of elements to the metadata
};
// Returns an iterator that passes the elements of `inner` through and also writes them. The run is
// complete when the iterator has reached the end. RESOURCE_EXHAUSTED if there are more than 1000
// shards, because every shard is an open file.
IteratorPointer WriteRun(NewRun run, IteratorPointer inner, Reading& reading);

// A dataset of the elements of a shard from number `start` on.
DatasetPointer ShardDataset(const std::string& shard_folder, const ElementFormat& format,
                            const std::vector<DataType>& types, int64_t start);
// A dataset whose elements are datasets, one for each shard of a run.
absl::StatusOr<DatasetPointer> ShardsOfRun(const std::string& run_folder,
                                           const ElementFormat& format,
                                           const std::vector<DataType>& types);

}  // namespace sluice

#endif  // SLUICE_OPS_PIPELINE_SNAPSHOT_FOLDER_H_

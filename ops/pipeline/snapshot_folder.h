// Folders of snapshots and saved datasets, in TensorFlow's layout.
//
//   <folder>/snapshot.metadata                     which run is valid, and whether it is complete
//   <folder>/<run>/<shard>.shard/<number>.snapshot the elements (element_file.h)
//
// Every writing is a new run. Its metadata replaces that of the run before as a whole.
// Thread safety: functions only.
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

// Nothing if there is no metadata. DATA_LOSS if it is damaged.
absl::StatusOr<std::optional<SnapshotMetadata>> ReadSnapshotMetadata(const std::string& folder);
// Makes `run_folder`, and `folder` if there is none, and writes the metadata of a run of elements
// of `types` that is not complete.
absl::Status BeginRun(const std::string& folder, const std::string& run_folder, int64_t version,
                      const std::vector<DataType>& types, SnapshotMetadata* metadata);
// Writes the metadata of a run that is complete.
absl::Status EndRun(const std::string& folder, SnapshotMetadata* metadata);
int64_t MicrosecondsSince1970();
// A random number, for the name of a run.
uint64_t NewRunId();
// "<folder>/<number of 8 digits>.snapshot".
std::string SnapshotFileName(const std::string& folder, uint64_t number);

// A run of shards that is to be written.
struct NewRun {
  std::string folder;
  ElementFormat format;
  // The number of an element's shard. Empty: all are in shard 0.
  std::function<absl::StatusOr<int64_t>(const Tensors&, Reading&)> shard_of;
  SnapshotMetadata metadata;     // with the hash of the graph, if there is one
  std::vector<DataType> types;   // empty: those of the first element
  bool counts_elements = false;  // in the metadata
};
// Passes the elements of `inner` through and writes them. The run is complete when the end is read.
// RESOURCE_EXHAUSTED above 1000 shards, because every shard is an open file.
IteratorPointer WriteRun(NewRun run, IteratorPointer inner, Reading& reading);

// The elements of a shard from `start` on.
DatasetPointer ShardDataset(const std::string& shard_folder, const ElementFormat& format,
                            const std::vector<DataType>& types, int64_t start);
// A dataset whose elements are datasets: those of the shards of a run.
absl::StatusOr<DatasetPointer> ShardsOfRun(const std::string& run_folder,
                                           const ElementFormat& format,
                                           const std::vector<DataType>& types);

}  // namespace sluice

#endif  // SLUICE_OPS_PIPELINE_SNAPSHOT_FOLDER_H_

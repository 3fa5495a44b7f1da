// Folders of snapshots and saved datasets, in TensorFlow's layout.
//
//   <folder>/snapshot.metadata                     which run is valid, and whether it is complete
//   <folder>/<run>/<shard>.shard/<number>.snapshot the elements (element_file.h)
//
// Every writing is a new run. Its metadata replaces that of the run before as a whole.
// Thread safety: functions only; a ShardWriters belongs to one thread.
// Errors: those of files and of element files.
// Reference: TensorFlow's core/data/snapshot_utils.h.
#ifndef SLUICE_OPS_PIPELINE_SNAPSHOT_FOLDER_H_
#define SLUICE_OPS_PIPELINE_SNAPSHOT_FOLDER_H_

#include <cstdint>
#include <map>
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
// Makes the folder if there is none. Sets the time of creation.
absl::Status WriteSnapshotMetadata(const std::string& folder, SnapshotMetadata metadata);
int64_t MicrosecondsSince1970();
// A random number, for the name of a run.
uint64_t NewRunId();
// "<folder>/<number of 8 digits>.snapshot".
std::string SnapshotFileName(const std::string& folder, uint64_t number);

// The shards of a run that is written.
class ShardWriters {
 public:
  // Every shard is an open file.
  static constexpr size_t kShardsMax = 1000;

  ShardWriters(std::string run_folder, const ElementFormat& format)
      : run_folder_(std::move(run_folder)), format_(format) {}
  // RESOURCE_EXHAUSTED above kShardsMax shards.
  absl::Status Write(int64_t shard, const Tensors& element);
  absl::Status Close();

 private:
  const std::string run_folder_;
  const ElementFormat format_;
  std::map<int64_t, std::unique_ptr<ElementWriter>> writers_;
};

// The elements of a shard from `start` on.
DatasetPointer ShardDataset(const std::string& shard_folder, const ElementFormat& format,
                            const std::vector<DataType>& types, int64_t start);
// A dataset whose elements are datasets: those of the shards of a run.
absl::StatusOr<DatasetPointer> ShardsOfRun(const std::string& run_folder,
                                           const ElementFormat& format,
                                           const std::vector<DataType>& types);

}  // namespace sluice

#endif  // SLUICE_OPS_PIPELINE_SNAPSHOT_FOLDER_H_

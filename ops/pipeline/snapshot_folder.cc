#include "ops/pipeline/snapshot_folder.h"

#include <chrono>
#include <map>
#include <random>
#include <utility>

#include "absl/strings/str_format.h"
#include "executor/files/files.h"
#include "graph/status.h"

namespace sluice {
namespace {

std::string MetadataName(const std::string& folder) {
  return JoinPath(folder, "snapshot.metadata");
}

absl::Status WriteMetadata(const std::string& folder, SnapshotMetadata* metadata) {
  metadata->set_creation_timestamp(MicrosecondsSince1970());
  SLUICE_RETURN_IF_ERROR(MakeDirectories(folder));
  return WriteFileAtomically(MetadataName(folder), metadata->SerializeAsString());
}

constexpr const char* kShardSuffix = ".shard";

// Reads the files of a shard, one after the other.
class ShardIterator : public DatasetIterator {
 public:
  ShardIterator(std::string folder, const ElementFormat& format, std::vector<DataType> types,
                int64_t start, const Reading& reading)
      : folder_(std::move(folder)),
        format_(format),
        types_(std::move(types)),
        left_(start),
        reading_(reading) {}

  // Opens the next file.
  absl::Status Open() {
    SLUICE_ASSIGN_OR_RETURN(reader_,
                            ElementReader::Open(SnapshotFileName(folder_, file_), format_, types_));
    ++file_;
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Next(Tensors* element) override {
    while (true) {
      SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading_));
      if (reader_ == nullptr) {
        if (!FileExists(SnapshotFileName(folder_, file_))) return false;
        SLUICE_RETURN_IF_ERROR(Open());
      }
      const absl::StatusOr<bool> any = reader_->Next(element);
      if (!any.ok()) {
        reader_ = nullptr;
        return any.status();
      }
      if (!*any) {
        reader_ = nullptr;
        continue;
      }
      SLUICE_RETURN_IF_ERROR(CheckElement(*element, types_, {}));
      if (left_ == 0) return true;
      --left_;
    }
  }

 private:
  const std::string folder_;
  const ElementFormat format_;
  const std::vector<DataType> types_;
  int64_t left_;  // number of elements still to skip
  const Reading& reading_;
  uint64_t file_ = 0;  // number of the next file
  std::unique_ptr<ElementReader> reader_;
};

}  // namespace

absl::StatusOr<std::optional<SnapshotMetadata>> ReadSnapshotMetadata(const std::string& folder) {
  const std::string name = MetadataName(folder);
  SLUICE_RETURN_IF_ERROR(FileSystemOf(name).status());
  if (!FileExists(name)) return std::optional<SnapshotMetadata>();
  SLUICE_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(name));
  SnapshotMetadata metadata;
  if (!metadata.ParseFromString(bytes)) {
    return absl::DataLossError(StrCat(name, "; not the metadata of a snapshot"));
  }
  // The id becomes part of paths and of patterns, so it must not change their meaning.
  if (metadata.run_id().find_first_of("/*?[\\") != std::string::npos ||
      metadata.run_id().starts_with(".")) {
    return absl::DataLossError(StrCat(name, "; '", metadata.run_id(), "' is not the id of a run"));
  }
  return std::optional<SnapshotMetadata>(std::move(metadata));
}

absl::Status BeginRun(const std::string& folder, const std::string& run_folder, int64_t version,
                      const std::vector<DataType>& types, SnapshotMetadata* metadata) {
  metadata->set_version(version);
  metadata->clear_dtype();
  for (DataType t : types) metadata->add_dtype(static_cast<pb::DataType>(t));
  SLUICE_RETURN_IF_ERROR(MakeDirectories(run_folder));
  return WriteMetadata(folder, metadata);
}

absl::Status EndRun(const std::string& folder, SnapshotMetadata* metadata) {
  metadata->set_finalized(true);
  return WriteMetadata(folder, metadata);
}

int64_t MicrosecondsSince1970() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

uint64_t NewRunId() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

std::string SnapshotFileName(const std::string& folder, uint64_t number) {
  return JoinPath(folder, absl::StrFormat("%08d.snapshot", number));
}

namespace {

class RunWriter final : public DatasetIterator {
 public:
  RunWriter(NewRun run, IteratorPointer inner, Reading& reading)
      : run_(std::move(run)), inner_(std::move(inner)), reading_(reading) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    if (inner_ == nullptr) return false;
    SLUICE_ASSIGN_OR_RETURN(const bool any, inner_->Next(element));
    if (run_folder_.empty()) SLUICE_RETURN_IF_ERROR(Begin(any ? *element : Tensors()));
    if (!any) {
      inner_ = nullptr;
      for (auto& [shard, writer] : writers_) SLUICE_RETURN_IF_ERROR(writer->Close());
      SLUICE_RETURN_IF_ERROR(EndRun(run_.folder, &run_.metadata));
      return false;
    }
    int64_t shard = 0;
    if (run_.shard_of) {
      SLUICE_ASSIGN_OR_RETURN(shard, run_.shard_of(*element, reading_));
    }
    SLUICE_RETURN_IF_ERROR(Write(shard, *element));
    if (run_.counts_elements) run_.metadata.set_num_elements(run_.metadata.num_elements() + 1);
    return true;
  }

 private:
  static constexpr size_t kShardsMax = 1000;

  absl::Status Begin(const Tensors& first) {
    if (run_.types.empty()) {
      for (const Tensor& t : first) run_.types.push_back(t.dtype());
    }
    run_.metadata.set_run_id(StrCat(NewRunId()));
    const std::string folder = JoinPath(run_.folder, run_.metadata.run_id());
    SLUICE_RETURN_IF_ERROR(
        BeginRun(run_.folder, folder, run_.format.version, run_.types, &run_.metadata));
    run_folder_ = folder;
    return absl::OkStatus();
  }
  absl::Status Write(int64_t shard, const Tensors& element) {
    const auto known = writers_.find(shard);
    if (known != writers_.end()) return known->second->Write(element);
    if (writers_.size() == kShardsMax) {
      return absl::ResourceExhaustedError(
          StrCat("expected a `shard_func` with at most ", kShardsMax, " results, got more"));
    }
    const std::string folder = JoinPath(
        run_folder_, absl::StrFormat("%08d%s", static_cast<uint64_t>(shard), kShardSuffix));
    SLUICE_RETURN_IF_ERROR(MakeDirectories(folder));
    SLUICE_ASSIGN_OR_RETURN(auto writer,
                            ElementWriter::Create(SnapshotFileName(folder, 0), run_.format));
    return writers_.emplace(shard, std::move(writer)).first->second->Write(element);
  }

  NewRun run_;
  IteratorPointer inner_;  // null after the end of the input
  Reading& reading_;
  std::string run_folder_;                                     // empty before the first element
  std::map<int64_t, std::unique_ptr<ElementWriter>> writers_;  // by shard
};

}  // namespace

IteratorPointer WriteRun(NewRun run, IteratorPointer inner, Reading& reading) {
  return std::make_unique<RunWriter>(std::move(run), std::move(inner), reading);
}

DatasetPointer ShardDataset(const std::string& shard_folder, const ElementFormat& format,
                            const std::vector<DataType>& types, int64_t start) {
  return MakeDataset({}, [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    auto shard = std::make_unique<ShardIterator>(shard_folder, format, types, start, reading);
    SLUICE_RETURN_IF_ERROR(shard->Open());
    return shard;
  });
}

absl::StatusOr<DatasetPointer> ShardsOfRun(const std::string& run_folder,
                                           const ElementFormat& format,
                                           const std::vector<DataType>& types) {
  SLUICE_ASSIGN_OR_RETURN(
      const std::vector<std::string> folders,
      MatchFiles(JoinPath(EscapePattern(run_folder), StrCat("*", kShardSuffix))));
  std::vector<Tensors> shards;
  for (const std::string& folder : folders) {
    shards.push_back({TensorOf(ShardDataset(folder, format, types, 0))});
  }
  return DatasetOf({}, std::move(shards));
}

}  // namespace sluice

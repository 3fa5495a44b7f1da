// Kernels that write datasets to files, and the one that reads what they wrote.
#include <utility>

#include "executor/files/files.h"
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_function.h"
#include "ops/data/dataset_kernel.h"
#include "ops/io/record_file.h"
#include "ops/pipeline/snapshot_folder.h"

namespace sluice {
namespace {

// --- SaveDataset

struct SavedDataset {
  std::string folder;
  ElementFormat format;
  std::optional<Closure> shard_func;  // none: one shard
};

absl::StatusOr<SavedDataset> SavedOf(const KernelContext& c, std::vector<Closure> functions) {
  SavedDataset saved;
  SLUICE_ASSIGN_OR_RETURN(saved.folder, ScalarInput<std::string>(c, "path"));
  SLUICE_ASSIGN_OR_RETURN(saved.format.compression,
                          FileCompressionFromName(c.node().AttrOr<std::string>("compression", "")));
  if (c.node().AttrOr<bool>("use_shard_func", true)) saved.shard_func = std::move(functions[0]);
  return saved;
}

// Passes the elements through and writes them. The metadata is complete at the end.
class SaveIterator : public DatasetIterator {
 public:
  SaveIterator(SavedDataset saved, IteratorPointer inner, Reading& reading)
      : saved_(std::move(saved)), inner_(std::move(inner)), reading_(reading) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    if (inner_ == nullptr) return false;
    SLUICE_ASSIGN_OR_RETURN(const bool any, inner_->Next(element));
    if (writers_ == nullptr) SLUICE_RETURN_IF_ERROR(Begin(any ? *element : Tensors()));
    if (!any) {
      inner_ = nullptr;
      SLUICE_RETURN_IF_ERROR(writers_->Close());
      metadata_.set_finalized(true);
      SLUICE_RETURN_IF_ERROR(WriteSnapshotMetadata(saved_.folder, metadata_));
      return false;
    }
    int64_t shard = 0;
    if (saved_.shard_func.has_value()) {
      SLUICE_ASSIGN_OR_RETURN(const Tensors returned, (*saved_.shard_func)(*element, reading_));
      SLUICE_ASSIGN_OR_RETURN(shard, ReturnedScalar(returned, "shard_func"));
    }
    SLUICE_RETURN_IF_ERROR(writers_->Write(shard, *element));
    metadata_.set_num_elements(metadata_.num_elements() + 1);
    return true;
  }

 private:
  absl::Status Begin(const Tensors& first) {
    metadata_.set_run_id(StrCat(NewRunId()));
    metadata_.set_version(saved_.format.version);
    for (const Tensor& t : first) metadata_.add_dtype(static_cast<pb::DataType>(t.dtype()));
    const std::string run = JoinPath(saved_.folder, metadata_.run_id());
    SLUICE_RETURN_IF_ERROR(MakeDirectories(run));
    SLUICE_RETURN_IF_ERROR(WriteSnapshotMetadata(saved_.folder, metadata_));
    writers_ = std::make_unique<ShardWriters>(run, saved_.format);
    return absl::OkStatus();
  }

  const SavedDataset saved_;
  IteratorPointer inner_;  // null at the end
  Reading& reading_;
  SnapshotMetadata metadata_;
  std::unique_ptr<ShardWriters> writers_;  // null before the first element
};

absl::StatusOr<DatasetPointer> SaveDatasetV2(const KernelContext& c,
                                             std::vector<Closure> functions) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const SavedDataset saved, SavedOf(c, std::move(functions)));
  return MakeDatasetOver(input, input->facts(), [saved](IteratorPointer inner, Reading& reading) {
    return std::make_unique<SaveIterator>(saved, std::move(inner), reading);
  });
}

absl::Status SaveDataset(KernelContext& c, std::vector<Closure> functions) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer saved, SaveDatasetV2(c, std::move(functions)));
  return ReadAll(c, *saved, [](const Tensors&, Reading&) { return absl::OkStatus(); });
}

// --- LoadDataset

absl::StatusOr<DatasetPointer> LoadDataset(const KernelContext& c, std::vector<Closure> functions) {
  SLUICE_ASSIGN_OR_RETURN(const auto path, ScalarInput<std::string>(c, "path"));
  SLUICE_ASSIGN_OR_RETURN(const auto metadata, ReadSnapshotMetadata(path));
  if (!metadata.has_value()) {
    return absl::NotFoundError(StrCat("Could not find metadata file [", path, "]"));
  }
  ElementFormat format{.version = metadata->version()};
  SLUICE_ASSIGN_OR_RETURN(format.compression,
                          FileCompressionFromName(c.node().AttrOr<std::string>("compression", "")));
  const std::string run = JoinPath(path, metadata->run_id());
  const auto types = c.node().AttrOr<std::vector<DataType>>("output_types", {});
  const auto iterate = [=, reader_func =
                               functions[0]](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer shards, ShardsOfRun(run, format, types));
    return IterateMade(reader_func, {TensorOf(shards)}, reading);
  };
  return MakeDataset({.cardinality = metadata->num_elements()}, iterate);
}

// --- DatasetToTFRecord

absl::Status DatasetToTfRecord(KernelContext& c, std::vector<Closure>) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto path, ScalarInput<std::string>(c, "filename"));
  SLUICE_ASSIGN_OR_RETURN(const auto name, ScalarInput<std::string>(c, "compression_type"));
  SLUICE_ASSIGN_OR_RETURN(const FileCompression compression, FileCompressionFromName(name));
  SLUICE_ASSIGN_OR_RETURN(const auto sink, CreateSink(path, compression));
  SLUICE_RETURN_IF_ERROR(ReadAll(c, *input, [&](const Tensors& element, Reading&) -> absl::Status {
    SLUICE_RETURN_IF_ERROR(CheckElement(element, {DT_STRING}, {PartialShape::Scalar()}));
    const auto& record = element[0].scalar<std::string>();
    const RecordFrame frame(record);
    SLUICE_RETURN_IF_ERROR(sink->Append(frame.header()));
    SLUICE_RETURN_IF_ERROR(sink->Append(record));
    return sink->Append(frame.footer());
  }));
  return sink->Close();
}

KERNEL(DatasetToTFRecord, ReadingKernel<DatasetToTfRecord>);
KERNEL(ExperimentalDatasetToTFRecord, ReadingKernel<DatasetToTfRecord>);
KERNEL(LoadDataset, FunctionDatasetKernel<LoadDataset>);
KERNEL(SaveDataset, ReadingKernel<SaveDataset>);
KERNEL(SaveDatasetV2, FunctionDatasetKernel<SaveDatasetV2>);

}  // namespace
}  // namespace sluice

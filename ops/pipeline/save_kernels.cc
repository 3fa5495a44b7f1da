// Kernels that write datasets to files, and the kernel that reads such files.
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

absl::StatusOr<DatasetPointer> SaveDatasetV2(const KernelContext& c,
                                             std::vector<Closure> functions) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  NewRun run{.counts_elements = true};
  SLUICE_ASSIGN_OR_RETURN(run.folder, ScalarInput<std::string>(c, "path"));
  SLUICE_ASSIGN_OR_RETURN(run.format.compression,
                          FileCompressionFromName(c.node().AttrOr<std::string>("compression", "")));
  if (c.node().AttrOr<bool>("use_shard_func", true)) {
    run.shard_of = ScalarFunction(functions[0], "shard_func");
  }
  return MakeDatasetOver(input, input->facts(), [run](IteratorPointer inner, Reading& reading) {
    return WriteRun(run, std::move(inner), reading);
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

// Kernels of the ops that save embedding tables to checkpoints and restore them (table.cc).
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/checkpoint/bundle.h"
#include "ops/embedding/record_tensors.h"
#include "ops/state/arguments.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

using TableName = Attr<std::string, "table_name">;
using ShardNumber = Attr<int64_t, "shard">;
using NumShards = Attr<int64_t, "num_shards">;

absl::Status EmbeddingTableSave(KernelContext& c, TableName table, ShardNumber shard,
                                NumShards num_shards) {
  SLUICE_ASSIGN_OR_RETURN(const auto store, LookupNamed<RowStore>(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const auto prefix, ScalarInput<std::string>(c, "prefix"));
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<BundleWriter> writer, BundleWriter::Create(prefix));
  SLUICE_RETURN_IF_ERROR(SaveTable(
      *store, {table.value, shard.value, num_shards.value},
      [&](const std::string& name, const Tensor& tensor) { return writer->Add(name, tensor); }));
  return writer->Finish();
}

class BundleSource : public TensorSource {
 public:
  explicit BundleSource(const BundleReader* reader) : reader_(reader) {}
  std::string Describe() const override { return StrCat("'", reader_->prefix(), "'"); }
  std::vector<std::string> names() const override { return reader_->names(); }
  absl::StatusOr<std::pair<DataType, TensorShape>> TypeOf(const std::string& name) const override {
    SLUICE_ASSIGN_OR_RETURN(const BundleReader::Entry entry, reader_->Find(name));
    return std::pair(entry.dtype, entry.shape);
  }
  absl::StatusOr<Tensor> Read(const std::string& name) const override {
    return reader_->Read(name);
  }

 private:
  const BundleReader* const reader_;
};

absl::Status EmbeddingTableRestore(KernelContext& c, TableName table, ShardNumber shard,
                                   NumShards num_shards) {
  SLUICE_ASSIGN_OR_RETURN(const auto store, LookupNamed<RowStore>(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const auto prefix, ScalarInput<std::string>(c, "prefix"));
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
  SLUICE_INVALID_IF(num_shards.value > RowStore::kShardsMax || shard.value >= num_shards.value,
                    c.node().Describe(), ": expected num_shards of at most ", RowStore::kShardsMax,
                    " and a shard in [0, num_shards), got ", num_shards.value, " and ",
                    shard.value);
  return RestoreTable(BundleSource(reader.get()), {table.value, shard.value, num_shards.value},
                      *store);
}

KERNEL(EmbeddingTableSave, FunctionKernel<EmbeddingTableSave>);
KERNEL(EmbeddingTableRestore, FunctionKernel<EmbeddingTableRestore>);

}  // namespace
}  // namespace sluice

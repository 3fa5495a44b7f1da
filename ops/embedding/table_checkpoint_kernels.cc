// Kernels that save embedding tables to checkpoints and restore them.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
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

// The tensors of a chunk, by the last parts of their names.
struct Column {
  const char* name;
  Tensor RecordTensors::*tensor;
};
constexpr Column kColumns[] = {{"keys", &RecordTensors::keys},
                               {"rows", &RecordTensors::rows},
                               {"slots", &RecordTensors::slots},
                               {"counts", &RecordTensors::counts},
                               {"steps", &RecordTensors::steps}};

absl::Status EmbeddingTableSave(KernelContext& c, TableName table, ShardNumber shard,
                                NumShards num_shards) {
  SLUICE_ASSIGN_OR_RETURN(const auto store, LookupNamed<RowStore>(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const auto prefix, ScalarInput<std::string>(c, "prefix"));
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<BundleWriter> writer, BundleWriter::Create(prefix));
  constexpr int64_t kChunkBytes = int64_t{16} << 20;
  const int64_t chunk = std::max<int64_t>(1, kChunkBytes / (store->row_bytes() + 24));
  const int64_t end = store->end();
  // A table without records has one chunk, too.
  for (int64_t begin = 0, number = 0; begin < std::max<int64_t>(end, 1); begin += chunk, ++number) {
    SLUICE_ASSIGN_OR_RETURN(const RecordTensors records,
                            ExportRecords(*store, begin, std::min(begin + chunk, end)));
    const std::string name =
        absl::StrFormat("%s/%d-of-%d/%05d/", table.value, shard.value, num_shards.value, number);
    for (const Column& column : kColumns) {
      SLUICE_RETURN_IF_ERROR(writer->Add(name + column.name, records.*column.tensor));
    }
  }
  return writer->Finish();
}

// The names of the table's chunks, up to the last slash: "<table>/<part>/<chunk>/".
std::vector<std::string> ChunksOf(const BundleReader& reader, const std::string& table) {
  std::vector<std::string> chunks;
  for (const std::string& name : reader.names()) {
    if (!absl::StartsWith(name, table + "/")) continue;
    const std::vector<std::string> parts = absl::StrSplit(name.substr(table.size() + 1), '/');
    const bool is_chunk = parts.size() == 3 && absl::StrContains(parts[0], "-of-");
    if (is_chunk && parts[2] == "keys") chunks.push_back(name.substr(0, name.size() - 4));
  }
  return chunks;
}

void RemoveAll(RowStore& store) {
  constexpr int64_t kAtOnce = 1 << 16;
  const int64_t end = store.end();
  for (int64_t begin = 0; begin < end; begin += kAtOnce) {
    store.Remove(store
                     .Export(static_cast<Records::Number>(begin),
                             static_cast<Records::Number>(std::min(begin + kAtOnce, end)))
                     .keys);
  }
}

absl::Status EmbeddingTableRestore(KernelContext& c, TableName table, ShardNumber shard,
                                   NumShards num_shards) {
  SLUICE_ASSIGN_OR_RETURN(const auto store, LookupNamed<RowStore>(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const auto prefix, ScalarInput<std::string>(c, "prefix"));
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
  const std::vector<std::string> chunks = ChunksOf(*reader, table.value);
  if (chunks.empty()) {
    return absl::NotFoundError(StrCat("Key ", table.value, " not found in checkpoint '", prefix,
                                      "': expected an embedding table"));
  }
  RemoveAll(*store);
  const auto is_own = [&](int64_t key) {
    return RowStore::ShardOf(key, static_cast<uint64_t>(num_shards.value)) == shard.value;
  };
  for (const std::string& chunk : chunks) {
    RecordTensors records;
    for (const Column& column : kColumns) {
      SLUICE_ASSIGN_OR_RETURN(records.*column.tensor, reader->Read(chunk + column.name));
    }
    SLUICE_RETURN_IF_ERROR(ImportRecords(
        StrCat("checkpoint '", prefix, "', table '", table.value, "'"), records, is_own, *store));
  }
  return absl::OkStatus();
}

KERNEL(EmbeddingTableSave, FunctionKernel<EmbeddingTableSave>);
KERNEL(EmbeddingTableRestore, FunctionKernel<EmbeddingTableRestore>);

}  // namespace
}  // namespace sluice

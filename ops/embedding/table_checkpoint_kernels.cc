// Kernels that save embedding tables to checkpoints and restore them.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
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
    for (const RecordColumn& column : kRecordColumns) {
      SLUICE_RETURN_IF_ERROR(writer->Add(name + column.name, records.*column.tensor));
    }
  }
  return writer->Finish();
}

// The parts of a table in a checkpoint, "<s>-of-<n>", with the names of their chunks up to the last
// slash: "<table>/<part>/<chunk>/".
using Parts = std::map<std::string, std::vector<std::string>>;
Parts PartsOf(const BundleReader& reader, const std::string& table) {
  Parts found;
  for (const std::string& name : reader.names()) {
    if (!absl::StartsWith(name, table + "/")) continue;
    const std::vector<std::string> parts = absl::StrSplit(name.substr(table.size() + 1), '/');
    const bool is_chunk = parts.size() == 3 && absl::StrContains(parts[0], "-of-");
    if (is_chunk && parts[2] == "keys") {
      found[parts[0]].push_back(name.substr(0, name.size() - 4));
    }
  }
  return found;
}

// DATA_LOSS, with `what` first, if a part is missing or one too many. There is at least one.
absl::Status CheckParts(const std::string& what, const Parts& parts) {
  const std::string& any = parts.begin()->first;
  int64_t count = 0;
  if (!absl::SimpleAtoi(any.substr(any.find("-of-") + 4), &count)) count = 0;
  for (int64_t s = 0; s < count; ++s) {
    const std::string part = StrCat(s, "-of-", count);
    if (!parts.contains(part)) {
      return absl::DataLossError(
          StrCat(what, ": expected ", count, " parts, but part '", part, "' is missing"));
    }
  }
  if (parts.size() == static_cast<uint64_t>(count)) return absl::OkStatus();
  return absl::DataLossError(
      StrCat(what, ": expected ", count, " parts because of part '", any, "', got ", parts.size()));
}

// Checks all chunks without reading their records.
absl::Status CheckChunks(const std::string& what, const Parts& parts, const BundleReader& reader,
                         const RowStore& store) {
  for (const auto& [part, chunks] : parts) {
    for (const std::string& chunk : chunks) {
      RecordTypes types;
      for (size_t i = 0; i < types.size(); ++i) {
        SLUICE_ASSIGN_OR_RETURN(const BundleReader::Entry entry,
                                reader.Find(chunk + kRecordColumns[i].name));
        types[i] = {entry.dtype, entry.shape};
      }
      SLUICE_RETURN_IF_ERROR(CheckRecords(what, types, store));
    }
  }
  return absl::OkStatus();
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
  const Parts parts = PartsOf(*reader, table.value);
  if (parts.empty()) {
    return absl::NotFoundError(StrCat("Key ", table.value, " not found in checkpoint '", prefix,
                                      "': expected an embedding table"));
  }
  const std::string what = StrCat("checkpoint '", prefix, "', table '", table.value, "'");
  SLUICE_RETURN_IF_ERROR(CheckParts(what, parts));
  SLUICE_RETURN_IF_ERROR(CheckChunks(what, parts, *reader, *store));
  RemoveAll(*store);
  store->ForgetSteps();
  const auto is_own = [&](int64_t key) {
    return RowStore::ShardOf(key, static_cast<uint64_t>(num_shards.value)) == shard.value;
  };
  for (const auto& [part, chunks] : parts) {
    for (const std::string& chunk : chunks) {
      RecordTensors records;
      for (const RecordColumn& column : kRecordColumns) {
        SLUICE_ASSIGN_OR_RETURN(records.*column.tensor, reader->Read(chunk + column.name));
      }
      SLUICE_RETURN_IF_ERROR(ImportRecords(what, records, is_own, *store));
    }
  }
  return absl::OkStatus();
}

KERNEL(EmbeddingTableSave, FunctionKernel<EmbeddingTableSave>);
KERNEL(EmbeddingTableRestore, FunctionKernel<EmbeddingTableRestore>);

}  // namespace
}  // namespace sluice

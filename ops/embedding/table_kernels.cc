// Kernels of the ops that make, read and change embedding tables (table.cc).
#include <algorithm>
#include <vector>

#include "executor/kernel/context.h"
#include "executor/trace/metrics.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/embedding/record_tensors.h"
#include "ops/embedding/row_store.h"
#include "ops/state/arguments.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

absl::StatusOr<InitialRows> InitialRowsOf(const KernelInit& init) {
  const auto kind = init.attr<std::string>("initializer");
  const auto values = init.attr<std::vector<float>>("initializer_values");
  const size_t expected = kind == "constant" ? 1 : 2;
  SLUICE_INVALID_IF(values.size() != expected, init.node().Describe(), ": expected ", expected,
                    " initializer_values for the initializer '", kind, "', got ", values.size());
  if (kind == "constant") return InitialRows::Constant(values[0]);
  if (kind == "normal") return InitialRows::Normal(values[0], values[1]);
  if (kind == "truncated_normal") return InitialRows::TruncatedNormal(values[0], values[1]);
  return InitialRows::Uniform(values[0], values[1]);
}

absl::Status ReadRules(const KernelInit& init, RowStoreOptions& options) {
  options.admission = {.after_updates = init.attr<int64_t>("admit_after"),
                       .filter_counters = init.attr<int64_t>("admit_filter"),
                       .probability = init.attr<float>("admit_probability")};
  options.eviction = {.idle_steps = init.attr<int64_t>("evict_idle_steps"),
                      .idle_seconds = init.attr<float>("evict_idle_seconds"),
                      .min_norm = init.attr<float>("evict_min_norm"),
                      .min_norm_steps = init.attr<int64_t>("evict_min_norm_steps"),
                      .capacity = init.attr<int64_t>("capacity"),
                      .least_updated = init.attr<bool>("evict_least_updated")};
  const AdmissionRule& rule = options.admission;
  SLUICE_INVALID_IF(!(rule.probability >= 0 && rule.probability <= 1), init.node().Describe(),
                    ": expected admit_probability in [0, 1], got ", rule.probability);
  constexpr int64_t kCountersMax = int64_t{1} << 30, kCountMax = 255;
  SLUICE_INVALID_IF(rule.filter_counters > kCountersMax, init.node().Describe(),
                    ": expected admit_filter of at most ", kCountersMax, " counters, got ",
                    rule.filter_counters);
  SLUICE_INVALID_IF(rule.filter_counters > 0 && rule.after_updates > kCountMax,
                    init.node().Describe(), ": expected admit_after of at most ", kCountMax,
                    " with a filter, got ", rule.after_updates);
  const auto& [seconds, norm] = std::pair(options.eviction.idle_seconds, options.eviction.min_norm);
  constexpr float kSecondsMax = 1e9f;  // 31 years
  SLUICE_INVALID_IF(!(seconds >= 0 && seconds <= kSecondsMax) || !(norm >= 0),
                    init.node().Describe(), ": expected evict_idle_seconds in [0, 1e9] and ",
                    "evict_min_norm of at least 0, got ", seconds, " and ", norm);
  options.shard = init.attr<int64_t>("shard");
  options.num_shards = init.attr<int64_t>("num_shards");
  constexpr int64_t kShardsMax = RowStore::kShardsMax;
  SLUICE_INVALID_IF(options.num_shards > kShardsMax || options.shard >= options.num_shards,
                    init.node().Describe(), ": expected num_shards of at most ", kShardsMax,
                    " and a shard in [0, num_shards), got ", options.num_shards, " and ",
                    options.shard);
  return absl::OkStatus();
}

absl::StatusOr<RowStoreOptions> OptionsOf(const KernelInit& init) {
  RowStoreOptions options;
  const auto shape = init.attr<PartialShape>("shape");
  constexpr int64_t kDimMax = 1 << 20;
  SLUICE_INVALID_IF(
      !shape.rank_known() || shape.rank() != 2 || shape.dim(1) < 1 || shape.dim(1) > kDimMax,
      init.node().Describe(), ": expected a shape [-1, n] with n in [1, ", kDimMax, "], got ",
      shape.ToString());
  options.dim = shape.dim(1);
  options.dtype = init.attr<DataType>("dtype");
  options.seed = init.attr<int64_t>("seed");
  options.slot_values = init.attr<std::vector<float>>("slot_values");
  constexpr size_t kSlotsMax = 16;
  SLUICE_INVALID_IF(options.slot_values.size() > kSlotsMax, init.node().Describe(),
                    ": expected at most ", kSlotsMax, " slots, got ", options.slot_values.size());
  SLUICE_ASSIGN_OR_RETURN(options.initial_rows, InitialRowsOf(init));
  SLUICE_RETURN_IF_ERROR(ReadRules(init, options));
  return options;
}

std::shared_ptr<RowStore> Watched(std::shared_ptr<RowStore> made) {
  Metrics::Global().Watch<RowStore>(made, [](const RowStore& store, std::vector<Metric>& out) {
    const auto add = [&](const char* metric, int64_t value) {
      out.push_back({metric, "table", store.options().name, static_cast<double>(value)});
    };
    add("sluice_embedding_table_keys", store.size());
    add("sluice_embedding_table_bytes", store.bytes());
    const RowStore::Counts counts = store.counts();
    add("sluice_embedding_table_admitted", counts.admitted);
    add("sluice_embedding_table_filtered", counts.filtered);
    add("sluice_embedding_table_evicted", counts.evicted);
  });
  return made;
}

// A graph without rules may open a table with rules.
absl::Status FitRules(const KernelInit& init, const RowStoreOptions& options,
                      const RowStoreOptions& has) {
  const bool fits_admission =
      options.admission == AdmissionRule() || options.admission == has.admission;
  const bool fits_eviction = options.eviction == EvictionRule() || options.eviction == has.eviction;
  SLUICE_INVALID_IF(!fits_admission || !fits_eviction, init.node().Describe(),
                    ": expected a table with the same rules of admission and eviction behind this "
                    "name, got one with others");
  return absl::OkStatus();
}

struct MakeTableKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(RowStoreOptions options, OptionsOf(init));
    return MakeNamedResourceKernel<RowStore>(
        init,
        [&](const ResourceName& name) -> absl::StatusOr<std::shared_ptr<RowStore>> {
          options.name = name.name;
          return Watched(std::make_shared<RowStore>(options));
        },
        [&](const RowStore& found) -> absl::Status {
          const RowStoreOptions& has = found.options();
          // A graph without an optimizer may open a trained table.
          const bool fits_slots =
              options.slot_values.empty() || has.slot_values.size() == options.slot_values.size();
          SLUICE_INVALID_IF(has.dtype != options.dtype || has.dim != options.dim || !fits_slots,
                            init.node().Describe(), ": expected a table of ",
                            DataTypeName(options.dtype), " rows of ", options.dim,
                            " elements with ", options.slot_values.size(),
                            " slots behind this name, got one of ", DataTypeName(has.dtype),
                            " rows of ", has.dim, " elements with ", has.slot_values.size());
          SLUICE_INVALID_IF(has.seed != options.seed || has.initial_rows != options.initial_rows,
                            init.node().Describe(), ": expected a table with seed ", options.seed,
                            " behind this name, got one with seed ", has.seed,
                            " or another initializer");
          return FitRules(init, options, has);
        });
  }
};

// The table of input 0, whose rows must have the type of attribute T.
absl::StatusOr<std::shared_ptr<RowStore>> TableOf(const KernelContext& c, DataType dtype) {
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<RowStore> store, BorrowNamed<RowStore>(c, 0));
  SLUICE_INVALID_IF(store->options().dtype != dtype, c.node().Describe(), ": expected a table of ",
                    DataTypeName(dtype), " rows, got one of ",
                    DataTypeName(store->options().dtype));
  return store;
}

RowStore::Keys KeysOf(const Tensor& keys, std::vector<int64_t>& wide) {
  const auto n = static_cast<size_t>(keys.num_elements());
  if (keys.dtype() == DT_INT64) return {keys.data<int64_t>(), n};
  wide.assign(keys.data<int32_t>(), keys.data<int32_t>() + n);
  return wide;
}

absl::Status ExpectShape(const KernelContext& c, std::string_view name, const Tensor& t,
                         const TensorShape& shape) {
  if (t.shape() == shape) return absl::OkStatus();
  return InvalidArgument(c.node().Describe(), ": expected ", name, " of shape ", shape.ToString(),
                         ", got ", t.shape().ToString());
}

absl::Status EmbeddingTableGather(KernelContext& c, Attr<DataType, "T"> dtype) {
  SLUICE_ASSIGN_OR_RETURN(const auto store, TableOf(c, dtype));
  TensorShape shape = c.input(1).shape();
  shape.AddDim(store->options().dim);
  SLUICE_ASSIGN_OR_RETURN(shape, TensorShape::Make(shape.dims()));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  std::vector<int64_t> wide;
  const RowStore::Keys keys = KeysOf(c.input(1), wide);
  char* rows = static_cast<char*>(out->raw());
  const double cost = 50 + 0.1 * static_cast<double>(store->row_bytes());
  c.ParallelFor(static_cast<int64_t>(keys.size()), cost, [&](int64_t begin, int64_t end) {
    store->Gather(keys.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)),
                  rows + begin * store->row_bytes());
  });
  return absl::OkStatus();
}

absl::Status EmbeddingTableSize(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto store, BorrowNamed<RowStore>(c, 0));
  return SetScalarOutput(c, store->size());
}

absl::Status EmbeddingTableCounts(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto store, BorrowNamed<RowStore>(c, 0));
  const RowStore::Counts counts = store->counts();
  const int64_t values[] = {counts.admitted, counts.filtered, counts.evicted};
  for (int i = 0; i < 3; ++i) {
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(i, TensorShape()));
    out->scalar<int64_t>() = values[i];
  }
  return absl::OkStatus();
}

absl::Status EmbeddingTableRemove(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto store, BorrowNamed<RowStore>(c, 0));
  std::vector<int64_t> wide;
  store->Remove(KeysOf(c.input(1), wide));
  return absl::OkStatus();
}

absl::Status EmbeddingTableExport(KernelContext& c, Attr<DataType, "T"> dtype) {
  SLUICE_ASSIGN_OR_RETURN(const auto store, TableOf(c, dtype));
  SLUICE_ASSIGN_OR_RETURN(const auto begin, ScalarInput<int64_t>(c, "begin"));
  SLUICE_ASSIGN_OR_RETURN(const auto limit, ScalarInput<int64_t>(c, "limit"));
  SLUICE_INVALID_IF(begin < 0 || limit < 1, c.node().Describe(),
                    ": expected begin >= 0 and limit > 0, got ", begin, " and ", limit);
  const int64_t all = store->end();
  const int64_t first = std::min(begin, all);
  const int64_t end = first + std::min(limit, all - first);
  SLUICE_ASSIGN_OR_RETURN(RecordTensors r, ExportRecords(*store, first, end));
  SetOutputs(c, 0,
             {std::move(r.keys), std::move(r.rows), std::move(r.slots), std::move(r.counts),
              std::move(r.steps)});
  SLUICE_ASSIGN_OR_RETURN(Tensor * next, c.AllocateOutput(5, TensorShape()));
  next->scalar<int64_t>() = end < all ? end : -1;
  return absl::OkStatus();
}

absl::Status EmbeddingTableImport(KernelContext& c, Attr<DataType, "T"> dtype) {
  SLUICE_ASSIGN_OR_RETURN(const auto store, TableOf(c, dtype));
  const RecordTensors records = {c.input(1), c.input(2), c.input(3), c.input(4), c.input(5)};
  return ImportRecords(
      c.node().Describe(), records, [](int64_t) { return true; }, *store);
}

absl::Status EmbeddingTableInsert(KernelContext& c, Attr<DataType, "T"> dtype) {
  SLUICE_ASSIGN_OR_RETURN(const auto store, TableOf(c, dtype));
  const int64_t n = c.input(1).num_elements();
  SLUICE_RETURN_IF_ERROR(ExpectShape(c, "keys", c.input(1), TensorShape({n})));
  SLUICE_RETURN_IF_ERROR(
      ExpectShape(c, "rows", c.input(2), TensorShape({n, store->options().dim})));
  for (int64_t i = 0; i < n; ++i) {
    SLUICE_RETURN_IF_ERROR(
        store->Put(c.input(1).data<int64_t>()[i],
                   static_cast<const char*>(c.input(2).raw()) + i * store->row_bytes(), {}, 0,
                   store->idle().latest()));
  }
  return absl::OkStatus();
}

absl::Status EmbeddingTableShard(KernelContext& c, Attr<int64_t, "num_shards"> num_shards) {
  SLUICE_INVALID_IF(num_shards.value > RowStore::kShardsMax, c.node().Describe(),
                    ": expected num_shards of at most ", RowStore::kShardsMax, ", got ",
                    num_shards.value);
  SLUICE_ASSIGN_OR_RETURN(Tensor * shards, c.AllocateOutput(0, c.input(0).shape()));
  std::vector<int64_t> wide;
  const RowStore::Keys keys = KeysOf(c.input(0), wide);
  const auto count = static_cast<uint64_t>(num_shards.value);
  std::transform(keys.begin(), keys.end(), shards->data<int32_t>(),
                 [&](int64_t key) { return RowStore::ShardOf(key, count); });
  return absl::OkStatus();
}

KERNEL(EmbeddingTableHandleOp, MakeTableKernel);
KERNEL(EmbeddingTableGather, FunctionKernel<EmbeddingTableGather>);
KERNEL(EmbeddingTableSize, FunctionKernel<EmbeddingTableSize>);
KERNEL(EmbeddingTableCounts, FunctionKernel<EmbeddingTableCounts>);
KERNEL(EmbeddingTableExport, FunctionKernel<EmbeddingTableExport>);
KERNEL(EmbeddingTableImport, FunctionKernel<EmbeddingTableImport>);
KERNEL(EmbeddingTableInsert, FunctionKernel<EmbeddingTableInsert>);
KERNEL(EmbeddingTableRemove, FunctionKernel<EmbeddingTableRemove>);
KERNEL(EmbeddingTableShard, FunctionKernel<EmbeddingTableShard>);

}  // namespace
}  // namespace sluice

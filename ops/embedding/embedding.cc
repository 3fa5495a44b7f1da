#include "ops/embedding/embedding.h"

#include <map>
#include <utility>

#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/array/concat_builders.h"
#include "ops/array/fill_builders.h"
#include "ops/array/identity_builders.h"
#include "ops/array/reshape_builders.h"
#include "ops/embedding/lookup_all_builders.h"
#include "ops/indexing/gather_builders.h"
#include "ops/indexing/partition_builders.h"
#include "ops/indexing/slice_builders.h"
#include "ops/indexing/unique_builders.h"
#include "ops/indexing/where_builders.h"
#include "ops/math/arithmetic_builders.h"
#include "ops/math/cast_builders.h"
#include "ops/math/compare_builders.h"
#include "ops/math/division_builders.h"
#include "ops/math/power_builders.h"
#include "ops/math/select_builders.h"
#include "ops/reduce/reduce_builders.h"
#include "ops/reduce/segment_builders.h"
#include "ops/reduce/sparse_segment_builders.h"
#include "ops/sparse/sparse_shape_builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

Output Scalar(Output like, int64_t value) { return Constant(*like.graph(), value, like.dtype()); }

// Scales rows that are longer than max_norm to that length. `x` has the shape of `ids`, followed by
// the shape of a row.
Output Clip(Output x, Output ids, const std::optional<float>& max_norm, At at) {
  if (!max_norm || !x) return x;
  Graph& g = *x.graph();
  NameScope scope(g, "clip_by_norm");
  const Output squares = Mul(x, x, {}, at);
  Output axes;
  if (x.shape().rank_known() && ids.shape().rank_known()) {
    std::vector<int64_t> own;
    for (int d = ids.shape().rank(); d < x.shape().rank(); ++d) own.push_back(d);
    axes = Constant(g, IntegerTensor(own), "Const", at);
  } else {
    axes = Range(RankOf(ids, "Rank", at), RankOf(x, "Rank", at), Constant(g, int32_t{1}, "delta"));
  }
  const Output sum = Sum(squares, axes, {.keep_dims = true}, at);
  const Output is_long = Greater(sum, Constant(g, 0, x.dtype(), "Greater/y"), {}, at);
  // If the sum is 0, takes the root of 1 instead, because its gradient is finite.
  const Output safe = SelectV2(is_long, sum, OnesLike(sum, {}, at), {}, at);
  const Output norm = SelectV2(is_long, Sqrt(safe, {}, at), sum, {}, at);
  const Output limit = Constant(g, *max_norm, x.dtype(), "mul/y");
  return Identity(RealDiv(Mul(x, limit, {}, at), Maximum(norm, limit, {}, at), {}, at), {}, at);
}

// Gathers rows of one part, on the device of the part.
Output ReadPart(const Variable& part, Output ids, std::string_view name, At at) {
  Graph& g = *ids.graph();
  ColocateWith here(g, part.op(), true);
  return IsEmbeddingTable(part) ? GatherRows(part, ids, name, at) : Gather(part, ids, name, at);
}

// The place of an id: the number of the part that has it, and the row in that part.
struct Place {
  Output part;
  Output row;
};

Place PlaceByMod(Output ids, int64_t parts, At at) {
  return {FloorMod(ids, Scalar(ids, parts), {}, at), FloorDiv(ids, Scalar(ids, parts), {}, at)};
}

// Divides the ids into ranges. The first `extras` parts have one id more than the others.
Place PlaceByDiv(Output ids, int64_t rows, int64_t parts, At at) {
  const int64_t least = rows / parts;
  const Output extras = Scalar(ids, rows % parts), more = Scalar(ids, least + 1);
  // If there are fewer ids than parts, `least` is 0, and the first parts have all ids. But a
  // divisor must not be 0.
  const Output few = Scalar(ids, std::max<int64_t>(least, 1));
  const Output behind = Sub(ids, extras, {}, at);
  const Output part = Maximum(FloorDiv(ids, more, {}, at), FloorDiv(behind, few, {}, at), {}, at);
  const Output row = SelectV2(Less(part, extras, {}, at), FloorMod(ids, more, {}, at),
                              FloorMod(behind, few, {}, at), {}, at);
  return {part, row};
}

// Returns the place of a key in an embedding table. A part finds its rows by the whole key.
Place PlaceByHash(Output keys, int64_t parts, At at) {
  return {Output(NodeBuilder(keys.graph(), "EmbeddingTableShard", at)
                     .Input(keys)
                     .Attr("num_shards", parts)
                     .Finish()),
          keys};
}

Place PlaceIn(const std::vector<Variable>& parts, Output ids, PartitionStrategy strategy, At at) {
  const auto count = static_cast<int64_t>(parts.size());
  if (IsEmbeddingTable(parts[0])) return PlaceByHash(ids, count, at);
  if (strategy == PartitionStrategy::kMod) return PlaceByMod(ids, count, at);
  int64_t rows = 0;
  for (const Variable& part : parts) rows += part.shape().dim(0);
  return PlaceByDiv(ids, rows, count, at);
}

absl::Status CheckTable(const std::vector<Variable>& parts, PartitionStrategy strategy) {
  SLUICE_INVALID_IF(parts.empty(), "embedding_lookup: expected a table, got no variable");
  for (const Variable& v : parts) {
    SLUICE_INVALID_IF(!v, "embedding_lookup: expected variables, got an invalid one");
    SLUICE_INVALID_IF(v.shape().rank_known() && v.shape().rank() < 1,
                      "embedding_lookup: expected a table of rows, got variable '", v.name(),
                      "' of shape ", v.shape().ToString());
    SLUICE_INVALID_IF(IsEmbeddingTable(v) != IsEmbeddingTable(parts[0]),
                      "embedding_lookup: expected variables only or one embedding table, got both");
    SLUICE_INVALID_IF(
        strategy == PartitionStrategy::kDiv && v.shape().dim(0) < 0 && !IsEmbeddingTable(v),
        "embedding_lookup: expected parts of known sizes, got variable '", v.name(), "' of shape ",
        v.shape().ToString());
  }
  return absl::OkStatus();
}

Output Refuse(Graph& g, const absl::Status& status, At at) {
  g.SetError(status, at);
  return Output();
}

Output LookupInParts(const std::vector<Variable>& parts, Output ids, PartitionStrategy strategy,
                     const std::string& scope, At at) {
  const auto count = static_cast<int64_t>(parts.size());
  const Output flat = Reshape(ids, {-1}, {}, at);
  const Output places = Range(SizeOf(flat, "Size", at), "range", at);
  const Place place = PlaceIn(parts, flat, strategy, at);
  const Output part = Cast(place.part, DT_INT32, {}, at);
  const OutputList part_rows = DynamicPartition(place.row, part, count, {}, at);
  const OutputList part_places = DynamicPartition(places, part, count, {}, at);
  if (part_rows.empty() || part_places.empty()) return Output();
  OutputList found;
  for (size_t i = 0; i < parts.size(); ++i) {
    found.push_back(ReadPart(parts[i], part_rows[i], "", at));
  }
  const Output joined = ParallelDynamicStitch(part_places, found, {.name = scope}, at);
  if (!joined) return Output();
  PartialShape row = parts[0].shape();
  if (!row.rank_known()) return joined;
  std::vector<int64_t> row_dims(row.dims().begin() + 1, row.dims().end());
  const Output shape = Concat(
      {ShapeOf(ids, "Shape", at), Constant(*ids.graph(), IntegerTensor(row_dims), "Const", at)}, 0,
      {}, at);
  return Reshape(joined, shape, {}, at);
}

}  // namespace

Output EmbeddingLookup(const EmbeddingSource& table, Output ids,
                       const EmbeddingLookupOptions& options, At at) {
  if (!ids) return Output();
  Graph& g = *ids.graph();
  const std::vector<Variable>& parts = table.parts();
  const absl::Status status =
      CheckTable(parts, parts.size() > 1 ? options.strategy : PartitionStrategy::kMod);
  if (!status.ok()) return Refuse(g, status, at);
  NameScope scope(g, options.name);
  if (parts.size() > 1) {
    return Clip(LookupInParts(parts, ids, options.strategy, scope.prefix(), at), ids,
                options.max_norm, at);
  }
  return Identity(Clip(ReadPart(parts[0], ids, scope.prefix(), at), ids, options.max_norm, at), {},
                  at);
}

namespace {

// Returns the row of each entry of a sparse matrix: the first column of its indices.
Output RowsOfEntries(const SparseOutput& ids, At at) {
  Graph& g = *ids.values.graph();
  const Output column = StridedSlice(
      ids.indices, Constant(g, {0, 0}, "strided_slice/stack", at),
      Constant(g, {0, 1}, "strided_slice/stack_1", at),
      Constant(g, {1, 1}, "strided_slice/stack_2", at),
      {.name = "strided_slice", .begin_mask = 1, .end_mask = 1, .shrink_axis_mask = 2}, at);
  return Cast(column, DT_INT32, {}, at);
}

// Returns whether the source is an embedding table without parts.
bool IsOneTable(const EmbeddingSource& source) {
  return source.parts().size() == 1 && IsEmbeddingTable(source.parts()[0]);
}

std::string CombinerName(Combiner combiner) {
  return combiner == Combiner::kSum ? "sum" : combiner == Combiner::kMean ? "mean" : "sqrtn";
}

Output Joined(const OutputList& vectors, At at) {
  return vectors.size() == 1 ? vectors[0] : Concat(vectors, 0, {}, at);
}

// Looks fields up in tables without parts that are on one device. Adds only one node.
Output LookupTables(const std::vector<const FieldLookup*>& fields, Output num_rows,
                    std::string_view name, At at) {
  Graph& g = *num_rows.graph();
  OutputList tables, keys, sizes, segments, weights;
  std::vector<int64_t> dims;
  std::vector<std::string> combiners;
  bool has_bags = false, has_weights = false, has_wide = false;
  for (const FieldLookup* f : fields) {
    has_bags |= f->bags.has_value();
    has_weights |= f->weights.has_value();
    has_wide |= (f->bags ? f->bags->values : f->ids).dtype() == DT_INT64;
  }
  for (const FieldLookup* f : fields) {
    const Variable& table = f->table.parts()[0];
    tables.push_back(table.handle());
    dims.push_back(table.shape().dim(1));
    combiners.push_back(CombinerName(f->combiner));
    const Output own = f->bags ? f->bags->values : f->ids;
    keys.push_back(has_wide && own.dtype() != DT_INT64 ? Cast(own, DT_INT64, {}, at) : own);
    const Output size = SizeOf(own, "Size", at);
    if (has_bags) {
      segments.push_back(f->bags ? RowsOfEntries(*f->bags, at) : Range(size, "range", at));
      sizes.push_back(Cast(size, DT_INT64, {}, at));
    }
    if (has_weights && f->weights) {
      const Output given = f->weights->values;
      weights.push_back(given.dtype() == DT_FLOAT ? given : Cast(given, DT_FLOAT, {}, at));
    } else if (has_weights) {
      weights.push_back(Fill(ExpandDims(size, 0, {}, at), Constant(g, 1.0f), {}, at));
    }
  }
  const Output all_keys = Joined(keys, at);
  const Output all_sizes =
      has_bags ? Stack(sizes, 0, {}, at) : Constant(g, Tensor(DT_INT64, {0}), "Const", at);
  const Output all_segments =
      has_bags ? Joined(segments, at) : Constant(g, Tensor(DT_INT32, {0}), "Const", at);
  const Output all_weights =
      has_weights ? Joined(weights, at) : Constant(g, Tensor(DT_FLOAT, {0}), "Const", at);
  ColocateWith here(g, fields[0]->table.parts()[0].op(), true);
  return EmbeddingTableLookupAll(tables, all_keys, all_sizes, all_segments, all_weights, num_rows,
                                 dims, combiners, fields[0]->table.parts()[0].dtype(),
                                 {.name = name}, at);
}

// Multiplies the rows of `x` by their weights, and combines the rows of each segment.
Output CombineWeighted(Output x, Output weights, Output segments, Combiner combiner,
                       const std::string& scope, At at) {
  const DataType type = x.dtype();
  // In 16 bits, a sum would lose digits.
  const bool is_narrow = type == DT_HALF || type == DT_BFLOAT16;
  if (is_narrow) x = Cast(x, DT_FLOAT, {}, at);
  if (weights.dtype() != x.dtype()) weights = Cast(weights, x.dtype(), {}, at);
  const int rank = x.shape().rank();
  if (rank < 0) {
    return Refuse(*x.graph(),
                  InvalidArgument("embedding_lookup_sparse: expected a table of known rank"), at);
  }
  // Reshapes the weights, so that each is broadcast over its row, whatever the rank of the rows is.
  std::vector<int64_t> spread(static_cast<size_t>(rank), 1);
  spread[0] = -1;
  weights = Reshape(weights, spread, {}, at);
  Output sum = SegmentSum(Mul(x, weights, {}, at), segments,
                          {.name = combiner == Combiner::kSum ? scope : ""}, at);
  if (combiner != Combiner::kSum) {
    const bool is_mean = combiner == Combiner::kMean;
    const Output squares = is_mean ? weights : Mul(weights, weights, {}, at);
    const Output total = SegmentSum(squares, segments, {}, at);
    sum = DivNoNan(sum, is_mean ? total : Sqrt(total, {}, at), {.name = scope}, at);
  }
  return is_narrow ? Cast(sum, type, {}, at) : sum;
}

}  // namespace

Output EmbeddingLookupSparse(const EmbeddingSource& table, const SparseOutput& ids,
                             const std::optional<SparseOutput>& weights,
                             const SparseEmbeddingOptions& options, At at) {
  if (!ids.indices || !ids.values || (weights && !weights->values)) return Output();
  Graph& g = *ids.values.graph();
  NameScope scope(g, options.name);
  if (IsOneTable(table) && !options.max_norm) {
    const FieldLookup field = {
        .table = table, .bags = ids, .weights = weights, .combiner = options.combiner};
    return LookupTables({&field}, Constant(g, int64_t{-1}), scope.prefix(), at);
  }
  const Output segments = RowsOfEntries(ids, at);
  const UniqueOutputs unique = Unique(ids.values, {}, at);
  const Output rows = EmbeddingLookup(
      table, unique.y, {.strategy = options.strategy, .max_norm = options.max_norm}, at);
  if (!rows) return Output();
  if (weights) {
    return CombineWeighted(Gather(rows, unique.idx, 0, "", at), weights->values, segments,
                           options.combiner, scope.prefix(), at);
  }
  switch (options.combiner) {
    case Combiner::kSum:
      return SparseSegmentSum(rows, unique.idx, segments, {.name = scope.prefix()}, at);
    case Combiner::kMean:
      return SparseSegmentMean(rows, unique.idx, segments, {.name = scope.prefix()}, at);
    case Combiner::kSqrtN:
      break;
  }
  return SparseSegmentSqrtN(rows, unique.idx, segments, {.name = scope.prefix()}, at);
}

namespace {

// Returns the entries for which the vector `keeps` is true.
SparseOutput Retain(const SparseOutput& s, Output keeps, At at) {
  const Output where = Reshape(Where(keeps, {}, at), {-1}, {}, at);
  return {Gather(s.indices, where, 0, "", at), Gather(s.values, where, 0, "", at), s.shape};
}

// Merges all dimensions except the last one, so that the rank becomes 2.
SparseOutput AsMatrix(const SparseOutput& s, At at) {
  const Output count = SizeOf(s.shape, "Size", at);
  Graph& g = *s.shape.graph();
  const Output one = Constant(g, int32_t{1}, "Const", at), zero = Constant(g, {0}, "begin", at);
  const Output leading = Slice(s.shape, zero, Stack({Sub(count, one, {}, at)}, 0, {}, at), {}, at);
  const Output last = Gather(s.shape, Sub(count, one, {}, at), 0, "", at);
  const Output shape = Stack({ReduceProd(leading, {0}, {}, at), last}, 0, {}, at);
  const SparseReshapeOutputs r = SparseReshape(s.indices, s.shape, shape, {}, at);
  return {r.output_indices, s.values, r.output_shape};
}

// Replaces the first dimension of `rows` by all dimensions of `shape` except its last one.
Output WithLeading(Output rows, Output shape, At at) {
  Graph& g = *rows.graph();
  const Output one = Constant(g, int32_t{1}, "Const", at), zero = Constant(g, {0}, "begin", at);
  const Output count = Stack({Sub(SizeOf(shape, "Size", at), one, {}, at)}, 0, {}, at);
  const Output leading = Slice(Cast(shape, DT_INT32, {}, at), zero, count, {}, at);
  const Output own = Slice(ShapeOf(rows, "Shape", at), {1}, {-1}, {}, at);
  return Reshape(rows, Concat({leading, own}, 0, {}, at), {}, at);
}

}  // namespace

Output SafeEmbeddingLookupSparse(const EmbeddingSource& table, const SparseOutput& ids,
                                 const std::optional<SparseOutput>& weights,
                                 const SafeEmbeddingOptions& options, At at) {
  if (!ids.indices || !ids.values || !ids.shape || (weights && !weights->values)) return Output();
  Graph& g = *ids.values.graph();
  NameScope scope(g, options.name);
  SparseOutput kept = AsMatrix(ids, at);
  std::optional<SparseOutput> kept_weights;
  if (weights) kept_weights = SparseOutput{kept.indices, weights->values, kept.shape};
  auto keep = [&](Output keeps) {
    kept = Retain(kept, keeps, at);
    if (kept_weights) kept_weights = Retain(*kept_weights, keeps, at);
  };
  keep(GreaterEqual(kept.values, Scalar(kept.values, 0), {}, at));
  if (kept_weights && options.combiner != Combiner::kSum) {
    keep(Greater(kept_weights->values, Scalar(kept_weights->values, 0), {}, at));
  }
  const SparseFillEmptyRowsOutputs filled =
      SparseFillEmptyRows(kept.indices, kept.values, kept.shape,
                          Scalar(kept.values, options.default_id.value_or(0)), {}, at);
  if (kept_weights) {
    const SparseFillEmptyRowsOutputs w =
        SparseFillEmptyRows(kept_weights->indices, kept_weights->values, kept.shape,
                            Scalar(kept_weights->values, 1), {}, at);
    kept_weights = SparseOutput{w.output_indices, w.output_values, kept.shape};
  }
  Output rows = EmbeddingLookupSparse(
      table, {filled.output_indices, filled.output_values, kept.shape}, kept_weights,
      {.combiner = options.combiner, .strategy = options.strategy, .max_norm = options.max_norm},
      at);
  if (!rows) return Output();
  if (!options.default_id) {
    Output is_empty = filled.empty_row_indicator;
    for (int d = 1; d < rows.shape().rank(); ++d) is_empty = ExpandDims(is_empty, -1, {}, at);
    rows = SelectV2(is_empty, ZerosLike(rows, {}, at), rows, {}, at);
  }
  return WithLeading(rows, ids.shape, at);
}

namespace {

absl::Status CheckField(const FieldLookup& f, size_t number) {
  SLUICE_RETURN_IF_ERROR(CheckTable(f.table.parts(), PartitionStrategy::kMod));
  const PartialShape& row = f.table.parts()[0].shape();
  SLUICE_INVALID_IF(row.rank() != 2, "lookup_all: field ", number, ": expected rows of one ",
                    "dimension, got variable '", f.table.parts()[0].name(), "' of shape ",
                    row.ToString());
  SLUICE_INVALID_IF(f.ids.node != nullptr && f.bags, "lookup_all: field ", number,
                    ": expected ids or bags, got both");
  SLUICE_INVALID_IF(f.weights && !f.bags, "lookup_all: field ", number,
                    ": expected weights of bags, got weights of ids");
  SLUICE_INVALID_IF(!f.bags && f.ids.shape().rank_known() && f.ids.shape().rank() != 1,
                    "lookup_all: field ", number, ": expected a vector of ids, got shape ",
                    f.ids.shape().ToString());
  return absl::OkStatus();
}

bool IsValid(const SparseOutput& s) { return s.indices && s.values && s.shape; }

Output RowsOfMatrix(const SparseOutput& matrix, At at) {
  const Output rows = Gather(matrix.shape, Constant(*matrix.shape.graph(), 0), 0, "", at);
  return rows.dtype() == DT_INT64 ? rows : Cast(rows, DT_INT64, {}, at);
}

// Looks up a field whose table has parts or is a variable.
Output LookupField(const FieldLookup& f, At at) {
  if (!f.bags) return EmbeddingLookup(f.table, f.ids, {.strategy = f.strategy}, at);
  const Output found = EmbeddingLookupSparse(f.table, *f.bags, f.weights,
                                             {.combiner = f.combiner, .strategy = f.strategy}, at);
  if (!found) return Output();
  // EmbeddingLookupSparse returns no rows after the last one that has an id, so adds the missing
  // rows.
  Graph& g = *found.graph();
  const Output have = Gather(ShapeOf(found, "Shape", at), Constant(g, 0), 0, "", at);
  const Output missing = Sub(Cast(RowsOfMatrix(*f.bags, at), DT_INT32, {}, at), have, {}, at);
  const Output shape =
      Stack({missing, Constant(g, static_cast<int32_t>(found.shape().dim(1)))}, 0, {}, at);
  return Concat({found, Fill(shape, Constant(g, 0, found.dtype()), {}, at)}, 0, {}, at);
}

using FieldGroup = std::vector<const FieldLookup*>;

// Looks up fields whose tables one node can read.
Output LookupGroup(const FieldGroup& group, std::string_view name, At at) {
  for (const FieldLookup* f : group) {
    if (f->bags) return LookupTables(group, RowsOfMatrix(*f->bags, at), name, at);
  }
  Graph& g = group[0]->table.parts()[0].graph();
  return LookupTables(group, Constant(g, int64_t{-1}), name, at);
}

// Looks up the fields of a group in one node. Returns the result of each field.
OutputList SplitGroup(const FieldGroup& group, At at) {
  std::vector<int64_t> dims;
  for (const FieldLookup* f : group) dims.push_back(f->table.parts()[0].shape().dim(1));
  const Output all = LookupGroup(group, "", at);
  if (!all) return OutputList(group.size());
  return group.size() == 1 ? OutputList{all} : Split(all, dims, 1, {}, at);
}

}  // namespace

Output LookupAll(const std::vector<FieldLookup>& fields, const LookupAllOptions& options, At at) {
  // Groups the fields by device and type.
  std::map<std::pair<std::string, DataType>, FieldGroup> groups;
  for (size_t i = 0; i < fields.size(); ++i) {
    const FieldLookup& f = fields[i];
    if (f.table.parts().empty() || !f.table.parts()[0]) return Output();
    const Variable& first = f.table.parts()[0];
    const absl::Status status = CheckField(f, i);
    if (!status.ok()) return Refuse(first.graph(), status, at);
    const bool is_valid = f.bags ? IsValid(*f.bags) && (!f.weights || f.weights->values) : !!f.ids;
    if (!is_valid) return Output();
    if (IsOneTable(f.table)) groups[{first.device(), first.dtype()}].push_back(&f);
  }
  if (fields.empty()) return Output();
  NameScope scope(fields[0].table.parts()[0].graph(), options.name);
  if (groups.size() == 1 && groups.begin()->second.size() == fields.size()) {
    return LookupGroup(groups.begin()->second, scope.prefix(), at);
  }
  std::map<const FieldLookup*, Output> found;
  for (const auto& [place, group] : groups) {
    const OutputList results = SplitGroup(group, at);
    for (size_t k = 0; k < group.size(); ++k) found[group[k]] = results[k];
  }
  OutputList in_order;
  for (const FieldLookup& f : fields) {
    in_order.push_back(IsOneTable(f.table) ? found[&f] : LookupField(f, at));
  }
  return Concat(in_order, 1, {.name = scope.prefix()}, at);
}

}  // namespace sluice

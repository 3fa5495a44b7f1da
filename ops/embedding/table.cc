// Ops of embedding tables, whose keys are not known in advance (row_store.h). The ops that update a
// table, EmbeddingTableApply<rule>, are declared in ops/update/rules.cc.
#include "graph/op/mixins.h"
#include "graph/status.h"
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

TypeSet RowTypes() { return {DT_HALF, DT_BFLOAT16, DT_FLOAT}; }

void UsesTable(OpDefBuilder& op) { op.Input("table", DT_RESOURCE).Stateful(); }

// Returns the number of elements of a row, or -1 if it is not known.
absl::StatusOr<int64_t> DimOf(const ShapeContext& c, DataType dtype) {
  const HandleData* table = c.InputHandle(0);
  if (table == nullptr) return -1;
  SLUICE_INVALID_IF(table->dtype != dtype, "Expected a table of ", DataTypeName(dtype),
                    " rows, got one of ", DataTypeName(table->dtype));
  return table->shape.rank_known() && table->shape.rank() == 2 ? table->shape.dim(1) : -1;
}

absl::Status GatherShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const int64_t dim, DimOf(c, c.attr<DataType>("T")));
  if (!c.input(1).rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
  return c.SetOutput(0, c.input(1).Concatenate(PartialShape({dim})));
}

// Checks that the inputs are keys [n], rows [n, dim] and, at each index in `columns`, one number
// per key.
absl::Status RecordsShape(ShapeContext& c, std::initializer_list<int> columns) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape keys, c.WithRank(1, 1));
  SLUICE_ASSIGN_OR_RETURN(const int64_t dim, DimOf(c, c.attr<DataType>("T")));
  SLUICE_RETURN_IF_ERROR(keys.Concatenate(PartialShape({dim})).MergeWith(c.input(2)).status());
  for (const int i : columns) SLUICE_RETURN_IF_ERROR(keys.MergeWith(c.input(i)).status());
  return absl::OkStatus();
}

OP(EmbeddingTableHandleOp,
   "Returns a handle of the embedding table with this container and name (`shared_name` or, "
   "without it, a name of the node's own), and makes the table in the first step. `shape` is "
   "[-1, elements of a row]. A key that was not updated has its initial row, which depends on the "
   "seed and the key only: `initializer_values` are the constant, the bounds of the uniform or "
   "mean and standard deviation of the normal distribution. Each record has one optimizer slot per "
   "element of `slot_values`, which are their initial values. A handle without `slot_values` also "
   "names a table with slots. `admit_after`, `admit_filter` and `admit_probability` are the rule "
   "that makes records, `evict_idle_steps`, `evict_idle_seconds`, `evict_min_norm`, "
   "`evict_min_norm_steps`, `capacity` and `evict_least_updated` the one that removes them "
   "(table_rules.h). Checkpoints have the whole table, of which this is part `shard`, under "
   "`table_name`.")
    .Output("table", DT_RESOURCE)
    .With(ContainerAttrs)
    .Attr("dtype", TypeAttr(RowTypes()))
    .Attr("shape", ShapeAttr())
    .Attr("initializer", OneOf({"constant", "uniform", "normal", "truncated_normal"}, "uniform"))
    .Attr("initializer_values", FloatListAttr({-0.05f, 0.05f}))
    .Attr("seed", IntAttr(0))
    .Attr("slot_values", FloatListAttr({}))
    .Attr("optimizer", StringAttr(""))
    .Attr("admit_after", IntAttr(0).Min(0))
    .Attr("admit_filter", IntAttr(0).Min(0))
    .Attr("admit_probability", FloatAttr(1))
    .Attr("evict_idle_steps", IntAttr(0).Min(0))
    .Attr("evict_idle_seconds", FloatAttr(0))
    .Attr("evict_min_norm", FloatAttr(0))
    .Attr("evict_min_norm_steps", IntAttr(1000).Min(1))
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("evict_least_updated", BoolAttr(false))
    .Attr("table_name", StringAttr(""))
    .Attr("shard", IntAttr(0).Min(0))
    .Attr("num_shards", IntAttr(1).Min(1))
    .SharedByReplicas()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape shape, WithRank(c.attr<PartialShape>("shape"), 2));
      c.SetOutputHandle(0, {c.attr<DataType>("dtype"), shape});
      return c.SetOutput(0, PartialShape::Scalar());
    });

OP(EmbeddingTableGather,
   "Returns the rows of `keys`. A key without a record has its initial row, and gets no record.")
    .With(UsesTable)
    .Input("keys", "Tkeys")
    .Output("rows", "T")
    .Attr("T", TypeAttr(RowTypes()))
    .Attr("Tkeys", TypeAttr(IndexTypes()))
    .OnVariable(VariableUse::kReads)
    .Shape(GatherShape) GRADIENT([](Backprop& b) {
      // The gradient is sparse, and may repeat keys. It has no dense shape, because a table has
      // none.
      const Output grad = b.Of("rows"), keys = b.Value("keys");
      const Output size = ExpandDims(SizeOf(keys), 0);
      const Output dim = RowsOf(ShapeOf(b.Value("rows")), -1, 0);
      const Output flat = Reshape(keys, size);
      b.Into("table",
             IndexedSlices{Reshape(grad, Concat({size, dim}, 0)),
                           flat.dtype() == DT_INT64 ? flat : Cast(flat, DT_INT64), Output()});
    });

OP(EmbeddingTableSize, "Returns the number of records.")
    .With(UsesTable)
    .Output("size", DT_INT64)
    .OnVariable(VariableUse::kReads)
    .Shape(ScalarOutput());

OP(EmbeddingTableCounts,
   "Returns how many keys the rules of the table admitted and evicted, and how many updates it "
   "dropped because their keys were not admitted, since it was made.")
    .With(UsesTable)
    .Output("admitted", DT_INT64)
    .Output("filtered", DT_INT64)
    .Output("evicted", DT_INT64)
    .OnVariable(VariableUse::kReads)
    .Shape([](ShapeContext& c) -> absl::Status {
      for (int i = 0; i < 3; ++i) SLUICE_RETURN_IF_ERROR(c.SetOutput(i, PartialShape::Scalar()));
      return absl::OkStatus();
    });

OP(EmbeddingTableExport,
   "Returns the records with the numbers from `begin` on, at most `limit` of them, in any order: "
   "`rows` is [n, dim], `slots` is [n, slots, dim], `counts` the numbers of updates, `steps` the "
   "steps of the last ones. `next` is the argument `begin` of the next call, or -1 after the last. "
   "A chunk may be empty. Each record is consistent by itself.")
    .With(UsesTable)
    .Input("begin", DT_INT64)
    .Input("limit", DT_INT64)
    .Output("keys", DT_INT64)
    .Output("rows", "T")
    .Output("slots", "T")
    .Output("counts", DT_INT64)
    .Output("steps", DT_INT64)
    .Output("next", DT_INT64)
    .Attr("T", TypeAttr(RowTypes()))
    .OnVariable(VariableUse::kReads)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
      SLUICE_ASSIGN_OR_RETURN(const int64_t dim, DimOf(c, c.attr<DataType>("T")));
      SLUICE_RETURN_IF_ERROR(c.SetOutput(0, PartialShape({-1})));
      SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape({-1, dim})));
      SLUICE_RETURN_IF_ERROR(c.SetOutput(2, PartialShape({-1, -1, dim})));
      SLUICE_RETURN_IF_ERROR(c.SetOutput(3, PartialShape({-1})));
      SLUICE_RETURN_IF_ERROR(c.SetOutput(4, PartialShape({-1})));
      return c.SetOutput(5, PartialShape::Scalar());
    });

OP(EmbeddingTableImport,
   "Adds records, and replaces those of keys that exist. The inputs are as the outputs of "
   "EmbeddingTableExport.")
    .With(UsesTable)
    .Input("keys", DT_INT64)
    .Input("rows", "T")
    .Input("slots", "T")
    .Input("counts", DT_INT64)
    .Input("steps", DT_INT64)
    .Attr("T", TypeAttr(RowTypes()))
    .Shape([](ShapeContext& c) {
      return RecordsShape(c, {4, 5});
    });

OP(EmbeddingTableInsert,
   "Sets the rows of `keys`, the number of updates to 0, and the step of the last one to the "
   "latest step of the table. New records have the initial values of slots. The last of equal keys "
   "counts.")
    .With(UsesTable)
    .Input("keys", DT_INT64)
    .Input("rows", "T")
    .Attr("T", TypeAttr(RowTypes()))
    .Shape([](ShapeContext& c) { return RecordsShape(c, {}); });

OP(EmbeddingTableRemove,
   "Removes the records of `keys`, which have their initial rows afterwards. Ignores keys without "
   "a record.")
    .With(UsesTable)
    .Input("keys", DT_INT64)
    .Shape([](ShapeContext& c) { return c.WithRank(1, 1).status(); });

OP(EmbeddingTableShard,
   "Returns the part, of `num_shards` parts of a table, that has each key. It depends on the key "
   "and on `num_shards` only.")
    .Input("keys", "Tkeys")
    .Output("shards", DT_INT32)
    .Attr("num_shards", IntAttr().Min(1))
    .Attr("Tkeys", TypeAttr(IndexTypes()))
    .Shape(SameAsInput(0));

// --- checkpoints: chunks of records as tensors of a bundle

// Declares the inputs of an op on a part of a table and a checkpoint that has the table.
void UsesPartInCheckpoint(OpDefBuilder& op) {
  op.Input("table", DT_RESOURCE).Input("prefix", DT_STRING).Stateful();
  op.Attr("table_name", StringAttr());
  op.Attr("shard", IntAttr(0).Min(0)).Attr("num_shards", IntAttr(1).Min(1));
}

OP(EmbeddingTableSave,
   "Writes the records of a part of a table to a checkpoint of its own at `prefix`, for "
   "MergeV2Checkpoints. Chunk c of part s of n has the tensors <table_name>/<s>-of-<n>/<c>/keys, "
   "rows, slots, counts and steps, as EmbeddingTableExport returns them. The tensors below "
   "<table_name>/<s>-of-<n>/rules have the counts of keys that wait for admission, and the steps "
   "and times that eviction uses.")
    .With(UsesPartInCheckpoint)
    .OnVariable(VariableUse::kReads)
    .Shape([](ShapeContext& c) { return c.WithRank(1, 0).status(); });

OP(EmbeddingTableRestore,
   "Replaces the records of a part of a table, and what its rules counted, by those of the "
   "checkpoint whose keys belong to the part. The checkpoint's table may have another number of "
   "parts. A table without slots ignores "
   "those of the checkpoint. NOT_FOUND if the checkpoint does not have the table, DATA_LOSS if one "
   "of its parts is missing, INVALID_ARGUMENT if types or shapes differ. The table then stays as "
   "it was.")
    .With(UsesPartInCheckpoint)
    .Shape([](ShapeContext& c) { return c.WithRank(1, 0).status(); });

}  // namespace
}  // namespace sluice

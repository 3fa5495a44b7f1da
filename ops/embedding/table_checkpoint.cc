// Embedding tables in checkpoints: chunks of records as tensors of a bundle.
#include "ops/op.h"

namespace sluice {
namespace {

// A part of a table, and a checkpoint that has the table.
void UsesPartInCheckpoint(OpDefBuilder& op) {
  op.Input("table", DT_RESOURCE).Input("prefix", DT_STRING).Stateful();
  op.Attr("table_name", StringAttr());
  op.Attr("shard", IntAttr(0).Min(0)).Attr("num_shards", IntAttr(1).Min(1));
}

OP(EmbeddingTableSave,
   "Writes the records of a part of a table to a checkpoint of its own at `prefix`, for "
   "MergeV2Checkpoints. Chunk c of part s of n has the tensors <table_name>/<s>-of-<n>/<c>/keys, "
   "rows, slots, counts and steps, as EmbeddingTableExport returns them.")
    .With(UsesPartInCheckpoint)
    .OnVariable(VariableUse::kReads)
    .Shape([](ShapeContext& c) { return c.WithRank(1, 0).status(); });

OP(EmbeddingTableRestore,
   "Replaces the records of a part of a table by those of the checkpoint whose keys belong to the "
   "part. The checkpoint's table may have another number of parts. A table without slots ignores "
   "those of the checkpoint. NOT_FOUND if the checkpoint does not have the table, DATA_LOSS if one "
   "of its parts is missing, INVALID_ARGUMENT if types or shapes differ. The table then stays as "
   "it was.")
    .With(UsesPartInCheckpoint)
    .Shape([](ShapeContext& c) { return c.WithRank(1, 0).status(); });

}  // namespace
}  // namespace sluice

// Ops that fill, read and change lookup tables.
#include "graph/op/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

// The shapes of a key and of a value, if the op that made the table is known.
struct TableShapes {
  PartialShape key = PartialShape::UnknownRank();
  PartialShape value = PartialShape::UnknownRank();
};

TableShapes ShapesOf(const ShapeContext& c) {
  const Node* table = c.node().input(0).node;
  while (table != nullptr && table->op() == "Identity") table = table->input(0).node;
  if (table == nullptr) return {};
  const std::string& op = table->op();
  if (op.ends_with("HashTable") || op.ends_with("HashTableV2")) {
    const bool is_dense = table->num_inputs() > 0;
    const auto* value = table->FindAttr<PartialShape>("value_shape");
    return {.key = is_dense ? table->input(0).node->output_shape(table->input(0).index)
                            : PartialShape::Scalar(),
            .value = value != nullptr ? *value : PartialShape::Scalar()};
  }
  if (!op.starts_with("MutableHashTableOfTensors") && op != "AnonymousMutableHashTableOfTensors") {
    return {};
  }
  return {.key = PartialShape::Scalar(), .value = *table->FindAttr<PartialShape>("value_shape")};
}

absl::Status FindShape(ShapeContext& c) {
  const TableShapes table = ShapesOf(c);
  const PartialShape& keys = c.input(1);
  if (!keys.rank_known() || !table.key.rank_known()) {
    return c.SetOutput(0, PartialShape::UnknownRank());
  }
  const int prefix = keys.rank() - table.key.rank();
  SLUICE_INVALID_IF(prefix < 0, "Expected keys to have suffix ", table.key.ToString(),
                    " but saw shape: ", keys.ToString());
  PartialShape shape = PartialShape::Scalar();
  for (int i = 0; i < keys.rank(); ++i) {
    if (i < prefix) {
      shape.AddDim(keys.dim(i));
    } else {
      SLUICE_RETURN_IF_ERROR(MergeDim(keys.dim(i), table.key.dim(i - prefix)).status());
    }
  }
  return c.SetOutput(0, shape.Concatenate(table.value));
}

void UsesRefTable(OpDefBuilder& op) { op.RefInput("table_handle", DT_STRING); }

void UsesTable(OpDefBuilder& op) { op.Input("table_handle", DT_RESOURCE).Stateful(); }

void Initializes(OpDefBuilder& op) {
  op.Input("keys", "Tkey")
      .Input("values", "Tval")
      .With(Attrs({"Tkey", "Tval"}, TypeAttr()))
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        SLUICE_ASSIGN_OR_RETURN(const PartialShape keys, c.WithRank(1, 1));
        return keys.MergeWith(c.input(2)).status();
      });
}

void InitializesFromTextFile(OpDefBuilder& op) {
  op.Input("filename", DT_STRING)
      .With(Attrs({"key_index", "value_index"}, IntAttr().Min(-2)))
      .Attr("vocab_size", IntAttr(-1).Min(-1))
      .Attr("delimiter", StringAttr("\t"))
      .Attr("offset", IntAttr(0))
      .NotDifferentiable()
      .Shape([](ShapeContext& c) { return c.WithRank(1, 0).status(); });
}

void Exports(OpDefBuilder& op) {
  op.Output("keys", "Tkeys")
      .Output("values", "Tvalues")
      .With(Attrs({"Tkeys", "Tvalues"}, TypeAttr()))
      .Shape(UnknownOutputs());
}

void Finds(OpDefBuilder& op) {
  op.Input("keys", "Tin")
      .Input("default_value", "Tout")
      .Output("values", "Tout")
      .With(Attrs({"Tin", "Tout"}, TypeAttr()))
      .NotDifferentiable()
      .Shape(FindShape);
}

void TakesKeysAndValues(OpDefBuilder& op) {
  op.Input("keys", "Tin")
      .Input("values", "Tout")
      .With(Attrs({"Tin", "Tout"}, TypeAttr()))
      .Shape(NoOutputs());
}

void ReturnsSize(OpDefBuilder& op) {
  op.Output("size", DT_INT64).NotDifferentiable().Shape(ScalarOutput());
}

OP(InitializeTable, "InitializeTableV2 with a reference handle.")
    .With(UsesRefTable)
    .With(Initializes);

OP(InitializeTableV2,
   "Fills a table, which can be done once. Filling it again with the same contents has no effect.")
    .With(UsesTable)
    .With(Initializes);

OP(InitializeTableFromTextFile, "InitializeTableFromTextFileV2 with a reference handle.")
    .With(UsesRefTable)
    .With(InitializesFromTextFile);

OP(InitializeTableFromTextFileV2,
   "Fills a table with one entry per line of a file. The indices say what of the line the key and "
   "the value are: a column after splitting at `delimiter`, the whole line (-2) or its number (-1, "
   "the first is `offset`). Reads `vocab_size` lines, or all (-1).")
    .With(UsesTable)
    .With(InitializesFromTextFile);

OP(LookupTableExport, "LookupTableExportV2 with a reference handle.")
    .With(UsesRefTable)
    .With(Exports);

OP(LookupTableExportV2,
   "Returns all keys and values of a table in any order. Returns all buckets of a dense table.")
    .With(UsesTable)
    .With(Exports);

OP(LookupTableFind, "LookupTableFindV2 with a reference handle.").With(UsesRefTable).With(Finds);

OP(LookupTableFindV2,
   "Returns the values of `keys`. A key that is not in the table has the value `default_value`, "
   "which is one value for all keys or one for each.")
    .With(UsesTable)
    .With(Finds);

OP(LookupTableImport, "LookupTableImportV2 with a reference handle.")
    .With(UsesRefTable)
    .With(TakesKeysAndValues);

OP(LookupTableImportV2, "Replaces the contents of a table.")
    .With(UsesTable)
    .With(TakesKeysAndValues);

OP(LookupTableInsert, "LookupTableInsertV2 with a reference handle.")
    .With(UsesRefTable)
    .With(TakesKeysAndValues)
    .NotDifferentiable();

OP(LookupTableInsertV2, "Inserts values under keys, and replaces the values of keys that exist.")
    .With(UsesTable)
    .With(TakesKeysAndValues)
    .NotDifferentiable();

OP(LookupTableRemoveV2, "Removes keys from a table, and ignores those that are not in it.")
    .With(UsesTable)
    .Input("keys", "Tin")
    .Attr("Tin", TypeAttr())
    .Shape(NoOutputs());

OP(LookupTableSize, "LookupTableSizeV2 with a reference handle.")
    .With(UsesRefTable)
    .With(ReturnsSize);

OP(LookupTableSizeV2, "Returns the number of keys in a table.").With(UsesTable).With(ReturnsSize);

}  // namespace
}  // namespace sluice

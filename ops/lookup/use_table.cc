// What is done with tables: contents in, values out.

#include "ops/op.h"

namespace sluice {
namespace {

// The shapes of a key and of a value, where the node that made the table tells them.
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
  if (prefix < 0) {
    return InvalidArgument("Expected keys to have suffix ", table.key.ToString(),
                           " but saw shape: ", keys.ToString());
  }
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

absl::Status InitializeShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape keys, c.WithRank(1, 1));
  return keys.MergeWith(c.input(2)).status();
}

absl::Status FileShape(ShapeContext& c) { return c.WithRank(1, 0).status(); }

OP(InitializeTable, "InitializeTableV2 for a table behind a vector of two strings.")
    .RefInput("table_handle", DT_STRING)
    .Input("keys", "Tkey")
    .Input("values", "Tval")
    .Attr("Tkey", TypeAttr())
    .Attr("Tval", TypeAttr())
    .NotDifferentiable()
    .Shape(InitializeShape);

OP(InitializeTableV2,
   "Gives a table its contents. That is done once; again with the same contents is fine.")
    .Input("table_handle", DT_RESOURCE)
    .Input("keys", "Tkey")
    .Input("values", "Tval")
    .Attr("Tkey", TypeAttr())
    .Attr("Tval", TypeAttr())
    .Stateful()
    .NotDifferentiable()
    .Shape(InitializeShape);

OP(InitializeTableFromTextFile,
   "InitializeTableFromTextFileV2 for a table behind a vector of two strings.")
    .RefInput("table_handle", DT_STRING)
    .Input("filename", DT_STRING)
    .Attr("key_index", IntAttr().Min(-2))
    .Attr("value_index", IntAttr().Min(-2))
    .Attr("vocab_size", IntAttr(-1).Min(-1))
    .Attr("delimiter", StringAttr("\t"))
    .Attr("offset", IntAttr(0))
    .NotDifferentiable()
    .Shape(FileShape);

OP(InitializeTableFromTextFileV2,
   "Gives a table its contents, an entry a line of the file. Key and value are columns (split at "
   "`delimiter`), the whole line (-2) or its number (-1; the first is `offset`). `vocab_size` "
   "lines are read, or all (-1).")
    .Input("table_handle", DT_RESOURCE)
    .Input("filename", DT_STRING)
    .Attr("key_index", IntAttr().Min(-2))
    .Attr("value_index", IntAttr().Min(-2))
    .Attr("vocab_size", IntAttr(-1).Min(-1))
    .Attr("delimiter", StringAttr("\t"))
    .Attr("offset", IntAttr(0))
    .Stateful()
    .NotDifferentiable()
    .Shape(FileShape);

OP(LookupTableExport, "LookupTableExportV2 for a table behind a vector of two strings.")
    .RefInput("table_handle", DT_STRING)
    .Output("keys", "Tkeys")
    .Output("values", "Tvalues")
    .Attr("Tkeys", TypeAttr())
    .Attr("Tvalues", TypeAttr())
    .Shape(UnknownOutputs());

OP(LookupTableExportV2,
   "All keys and values of a table, in any order; of a dense table all buckets.")
    .Input("table_handle", DT_RESOURCE)
    .Output("keys", "Tkeys")
    .Output("values", "Tvalues")
    .Attr("Tkeys", TypeAttr())
    .Attr("Tvalues", TypeAttr())
    .Stateful()
    .Shape(UnknownOutputs());

OP(LookupTableFind, "LookupTableFindV2 for a table behind a vector of two strings.")
    .RefInput("table_handle", DT_STRING)
    .Input("keys", "Tin")
    .Input("default_value", "Tout")
    .Output("values", "Tout")
    .Attr("Tin", TypeAttr())
    .Attr("Tout", TypeAttr())
    .NotDifferentiable()
    .Shape(FindShape);

OP(LookupTableFindV2,
   "The values of `keys`; where a key is not there `default_value`, which is one value or one for "
   "each key.")
    .Input("table_handle", DT_RESOURCE)
    .Input("keys", "Tin")
    .Input("default_value", "Tout")
    .Output("values", "Tout")
    .Attr("Tin", TypeAttr())
    .Attr("Tout", TypeAttr())
    .Stateful()
    .NotDifferentiable()
    .Shape(FindShape);

OP(LookupTableImport, "LookupTableImportV2 for a table behind a vector of two strings.")
    .RefInput("table_handle", DT_STRING)
    .Input("keys", "Tin")
    .Input("values", "Tout")
    .Attr("Tin", TypeAttr())
    .Attr("Tout", TypeAttr())
    .Shape(NoOutputs());

OP(LookupTableImportV2, "Replaces the contents of a table.")
    .Input("table_handle", DT_RESOURCE)
    .Input("keys", "Tin")
    .Input("values", "Tout")
    .Attr("Tin", TypeAttr())
    .Attr("Tout", TypeAttr())
    .Stateful()
    .Shape(NoOutputs());

OP(LookupTableInsert, "LookupTableInsertV2 for a table behind a vector of two strings.")
    .RefInput("table_handle", DT_STRING)
    .Input("keys", "Tin")
    .Input("values", "Tout")
    .Attr("Tin", TypeAttr())
    .Attr("Tout", TypeAttr())
    .NotDifferentiable()
    .Shape(NoOutputs());

OP(LookupTableInsertV2, "Puts values under keys; those that are there get the new value.")
    .Input("table_handle", DT_RESOURCE)
    .Input("keys", "Tin")
    .Input("values", "Tout")
    .Attr("Tin", TypeAttr())
    .Attr("Tout", TypeAttr())
    .Stateful()
    .NotDifferentiable()
    .Shape(NoOutputs());

OP(LookupTableRemoveV2, "Takes keys out of a table; those that are not there are passed over.")
    .Input("table_handle", DT_RESOURCE)
    .Input("keys", "Tin")
    .Attr("Tin", TypeAttr())
    .Stateful()
    .Shape(NoOutputs());

OP(LookupTableSize, "LookupTableSizeV2 for a table behind a vector of two strings.")
    .RefInput("table_handle", DT_STRING)
    .Output("size", DT_INT64)
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(LookupTableSizeV2, "How many keys a table has.")
    .Input("table_handle", DT_RESOURCE)
    .Output("size", DT_INT64)
    .Stateful()
    .NotDifferentiable()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice

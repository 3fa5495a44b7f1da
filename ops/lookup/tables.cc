// Ops that make lookup tables. The output of a …V2 op is a resource handle that names the table. In
// old graphs, it is a reference to a vector of two strings. All ops with the same container and
// `shared_name` share a table. If `shared_name` is empty, the table belongs to the node. An
// anonymous table lives as long as its handle.
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

void KeyAndValueTypes(OpDefBuilder& op) {
  op.With(Attrs({"key_dtype", "value_dtype"}, TypeAttr()));
}

// Declares an op that makes a table which can be shared by name.
void NamedTable(OpDefBuilder& op) {
  op.With(ContainerAttrs)
      .Attr("use_node_name_sharing", BoolAttr(false))
      .With(KeyAndValueTypes)
      .NotDifferentiable();
}

void NamedMutableTable(OpDefBuilder& op) { op.With(NamedTable).SharedByReplicas(); }

void ValueShape(OpDefBuilder& op) { op.Attr("value_shape", ShapeAttr(PartialShape::Scalar())); }

// Declares an op that makes a dense table. Its shape function checks that the reserved keys are
// scalars or vectors.
void Dense(OpDefBuilder& op) {
  op.With(ValueShape)
      .Attr("initial_num_buckets", IntAttr(131072))
      .Attr("max_load_factor", FloatAttr(0.8f))
      .Shape([](ShapeContext& c) {
        for (int i = 0; i < c.num_inputs(); ++i) {
          SLUICE_RETURN_IF_ERROR(c.WithRankAtMost(i, 1).status());
        }
        return c.SetOutput(0, IsRefType(c.node().output_type(0)) ? PartialShape::Vector(2)
                                                                 : PartialShape::Scalar());
      });
}

OP(AnonymousHashTable,
   "Makes a table that InitializeTable or a text file fills once. After that it can only be read.")
    .With(MakesResourceHandle("table_handle"))
    .With(KeyAndValueTypes);

OP(AnonymousMutableDenseHashTable,
   "Makes a table in two tensors, keys and values, with one row per bucket. Buckets without a key "
   "hold `empty_key` or `deleted_key`, which cannot be used as keys. Keys may be vectors.")
    .With(Inputs({"empty_key", "deleted_key"}, "key_dtype"))
    .With(MakesResourceHandle("table_handle"))
    .With(KeyAndValueTypes)
    .With(Dense);

OP(AnonymousMutableHashTable, "Makes a table of scalars that can change at any time.")
    .With(MakesResourceHandle("table_handle"))
    .With(KeyAndValueTypes);

OP(AnonymousMutableHashTableOfTensors,
   "Makes a table of vectors of shape `value_shape` that can change at any time.")
    .With(MakesResourceHandle("table_handle"))
    .With(KeyAndValueTypes)
    .With(ValueShape);

OP(HashTable, "HashTableV2 with a reference handle.")
    .With(MakesRefHandle("table_handle"))
    .With(NamedTable);

OP(HashTableV2,
   "Makes a table that InitializeTable or a text file fills once. After that it can only be read.")
    .With(MakesResourceHandle("table_handle"))
    .With(NamedTable);

OP(MutableDenseHashTable,
   "MutableDenseHashTableV2 with a reference handle and without a deleted key. No key can be "
   "removed from it.")
    .Input("empty_key", "key_dtype")
    .With(MakesRefHandle("table_handle"))
    .With(NamedMutableTable)
    .With(Dense);

OP(MutableDenseHashTableV2,
   "Makes a table in two tensors, keys and values, with one row per bucket. Buckets without a key "
   "hold `empty_key` or `deleted_key`, which cannot be used as keys. Keys may be vectors.")
    .With(Inputs({"empty_key", "deleted_key"}, "key_dtype"))
    .With(MakesResourceHandle("table_handle"))
    .With(NamedMutableTable)
    .With(Dense);

OP(MutableHashTable, "MutableHashTableV2 with a reference handle.")
    .With(MakesRefHandle("table_handle"))
    .With(NamedMutableTable);

OP(MutableHashTableOfTensors, "MutableHashTableOfTensorsV2 with a reference handle.")
    .With(MakesRefHandle("table_handle"))
    .With(NamedMutableTable)
    .With(ValueShape);

OP(MutableHashTableOfTensorsV2,
   "Makes a table of vectors of shape `value_shape` that can change at any time.")
    .With(MakesResourceHandle("table_handle"))
    .With(NamedMutableTable)
    .With(ValueShape);

OP(MutableHashTableV2, "Makes a table of scalars that can change at any time.")
    .With(MakesResourceHandle("table_handle"))
    .With(NamedMutableTable);

}  // namespace
}  // namespace sluice

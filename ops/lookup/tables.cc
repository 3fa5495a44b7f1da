// Lookup tables: handles by resource (…V2, Anonymous…) and, as old graphs have them, by a vector of
// two strings. All tables of one container and `shared_name` are the same; without a name a table
// is its node's alone. An anonymous one lives as long as its handle.

#include "ops/op.h"

namespace sluice {
namespace {

ShapeFunction RefHandle() {
  return [](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); };
}

absl::Status DenseShape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    SLUICE_RETURN_IF_ERROR(c.WithRankAtMost(i, 1).status());
  }
  return c.SetOutput(0, PartialShape::Scalar());
}

absl::Status DenseRefShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRankAtMost(0, 1).status());
  return c.SetOutput(0, PartialShape::Vector(2));
}

OP(AnonymousHashTable,
   "A table that gets its keys and values once, from InitializeTable or a text file; then it can "
   "only be read.")
    .Output("table_handle", DT_RESOURCE)
    .Attr("key_dtype", TypeAttr())
    .Attr("value_dtype", TypeAttr())
    .Stateful()
    .Shape(ScalarOutput());

OP(AnonymousMutableDenseHashTable,
   "A table in two tensors, of keys and of values, with as many rows as there are buckets. "
   "`empty_key` and `deleted_key` stand for buckets without a key, and are none themselves. Keys "
   "may be vectors.")
    .Input("empty_key", "key_dtype")
    .Input("deleted_key", "key_dtype")
    .Output("table_handle", DT_RESOURCE)
    .Attr("key_dtype", TypeAttr())
    .Attr("value_dtype", TypeAttr())
    .Attr("value_shape", ShapeAttr(PartialShape::Scalar()))
    .Attr("initial_num_buckets", IntAttr(131072))
    .Attr("max_load_factor", FloatAttr(0.8f))
    .Stateful()
    .Shape(DenseShape);

OP(AnonymousMutableHashTable, "A table of single values that can be changed at any time.")
    .Output("table_handle", DT_RESOURCE)
    .Attr("key_dtype", TypeAttr())
    .Attr("value_dtype", TypeAttr())
    .Stateful()
    .Shape(ScalarOutput());

OP(AnonymousMutableHashTableOfTensors,
   "A table of vectors of the shape `value_shape` that can be changed at any time.")
    .Output("table_handle", DT_RESOURCE)
    .Attr("key_dtype", TypeAttr())
    .Attr("value_dtype", TypeAttr())
    .Attr("value_shape", ShapeAttr(PartialShape::Scalar()))
    .Stateful()
    .Shape(ScalarOutput());

OP(HashTable, "HashTableV2 behind a vector of two strings: container and name.")
    .RefOutput("table_handle", DT_STRING)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("use_node_name_sharing", BoolAttr(false))
    .Attr("key_dtype", TypeAttr())
    .Attr("value_dtype", TypeAttr())
    .Stateful()
    .NotDifferentiable()
    .Shape(RefHandle());

OP(HashTableV2,
   "A table that gets its keys and values once, from InitializeTable or a text file; then it can "
   "only be read.")
    .Output("table_handle", DT_RESOURCE)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("use_node_name_sharing", BoolAttr(false))
    .Attr("key_dtype", TypeAttr())
    .Attr("value_dtype", TypeAttr())
    .Stateful()
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(MutableDenseHashTable,
   "MutableDenseHashTableV2 behind a vector of two strings, and without a deleted key: nothing can "
   "be removed from it.")
    .Input("empty_key", "key_dtype")
    .RefOutput("table_handle", DT_STRING)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("use_node_name_sharing", BoolAttr(false))
    .Attr("key_dtype", TypeAttr())
    .Attr("value_dtype", TypeAttr())
    .Attr("value_shape", ShapeAttr(PartialShape::Scalar()))
    .Attr("initial_num_buckets", IntAttr(131072))
    .Attr("max_load_factor", FloatAttr(0.8f))
    .Stateful()
    .NotDifferentiable()
    .Shape(DenseRefShape);

OP(MutableDenseHashTableV2,
   "A table in two tensors, of keys and of values, with as many rows as there are buckets. "
   "`empty_key` and `deleted_key` stand for buckets without a key, and are none themselves. Keys "
   "may be vectors.")
    .Input("empty_key", "key_dtype")
    .Input("deleted_key", "key_dtype")
    .Output("table_handle", DT_RESOURCE)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("use_node_name_sharing", BoolAttr(false))
    .Attr("key_dtype", TypeAttr())
    .Attr("value_dtype", TypeAttr())
    .Attr("value_shape", ShapeAttr(PartialShape::Scalar()))
    .Attr("initial_num_buckets", IntAttr(131072))
    .Attr("max_load_factor", FloatAttr(0.8f))
    .Stateful()
    .NotDifferentiable()
    .Shape(DenseShape);

OP(MutableHashTable, "MutableHashTableV2 behind a vector of two strings: container and name.")
    .RefOutput("table_handle", DT_STRING)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("use_node_name_sharing", BoolAttr(false))
    .Attr("key_dtype", TypeAttr())
    .Attr("value_dtype", TypeAttr())
    .Stateful()
    .NotDifferentiable()
    .Shape(RefHandle());

OP(MutableHashTableOfTensors,
   "MutableHashTableOfTensorsV2 behind a vector of two strings: container and name.")
    .RefOutput("table_handle", DT_STRING)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("use_node_name_sharing", BoolAttr(false))
    .Attr("key_dtype", TypeAttr())
    .Attr("value_dtype", TypeAttr())
    .Attr("value_shape", ShapeAttr(PartialShape::Scalar()))
    .Stateful()
    .NotDifferentiable()
    .Shape(RefHandle());

OP(MutableHashTableOfTensorsV2,
   "A table of vectors of the shape `value_shape` that can be changed at any time.")
    .Output("table_handle", DT_RESOURCE)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("use_node_name_sharing", BoolAttr(false))
    .Attr("key_dtype", TypeAttr())
    .Attr("value_dtype", TypeAttr())
    .Attr("value_shape", ShapeAttr(PartialShape::Scalar()))
    .Stateful()
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(MutableHashTableV2, "A table of single values that can be changed at any time.")
    .Output("table_handle", DT_RESOURCE)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("use_node_name_sharing", BoolAttr(false))
    .Attr("key_dtype", TypeAttr())
    .Attr("value_dtype", TypeAttr())
    .Stateful()
    .NotDifferentiable()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice

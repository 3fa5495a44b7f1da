// Datasets of the elements of others.

#include "ops/op.h"

namespace sluice {
namespace {

OP(BatchDataset, "BatchDatasetV2 that keeps the last batch, however short it is.")
    .Input("input_dataset", DT_VARIANT)
    .Input("batch_size", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(BatchDatasetV2,
   "Batches: `batch_size` elements stacked along a new first dimension; the last, shorter batch "
   "only without `drop_remainder`.")
    .Input("input_dataset", DT_VARIANT)
    .Input("batch_size", DT_INT64)
    .Input("drop_remainder", DT_BOOL)
    .Output("handle", DT_VARIANT)
    .Attr("parallel_copy", BoolAttr(false))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(CacheDataset,
   "The elements, kept in memory once they have all been read (`filename` must be empty).")
    .Input("input_dataset", DT_VARIANT)
    .Input("filename", DT_STRING)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ConcatenateDataset, "The elements of the one, then those of the other.")
    .Input("input_dataset", DT_VARIANT)
    .Input("another_dataset", DT_VARIANT)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(FilterDataset, "The elements for which `predicate` holds.")
    .Input("input_dataset", DT_VARIANT)
    .Input("other_arguments", "Targuments")
    .Output("handle", DT_VARIANT)
    .Attr("predicate", FunctionAttrDef())
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(FinalizeDataset, "The elements as they are.")
    .Input("input_dataset", DT_VARIANT)
    .Output("handle", DT_VARIANT)
    .Attr("has_captured_ref", BoolAttr(false))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Shape(ScalarOutput());

OP(FlatMapDataset,
   "The elements of the datasets that `f` makes of the elements, one dataset after the other.")
    .Input("input_dataset", DT_VARIANT)
    .Input("other_arguments", "Targuments")
    .Output("handle", DT_VARIANT)
    .Attr("f", FunctionAttrDef())
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(IgnoreErrorsDataset, "The elements without those that are errors.")
    .Input("input_dataset", DT_VARIANT)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("log_warning", BoolAttr(false))
    .Shape(ScalarOutput());

OP(InterleaveDataset,
   "The elements of the datasets that `f` makes of the elements: of `cycle_length` at a time, "
   "`block_length` elements of each in turn.")
    .Input("input_dataset", DT_VARIANT)
    .Input("other_arguments", "Targuments")
    .Input("cycle_length", DT_INT64)
    .Input("block_length", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("f", FunctionAttrDef())
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(MapDataset, "What `f` makes of each element.")
    .Input("input_dataset", DT_VARIANT)
    .Input("other_arguments", "Targuments")
    .Output("handle", DT_VARIANT)
    .Attr("f", FunctionAttrDef())
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("use_inter_op_parallelism", BoolAttr(true))
    .Attr("preserve_cardinality", BoolAttr(false))
    .Attr("force_synchronous", BoolAttr(false))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ModelDataset, "The elements as they are.")
    .Input("input_dataset", DT_VARIANT)
    .Output("handle", DT_VARIANT)
    .Attr("algorithm", IntAttr(0))
    .Attr("cpu_budget", IntAttr(0))
    .Attr("ram_budget", IntAttr(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Shape(ScalarOutput());

OP(OptimizeDataset, "The elements as they are.")
    .Input("input_dataset", DT_VARIANT)
    .Input("optimizations", DT_STRING)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("optimization_configs", StringListAttr({}))
    .Shape(ScalarOutput());

OP(OptionsDataset, "The elements as they are; the options say how TensorFlow is to run.")
    .Input("input_dataset", DT_VARIANT)
    .Output("handle", DT_VARIANT)
    .Attr("serialized_options", StringAttr())
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(PaddedBatchDataset, "PaddedBatchDatasetV2 that keeps the last batch, however short it is.")
    .Input("input_dataset", DT_VARIANT)
    .Input("batch_size", DT_INT64)
    .Input("padded_shapes", "N*int64")
    .Input("padding_values", "Toutput_types")
    .Output("handle", DT_VARIANT)
    .Attr("Toutput_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("N", IntAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(PaddedBatchDatasetV2,
   "Batches of elements that differ in their sizes: each is filled up with `padding_values` to "
   "`padded_shapes`, where -1 is the largest size of the batch.")
    .Input("input_dataset", DT_VARIANT)
    .Input("batch_size", DT_INT64)
    .Input("padded_shapes", "N*int64")
    .Input("padding_values", "Toutput_types")
    .Input("drop_remainder", DT_BOOL)
    .Output("handle", DT_VARIANT)
    .Attr("parallel_copy", BoolAttr(false))
    .Attr("Toutput_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("N", IntAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ParallelBatchDataset, "BatchDatasetV2.")
    .Input("input_dataset", DT_VARIANT)
    .Input("batch_size", DT_INT64)
    .Input("num_parallel_calls", DT_INT64)
    .Input("drop_remainder", DT_BOOL)
    .Output("handle", DT_VARIANT)
    .Attr("parallel_copy", BoolAttr(false))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("deterministic", StringAttr("default"))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ParallelFilterDataset, "The elements for which `predicate` holds.")
    .Input("input_dataset", DT_VARIANT)
    .Input("other_arguments", "Targuments")
    .Input("num_parallel_calls", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("predicate", FunctionAttrDef())
    .Attr("deterministic", StringAttr("default"))
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ParallelInterleaveDatasetV2, "InterleaveDataset, always in the same order.")
    .Input("input_dataset", DT_VARIANT)
    .Input("other_arguments", "Targuments")
    .Input("cycle_length", DT_INT64)
    .Input("block_length", DT_INT64)
    .Input("num_parallel_calls", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("f", FunctionAttrDef())
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("sloppy", BoolAttr(false))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ParallelInterleaveDatasetV3, "InterleaveDataset, always in the same order.")
    .Input("input_dataset", DT_VARIANT)
    .Input("other_arguments", "Targuments")
    .Input("cycle_length", DT_INT64)
    .Input("block_length", DT_INT64)
    .Input("num_parallel_calls", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("f", FunctionAttrDef())
    .Attr("deterministic", StringAttr("default"))
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ParallelInterleaveDatasetV4, "InterleaveDataset, always in the same order.")
    .Input("input_dataset", DT_VARIANT)
    .Input("other_arguments", "Targuments")
    .Input("cycle_length", DT_INT64)
    .Input("block_length", DT_INT64)
    .Input("buffer_output_elements", DT_INT64)
    .Input("prefetch_input_elements", DT_INT64)
    .Input("num_parallel_calls", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("f", FunctionAttrDef())
    .Attr("deterministic", StringAttr("default"))
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ParallelMapDataset,
   "What `f` makes of each element, several at a time, in the order of the elements.")
    .Input("input_dataset", DT_VARIANT)
    .Input("other_arguments", "Targuments")
    .Input("num_parallel_calls", DT_INT32)
    .Output("handle", DT_VARIANT)
    .Attr("f", FunctionAttrDef())
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("use_inter_op_parallelism", BoolAttr(true))
    .Attr("sloppy", BoolAttr(false))
    .Attr("preserve_cardinality", BoolAttr(false))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ParallelMapDatasetV2,
   "What `f` makes of each element, several at a time, in the order of the elements.")
    .Input("input_dataset", DT_VARIANT)
    .Input("other_arguments", "Targuments")
    .Input("num_parallel_calls", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("f", FunctionAttrDef())
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("use_inter_op_parallelism", BoolAttr(true))
    .Attr("deterministic", StringAttr("default"))
    .Attr("preserve_cardinality", BoolAttr(false))
    .Attr("use_unbounded_threadpool", BoolAttr(false))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(PrefetchDataset,
   "The elements, read by a thread of its own up to `buffer_size` ahead (-1: some).")
    .Input("input_dataset", DT_VARIANT)
    .Input("buffer_size", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("slack_period", IntAttr(0))
    .Attr("legacy_autotune", BoolAttr(true))
    .Attr("buffer_size_min", IntAttr(0))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(RepeatDataset, "All elements `count` times, or for ever (-1).")
    .Input("input_dataset", DT_VARIANT)
    .Input("count", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ShardDataset, "Every `num_shards`-th element, from `index` on.")
    .Input("input_dataset", DT_VARIANT)
    .Input("num_shards", DT_INT64)
    .Input("index", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("require_non_empty", BoolAttr(false))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ShuffleDataset, "The elements in random order: each is drawn out of a buffer of `buffer_size`.")
    .Input("input_dataset", DT_VARIANT)
    .Input("buffer_size", DT_INT64)
    .Input("seed", DT_INT64)
    .Input("seed2", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("reshuffle_each_iteration", BoolAttr(true))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(SkipDataset, "The elements after the first `count`; none (-1).")
    .Input("input_dataset", DT_VARIANT)
    .Input("count", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(TakeDataset, "The first `count` elements, or all (-1).")
    .Input("input_dataset", DT_VARIANT)
    .Input("count", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(TakeWhileDataset, "The elements before the first for which `predicate` does not hold.")
    .Input("input_dataset", DT_VARIANT)
    .Input("other_arguments", "Targuments")
    .Output("handle", DT_VARIANT)
    .Attr("predicate", FunctionAttrDef())
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(UnbatchDataset, "An element a row of the elements.")
    .Input("input_dataset", DT_VARIANT)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ZipDataset, "Tuples: the components of an element of each dataset; ends with the shortest.")
    .Input("input_datasets", "N*variant")
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("N", IntAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice

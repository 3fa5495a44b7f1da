// Datasets whose elements are computed or selected by functions, and ReduceDataset, by which a
// function reduces a whole dataset to a value.
#include "ops/data/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Declares the inputs of InterleaveDataset and its parallel versions.
void InterleavesDatasets(OpDefBuilder& op) {
  op.With(TransformsDataset)
      .Input("other_arguments", "Targuments")
      .With(Inputs({"cycle_length", "block_length"}, DT_INT64))
      .Attr("f", FunctionAttrDef());
}

void ArgumentsElementsAndMetadata(OpDefBuilder& op) {
  op.Attr("Targuments", TypeListAttr().Min(0)).With(ElementsAndMetadata);
}

OP(FilterDataset, "Takes the elements for which `predicate` holds.")
    .With(TransformsDatasetBy("predicate"))
    .With(ElementsAndMetadata);

OP(FlatMapDataset,
   "Applies `f`, which returns a dataset, to each element and concatenates the datasets.")
    .With(TransformsDatasetBy("f"))
    .With(ElementsAndMetadata);

OP(GeneratorDataset,
   "Calls `init_func` for a state and then `next_func(state)` for each element until it returns "
   "OUT_OF_RANGE. Calls `finalize_func(state)` at the end.")
    .With(CallsFunctions({"init_func", "next_func", "finalize_func"}, "_other_args", "_args"))
    .With(MakesDataset)
    .With(ElementsAndMetadata)
    .Stateful();

OP(GroupByReducerDataset,
   "Reduces the elements of each key. Computes keys by `key_func`, a first state by "
   "`init_func(key)`, the next states by `reduce_func(state, element)`, and an element per key, in "
   "the order of the keys, by `finalize_func(state)`.")
    .With(TransformsDataset)
    .With(CallsFunctions({"key_func", "init_func", "reduce_func", "finalize_func"},
                         "_other_arguments", "_other_arguments"))
    .With(ElementAttrs)
    .Stateful();

OP(GroupByWindowDataset,
   "Concatenates the datasets that `reduce_func(key, window)` returns. A window holds "
   "`window_size_func(key)` elements with the same `key_func(element)`.")
    .With(TransformsDataset)
    .With(CallsFunctions({"key_func", "reduce_func", "window_size_func"}, "_other_arguments",
                         "_other_arguments"))
    .With(ElementsAndMetadata);

OP(InterleaveDataset,
   "Applies `f`, which returns a dataset, to each element. Reads `cycle_length` of the datasets at "
   "a time, `block_length` elements of each in turn.")
    .With(InterleavesDatasets)
    .With(ArgumentsElementsAndMetadata);

OP(LegacyParallelInterleaveDatasetV2,
   "Interleaves as InterleaveDataset does. If the input ends within a block, the next dataset "
   "completes the block.")
    .With(InterleavesDatasets)
    .With(Inputs({"buffer_output_elements", "prefetch_input_elements"}, DT_INT64))
    .Attr("deterministic", StringAttr("default"))
    .With(ArgumentsElementsAndMetadata);

OP(MapAndBatchDataset,
   "Applies `f` to each element, several calls at a time, and batches `batch_size` results.")
    .With(TransformsDatasetBy("f"))
    .With(Inputs({"batch_size", "num_parallel_calls"}, DT_INT64))
    .Input("drop_remainder", DT_BOOL)
    .With(ElementAttrs)
    .Attr("preserve_cardinality", BoolAttr(false))
    .With(Metadata);

OP(MapDataset, "Applies `f` to each element.")
    .With(TransformsDatasetBy("f"))
    .With(ElementAttrs)
    .Attr("use_inter_op_parallelism", BoolAttr(true))
    .Attr("preserve_cardinality", BoolAttr(false))
    .Attr("force_synchronous", BoolAttr(false))
    .With(Metadata);

OP(ParallelFilterDataset, "Takes the elements for which `predicate` holds.")
    .With(TransformsDataset)
    .Input("other_arguments", "Targuments")
    .Input("num_parallel_calls", DT_INT64)
    .Attr("predicate", FunctionAttrDef())
    .Attr("deterministic", StringAttr("default"))
    .With(ArgumentsElementsAndMetadata);

OP(ParallelInterleaveDataset,
   "Interleaves as LegacyParallelInterleaveDatasetV2 does, in the same order.")
    .With(InterleavesDatasets)
    .Input("sloppy", DT_BOOL)
    .With(Inputs({"buffer_output_elements", "prefetch_input_elements"}, DT_INT64))
    .With(ArgumentsElementsAndMetadata);

OP(ParallelInterleaveDatasetV2, "Interleaves as InterleaveDataset does, in the same order.")
    .With(InterleavesDatasets)
    .Input("num_parallel_calls", DT_INT64)
    .Attr("Targuments", TypeListAttr().Min(0))
    .With(ElementAttrs)
    .Attr("sloppy", BoolAttr(false))
    .With(Metadata);

OP(ParallelInterleaveDatasetV3, "Interleaves as InterleaveDataset does, in the same order.")
    .With(InterleavesDatasets)
    .Input("num_parallel_calls", DT_INT64)
    .Attr("deterministic", StringAttr("default"))
    .With(ArgumentsElementsAndMetadata);

OP(ParallelInterleaveDatasetV4, "Interleaves as InterleaveDataset does, in the same order.")
    .With(InterleavesDatasets)
    .With(Inputs({"buffer_output_elements", "prefetch_input_elements", "num_parallel_calls"},
                 DT_INT64))
    .Attr("deterministic", StringAttr("default"))
    .With(ArgumentsElementsAndMetadata);

OP(ParallelMapDataset,
   "Applies `f` to each element, several calls at a time. Keeps the order of the elements.")
    .With(TransformsDatasetBy("f"))
    .Input("num_parallel_calls", DT_INT32)
    .With(ElementAttrs)
    .Attr("use_inter_op_parallelism", BoolAttr(true))
    .With(Attrs({"sloppy", "preserve_cardinality"}, BoolAttr(false)))
    .With(Metadata);

OP(ParallelMapDatasetV2,
   "Applies `f` to each element, several calls at a time. Keeps the order of the elements.")
    .With(TransformsDatasetBy("f"))
    .Input("num_parallel_calls", DT_INT64)
    .With(ElementAttrs)
    .Attr("use_inter_op_parallelism", BoolAttr(true))
    .Attr("deterministic", StringAttr("default"))
    .With(Attrs({"preserve_cardinality", "use_unbounded_threadpool"}, BoolAttr(false)))
    .With(Metadata);

OP(ReduceDataset,
   "Reduces the elements to one state. Begins with `initial_state` and computes the next state by "
   "`f(state, element)`.")
    .Input("input_dataset", DT_VARIANT)
    .Input("initial_state", "Tstate")
    .Input("other_arguments", "Targuments")
    .Output("components", "output_types")
    .Attr("f", FunctionAttrDef())
    .Attr("Tstate", TypeListAttr().Min(1))
    .Attr("Targuments", TypeListAttr().Min(0))
    .With(ElementAttrs)
    .Attr("use_inter_op_parallelism", BoolAttr(true))
    .With(Metadata)
    .Stateful()
    .NotDifferentiable()
    .Shape(ElementShapes);

OP(ScanDataset,
   "Computes the next state and an element by `f(state, element)`. Begins with `initial_state`.")
    .With(TransformsDataset)
    .Input("initial_state", "Tstate")
    .Input("other_arguments", "Targuments")
    .Attr("f", FunctionAttrDef())
    .Attr("Tstate", TypeListAttr().Min(1))
    .Attr("Targuments", TypeListAttr().Min(0))
    .With(ElementAttrs)
    .Attr("preserve_cardinality", BoolAttr(false))
    .Attr("use_default_device", BoolAttr(true))
    .With(Metadata);

OP(TakeWhileDataset, "Takes the elements before the first for which `predicate` does not hold.")
    .With(TransformsDatasetBy("predicate"))
    .With(ElementsAndMetadata);

OLDER_NAME(ExperimentalGroupByReducerDataset, GroupByReducerDataset);
OLDER_NAME(ExperimentalGroupByWindowDataset, GroupByWindowDataset, "metadata");
OLDER_NAME(ExperimentalMapAndBatchDataset, MapAndBatchDataset, "metadata");
OLDER_NAME(ExperimentalParallelInterleaveDataset, ParallelInterleaveDataset, "metadata");
OLDER_NAME(ExperimentalScanDataset, ScanDataset, "use_default_device", "metadata");
OLDER_NAME(ExperimentalTakeWhileDataset, TakeWhileDataset, "metadata");

}  // namespace
}  // namespace sluice

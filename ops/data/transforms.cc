// Datasets that select, combine, split, parse or pass through the elements of other datasets.

#include "ops/data/mixins.h"
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

void ParsesExamples(OpDefBuilder& op) {
  op.With(TransformsDataset)
      .Input("num_parallel_calls", DT_INT64)
      .Input("dense_defaults", "Tdense")
      .With(Attrs({"sparse_keys", "dense_keys"}, StringListAttr().Min(0)))
      .With(Attrs({"sparse_types", "Tdense"}, TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}).Min(0)))
      .Attr("dense_shapes", ShapeListAttr().Min(0))
      .With(ElementAttrs);
}

void RaggedAttrs(OpDefBuilder& op) {
  op.Attr("ragged_keys", StringListAttr({}).Min(0))
      .Attr("ragged_value_types", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}, {}).Min(0))
      .Attr("ragged_split_types", TypeListAttr(IndexTypes(), {}).Min(0));
}

OP(AssertCardinalityDataset,
   "Passes the elements through. Returns FAILED_PRECONDITION if there are not `cardinality` "
   "elements (-1: infinitely many).")
    .With(TransformsDataset)
    .Input("cardinality", DT_INT64)
    .With(ElementAttrs);

OP(AutoShardDataset,
   "Takes every `num_workers`-th element from `index` on, or all with the policies OFF (-1) and "
   "HINT (3).")
    .With(TransformsDataset)
    .With(Inputs({"num_workers", "index"}, DT_INT64))
    .Attr("auto_shard_policy", IntAttr(0))
    .With(ElementAttrs)
    .Attr("num_replicas", IntAttr(0));

OP(BatchDataset, "Batches elements as BatchDatasetV2 does. Keeps a shorter last batch.")
    .With(TransformsDataset)
    .Input("batch_size", DT_INT64)
    .With(ElementsAndMetadata);

OP(BatchDatasetV2,
   "Stacks `batch_size` elements along a new first dimension. `drop_remainder` drops a shorter "
   "last batch.")
    .With(TransformsDataset)
    .Input("batch_size", DT_INT64)
    .Input("drop_remainder", DT_BOOL)
    .Attr("parallel_copy", BoolAttr(false))
    .With(ElementsAndMetadata);

OP(ConcatenateDataset, "Concatenates two datasets.")
    .With(TransformsDataset)
    .Input("another_dataset", DT_VARIANT)
    .With(ElementsAndMetadata);

OP(DatasetCardinality,
   "Returns the number of elements: -1 if infinite, -2 if not known without reading the dataset.")
    .Input("input_dataset", DT_VARIANT)
    .Output("cardinality", DT_INT64)
    .Attr("cardinality_options", StringAttr(""))
    .Shape(ScalarOutput());

OP(DenseToSparseBatchDataset,
   "Batches up to `batch_size` tensors into a sparse tensor: a vector of three variants (indices, "
   "values, shape). `row_shape` bounds each element. -1 stands for the largest size of the batch.")
    .With(TransformsDataset)
    .With(Inputs({"batch_size", "row_shape"}, DT_INT64))
    .With(ElementAttrs)
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      SLUICE_RETURN_IF_ERROR(c.WithRank(2, 1).status());
      return c.SetOutput(0, PartialShape::Scalar());
    });

OP(DirectedInterleaveDataset,
   "Takes each element from the dataset whose number the selector gives. Skips datasets that have "
   "ended. With `stop_on_empty_dataset`, ends with the first of them.")
    .Input("selector_input_dataset", DT_VARIANT)
    .Input("data_input_datasets", "N*variant")
    .With(MakesDataset)
    .With(ElementAttrs)
    .Attr("N", IntAttr().Min(1))
    .Attr("stop_on_empty_dataset", BoolAttr(false));

OP(GetOptions,
   "Returns the options of the dataset and of all datasets that it reads, as a serialised "
   "tensorflow.data.Options.")
    .Input("input_dataset", DT_VARIANT)
    .Output("serialized_options", DT_STRING)
    .Shape(ScalarOutput());

OP(IgnoreErrorsDataset, "Skips elements whose computation fails.")
    .With(TransformsDataset)
    .With(ElementAttrs)
    .Attr("log_warning", BoolAttr(false));

OP(PaddedBatchDataset, "Batches as PaddedBatchDatasetV2 does. Keeps a shorter last batch.")
    .With(TransformsDataset)
    .Input("batch_size", DT_INT64)
    .Input("padded_shapes", "N*int64")
    .Input("padding_values", "Toutput_types")
    .Attr("Toutput_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("N", IntAttr().Min(1))
    .With(Metadata);

OP(PaddedBatchDatasetV2,
   "Batches elements of different sizes. Pads each with `padding_values` to `padded_shapes`, where "
   "-1 stands for the largest size of the batch.")
    .With(TransformsDataset)
    .Input("batch_size", DT_INT64)
    .Input("padded_shapes", "N*int64")
    .Input("padding_values", "Toutput_types")
    .Input("drop_remainder", DT_BOOL)
    .Attr("parallel_copy", BoolAttr(false))
    .Attr("Toutput_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("N", IntAttr().Min(1))
    .With(Metadata);

OP(ParallelBatchDataset, "Batches as BatchDatasetV2 does.")
    .With(TransformsDataset)
    .With(Inputs({"batch_size", "num_parallel_calls"}, DT_INT64))
    .Input("drop_remainder", DT_BOOL)
    .Attr("parallel_copy", BoolAttr(false))
    .With(ElementAttrs)
    .Attr("deterministic", StringAttr("default"))
    .With(Metadata);

OP(ParseExampleDataset,
   "Parses vectors of serialised Examples as ParseExampleV2 does. The features are in the order of "
   "their keys. Sparse ones are vectors of three variants, ragged ones are variants.")
    .With(ParsesExamples)
    .Attr("sloppy", BoolAttr(false))
    .With(RaggedAttrs);

OP(ParseExampleDatasetV2, "Parses as ParseExampleDataset does, in the same order.")
    .With(ParsesExamples)
    .Attr("deterministic", StringAttr("default"))
    .With(RaggedAttrs);

OP(PrefetchDataset,
   "Reads up to `buffer_size` elements ahead in a thread of its own. -1 chooses the number.")
    .With(TransformsDataset)
    .Input("buffer_size", DT_INT64)
    .With(ElementAttrs)
    .Attr("slack_period", IntAttr(0))
    .Attr("legacy_autotune", BoolAttr(true))
    .Attr("buffer_size_min", IntAttr(0))
    .With(Metadata);

OP(RebatchDataset,
   "Splits each batch into `num_replicas` parts of equal size. The last parts may be shorter or "
   "empty.")
    .With(TransformsDataset)
    .Input("num_replicas", DT_INT64)
    .With(ElementAttrs)
    .Attr("use_fallback", BoolAttr(true));

OP(RebatchDatasetV2,
   "Joins and splits batches to batches of `batch_sizes`, in turn. `drop_remainder` drops a "
   "shorter "
   "last batch.")
    .With(TransformsDataset)
    .Input("batch_sizes", DT_INT64)
    .Input("drop_remainder", DT_BOOL)
    .With(ElementAttrs);

OP(RepeatDataset, "Repeats the dataset `count` times. -1 repeats it without end.")
    .With(TransformsDataset)
    .Input("count", DT_INT64)
    .With(ElementsAndMetadata);

OP(SamplingDataset, "Takes each element with the probability `rate`.")
    .With(TransformsDataset)
    .Input("rate", DT_FLOAT)
    .With(Inputs({"seed", "seed2"}, DT_INT64))
    .With(ElementAttrs);

OP(ShardDataset, "Takes every `num_shards`-th element from `index` on.")
    .With(TransformsDataset)
    .With(Inputs({"num_shards", "index"}, DT_INT64))
    .Attr("require_non_empty", BoolAttr(false))
    .With(ElementsAndMetadata);

OP(SkipDataset, "Skips the first `count` elements. -1 skips all.")
    .With(TransformsDataset)
    .Input("count", DT_INT64)
    .With(ElementsAndMetadata);

OP(SlidingWindowDataset,
   "Batches `window_size` elements that are `window_stride` apart. The next batch begins "
   "`window_shift` elements later.")
    .With(TransformsDataset)
    .With(Inputs({"window_size", "window_shift", "window_stride"}, DT_INT64))
    .Attr("drop_remainder", BoolAttr(true))
    .With(ElementAttrs);

OP(TakeDataset, "Takes the first `count` elements. -1 takes all.")
    .With(TransformsDataset)
    .Input("count", DT_INT64)
    .With(ElementsAndMetadata);

OP(UnbatchDataset, "Splits each element along its first dimension.")
    .With(TransformsDataset)
    .With(ElementsAndMetadata);

OP(UniqueDataset, "Drops elements that are equal to an earlier one. They are numbers or strings.")
    .With(TransformsDataset)
    .With(ElementsAndMetadata);

OP(WindowDataset,
   "Makes a dataset per component of `size` elements that are `stride` apart. The next window "
   "begins `shift` elements later.")
    .With(TransformsDataset)
    .With(Inputs({"size", "shift", "stride"}, DT_INT64))
    .Input("drop_remainder", DT_BOOL)
    .With(ElementsAndMetadata);

OP(ZipDataset,
   "Joins the components of one element of each dataset. Ends with the shortest dataset.")
    .Input("input_datasets", "N*variant")
    .With(MakesDataset)
    .With(ElementAttrs)
    .Attr("N", IntAttr().Min(1))
    .With(Metadata);

OLDER_NAME(ExperimentalAutoShardDataset, AutoShardDataset, "num_replicas");
OLDER_NAME(ExperimentalDatasetCardinality, DatasetCardinality, "cardinality_options");
OLDER_NAME(ExperimentalDenseToSparseBatchDataset, DenseToSparseBatchDataset);
OLDER_NAME(ExperimentalDirectedInterleaveDataset, DirectedInterleaveDataset,
           "stop_on_empty_dataset");
OLDER_NAME(ExperimentalIgnoreErrorsDataset, IgnoreErrorsDataset);
OLDER_NAME(ExperimentalParseExampleDataset, ParseExampleDataset, "ragged_keys",
           "ragged_value_types", "ragged_split_types");
OLDER_NAME(ExperimentalRebatchDataset, RebatchDataset);
OLDER_NAME(ExperimentalSlidingWindowDataset, SlidingWindowDataset, "drop_remainder");
OLDER_NAME(ExperimentalUnbatchDataset, UnbatchDataset, "metadata");
OLDER_NAME(ExperimentalUniqueDataset, UniqueDataset, "metadata");

OP(ChooseFastestDataset, "Passes the elements of the first dataset through. All have the same.")
    .Input("input_datasets", "N*variant")
    .With(MakesDataset)
    .Attr("N", IntAttr().Min(2))
    .Attr("num_experiments", IntAttr())
    .With(ElementAttrs);

OP(FinalizeDataset, "Passes the elements through.")
    .With(TransformsDataset)
    .Attr("has_captured_ref", BoolAttr(false))
    .With(ElementAttrs);

OP(MaxIntraOpParallelismDataset, "Passes the elements through.")
    .With(TransformsDataset)
    .Input("max_intra_op_parallelism", DT_INT64)
    .With(ElementAttrs);

OP(ModelDataset, "Passes the elements through.")
    .With(TransformsDataset)
    .With(Attrs({"algorithm", "cpu_budget", "ram_budget"}, IntAttr(0)))
    .With(ElementAttrs);

OP(NonSerializableDataset, "Passes the elements through.")
    .With(TransformsDataset)
    .With(ElementAttrs);

OP(OptimizeDataset, "Passes the elements through.")
    .With(TransformsDataset)
    .Input("optimizations", DT_STRING)
    .With(ElementAttrs)
    .Attr("optimization_configs", StringListAttr({}));

OP(OptimizeDatasetV2, "Passes the elements through.")
    .With(TransformsDataset)
    .With(Inputs({"optimizations_enabled", "optimizations_disabled", "optimizations_default"},
                 DT_STRING))
    .With(ElementAttrs)
    .Attr("optimization_configs", StringListAttr({}));

OP(OptionsDataset, "Passes the elements through. The options concern TensorFlow's execution.")
    .With(TransformsDataset)
    .Attr("serialized_options", StringAttr())
    .With(ElementsAndMetadata);

OP(PrivateThreadPoolDataset, "Passes the elements through.")
    .With(TransformsDataset)
    .Input("num_threads", DT_INT64)
    .With(ElementAttrs);

OP(RewriteDataset, "Passes the elements through.")
    .With(TransformsDataset)
    .Input("rewrite_name", DT_STRING)
    .With(ElementAttrs);

OP(ThreadPoolDataset, "Passes the elements through.")
    .With(TransformsDataset)
    .Input("thread_pool", DT_RESOURCE)
    .With(ElementAttrs)
    .Stateful();

OP(ThreadPoolHandle, "Returns a handle for ThreadPoolDataset, which does not use it.")
    .With(MakesResourceHandle("handle"))
    .Attr("num_threads", IntAttr())
    .Attr("max_intra_op_parallelism", IntAttr(1))
    .Attr("display_name", StringAttr())
    .With(ContainerAttrs);

OP(UnwrapDatasetVariant, "Passes the dataset through.")
    .Input("input_handle", DT_VARIANT)
    .Output("output_handle", DT_VARIANT)
    .Shape(ScalarOutput());

OP(WrapDatasetVariant, "Passes the dataset through.")
    .Input("input_handle", DT_VARIANT)
    .Output("output_handle", DT_VARIANT)
    .Shape(ScalarOutput());

OLDER_NAME(ExperimentalChooseFastestDataset, ChooseFastestDataset);
OLDER_NAME(ExperimentalMaxIntraOpParallelismDataset, MaxIntraOpParallelismDataset);
OLDER_NAME(ExperimentalNonSerializableDataset, NonSerializableDataset);
OLDER_NAME(ExperimentalPrivateThreadPoolDataset, PrivateThreadPoolDataset);
OLDER_NAME(ExperimentalThreadPoolDataset, ThreadPoolDataset);
OLDER_NAME(ExperimentalThreadPoolHandle, ThreadPoolHandle);

}  // namespace
}  // namespace sluice

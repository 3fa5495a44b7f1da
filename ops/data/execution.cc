// Datasets that pass their elements through. They say how TensorFlow should execute a pipeline.
#include "ops/data/mixins.h"
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

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

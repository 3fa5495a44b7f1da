// Datasets whose elements are read by their index, and the op that reads one element.
#include "ops/data/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

OP(GetElementAtIndex,
   "Returns the components of the element at `index`. The datasets of the pipeline must support "
   "random access.")
    .Input("dataset", DT_VARIANT)
    .Input("index", DT_INT64)
    .Output("components", "output_types")
    .With(ElementAttrs)
    .Shape(ElementShapes);

OP(GlobalShuffleDataset,
   "Has the elements in random order without a buffer. It reads them by their index, so the "
   "datasets of the pipeline must support random access.")
    .With(TransformsDataset)
    .With(Inputs({"seed", "seed2"}, DT_INT64))
    .Input("seed_generator", DT_RESOURCE)
    .Attr("reshuffle_each_iteration", BoolAttr(true))
    .With(ElementsAndMetadata)
    .Stateful();

OP(IndexFlatMapDataset,
   "Applies `map_func` to each element and concatenates the rows of the results. "
   "`index_map_func(i)` returns, for the i-th row, the index of the element and of the row in its "
   "result, so that rows can be read by their index.")
    .With(TransformsDataset)
    .Input("map_func_other_args", "Tmap_func_args")
    .Input("index_map_func_other_args", "Tindex_map_func_args")
    .Input("output_cardinality", DT_INT64)
    .With(Attrs({"map_func", "index_map_func"}, FunctionAttrDef()))
    .With(Attrs({"Tmap_func_args", "Tindex_map_func_args"}, TypeListAttr().Min(0)))
    .With(ElementsAndMetadata);

OP(WeightedFlatMapDataset,
   "Concatenates the first elements of each dataset. Their numbers have the ratios of the weights, "
   "and at least one dataset is read to its end.")
    .Input("input_datasets", "N*variant")
    .Input("weights", "M*double")
    .With(MakesDataset)
    .With(Attrs({"N", "M"}, IntAttr().Min(2)))
    .With(ElementsAndMetadata);

}  // namespace
}  // namespace sluice

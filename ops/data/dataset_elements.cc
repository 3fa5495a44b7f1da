// Datasets that choose elements, put them together or take them apart; and what is known of one.
#include "ops/op.h"

namespace sluice {
namespace {

OP(DatasetCardinality,
   "The number of elements; -1: without end, -2: not known before they are read.")
    .Input("input_dataset", DT_VARIANT)
    .Output("cardinality", DT_INT64)
    .Attr("cardinality_options", StringAttr(""))
    .Shape(ScalarOutput());

OP(DenseToSparseBatchDataset,
   "Batches of up to `batch_size` tensors as sparse tensors, each a vector of three variants: "
   "indices, values and shape. `row_shape` holds every element; -1 is the largest of a batch.")
    .Input("input_dataset", DT_VARIANT)
    .Input("batch_size", DT_INT64)
    .Input("row_shape", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      SLUICE_RETURN_IF_ERROR(c.WithRank(2, 1).status());
      return c.SetOutput(0, PartialShape::Scalar());
    });

OP(DirectedInterleaveDataset,
   "The next element of the dataset whose number comes out of the selector; those that have ended "
   "are passed over, or end it all (`stop_on_empty_dataset`).")
    .Input("selector_input_dataset", DT_VARIANT)
    .Input("data_input_datasets", "N*variant")
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("N", IntAttr().Min(1))
    .Attr("stop_on_empty_dataset", BoolAttr(false))
    .Shape(ScalarOutput());

OP(GetOptions, "The options of the dataset and all that it is made of, as tensorflow.data.Options.")
    .Input("input_dataset", DT_VARIANT)
    .Output("serialized_options", DT_STRING)
    .Shape(ScalarOutput());

OP(ParseExampleDataset,
   "Features of vectors of serialised Examples, as ParseExampleV2 makes them, in the order of "
   "their keys. Sparse ones are vectors of three variants, ragged ones variants.")
    .Input("input_dataset", DT_VARIANT)
    .Input("num_parallel_calls", DT_INT64)
    .Input("dense_defaults", "Tdense")
    .Output("handle", DT_VARIANT)
    .Attr("sparse_keys", StringListAttr().Min(0))
    .Attr("dense_keys", StringListAttr().Min(0))
    .Attr("sparse_types", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}).Min(0))
    .Attr("Tdense", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}).Min(0))
    .Attr("dense_shapes", ShapeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("sloppy", BoolAttr(false))
    .Attr("ragged_keys", StringListAttr({}).Min(0))
    .Attr("ragged_value_types", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}, {}).Min(0))
    .Attr("ragged_split_types", TypeListAttr(IndexTypes(), {}).Min(0))
    .Shape(ScalarOutput());

OP(ParseExampleDatasetV2, "ParseExampleDataset, always in the same order.")
    .Input("input_dataset", DT_VARIANT)
    .Input("num_parallel_calls", DT_INT64)
    .Input("dense_defaults", "Tdense")
    .Output("handle", DT_VARIANT)
    .Attr("sparse_keys", StringListAttr().Min(0))
    .Attr("dense_keys", StringListAttr().Min(0))
    .Attr("sparse_types", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}).Min(0))
    .Attr("Tdense", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}).Min(0))
    .Attr("dense_shapes", ShapeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("deterministic", StringAttr("default"))
    .Attr("ragged_keys", StringListAttr({}).Min(0))
    .Attr("ragged_value_types", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}, {}).Min(0))
    .Attr("ragged_split_types", TypeListAttr(IndexTypes(), {}).Min(0))
    .Shape(ScalarOutput());

OP(RebatchDataset,
   "Each batch in `num_replicas` parts of equal size; the last ones are shorter, or empty.")
    .Input("input_dataset", DT_VARIANT)
    .Input("num_replicas", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("use_fallback", BoolAttr(true))
    .Shape(ScalarOutput());

OP(UniqueDataset, "The elements without those that came before; numbers or strings.")
    .Input("input_dataset", DT_VARIANT)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(WindowDataset,
   "Datasets, one a component, of `size` elements that lie `stride` apart; the next window begins "
   "`shift` elements later.")
    .Input("input_dataset", DT_VARIANT)
    .Input("size", DT_INT64)
    .Input("shift", DT_INT64)
    .Input("stride", DT_INT64)
    .Input("drop_remainder", DT_BOOL)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice

// Datasets that begin a pipeline: random numbers, names of files, rows of a sparse tensor.
#include "ops/op.h"

namespace sluice {
namespace {

OP(MatchingFilesDataset,
   "The files that match a pattern (`*`, `?`, `[…]`), sorted, of one pattern after the other.")
    .Input("patterns", DT_STRING)
    .Output("handle", DT_VARIANT)
    .Stateful()
    .Shape(ScalarOutput());

OP(RandomDataset, "Random numbers below 2^32, without end; the same ones each time it is read.")
    .Input("seed", DT_INT64)
    .Input("seed2", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(SparseTensorSliceDataset,
   "A sparse tensor (indices, values, shape) a row of a sparse tensor, whose rows are in order.")
    .Input("indices", DT_INT64)
    .Input("values", "Tvalues")
    .Input("dense_shape", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("Tvalues", TypeAttr())
    .Stateful()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice

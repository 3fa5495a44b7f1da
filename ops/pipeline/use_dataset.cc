// Ops that compute a result from a whole dataset.
#include "ops/data/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

OP(ComputeBatchSize,
   "Returns the size of the batches of a dataset, or -1 if the ops that made it do not determine "
   "the size. Reads no elements.")
    .Input("input_dataset", DT_VARIANT)
    .Output("batch_size", DT_INT64)
    .Shape(ScalarOutput());

OP(InitializeTableFromDataset,
   "Fills a table, which can be done once. The elements of the dataset are pairs of a key and its "
   "value.")
    .Input("table_handle", DT_RESOURCE)
    .Input("dataset", DT_VARIANT)
    .Stateful()
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
      return c.WithRank(1, 0).status();
    });

}  // namespace
}  // namespace sluice

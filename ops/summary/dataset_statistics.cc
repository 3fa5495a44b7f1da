// Ops that measure how datasets are read.
#include "ops/data/mixins.h"
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

// Measures the elements under the name `tag`, if the dataset is read through one of
// SetStatsAggregatorDataset.
void MeasuresElements(OpDefBuilder& op) {
  op.Input("input_dataset", DT_VARIANT)
      .Input("tag", DT_STRING)
      .With(MakesDataset)
      .With(ElementAttrs);
}

OP(BytesProducedStatsDataset,
   "Passes the elements through. Adds the bytes of each to histogram `tag` of the aggregator, if "
   "the dataset is read by a SetStatsAggregatorDataset. A string counts 24 bytes more than it has "
   "characters.")
    .With(MeasuresElements);

OP(LatencyStatsDataset,
   "Passes the elements through. Adds the microseconds that each took to histogram `tag` of the "
   "aggregator, if the dataset is read by a SetStatsAggregatorDataset. Elements that failed count, "
   "too.")
    .With(MeasuresElements);

OP(SetStatsAggregatorDataset,
   "Passes the elements through. The datasets that it reads add their measurements to the "
   "aggregator, with names that begin with `tag` and \"::\", unless `tag` is empty. "
   "`counter_prefix` has no effect.")
    .Input("input_dataset", DT_VARIANT)
    .Input("stats_aggregator", DT_RESOURCE)
    .Input("tag", DT_STRING)
    .Input("counter_prefix", DT_STRING)
    .With(MakesDataset)
    .With(ElementAttrs)
    .Stateful();

OP(StatsAggregatorHandle,
   "Makes an aggregator, which collects measurements of datasets in histograms. "
   "StatsAggregatorSummary returns them.")
    .With(MakesResourceHandle("handle"))
    .With(ContainerAttrs);

OP(StatsAggregatorHandleV2,
   "Makes an aggregator, which collects measurements of datasets in histograms. After each "
   "measurement it writes the histogram to the writer of StatsAggregatorSetSummaryWriter, if there "
   "is one.")
    .With(MakesResourceHandle("handle"))
    .With(ContainerAttrs);

OP(StatsAggregatorSetSummaryWriter,
   "Sets the writer of an aggregator that StatsAggregatorHandleV2 made. Has no effect on others.")
    .With(Inputs({"stats_aggregator", "summary"}, DT_RESOURCE))
    .Stateful()
    .Shape(NoOutputs());

OP(StatsAggregatorSummary,
   "Returns a serialised Summary with all histograms of an aggregator that StatsAggregatorHandle "
   "made. It is empty for others.")
    .Input("iterator", DT_RESOURCE)
    .Output("summary", DT_STRING)
    .Shape(ScalarOutput())
    .Stateful();

OLDER_NAME(ExperimentalBytesProducedStatsDataset, BytesProducedStatsDataset);
OLDER_NAME(ExperimentalLatencyStatsDataset, LatencyStatsDataset);
OLDER_NAME(ExperimentalSetStatsAggregatorDataset, SetStatsAggregatorDataset);
OLDER_NAME(ExperimentalStatsAggregatorHandle, StatsAggregatorHandle);
OLDER_NAME(ExperimentalStatsAggregatorSummary, StatsAggregatorSummary);

}  // namespace
}  // namespace sluice

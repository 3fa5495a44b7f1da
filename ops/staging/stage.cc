// Ops on staging areas (staging_area.h). One step stages a tuple of tensors for a later step, which
// then finds its input ready. All ops with the same container and `shared_name` share an area. If
// `shared_name` is empty, the name of the node takes its place. The first op that runs sets the
// area's limits.
#include "ops/op.h"
#include "ops/staging/mixins.h"

namespace sluice {
namespace {

OP(Stage,
   "Stages a tuple. Waits while the staging area holds `capacity` tuples or `memory_limit` bytes "
   "(0: no limit).")
    .Input("values", "dtypes")
    .With(StagingAttrs(TypeListAttr().Min(1)))
    .Shape(NoOutputs());

OP(StageClear, "Empties the staging area.").With(StagingAttrs(TypeListAttr())).Shape(NoOutputs());

OP(StagePeek,
   "Reads the tuple at `index`, where 0 is the oldest. Waits until there is one. The tuple stays.")
    .Input("index", DT_INT32)
    .With(ReturnsStagedValues);

OP(StageSize, "Returns the number of tuples in the staging area.").With(ReturnsStagedSize);

OP(Unstage, "Takes the oldest tuple. Waits until there is one.").With(ReturnsStagedValues);

}  // namespace
}  // namespace sluice

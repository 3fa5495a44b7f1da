// Staging areas: first-in, first-out buffers of tuples of tensors that one step stages for a later
// one, so that the input of a step is ready when the step starts. All ops with one container and
// `shared_name` (or, without it, one node name) share an area. The first of them to run sets its
// limits.
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

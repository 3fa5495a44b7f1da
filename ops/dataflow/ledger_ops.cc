// Ops for the ledger of synchronous training (ops/dataflow/gradient_ledger.h), which counts the
// gradients that were applied or dropped, by update and replica. Accumulators and queues of
// gradients find the ledger by name, and count in it. TensorFlow has no such ops.
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

void UsesLedger(OpDefBuilder& op) { op.Input("handle", DT_RESOURCE).Stateful().Hidden(); }

OP(GradientLedger,
   "Makes a ledger of the gradients that each update applied, dropped as stale and dropped as "
   "surplus, per replica. All ops with one `shared_name` share a ledger.")
    .With(MakesResourceHandle("handle"))
    .Attr("num_replicas", IntAttr().Min(1))
    .With(ContainerAttrs)
    .Hidden();

OP(GradientLedgerEnter, "Enters the outcome of `gradients` gradients of `replica` at `step`.")
    .With(UsesLedger)
    .Input("step", DT_INT64)
    .Input("replica", DT_INT32)
    .Attr("outcome", OneOf({"applied", "stale", "surplus"}, "stale"))
    .Attr("gradients", IntAttr(1).Min(1))
    .Shape(NoOutputs());

OP(GradientLedgerTotals,
   "Returns int64 [num_replicas + 1, 3]: the applied, stale and surplus gradients of each replica. "
   "The last row is for unknown replicas.")
    .With(UsesLedger)
    .Output("totals", DT_INT64)
    .Shape([](ShapeContext& c) {
      return c.SetOutput(0, PartialShape({PartialShape::kUnknown, 3}));
    });

OP(GradientLedgerUpdates,
   "Returns int64 [num_updates, num_replicas + 1, 3]: the same for each update from `first_step` "
   "on.")
    .With(UsesLedger)
    .Input("first_step", DT_INT64)
    .Output("updates", DT_INT64)
    .Attr("num_updates", IntAttr().Min(1))
    .Shape([](ShapeContext& c) {
      const int64_t any = PartialShape::kUnknown;
      return c.SetOutput(0, PartialShape({any, any, 3}));
    });

}  // namespace
}  // namespace sluice

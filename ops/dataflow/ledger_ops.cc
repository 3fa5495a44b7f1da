// The ledger of synchronous training's gradients (ops/dataflow/gradient_ledger.h). TensorFlow has
// nothing like it. Accumulators and queues find it by name and enter what they apply and drop.

#include "ops/op.h"

namespace sluice {
namespace {

OP(GradientLedger,
   "Where every gradient went: applied, dropped as stale, dropped as surplus, for each update and "
   "replica. All of one `shared_name` are the same.")
    .Output("handle", DT_RESOURCE)
    .Attr("num_replicas", IntAttr().Min(1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Hidden()
    .Shape(ScalarOutput());

OP(GradientLedgerEnter,
   "Enters `gradients` of `replica` under `step`: \"applied\", \"stale\" or \"surplus\".")
    .Input("handle", DT_RESOURCE)
    .Input("step", DT_INT64)
    .Input("replica", DT_INT32)
    .Attr("outcome", OneOf({"applied", "stale", "surplus"}, "stale"))
    .Attr("gradients", IntAttr(1).Min(1))
    .Stateful()
    .Hidden()
    .Shape(NoOutputs());

OP(GradientLedgerTotals,
   "int64 [num_replicas + 1, 3]: applied, stale, surplus of each replica; last of those that did "
   "not say who they are.")
    .Input("handle", DT_RESOURCE)
    .Output("totals", DT_INT64)
    .Stateful()
    .Hidden()
    .Shape([](ShapeContext& c) {
      return c.SetOutput(0, PartialShape({PartialShape::kUnknown, 3}));
    });

OP(GradientLedgerUpdates,
   "int64 [num_updates, num_replicas + 1, 3]: as GradientLedgerTotals, for the updates at steps "
   "`first_step`, `first_step` + 1, ….")
    .Input("handle", DT_RESOURCE)
    .Input("first_step", DT_INT64)
    .Output("updates", DT_INT64)
    .Attr("num_updates", IntAttr().Min(1))
    .Stateful()
    .Hidden()
    .Shape([](ShapeContext& c) {
      const int64_t any = PartialShape::kUnknown;
      return c.SetOutput(0, PartialShape({any, any, 3}));
    });

}  // namespace
}  // namespace sluice

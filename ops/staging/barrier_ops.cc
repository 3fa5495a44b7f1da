// Barriers: tuples under keys, put together component by component from several steps.

#include "ops/op.h"

namespace sluice {
namespace {

absl::Status InsertShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape keys, c.WithRank(1, 1));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape values, c.WithRankAtLeast(2, 1));
  if (!values.rank_known()) return absl::OkStatus();
  return MergeDim(keys.dim(0), values.dim(0)).status();
}

absl::Status TakeShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  SLUICE_RETURN_IF_ERROR(c.SetOutputs(PartialShape::UnknownRank()));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(0, PartialShape::Vector()));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::Vector()));
  const Node* barrier = c.node().input(0).node;
  if (barrier == nullptr || barrier->op() != "Barrier") return absl::OkStatus();
  const auto& shapes = barrier->AttrOr<std::vector<PartialShape>>("shapes", {});
  if (static_cast<int>(shapes.size()) + 2 != c.num_outputs()) return absl::OkStatus();
  for (size_t i = 0; i < shapes.size(); ++i) {
    SLUICE_RETURN_IF_ERROR(
        c.SetOutput(static_cast<int>(i) + 2, PartialShape::Vector().Concatenate(shapes[i])));
  }
  return absl::OkStatus();
}

OP(Barrier,
   "A place where tuples are put together under keys, component by component, and taken out once "
   "they are whole, in the order in which their keys came. The shapes of all components must be "
   "given.")
    .RefOutput("handle", DT_STRING)
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("shapes", ShapeListAttr({}).Min(0))
    .Attr("capacity", IntAttr(-1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

OP(BarrierClose,
   "Lets no new keys into the barrier; tuples that lack components can still be completed, unless "
   "`cancel_pending_enqueues`: then they are given up.")
    .RefInput("handle", DT_STRING)
    .Attr("cancel_pending_enqueues", BoolAttr(false))
    .Shape(NoOutputs());

OP(BarrierIncompleteSize, "How many tuples of the barrier lack components.")
    .RefInput("handle", DT_STRING)
    .Output("size", DT_INT32)
    .Shape(ScalarOutput());

OP(BarrierInsertMany,
   "Row i of `values` becomes component `component_index` of the tuple under `keys[i]`. CANCELLED "
   "where the barrier is closed and the key new.")
    .RefInput("handle", DT_STRING)
    .Input("keys", DT_STRING)
    .Input("values", "T")
    .Attr("T", TypeAttr())
    .Attr("component_index", IntAttr())
    .Shape(InsertShape);

OP(BarrierReadySize, "How many tuples of the barrier are whole.")
    .RefInput("handle", DT_STRING)
    .Output("size", DT_INT32)
    .Shape(ScalarOutput());

OP(BarrierTakeMany,
   "Takes `num_elements` whole tuples, stacked along a new first dimension, with their keys and "
   "indices (keys that came first with the same insertion have the same); waits for them. "
   "OUT_OF_RANGE when the barrier is closed with fewer left, unless `allow_small_batch` and there "
   "is one at least.")
    .RefInput("handle", DT_STRING)
    .Input("num_elements", DT_INT32)
    .Output("indices", DT_INT64)
    .Output("keys", DT_STRING)
    .Output("values", "component_types")
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("allow_small_batch", BoolAttr(false))
    .Attr("wait_for_incomplete", BoolAttr(false))
    .Attr("timeout_ms", IntAttr(-1))
    .Shape(TakeShape);

}  // namespace
}  // namespace sluice

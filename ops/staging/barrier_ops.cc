// Ops on barriers. A barrier holds tuples under keys. The components of a tuple may come from
// several steps.
#include "ops/op.h"
#include "ops/state/mixins.h"

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

void ReturnsSize(OpDefBuilder& op) {
  op.RefInput("handle", DT_STRING).Output("size", DT_INT32).Shape(ScalarOutput());
}

OP(Barrier,
   "Makes a barrier: tuples by key that are assembled component by component and taken after they "
   "have become complete, in the order in which their keys arrived. All component shapes must be "
   "given.")
    .With(MakesRefHandle("handle"))
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("shapes", ShapeListAttr({}).Min(0))
    .Attr("capacity", IntAttr(-1))
    .With(ContainerAttrs);

OP(BarrierClose,
   "Closes the barrier for new keys. Tuples that lack components can still be completed, unless "
   "`cancel_pending_enqueues` drops them.")
    .RefInput("handle", DT_STRING)
    .Attr("cancel_pending_enqueues", BoolAttr(false))
    .Shape(NoOutputs());

OP(BarrierIncompleteSize, "Returns the number of tuples that lack components.").With(ReturnsSize);

OP(BarrierInsertMany,
   "Inserts row i of `values` as component `component_index` of the tuple `keys[i]`. CANCELLED if "
   "the barrier is closed and the key is new.")
    .RefInput("handle", DT_STRING)
    .Input("keys", DT_STRING)
    .Input("values", "T")
    .Attr("T", TypeAttr())
    .Attr("component_index", IntAttr())
    .Shape(InsertShape);

OP(BarrierReadySize, "Returns the number of complete tuples.").With(ReturnsSize);

OP(BarrierTakeMany,
   "Takes `num_elements` complete tuples, stacked along a new first dimension, with their keys and "
   "indices. Waits for them. Keys that were new in one insertion have the same index. OUT_OF_RANGE "
   "if the barrier is closed and has fewer tuples. `allow_small_batch` accepts fewer, but at least "
   "one.")
    .RefInput("handle", DT_STRING)
    .Input("num_elements", DT_INT32)
    .Output("indices", DT_INT64)
    .Output("keys", DT_STRING)
    .Output("values", "component_types")
    .Attr("component_types", TypeListAttr().Min(1))
    .With(Attrs({"allow_small_batch", "wait_for_incomplete"}, BoolAttr(false)))
    .Attr("timeout_ms", IntAttr(-1))
    .Shape(TakeShape);

}  // namespace
}  // namespace sluice

// Collective ops. The members of a group, each on its own device, run such an op together. Each
// member receives a result that is computed from the inputs of all members. `group_key` identifies
// the group, and `instance_key` the call.
#include "graph/op/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

TypeSet SumTypes() { return {DT_BFLOAT16, DT_FLOAT, DT_HALF, DT_DOUBLE, DT_INT32, DT_INT64}; }
TypeSet RowTypes() { return {DT_FLOAT, DT_HALF, DT_DOUBLE, DT_INT32, DT_INT64}; }
TypeSet BroadcastTypes() { return RowTypes() | TypeSet{DT_BOOL}; }

// Declares the attributes at the end of most collective ops.
void CommunicationAttrs(OpDefBuilder& op) {
  op.Attr("communication_hint", StringAttr("auto"))
      .Attr("timeout_seconds", FloatAttr(0.0f))
      .Stateful()
      .DistributedCommunication();
}

void KeyAttrs(OpDefBuilder& op) {
  op.With(Attrs({"group_size", "group_key", "instance_key"}, IntAttr()));
}

void KeyInputs(OpDefBuilder& op) {
  op.With(Inputs({"group_size", "group_key", "instance_key"}, DT_INT32));
}

// Declares an input and an output of the same type, one of `types`.
auto Exchanges(TypeSet types) {
  return [types](OpDefBuilder& op) {
    op.Input("input", "T").Output("data", "T").Attr("T", TypeAttr(types));
  };
}

void ReduceAttrs(OpDefBuilder& op) {
  op.Attr("merge_op", OneOf({"Min", "Max", "Mul", "Add"})).Attr("final_op", OneOf({"Id", "Div"}));
}

void OrderingAttrs(OpDefBuilder& op) {
  op.Attr("is_stateless", BoolAttr(false)).Attr("Nordering_token", IntAttr(0).Min(0));
}

// Sets the output's shape to that of the concatenated rows of `group_size` members (-1 if unknown).
absl::Status Gathered(ShapeContext& c, int64_t group_size) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.WithRankAtLeast(0, 1));
  if (!shape.rank_known()) return c.SetOutput(0, PartialShape());
  const int64_t rows = shape.dim(0);
  shape.set_dim(0, rows < 0 || group_size < 0 ? -1 : MultiplyWithoutOverflow(rows, group_size));
  return c.SetOutput(0, shape);
}

absl::Status DeclaredShape(ShapeContext& c) {
  return c.SetOutput(0, c.attr<PartialShape>("shape"));
}

OP(CollectiveReduce,
   "Merges the members' inputs element by element with `merge_op`, and divides the result by their "
   "number if `final_op` is Div. `subdiv_offsets` and `wait_for` have no effect.")
    .With(Exchanges(SumTypes()))
    .With(KeyAttrs)
    .With(ReduceAttrs)
    .Attr("subdiv_offsets", IntListAttr())
    .Attr("wait_for", IntListAttr({}))
    .With(CommunicationAttrs)
    .Shape(SameAsInput(0));

OP(CollectiveGather,
   "Concatenates the members' inputs along dimension 0, in the order of their devices. `shape` has "
   "no effect.")
    .With(Exchanges(RowTypes()))
    .With(KeyAttrs)
    .Attr("shape", ShapeAttr())
    .With(CommunicationAttrs)
    .Shape([](ShapeContext& c) { return Gathered(c, c.attr<int64_t>("group_size")); });

OP(CollectiveBcastSend, "Sends its input to all other members, which are CollectiveBcastRecv ops.")
    .With(Exchanges(BroadcastTypes()))
    .With(KeyAttrs)
    .Attr("shape", ShapeAttr())
    .With(CommunicationAttrs)
    .Shape(DeclaredShape);

OP(CollectiveBcastRecv, "Receives the input of the group's CollectiveBcastSend.")
    .Output("data", "T")
    .Attr("T", TypeAttr(BroadcastTypes()))
    .With(KeyAttrs)
    .Attr("shape", ShapeAttr())
    .With(CommunicationAttrs)
    .Shape(DeclaredShape);

OP(CollectiveReduceV2, "CollectiveReduce with the group and the instance as inputs.")
    .With(Exchanges(SumTypes()))
    .With(KeyInputs)
    .Input("ordering_token", "Nordering_token*resource")
    .With(ReduceAttrs)
    .With(CommunicationAttrs)
    .With(OrderingAttrs)
    .Attr("max_subdivs_per_device", IntAttr(-1))
    .Shape(SameAsInput(0));

OP(CollectiveGatherV2, "CollectiveGather with the group and the instance as inputs.")
    .With(Exchanges(RowTypes()))
    .With(KeyInputs)
    .Input("ordering_token", "Nordering_token*resource")
    .With(CommunicationAttrs)
    .With(OrderingAttrs)
    .Shape([](ShapeContext& c) { return Gathered(c, -1); });

OP(CollectiveBcastSendV2, "CollectiveBcastSend with the group and the instance as inputs.")
    .With(Exchanges(BroadcastTypes()))
    .With(KeyInputs)
    .With(CommunicationAttrs)
    .Shape(SameAsInput(0));

OP(CollectiveBcastRecvV2,
   "CollectiveBcastRecv with the group, the instance and the shape as inputs.")
    .With(KeyInputs)
    .Input("shape", "Tshape")
    .Output("data", "T")
    .Attr("T", TypeAttr(BroadcastTypes()))
    .Attr("Tshape", TypeAttr(IndexTypes(), DT_INT32))
    .With(CommunicationAttrs)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(3, 1).status());
      SLUICE_ASSIGN_OR_RETURN(const PartialShape shape, c.InputAsShape(3));
      return c.SetOutput(0, shape);
    });

}  // namespace
}  // namespace sluice

// Collectives: ops that the members of a group run together, each on a device of its own, and that
// all get what comes of the values of all. Members find each other by `group_key`, their calls by
// `instance_key`.

#include "ops/op.h"

namespace sluice {
namespace {

TypeSet Sums() { return {DT_BFLOAT16, DT_FLOAT, DT_HALF, DT_DOUBLE, DT_INT32, DT_INT64}; }
TypeSet Rows() { return {DT_FLOAT, DT_HALF, DT_DOUBLE, DT_INT32, DT_INT64}; }
TypeSet Values() { return {DT_BOOL, DT_FLOAT, DT_HALF, DT_DOUBLE, DT_INT32, DT_INT64}; }

// The rows of `group_size` members (-1: not known).
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
   "The members' inputs merged, element by element, by `merge_op`; divided by their number with "
   "`final_op` Div. `subdiv_offsets` and `wait_for` are accepted and change nothing.")
    .Input("input", "T")
    .Output("data", "T")
    .Attr("T", TypeAttr(Sums()))
    .Attr("group_size", IntAttr())
    .Attr("group_key", IntAttr())
    .Attr("instance_key", IntAttr())
    .Attr("merge_op", OneOf({"Min", "Max", "Mul", "Add"}))
    .Attr("final_op", OneOf({"Id", "Div"}))
    .Attr("subdiv_offsets", IntListAttr())
    .Attr("wait_for", IntListAttr({}))
    .Attr("communication_hint", StringAttr("auto"))
    .Attr("timeout_seconds", FloatAttr(0.0f))
    .Stateful()
    .DistributedCommunication()
    .Shape(SameAsInput(0));

OP(CollectiveGather,
   "The members' inputs one after the other along dimension 0, in the order of their devices. "
   "`shape` is accepted and changes nothing.")
    .Input("input", "T")
    .Output("data", "T")
    .Attr("T", TypeAttr(Rows()))
    .Attr("group_size", IntAttr())
    .Attr("group_key", IntAttr())
    .Attr("instance_key", IntAttr())
    .Attr("shape", ShapeAttr())
    .Attr("communication_hint", StringAttr("auto"))
    .Attr("timeout_seconds", FloatAttr(0.0f))
    .Stateful()
    .DistributedCommunication()
    .Shape([](ShapeContext& c) { return Gathered(c, c.attr<int64_t>("group_size")); });

OP(CollectiveBcastSend, "Gives its input to all other members, which are CollectiveBcastRecv ops.")
    .Input("input", "T")
    .Output("data", "T")
    .Attr("T", TypeAttr(Values()))
    .Attr("group_size", IntAttr())
    .Attr("group_key", IntAttr())
    .Attr("instance_key", IntAttr())
    .Attr("shape", ShapeAttr())
    .Attr("communication_hint", StringAttr("auto"))
    .Attr("timeout_seconds", FloatAttr(0.0f))
    .Stateful()
    .DistributedCommunication()
    .Shape(DeclaredShape);

OP(CollectiveBcastRecv, "What the group's CollectiveBcastSend gives.")
    .Output("data", "T")
    .Attr("T", TypeAttr(Values()))
    .Attr("group_size", IntAttr())
    .Attr("group_key", IntAttr())
    .Attr("instance_key", IntAttr())
    .Attr("shape", ShapeAttr())
    .Attr("communication_hint", StringAttr("auto"))
    .Attr("timeout_seconds", FloatAttr(0.0f))
    .Stateful()
    .DistributedCommunication()
    .Shape(DeclaredShape);

OP(CollectiveReduceV2, "CollectiveReduce with its group and instance as inputs.")
    .Input("input", "T")
    .Input("group_size", DT_INT32)
    .Input("group_key", DT_INT32)
    .Input("instance_key", DT_INT32)
    .Input("ordering_token", "Nordering_token*resource")
    .Output("data", "T")
    .Attr("T", TypeAttr(Sums()))
    .Attr("merge_op", OneOf({"Min", "Max", "Mul", "Add"}))
    .Attr("final_op", OneOf({"Id", "Div"}))
    .Attr("communication_hint", StringAttr("auto"))
    .Attr("timeout_seconds", FloatAttr(0.0f))
    .Attr("is_stateless", BoolAttr(false))
    .Attr("Nordering_token", IntAttr(0).Min(0))
    .Attr("max_subdivs_per_device", IntAttr(-1))
    .Stateful()
    .DistributedCommunication()
    .Shape(SameAsInput(0));

OP(CollectiveGatherV2, "CollectiveGather with its group and instance as inputs.")
    .Input("input", "T")
    .Input("group_size", DT_INT32)
    .Input("group_key", DT_INT32)
    .Input("instance_key", DT_INT32)
    .Input("ordering_token", "Nordering_token*resource")
    .Output("data", "T")
    .Attr("T", TypeAttr(Rows()))
    .Attr("communication_hint", StringAttr("auto"))
    .Attr("timeout_seconds", FloatAttr(0.0f))
    .Attr("is_stateless", BoolAttr(false))
    .Attr("Nordering_token", IntAttr(0).Min(0))
    .Stateful()
    .DistributedCommunication()
    .Shape([](ShapeContext& c) { return Gathered(c, -1); });

OP(CollectiveBcastSendV2, "CollectiveBcastSend with its group and instance as inputs.")
    .Input("input", "T")
    .Input("group_size", DT_INT32)
    .Input("group_key", DT_INT32)
    .Input("instance_key", DT_INT32)
    .Output("data", "T")
    .Attr("T", TypeAttr(Values()))
    .Attr("communication_hint", StringAttr("auto"))
    .Attr("timeout_seconds", FloatAttr(0.0f))
    .Stateful()
    .DistributedCommunication()
    .Shape(SameAsInput(0));

OP(CollectiveBcastRecvV2, "CollectiveBcastRecv with its group, instance and shape as inputs.")
    .Input("group_size", DT_INT32)
    .Input("group_key", DT_INT32)
    .Input("instance_key", DT_INT32)
    .Input("shape", "Tshape")
    .Output("data", "T")
    .Attr("T", TypeAttr(Values()))
    .Attr("Tshape", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("communication_hint", StringAttr("auto"))
    .Attr("timeout_seconds", FloatAttr(0.0f))
    .Stateful()
    .DistributedCommunication()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(3, 1).status());
      SLUICE_ASSIGN_OR_RETURN(const PartialShape shape, c.InputAsShape(3));
      return c.SetOutput(0, shape);
    });

}  // namespace
}  // namespace sluice

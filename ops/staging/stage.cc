// Staging areas: tuples of tensors on their way from one step to a later one, so that the next
// step's input is there when it starts. All ops of one container and `shared_name` (without it: of
// one node name) share an area; the first of them to run says how much fits in.

#include "ops/op.h"

namespace sluice {
namespace {

OP(Stage,
   "Puts a tuple into the staging area; waits while `capacity` tuples or `memory_limit` bytes are "
   "in it (0: no limit).")
    .Input("values", "dtypes")
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr().Min(1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(NoOutputs());

OP(StageClear, "Empties the staging area.")
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(NoOutputs());

OP(StagePeek, "The tuple at `index`, which stays; 0 is the oldest. Waits until there is one.")
    .Input("index", DT_INT32)
    .Output("values", "dtypes")
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr().Min(1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(UnknownOutputs());

OP(StageSize, "How many tuples are in the staging area.")
    .Output("size", DT_INT32)
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(Unstage, "Takes the oldest tuple out of the staging area; waits while there is none.")
    .Output("values", "dtypes")
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr().Min(1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(UnknownOutputs());

}  // namespace
}  // namespace sluice

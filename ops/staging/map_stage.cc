// Staging maps: tuples of tensors under keys, on their way from one step to another. All ops of one
// container and `shared_name` (without it: of one node name) share a map; the first of them to run
// says how much fits in and how many parts a tuple has.

#include "ops/op.h"

namespace sluice {
namespace {

OP(MapClear, "Empties the staging map.")
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(NoOutputs());

OP(MapIncompleteSize, "How many tuples of the staging map lack parts.")
    .Output("size", DT_INT32)
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(MapPeek,
   "Parts `indices` of the tuple `key`, which stays in the staging map. Waits until it is there "
   "and whole.")
    .Input("key", DT_INT64)
    .Input("indices", DT_INT32)
    .Output("values", "dtypes")
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr().Min(1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(UnknownOutputs());

OP(MapSize, "How many whole tuples are in the staging map.")
    .Output("size", DT_INT32)
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(MapStage,
   "Puts parts `indices` of the tuple `key` into the staging map; waits while `capacity` tuples or "
   "`memory_limit` bytes are in it (0: no limit).")
    .Input("key", DT_INT64)
    .Input("indices", DT_INT32)
    .Input("values", "fake_dtypes")
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr())
    .Attr("fake_dtypes", TypeListAttr().Min(1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(NoOutputs());

OP(MapUnstage,
   "Takes parts `indices` of the tuple `key` out of the staging map. Waits until it is there and "
   "whole.")
    .Input("key", DT_INT64)
    .Input("indices", DT_INT32)
    .Output("values", "dtypes")
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr().Min(1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(UnknownOutputs());

OP(MapUnstageNoKey,
   "Takes parts `indices` of any tuple out of the staging map; waits while there is none.")
    .Input("indices", DT_INT32)
    .Output("key", DT_INT64)
    .Output("values", "dtypes")
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr().Min(1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(UnknownOutputs());

OP(OrderedMapClear, "Empties the ordered staging map.")
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(NoOutputs());

OP(OrderedMapIncompleteSize, "How many tuples of the ordered staging map lack parts.")
    .Output("size", DT_INT32)
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(OrderedMapPeek,
   "Parts `indices` of the tuple `key`, which stays in the ordered staging map. Waits until it is "
   "there and whole.")
    .Input("key", DT_INT64)
    .Input("indices", DT_INT32)
    .Output("values", "dtypes")
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr().Min(1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(UnknownOutputs());

OP(OrderedMapSize, "How many whole tuples are in the ordered staging map.")
    .Output("size", DT_INT32)
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(OrderedMapStage,
   "Puts parts `indices` of the tuple `key` into the ordered staging map; waits while `capacity` "
   "tuples or `memory_limit` bytes are in it (0: no limit).")
    .Input("key", DT_INT64)
    .Input("indices", DT_INT32)
    .Input("values", "fake_dtypes")
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr())
    .Attr("fake_dtypes", TypeListAttr().Min(1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(NoOutputs());

OP(OrderedMapUnstage,
   "Takes parts `indices` of the tuple `key` out of the ordered staging map. Waits until it is "
   "there and whole.")
    .Input("key", DT_INT64)
    .Input("indices", DT_INT32)
    .Output("values", "dtypes")
    .Attr("capacity", IntAttr(0).Min(0))
    .Attr("memory_limit", IntAttr(0).Min(0))
    .Attr("dtypes", TypeListAttr().Min(1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(UnknownOutputs());

OP(OrderedMapUnstageNoKey,
   "Takes parts `indices` of the tuple with the smallest key out of the ordered staging map; waits "
   "while there is none.")
    .Input("indices", DT_INT32)
    .Output("key", DT_INT64)
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

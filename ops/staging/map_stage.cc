// Ops on staging maps (staging_map.h). One step stages a tuple of tensors under a key, and another
// step takes it. All ops with the same container and `shared_name` share a map. If `shared_name` is
// empty, the name of the node takes its place. The first op that runs sets the map's limits and the
// number of parts of a tuple.
#include "ops/op.h"
#include "ops/staging/mixins.h"

namespace sluice {
namespace {

void StagesParts(OpDefBuilder& op) {
  op.Input("key", DT_INT64)
      .Input("indices", DT_INT32)
      .Input("values", "fake_dtypes")
      .With(Attrs({"capacity", "memory_limit"}, IntAttr(0).Min(0)))
      .Attr("dtypes", TypeListAttr())
      .Attr("fake_dtypes", TypeListAttr().Min(1))
      .With(ContainerAttrs)
      .Shape(NoOutputs());
}

void ReturnsParts(OpDefBuilder& op) {
  op.Input("key", DT_INT64).Input("indices", DT_INT32).With(ReturnsStagedValues);
}

void TakesPartsOfAny(OpDefBuilder& op) {
  op.Input("indices", DT_INT32).Output("key", DT_INT64).With(ReturnsStagedValues);
}

void ClearsMap(OpDefBuilder& op) { op.With(StagingAttrs(TypeListAttr())).Shape(NoOutputs()); }

OP(MapClear, "Empties the staging map.").With(ClearsMap);

OP(MapIncompleteSize, "Returns the number of tuples that lack parts.").With(ReturnsStagedSize);

OP(MapPeek, "Reads parts `indices` of the tuple `key`. Waits until it is complete. The parts stay.")
    .With(ReturnsParts);

OP(MapSize, "Returns the number of complete tuples in the staging map.").With(ReturnsStagedSize);

OP(MapStage,
   "Stages parts `indices` of the tuple `key`. Waits while the staging map holds `capacity` tuples "
   "or `memory_limit` bytes (0: no limit).")
    .With(StagesParts);

OP(MapUnstage, "Takes parts `indices` of the tuple `key`. Waits until it is complete.")
    .With(ReturnsParts);

OP(MapUnstageNoKey, "Takes parts `indices` of any complete tuple. Waits until there is one.")
    .With(TakesPartsOfAny);

OP(OrderedMapClear, "Empties the staging map.").With(ClearsMap);

OP(OrderedMapIncompleteSize, "Returns the number of tuples that lack parts.")
    .With(ReturnsStagedSize);

OP(OrderedMapPeek,
   "Reads parts `indices` of the tuple `key`. Waits until it is complete. The parts stay.")
    .With(ReturnsParts);

OP(OrderedMapSize, "Returns the number of complete tuples in the staging map.")
    .With(ReturnsStagedSize);

OP(OrderedMapStage,
   "Stages parts `indices` of the tuple `key`. Waits while the staging map holds `capacity` tuples "
   "or `memory_limit` bytes (0: no limit).")
    .With(StagesParts);

OP(OrderedMapUnstage, "Takes parts `indices` of the tuple `key`. Waits until it is complete.")
    .With(ReturnsParts);

OP(OrderedMapUnstageNoKey,
   "Takes parts `indices` of the complete tuple with the smallest key. Waits until there is one.")
    .With(TakesPartsOfAny);

}  // namespace
}  // namespace sluice

// Attributes and mixins for declarations of ops on staging areas and staging maps.
#ifndef SLUICE_OPS_STAGING_MIXINS_H_
#define SLUICE_OPS_STAGING_MIXINS_H_

#include <utility>

#include "graph/infer/shape_context.h"
#include "ops/state/mixins.h"

namespace sluice {

// Attributes for the limits of the area or map, the types of its tuples (`dtypes`), and its name.
inline auto StagingAttrs(AttrDef dtypes) {
  return [dtypes = std::move(dtypes)](OpDefBuilder& op) {
    op.With(Attrs({"capacity", "memory_limit"}, IntAttr(0).Min(0)))
        .Attr("dtypes", dtypes)
        .With(ContainerAttrs);
  };
}

inline void ReturnsStagedValues(OpDefBuilder& op) {
  op.Output("values", "dtypes").With(StagingAttrs(TypeListAttr().Min(1))).Shape(UnknownOutputs());
}

inline void ReturnsStagedSize(OpDefBuilder& op) {
  op.Output("size", DT_INT32).With(StagingAttrs(TypeListAttr())).Shape(ScalarOutput());
}

}  // namespace sluice

#endif  // SLUICE_OPS_STAGING_MIXINS_H_

// Mixins and shape functions that several files of the family share.
#ifndef SLUICE_OPS_RANDOM_RANDOM_MIXINS_H_
#define SLUICE_OPS_RANDOM_RANDOM_MIXINS_H_

#include "graph/infer/shape_context.h"
#include "graph/op/op_def.h"

namespace sluice {

// Types of counts and of the parameters of their distributions.
inline constexpr TypeSet kCountTypes = {DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64};

// The seeds of an op whose nodes keep a generator each.
inline void SeedAttrs(OpDefBuilder& op) {
  op.Attr("seed", IntAttr(0)).Attr("seed2", IntAttr(0)).Stateful();
}

// Output [batch, samples] from input 0, logits [batch, classes], and input 1, the number of
// samples.
inline absl::Status ClassSamplesShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape logits, c.WithRank(0, 2));
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  SLUICE_ASSIGN_OR_RETURN(const int64_t samples, c.InputAsSize(1));
  return c.SetOutput(0, {logits.dim(0), samples});
}

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_RANDOM_MIXINS_H_

// Mixins and shape functions that the declarations of random ops share. A mixin is a function that
// adds inputs, outputs or attributes to an op's declaration (OpDefBuilder::With).
#ifndef SLUICE_OPS_RANDOM_RANDOM_MIXINS_H_
#define SLUICE_OPS_RANDOM_RANDOM_MIXINS_H_

#include "graph/infer/shape_context.h"
#include "graph/op/op_def.h"

namespace sluice {

// Types of random counts (Poisson and binomial numbers) and of the parameters of their
// distributions.
inline constexpr TypeSet kCountTypes = {DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64};

// Mixin of ops of which each node has its own generator. Declares the attributes for its seeds.
inline void SeedAttrs(OpDefBuilder& op) {
  op.Attr("seed", IntAttr(0)).Attr("seed2", IntAttr(0)).Stateful();
}

// Sets the shape of the output, [batch, samples]. Input 0 has the logits [batch, classes], and
// input 1 is the number of samples.
inline absl::Status ClassSamplesShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape logits, c.WithRank(0, 2));
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  SLUICE_ASSIGN_OR_RETURN(const int64_t samples, c.InputAsSize(1));
  return c.SetOutput(0, {logits.dim(0), samples});
}

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_RANDOM_MIXINS_H_

// Mixins for the declarations of ops that make readers. A mixin is a function that adds inputs,
// outputs or attributes to an op's declaration (OpDefBuilder::With).
#ifndef SLUICE_OPS_IO_MIXINS_H_
#define SLUICE_OPS_IO_MIXINS_H_

#include "graph/op/op_def.h"
#include "ops/state/mixins.h"

namespace sluice {

inline void MakesReader(OpDefBuilder& op) { op.With(MakesResourceHandle("reader_handle")); }

inline void MakesRefReader(OpDefBuilder& op) {
  op.With(MakesRefHandle("reader_handle")).NotDifferentiable();
}

}  // namespace sluice

#endif  // SLUICE_OPS_IO_MIXINS_H_

#include "graph/infer/elementwise.h"

#include "graph/infer/shape_context.h"

namespace sluice {

void ElementByElement(OpDefBuilder& op) {
  op.Elementwise(ElementwiseInputs::kOneShape).Shape(SameAsInput(0));
}

void ElementsBroadcast(OpDefBuilder& op) {
  op.Elementwise(ElementwiseInputs::kBroadcast).Shape(BroadcastBinary());
}

}  // namespace sluice

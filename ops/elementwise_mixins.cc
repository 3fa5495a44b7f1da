#include "ops/elementwise_mixins.h"

#include "graph/infer/elementwise.h"

namespace sluice {

void UnaryElementwise::operator()(OpDefBuilder& op) const {
  op.Input("x", "T");
  if (result == DT_INVALID) {
    op.Output("y", "T");
  } else {
    op.Output("y", result);
  }
  op.Attr("T", TypeAttr(types)).With(ElementByElement);
}

void BinaryElementwise::operator()(OpDefBuilder& op) const {
  op.Input(x, "T").Input(y, "T").Output(z, "T").Attr("T", TypeAttr(types));
  op.With(ElementsBroadcast);
}

void ElementwiseComparison::operator()(OpDefBuilder& op) const {
  op.Input("x", "T").Input("y", "T").Output("z", DT_BOOL).Attr("T", TypeAttr(types));
  op.NotDifferentiable().With(ElementsBroadcast);
}

void UnaryGradient::operator()(OpDefBuilder& op) const {
  op.Input("y", "T").Input("dy", "T").Output("z", "T").Attr("T", TypeAttr(types));
  op.With(ElementByElement);
}

}  // namespace sluice

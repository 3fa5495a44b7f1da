// Ops that executor/passes/defer_adam.h makes from the nodes of Adam for a sparse gradient. They do
// not occur in users' graphs.
#include "ops/op.h"

namespace sluice {
namespace {

constexpr TypeSet kFloats = TypeSet{DT_FLOAT, DT_DOUBLE};

// Declares the operands after the three variables.
void AdamStep(OpDefBuilder& op) {
  op.Input("indices", "Tindices")
      .Input("to_m", "T")
      .Input("to_v", "T")
      .Input("rate", "T")
      .Input("beta1", "T")
      .Input("beta2", "T")
      .Input("epsilon", "T")
      .Attr("T", TypeAttr(kFloats))
      .Attr("Tindices", TypeAttr(IndexTypes()))
      .Shape(NoOutputs());
}

OP(_DeferredAdam,
   "Computes m = beta1 * m, then m[indices[i]] += to_m[i]; v = beta2 * v, then v[indices[i]] += "
   "to_v[i]; then var -= rate * m / (sqrt(v) + epsilon). Rows without an index are updated later.")
    .RefInput("var", "T")
    .RefInput("m", "T")
    .RefInput("v", "T")
    .With(AdamStep);

OP(_DeferredAdamOfHandles, "_DeferredAdam for the variables behind handles.")
    .Input("var", DT_RESOURCE)
    .Input("m", DT_RESOURCE)
    .Input("v", DT_RESOURCE)
    .With(AdamStep)
    .Stateful();

OP(_GatherOfDeferred, "Gathers rows of a variable that may have deferred updates.")
    .RefInput("params", "T")
    .Input("indices", "Tindices")
    .Output("output", "T")
    .Attr("T", TypeAttr(kFloats))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      if (!c.input(0).rank_known() || !c.input(1).rank_known()) {
        return c.SetOutput(0, PartialShape());
      }
      std::vector<int64_t> dims;
      for (int d = 0; d < c.input(1).rank(); ++d) dims.push_back(c.input(1).dim(d));
      for (int d = 1; d < c.input(0).rank(); ++d) dims.push_back(c.input(0).dim(d));
      return c.SetOutput(0, PartialShape(dims));
    });

}  // namespace
}  // namespace sluice

// Strings, joined element by element.

#include "ops/op.h"

namespace sluice {
namespace {

OP(StringJoin,
   "The elements of `inputs`, one after the other with `separator` between; scalars are joined to "
   "every element.")
    .Input("inputs", "N*string")
    .Output("output", DT_STRING)
    .Attr("N", IntAttr().Min(0))
    .Attr("separator", StringAttr(""))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      PartialShape shape = PartialShape::Scalar();
      bool may_be_scalar = true;
      for (int i = 0; i < c.num_inputs(); ++i) {
        const PartialShape& input = c.input(i);
        if (!input.rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
        if (input.rank() == 0) continue;
        if (may_be_scalar) {
          shape = input;
          may_be_scalar = false;
        } else {
          SLUICE_ASSIGN_OR_RETURN(shape, shape.MergeWith(input));
        }
      }
      return c.SetOutput(0, std::move(shape));
    });

}  // namespace
}  // namespace sluice

// The op that finds the positions of elements that are not zero.
#include "ops/op.h"

namespace sluice {
namespace {

OP(Where, "Returns the coordinates of the elements that are true or not zero, one row each.")
    .Input("input", "T")
    .Output("index", DT_INT64)
    .Attr("T", TypeAttr(NumberTypes() | TypeSet{DT_BOOL}, DT_BOOL))
    .Shape([](ShapeContext& c) {
      return c.SetOutput(0, PartialShape::Matrix(-1, c.input(0).rank()));
    });

}  // namespace
}  // namespace sluice

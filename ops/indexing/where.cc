// Where elements are that are not zero.

#include "ops/op.h"

namespace sluice {
namespace {

OP(Where, "The coordinates of the elements of `input` that are true or not zero, one a row.")
    .Input("input", "T")
    .Output("index", DT_INT64)
    .Attr("T", TypeAttr(NumberTypes() | TypeSet{DT_BOOL}, DT_BOOL))
    .Shape([](ShapeContext& c) {
      return c.SetOutput(0, PartialShape::Matrix(-1, c.input(0).rank()));
    });

}  // namespace
}  // namespace sluice

// A chain of unary functions in one node, as TensorFlow's remapper writes it into graphs.
#include "ops/op.h"

namespace sluice {
namespace {

OP(_UnaryOpsComposition, "The functions op_names of x, one after the other.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_HALF, DT_DOUBLE}))
    .Attr("op_names", StringListAttr())
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice

// The op that applies a chain of unary functions in one node. TensorFlow's remapper adds it to
// graphs.
#include "ops/op.h"

namespace sluice {
namespace {

OP(_UnaryOpsComposition, "Applies the unary functions op_names to x, in this order.")
    .With(UnaryElementwise{{DT_FLOAT, DT_HALF, DT_DOUBLE}})
    .Attr("op_names", StringListAttr())
    .Elementwise(ElementwiseInputs::kNone);

}  // namespace
}  // namespace sluice

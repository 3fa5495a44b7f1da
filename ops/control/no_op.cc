// Ops that compute nothing: something to wait for, and a way to end a step.

#include "ops/op.h"

namespace sluice {
namespace {

OP(Abort,
   "Fails the step with `error_msg`. (TensorFlow ends the whole process; see docs/differences.md.)"
   " With `exit_without_error` it does nothing.")
    .Attr("error_msg", StringAttr(""))
    .Attr("exit_without_error", BoolAttr(false))
    .Shape(NoOutputs());

OP(ControlTrigger, "Does nothing, and runs even if what it waits for is dead.").Shape(NoOutputs());

OP(NoOp, "Does nothing: something to wait for.").Shape(NoOutputs());

}  // namespace
}  // namespace sluice

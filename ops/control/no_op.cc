// Ops that compute nothing, and Abort, which ends a step.
#include "ops/op.h"

namespace sluice {
namespace {

OP(Abort,
   "Fails the step with `error_msg`, or does nothing with `exit_without_error`. (TensorFlow ends "
   "the process. See docs/differences.md.)")
    .Attr("error_msg", StringAttr(""))
    .Attr("exit_without_error", BoolAttr(false))
    .Shape(NoOutputs());

OP(ControlTrigger, "Does nothing, and runs even if its control inputs are dead.")
    .Role(OpRole::kControlTrigger)
    .Shape(NoOutputs());

OP(NoOp, "Does nothing. Other nodes can wait for it.").Role(OpRole::kNoOp).Shape(NoOutputs());

}  // namespace
}  // namespace sluice

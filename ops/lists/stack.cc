// Stacks of tensors, which live as long as a step: what a loop's gradient keeps values on.

#include "ops/op.h"

namespace sluice {
namespace {

OP(Stack, "Deprecated form of StackV2: a stack without bound, named by two strings.")
    .RefOutput("handle", DT_STRING)
    .Attr("elem_type", TypeAttr())
    .Attr("stack_name", StringAttr(""))
    .Hidden()
    .Stateful()
    .NotDifferentiable()
    .Shape(UnknownOutputs());

OP(StackClose, "Deprecated form of StackCloseV2.")
    .RefInput("handle", DT_STRING)
    .NotDifferentiable()
    .Shape(NoOutputs());

OP(StackCloseV2, "Drops what is on a stack; it takes nothing more.")
    .Input("handle", DT_RESOURCE)
    .Stateful()
    .Shape(NoOutputs());

OP(StackPop, "Deprecated form of StackPopV2.")
    .RefInput("handle", DT_STRING)
    .Output("elem", "elem_type")
    .Attr("elem_type", TypeAttr())
    .NotDifferentiable()
    .Shape(UnknownOutputs());

OP(StackPopV2, "Takes the tensor that was pushed last. An error if there is none.")
    .Input("handle", DT_RESOURCE)
    .Output("elem", "elem_type")
    .Attr("elem_type", TypeAttr())
    .Stateful()
    .Shape(UnknownOutputs());

OP(StackPush, "Deprecated form of StackPushV2.")
    .RefInput("handle", DT_STRING)
    .Input("elem", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("swap_memory", BoolAttr(false))
    .NotDifferentiable()
    .Shape(SameAsInput(1));

OP(StackPushV2,
   "Puts `elem` on a stack; `output` is `elem`. An error if the stack is full. `swap_memory` has no"
   " effect on a CPU.")
    .Input("handle", DT_RESOURCE)
    .Input("elem", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("swap_memory", BoolAttr(false))
    .Stateful()
    .Shape(SameAsInput(1));

OP(StackV2,
   "A new stack of tensors of type `elem_type`, at most `max_size` of them (negative: any number)."
   " It ends with the step.")
    .Input("max_size", DT_INT32)
    .Output("handle", DT_RESOURCE)
    .Attr("elem_type", TypeAttr())
    .Attr("stack_name", StringAttr(""))
    .Stateful()
    .Shape(UnknownOutputs());

}  // namespace
}  // namespace sluice

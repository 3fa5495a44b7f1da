// Ops on stacks of tensors, which live as long as a step. The gradient of a loop keeps values on
// them.
#include "ops/op.h"

namespace sluice {
namespace {

void UsesRefStack(OpDefBuilder& op) { op.RefInput("handle", DT_STRING).NotDifferentiable(); }

void UsesStack(OpDefBuilder& op) { op.Input("handle", DT_RESOURCE).Stateful(); }

void Pops(OpDefBuilder& op) {
  op.Output("elem", "elem_type").Attr("elem_type", TypeAttr()).Shape(UnknownOutputs());
}

void Pushes(OpDefBuilder& op) {
  op.Input("elem", "T")
      .Output("output", "T")
      .Attr("T", TypeAttr())
      .Attr("swap_memory", BoolAttr(false))
      .Shape(SameAsInput(1));
}

void StackAttrs(OpDefBuilder& op) {
  op.Attr("elem_type", TypeAttr())
      .Attr("stack_name", StringAttr(""))
      .Stateful()
      .Shape(UnknownOutputs());
}

OP(Stack, "Deprecated form of StackV2, with any number of elements and a reference handle.")
    .RefOutput("handle", DT_STRING)
    .With(StackAttrs)
    .Hidden()
    .NotDifferentiable();

OP(StackClose, "Deprecated form of StackCloseV2.").With(UsesRefStack).Shape(NoOutputs());

OP(StackCloseV2, "Drops the elements. The stack cannot be used any more.")
    .With(UsesStack)
    .Shape(NoOutputs());

OP(StackPop, "Deprecated form of StackPopV2.").With(UsesRefStack).With(Pops);

OP(StackPopV2, "Removes the tensor that was pushed last and returns it. Fails if there is none.")
    .With(UsesStack)
    .With(Pops)
    .Repeatable();

OP(StackPush, "Deprecated form of StackPushV2.").With(UsesRefStack).With(Pushes);

OP(StackPushV2,
   "Pushes `elem` and returns it. Fails if the stack is full. `swap_memory` has no effect on a "
   "CPU.")
    .With(UsesStack)
    .With(Pushes)
    .Repeatable();

OP(StackV2,
   "Makes a stack of up to `max_size` tensors (negative: any number) that lives as long as the "
   "step.")
    .Input("max_size", DT_INT32)
    .Output("handle", DT_RESOURCE)
    .With(StackAttrs)
    .Repeatable();

}  // namespace
}  // namespace sluice

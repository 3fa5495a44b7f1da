// Ops of while loops. Values enter a frame, pass through its iterations and leave it.

#ifndef SLUICE_DEFINITIONS_ONLY
#include "graph/gradient/loop_gradient.h"
#endif
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status PassedOn(ShapeContext& c) {
  if (const HandleData* handle = c.InputHandle(0)) c.SetOutputHandle(0, *handle);
  return c.SetOutput(0, c.input(0));
}

void PassesData(OpDefBuilder& op) {
  op.Input("data", "T").Output("output", "T").Attr("T", TypeAttr()).Shape(PassedOn);
}

void PassesReference(OpDefBuilder& op) {
  op.RefInput("data", "T").RefOutput("output", "T").Attr("T", TypeAttr()).Shape(PassedOn);
}

void FrameAttrs(OpDefBuilder& op) {
  op.Attr("frame_name", StringAttr())
      .Attr("is_constant", BoolAttr(false))
      .Attr("parallel_iterations", IntAttr(10));
}

OP(Enter,
   "Passes `data` to the child frame `frame_name`. The first value that enters makes the frame. "
   "With `is_constant` every iteration receives the value, else only the first one. At most "
   "`parallel_iterations` iterations of the frame run at a time.")
    .With(PassesData)
    .With(FrameAttrs)
    .Role(OpRole::kEnter) GRADIENT(EnterGradient);

OP(Exit,
   "Passes `data` from a frame to the iteration of the parent frame in which the loop was entered.")
    .With(PassesData)
    .Role(OpRole::kExit) GRADIENT(ExitGradient);

OP(LoopCond,
   "Passes on the scalar that decides whether a loop continues, and marks the loop's pivot.")
    .Input("input", DT_BOOL)
    .Output("output", DT_BOOL)
    .Role(OpRole::kLoopCond)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape scalar, c.WithRank(0, 0));
      return c.SetOutput(0, std::move(scalar));
    })
    .NotDifferentiable();

OP(NextIteration, "Passes `data` to the next iteration of its frame.")
    .With(PassesData)
    .Role(OpRole::kNextIteration) GRADIENT(NextIterationGradient);

OP(RefEnter, "Enter of a reference to a variable.")
    .With(PassesReference)
    .With(FrameAttrs)
    .Role(OpRole::kEnter) GRADIENT(EnterGradient);

OP(RefExit, "Exit of a reference to a variable.")
    .With(PassesReference)
    .Role(OpRole::kExit) GRADIENT(ExitGradient);

OP(RefNextIteration, "NextIteration of a reference to a variable.")
    .With(PassesReference)
    .Role(OpRole::kNextIteration) GRADIENT(NextIterationGradient);

}  // namespace
}  // namespace sluice

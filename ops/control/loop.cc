// Ops that a while loop is made of: values enter a frame, go round, and leave it.

#ifndef SLUICE_DEFINITIONS_ONLY
#include "graph/gradient/loop_gradient.h"
#endif
#include "ops/op.h"

namespace sluice {
namespace {

// The value itself passes, so its shape and the contents of its handle do too.
absl::Status PassedOn(ShapeContext& c) {
  if (const HandleData* handle = c.InputHandle(0)) c.SetOutputHandle(0, *handle);
  return c.SetOutput(0, c.input(0));
}

OP(Enter,
   "Passes `data` into the child frame `frame_name`, which exists from the first value that enters."
   " With `is_constant` every iteration sees the value, else the first one. At most"
   " `parallel_iterations` iterations of the frame are open at a time.")
    .Input("data", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("frame_name", StringAttr())
    .Attr("is_constant", BoolAttr(false))
    .Attr("parallel_iterations", IntAttr(10))
    .Shape(PassedOn) GRADIENT(EnterGradient);

OP(Exit,
   "Passes `data` from a frame to the iteration of the parent frame that it was entered from.")
    .Input("data", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Shape(PassedOn) GRADIENT(ExitGradient);

OP(LoopCond, "The scalar that decides whether a loop goes on: marks the loop's pivot.")
    .Input("input", DT_BOOL)
    .Output("output", DT_BOOL)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape scalar, c.WithRank(0, 0));
      return c.SetOutput(0, std::move(scalar));
    })
    .NotDifferentiable();

OP(NextIteration, "Passes `data` to the next iteration of its frame.")
    .Input("data", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Shape(PassedOn) GRADIENT(NextIterationGradient);

OP(RefEnter, "Enter of a reference to a variable.")
    .RefInput("data", "T")
    .RefOutput("output", "T")
    .Attr("T", TypeAttr())
    .Attr("frame_name", StringAttr())
    .Attr("is_constant", BoolAttr(false))
    .Attr("parallel_iterations", IntAttr(10))
    .Shape(PassedOn) GRADIENT(EnterGradient);

OP(RefExit, "Exit of a reference to a variable.")
    .RefInput("data", "T")
    .RefOutput("output", "T")
    .Attr("T", TypeAttr())
    .Shape(PassedOn) GRADIENT(ExitGradient);

OP(RefNextIteration, "NextIteration of a reference to a variable.")
    .RefInput("data", "T")
    .RefOutput("output", "T")
    .Attr("T", TypeAttr())
    .Shape(PassedOn) GRADIENT(NextIterationGradient);

}  // namespace
}  // namespace sluice

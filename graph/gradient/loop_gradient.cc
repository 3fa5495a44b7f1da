#include "graph/gradient/loop_gradient.h"

#include "graph/build/core_ops.h"
#include "graph/build/scopes.h"
#include "graph/gradient/loop_state.h"
#include "graph/ir/control_flow.h"
#include "graph/status.h"

namespace sluice {

using gradient::LoopState;

void EnterGradient(Backprop& b) {
  LoopState* state = LoopState::Current(b.graph());
  if (!b.Has(0)) return;
  if (state == nullptr || !state->backward()->back_prop()) {
    b.Into(0, b.GradOf(0));
  } else if (b.attr<bool>("is_constant")) {
    b.Into(0, state->Accumulate(b.op(), b.GradOf(0)));
  } else {
    const Output left = core::Exit(b.Of(0));
    if (left) state->backward()->exits.push_back(left);
    b.Into(0, left);
  }
}

void ExitGradient(Backprop& b) {
  LoopState* state = LoopState::Current(b.graph());
  if (state == nullptr || !state->backward()->back_prop() || !b.Has(0)) return;
  if (state->forward()->history != nullptr) {
    b.Fail(absl::UnimplementedError(
        StrCat("Second-order gradient for while loops not supported: ", b.op().Describe(),
               " belongs to the loop of a gradient")));
    return;
  }
  Output grad;
  {
    InContext out(b.graph(), state->backward()->outer());
    grad = b.Of(0);
  }
  const Output entered = grad ? state->backward()->NewEnter(grad, "b_exit") : grad;
  if (entered) state->backward()->enters.push_back(entered);
  b.Into(0, entered);
}

// The gradient of the Switch adds the NextIteration of the backward loop.
void NextIterationGradient(Backprop& b) { b.Into(0, b.GradOf(0)); }

namespace gradient {

void LoopSwitchGradient(Backprop& b) {
  LoopState* state = LoopState::Current(b.graph());
  if (state == nullptr) return;
  if (state->HasSwitch(b.op())) {
    if (b.Has(1)) state->SwitchFromBody(b.op(), b.Of(1));
  } else if (b.Has(0)) {
    b.Into(0, state->SwitchFromExit(b.op(), b.Of(0)));
  }
}

void LoopMergeGradient(Backprop& b) {
  LoopState* state = LoopState::Current(b.graph());
  const Output grad = b.Of(0);
  if (state == nullptr || !grad) return;
  ColocateWith with(b.graph(), grad, /*ignore_existing=*/true);
  Node* split = core::Switch(grad, state->backward()->pivot);
  for (int i = 0; i < 2 && split != nullptr; ++i) b.Into(i, Output(split, i));
}

}  // namespace gradient
}  // namespace sluice

#include "executor/plan/op_kind.h"

#include "graph/ir/graph.h"

namespace sluice {

OpKind OpKindOf(const Node& node) {
  switch (node.role()) {
    case OpRole::kConstant:
      return OpKind::kConstant;
    case OpRole::kFeed:
      return OpKind::kFeed;
    case OpRole::kFetch:
      return OpKind::kFetch;
    case OpRole::kPass:
    case OpRole::kLoopCond:
      return OpKind::kPass;
    case OpRole::kNoOp:
      return OpKind::kNoOp;
    case OpRole::kControlTrigger:
      return OpKind::kControlTrigger;
    case OpRole::kSwitch:
      return OpKind::kSwitch;
    case OpRole::kMerge:
      return OpKind::kMerge;
    case OpRole::kEnter:
      return OpKind::kEnter;
    case OpRole::kExit:
      return OpKind::kExit;
    case OpRole::kNextIteration:
      return OpKind::kNextIteration;
    default:
      return OpKind::kKernel;
  }
}

}  // namespace sluice

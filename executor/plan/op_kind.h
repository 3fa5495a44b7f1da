// The kinds of a plan's items (draft.h). The kind decides what the executor does with a node, or
// with an item that the plan adds to the nodes.
#ifndef SLUICE_EXECUTOR_PLAN_OP_KIND_H_
#define SLUICE_EXECUTOR_PLAN_OP_KIND_H_

#include <cstdint>

namespace sluice {

class Node;

enum class OpKind : uint8_t {
  kKernel,          // calls its kernel
  kAsync,           // calls its kernel, which reports its result later
  kConstant,        // a value that the plan holds
  kFeed,            // a value that the caller of the step feeds
  kFetch,           // hands a value to the step's caller
  kPass,            // output 0 is input 0
  kNoOp,            // computes nothing
  kControlTrigger,  // computes nothing; alive even if its inputs are dead
  kSwitch,
  kMerge,
  kEnter,
  kExit,
  kNextIteration,
  // Items that the plan adds.
  kArrival,       // stands for a value that comes from another frame or iteration
  kLoop,          // a whole while loop
  kLoopVariable,  // inside a kLoop: the Merge of a loop variable
  kCarry,         // inside a kLoop: the NextIteration of a loop variable
  kLeave,         // inside a kLoop: an Exit
  kFused,         // several elementwise nodes that run as one
  kDelayed,       // a kernel that only checks its inputs: its reader computes the result
};

// The kind that follows from the role of the node's op (graph/op/op_traits.h). It is never kAsync,
// which depends on the kernel, and never a kind of item that the plan adds.
OpKind OpKindOf(const Node& node);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_OP_KIND_H_

// How the executor treats a node: the one place where it knows ops by name.
#ifndef SLUICE_EXECUTOR_PLAN_OP_KIND_H_
#define SLUICE_EXECUTOR_PLAN_OP_KIND_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace sluice {

class Graph;
class Node;

enum class OpKind : uint8_t {
  kKernel,          // calls its kernel
  kAsync,           // calls its kernel, which answers later (set by the plan, not by name)
  kConstant,        // a value of the plan
  kFeed,            // _Arg: a value of the step
  kFetch,           // _Retval: hands a value to the step's caller
  kPass,            // Identity and the like: output 0 is input 0
  kNoOp,            // nothing to compute
  kControlTrigger,  // nothing to compute; alive whatever its inputs are
  kSwitch,
  kMerge,
  kEnter,
  kExit,
  kNextIteration,
  // Made by the plan.
  kArrival,       // stands for a value that comes from another frame or iteration
  kLoop,          // a whole while loop
  kLoopVariable,  // inside it: the Merge of a variable
  kCarry,         // inside it: the NextIteration of a variable
  kLeave,         // inside it: an Exit
  kFused,         // several elementwise nodes
  kDelayed,       // a kernel whose result its reader makes: only checks its inputs
};

OpKind OpKindOf(const Node& node);
std::vector<OpKind> OpKindsOf(const Graph& graph);  // by node id; kNoOp where there is no node

// Send and Recv run with dead inputs too: deadness travels with the tensor.
bool RunsWhenDead(const Node& node);

// Reads a variable and nothing else. Such nodes run as early as they can, so that without control
// edges a step sees the values that it began with.
bool ReadsVariable(const Node& node);

// The output may lie in the input's memory without having taken it over.
bool SharesInput(const Node& node);

bool IsPlaceholder(const Node& node);

// The frame that an Enter leads into.
std::string_view FrameNameOf(const Node& enter);
bool IsEnter(const Node& node);
bool IsConstantEnter(const Node& enter);
int ParallelIterationsOf(const Node& enter);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_OP_KIND_H_

// A ControlFlowContext stands for one branch of a cond, or for one loop, in a graph that is being
// built. It adds the Switches or Enters through which nodes inside read values from outside. Base
// class of CondContext (cond.h) and WhileContext (while.h).
#ifndef SLUICE_GRAPH_BUILD_CONTROL_FLOW_CONTEXT_H_
#define SLUICE_GRAPH_BUILD_CONTROL_FLOW_CONTEXT_H_

#include <map>
#include <string>
#include <string_view>

#include "graph/ir/graph.h"

namespace sluice {

class WhileContext;

// The graph owns the context, and the nodes inside point to it. Thread safety: that of the graph.
class ControlFlowContext {
 public:
  enum class Kind { kCond, kWhile };
  ControlFlowContext(Kind kind, std::string name, ControlFlowContext* outer)
      : kind_(kind), name_(std::move(name)), outer_(outer) {}
  virtual ~ControlFlowContext() = default;

  Kind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  ControlFlowContext* outer() const { return outer_; }
  // The innermost surrounding loop, which may be this context. Null outside of loops.
  WhileContext* loop();
  // Whether the value is computed in this context, or in one that is nested in it.
  bool Contains(const Output& value) const;
  // Maps each value from outside that nodes inside use to the value that replaces it inside.
  const std::map<Output, Output>& entered() const { return entered_; }
  // From now on, nodes inside use `inside` instead of `outside`.
  void SetEntered(Output outside, Output inside) { entered_[outside] = inside; }

  // Returns the tensor by which nodes inside read `value`: `value` itself if it is computed inside,
  // otherwise the output of a Switch (in a cond) or Enter (in a loop), added at the first use.
  virtual Output AddValue(Output value) = 0;
  // Prepares `spec`, a node that NodeBuilder is about to add inside, and returns the context that
  // the node belongs to.
  //
  // Each input from outside is replaced by the tensor that AddValue returns for it. A node inside
  // cannot wait for a node outside of its loop: a loop replaces such a control input by an Identity
  // inside (or drops it, if the node outside has no output), and a cond in a loop drops it. A node
  // without data inputs waits for a node inside, so that it runs only when the context does.
  //
  // The returned context is this one, with one exception. If this is the loop that computes the
  // gradient of another loop, and the node needs only the shape of a value in that other loop, the
  // node belongs to the context of that value.
  virtual absl::StatusOr<ControlFlowContext*> Enter(NodeSpec& spec) = 0;
  // A node that is alive if the branch is taken, or in each iteration of the loop. Null before a
  // loop has its first nodes.
  virtual Node* control_pivot() const = 0;

 protected:
  // Whether `op` calls a graph function. The nodes that replace the call wait only for the control
  // inputs of the call. So a call inside a context gets the pivot as a control input.
  static bool IsCall(std::string_view op);

  std::map<Output, Output> entered_;

 private:
  Kind kind_;
  std::string name_;
  ControlFlowContext* outer_;
};

// Returns the context to which the outputs of a node belong. It is the context of the node, except
// that the output of an Exit belongs to the context around its loop.
ControlFlowContext* ContextOfOutputs(const Node& node);
// The innermost loop around `context`, or null. It may be `context` itself.
inline WhileContext* LoopOf(ControlFlowContext* context) {
  return context == nullptr ? nullptr : context->loop();
}

// Nodes that are added during its lifetime belong to `context`, or to none if it is null.
class InContext {
 public:
  InContext(Graph& graph, ControlFlowContext* context);
  ~InContext();
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  Graph& graph_;
  ControlFlowContext* previous_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_CONTROL_FLOW_CONTEXT_H_

// The cond branch or while body that ops are being built in.
#ifndef SLUICE_GRAPH_BUILD_CONTROL_FLOW_CONTEXT_H_
#define SLUICE_GRAPH_BUILD_CONTROL_FLOW_CONTEXT_H_

#include <map>
#include <string>

#include "graph/ir/graph.h"

namespace sluice {

class WhileContext;

// Owned by the graph; the nodes made inside point to it. NodeBuilder calls Enter.
class ControlFlowContext {
 public:
  enum class Kind { kCond, kWhile };
  ControlFlowContext(Kind kind, std::string name, ControlFlowContext* outer)
      : kind_(kind), name_(std::move(name)), outer_(outer) {}
  virtual ~ControlFlowContext() = default;

  Kind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  ControlFlowContext* outer() const { return outer_; }
  // The nearest loop, this context included; null outside of all loops.
  WhileContext* loop();
  // The value is made inside, or in a context within.
  bool Contains(const Output& value) const;
  // Values from outside, and what stands for them inside.
  const std::map<Output, Output>& entered() const { return entered_; }
  // `inside` stands for `outside` from now on.
  void SetEntered(Output outside, Output inside) { entered_[outside] = inside; }

  // The value to use inside for `value`, which may come from outside (Switch or Enter is added).
  virtual Output AddValue(Output value) = 0;
  // A node was specified inside but not yet made: external inputs are replaced, control inputs from
  // outside a loop are drawn into it, and a node without data inputs gets a control input, so that
  // it runs only when the context does. The context that the node belongs to: this one, or one of
  // the forward loop.
  virtual absl::StatusOr<ControlFlowContext*> Enter(NodeSpec& spec) = 0;
  // Alive when the context runs; null while a loop is not begun.
  virtual Node* control_pivot() const = 0;

 protected:
  std::map<Output, Output> entered_;

 private:
  Kind kind_;
  std::string name_;
  ControlFlowContext* outer_;
};

// The context that a node's outputs are values of: an Exit's leave its loop.
ControlFlowContext* ContextOfOutputs(const Node& node);
// The loop around `context`; null for none.
inline WhileContext* LoopOf(ControlFlowContext* context) {
  return context == nullptr ? nullptr : context->loop();
}

// Ops made while it lives are made in `context`, null for none.
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

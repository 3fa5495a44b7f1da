// The cond branch or while body that ops are being built in.
#ifndef SLUICE_GRAPH_BUILD_CONTROL_FLOW_CONTEXT_H_
#define SLUICE_GRAPH_BUILD_CONTROL_FLOW_CONTEXT_H_

#include <string>

#include "graph/ir/graph.h"

namespace sluice {

// Owned by the graph; the nodes made inside point to it. NodeBuilder calls the hooks.
class ControlFlowContext {
 public:
  enum class Kind { kCond, kWhile };
  ControlFlowContext(Kind kind, std::string name, ControlFlowContext* outer)
      : kind_(kind), name_(std::move(name)), outer_(outer) {}
  virtual ~ControlFlowContext() = default;

  Kind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  ControlFlowContext* outer() const { return outer_; }

  // The value to use inside for `value`, which may come from outside (Switch or Enter is added).
  virtual Output AddValue(Output value) = 0;
  // A node was specified inside but not yet made: external inputs are replaced, and a node without
  // data inputs gets a control input, so that it runs only when the context does.
  virtual absl::Status Enter(NodeSpec& spec) = 0;

 private:
  Kind kind_;
  std::string name_;
  ControlFlowContext* outer_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_CONTROL_FLOW_CONTEXT_H_

// Runs a graph node by node in one thread, in the plainest way: what a step means, without a plan.
//
// Cond works (Switch, Merge, deadness); loops do not. Waits for asynchronous kernels, so a step
// that would block for ever does.
#ifndef SLUICE_TESTS_ORACLE_INTERPRETER_H_
#define SLUICE_TESTS_ORACLE_INTERPRETER_H_

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"
#include "executor/kernel/resource_manager.h"
#include "graph/ir/graph.h"

namespace sluice::oracle {

class Interpreter {
 public:
  // `graph` outlives this; nodes may be added between steps.
  explicit Interpreter(const Graph& graph) : graph_(graph) {}

  using Feeds = std::vector<std::pair<Output, Tensor>>;
  absl::StatusOr<Tensors> Run(const Feeds& feeds, const OutputList& fetches,
                              const std::vector<Node*>& targets);

 private:
  using Values = std::map<const Node*, std::vector<Value>>;
  absl::StatusOr<std::vector<Node*>> Order(const Feeds& feeds, const OutputList& fetches,
                                           const std::vector<Node*>& targets) const;
  absl::Status RunNode(Node* node, const StepContext& step, Values& values,
                       const std::vector<Output>& kept);
  absl::StatusOr<Kernel*> KernelOf(Node* node);

  const Graph& graph_;
  ResourceManager resources_;
  std::map<const Node*, std::unique_ptr<Kernel>> kernels_;
  int64_t next_step_ = 1;
};

}  // namespace sluice::oracle

#endif  // SLUICE_TESTS_ORACLE_INTERPRETER_H_

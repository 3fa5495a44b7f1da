// Holds what the parts of one synchronous optimizer share while they build its graph: the options,
// the global step, and the optimizer's number among the synchronous optimizers of the graph. It
// also adds the ledger, a table that counts how many gradients of each replica were applied or
// dropped. GradientExchange, TokenQueues and ReplicaSynchronizer use it.
//
// Thread safety: that of the graph. Lifetime: the graph outlives it. Errors stay in the graph.
#ifndef SLUICE_TRAINING_SYNC_SYNC_NODES_H_
#define SLUICE_TRAINING_SYNC_SYNC_NODES_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/dataflow/queue_handle.h"
#include "ops/state/variable.h"
#include "training/sync/sync_replicas_options.h"

namespace sluice {

class SyncNodes {
 public:
  explicit SyncNodes(SyncReplicasOptions options) : options(std::move(options)) {}
  // Must be called once, before all other methods. Numbers the optimizer among the synchronous
  // optimizers of its graph, from 0 in the order of these calls.
  void Begin(const Variable& global_step);

  const SyncReplicasOptions options;
  // Absent before Begin.
  const std::optional<Variable>& global_step() const { return global_step_; }
  Graph& graph() const { return global_step_->graph(); }
  const std::string& device_of_step() const { return global_step_->device(); }
  // `base` for the first synchronous optimizer of a graph, then "<base>_1", "<base>_2", …
  std::string Numbered(std::string_view base) const;

  // Shared name of the accumulator or queue for the gradients of `var`: "<var>:0<suffix>". If
  // several optimizers train `var`, the names of the second and later ones end with "_<number>".
  // Called once per variable.
  std::string GradientsSharedName(const Variable& var, std::string_view suffix) const;
  // Sets attributes of the node of an accumulator or queue of gradients: the number of replicas,
  // the number of gradients per update, and the ledger (ops/dataflow/replica_gradients.h). Does
  // nothing if the node is null.
  void DescribeReplicas(Node* accumulator_or_queue);
  // Sets the attribute of `node`, an op that pushes a gradient, that says which replica pushes it.
  // Does nothing if `node` is null or options.replica_id is absent.
  void NameReplica(Node* node) const;
  // Returns an op that a starting chief runs. It gives `queue` the global step, and the queue then
  // drops elements of later steps.
  Operation SetGlobalStep(const Queue& queue) const;

  // Returns the resource handle of the ledger on `device`, which counts the gradients that are
  // aggregated there.
  Output Ledger(const std::string& device);
  // The ledgers summed over all devices. ReplicaSynchronizer has the same methods and describes the
  // results. Invalid if the optimizer has no gradients.
  Output LedgerTotals();
  Output LedgerUpdates(int num_updates);

 private:
  void CountOn(const std::string& device);
  Output SumOverDevices(const std::function<Output(Output ledger)>& read);

  std::optional<Variable> global_step_;
  int number_ = 0;
  std::vector<std::string> ledger_devices_;
};

// Returns an unused name for an op, followed by '/', such as "Fill_1/" for `op` "Fill". It serves
// as the name of the op and as prefix of the names of its constant arguments ("Fill_1/dims"). A
// builder uses a name that ends in '/' unchanged.
std::string OpScope(Graph& graph, std::string_view op);
Output CastTo64(Output t);
// Returns one op that runs after all `ops`. If there is only one, returns it unchanged.
Operation AsOne(Graph& graph, const std::vector<Operation>& ops);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_SYNC_NODES_H_

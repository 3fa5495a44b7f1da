// Holds the state that the nodes of one synchronous optimizer share: its options, its number among
// the synchronous optimizers of the graph, the global step, and the ledger that counts every
// gradient.
//
// Thread safety: as the graph's. Lifetime: the graph outlives it. Errors stay in the graph.
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
  // Must be called once, before all other methods. Gives the optimizer its number in the graph of
  // the global step: 0, 1, …
  void Begin(const Variable& global_step);

  const SyncReplicasOptions options;
  // Absent before Begin.
  const std::optional<Variable>& global_step() const { return global_step_; }
  Graph& graph() const { return global_step_->graph(); }
  const std::string& device_of_step() const { return global_step_->device(); }
  // `base` for the first synchronous optimizer of a graph, then "<base>_1", "<base>_2", …
  std::string Numbered(std::string_view base) const;

  // Shared name of the accumulator or queue for the gradients of `var`: "<var>:0<suffix>". If
  // several optimizers train `var`, the names of the second and later ones end with a number.
  std::string GradientsSharedName(const Variable& var, std::string_view suffix) const;
  // Describes the replicas to an accumulator or queue of gradients, by attributes of its node
  // (ops/dataflow/replica_gradients.h). Null is ignored.
  void DescribeReplicas(Node* accumulator_or_queue);
  // Sets the attribute that says which replica's gradient `node` adds. Null is ignored.
  void NameReplica(Node* node) const;
  // Returns an op that notifies a queue that a chief starts at the global step. The queue then
  // drops elements of later steps.
  Operation SetGlobalStep(const Queue& queue) const;

  // Handle of the ledger on `device`, which counts the gradients that are aggregated there.
  Output Ledger(const std::string& device);
  // The ledgers summed over all devices, as ReplicaSynchronizer returns them. Invalid without
  // gradients.
  Output LedgerTotals();
  Output LedgerUpdates(int num_updates);

 private:
  void CountOn(const std::string& device);
  Output SumOverDevices(const std::function<Output(Output ledger)>& read);

  std::optional<Variable> global_step_;
  int number_ = 0;
  std::vector<std::string> ledger_devices_;
};

// Returns a new name scope for an op that contains the names of its constant arguments: the op is
// named "Fill_1" and an argument "Fill_1/dims". The result ends in '/', so that builders use it
// unchanged.
std::string OpScope(Graph& graph, std::string_view op);
Output CastTo64(Output t);
// One op that runs after all `ops`. A single op is returned unchanged.
Operation AsOne(Graph& graph, const std::vector<Operation>& ops);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_SYNC_NODES_H_

// The graph of one replica of a synchronous job in the simulated worlds.
//
// A gradient identifies its replica and attempt: component replica * `attempts` + attempt is one,
// the others are zero. So an update shows which gradients it used. One variable has dense
// gradients, the other has gradients of rows. Each variable has `noise` further components, to
// which all gradients contribute.
#ifndef SLUICE_TESTS_SIMULATE_REPLICA_GRAPH_H_
#define SLUICE_TESTS_SIMULATE_REPLICA_GRAPH_H_

#include <memory>
#include <vector>

#include "graph/build/scopes.h"
#include "graph/ir/graph.h"
#include "ops/state/variable.h"
#include "training/sync/replica_synchronizer.h"

namespace sluice {

enum class Form { kAccumulators, kQueues };

struct ReplicaGraphOptions {
  Form form = Form::kAccumulators;
  int aggregate = 1;
  int replicas = 1;
  int index = 0;
  int attempts = 48;  // maximum per replica
  int noise = 0;
  bool deterministic = false;
  int updates = 4;  // number of updates whose ledger `by_update` reads
  DeviceFunction devices;
};

struct ReplicaGraph {
  explicit ReplicaGraph(const ReplicaGraphOptions& options);

  std::unique_ptr<ReplicaSynchronizer> optimizer;
  Graph graph;
  Output dense_grad, row_values, row_indices;
  Operation give_tokens;  // invalid for deterministic training
  Operation train, init, init_tokens, local_init, chief_init, forget_undone_tokens, leave, close;
  Output dense, sparse, step, local_step, tokens_left, totals, by_update;
  OutputList left;  // the number of waiting gradients in each accumulator or queue
  // `restore` assigns these fed values to the variables.
  Output dense_value, sparse_value, step_value;
  Operation restore;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_REPLICA_GRAPH_H_

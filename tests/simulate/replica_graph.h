// The graph of one replica of a synchronous job: what the simulated worlds run.
//
// Replicas push gradients that tell who made them: component replica * kAttempts + attempt is one,
// the rest zero; so from each update it can be read which gradients it used. One variable is dense,
// one has gradients of rows. Behind these components each variable has `noise` more, in which all
// gradients meet.
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
  int attempts = 48;  // at most, of each replica
  int noise = 0;
  bool deterministic = false;
  int updates = 4;  // of which the ledger is read
  DeviceFunction devices;
};

struct ReplicaGraph {
  explicit ReplicaGraph(const ReplicaGraphOptions& options);

  std::unique_ptr<ReplicaSynchronizer> optimizer;
  Graph graph;
  Output dense_grad, row_values, row_indices;
  Operation give_tokens;  // invalid: of deterministic training
  Operation train, init, init_tokens, local_init, chief_init, forget_undone_tokens, leave, close;
  Output dense, sparse, step, local_step, tokens_left, totals, by_update;
  OutputList left;  // numbers of gradients that wait
  // Assignments of the variables, for who restores them.
  Output dense_value, sparse_value, step_value;
  Operation restore;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_REPLICA_GRAPH_H_

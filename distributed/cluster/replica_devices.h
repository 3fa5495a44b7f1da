// Chooses devices for between-graph replication. Variables and other shared state go to the
// parameter servers, everything else goes to the replica's own worker.
//
//   DeviceScope place(g, ReplicaDevices(cluster));
//   Variable w(g, "w", {784, 10}, Zeros());       // /job:ps/task:0
//   Output y = MatMul(x, w);                      // /job:worker/task:2
//
// All replicas have to choose the same server for a variable, so strategies depend only on the
// order in which variables are created. Build the same variables in the same order in each replica.
//
// Thread safety: that of the graph. A DeviceFunction serves one graph.
// Ownership: the function owns its strategy and shares `loads`.
// Errors: none here. The placer reports names of devices that are invalid or do not exist.
// Reference: tf.compat.v1.train.replica_device_setter and
// tf.contrib.training.GreedyLoadBalancingStrategy. Only the strategy of ReplicaDevices(cluster)
// differs (docs/differences.md).
#ifndef SLUICE_DISTRIBUTED_CLUSTER_REPLICA_DEVICES_H_
#define SLUICE_DISTRIBUTED_CLUSTER_REPLICA_DEVICES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "distributed/cluster/cluster_spec.h"
#include "graph/ir/graph.h"
#include "graph/ir/scopes.h"

namespace sluice {

// Returns the number of the parameter server, from 0 to tasks - 1, that gets the next node.
using PsStrategy = std::function<int(const NodeSpec& node)>;
// Returns the load that a node puts on its server.
using PsLoad = std::function<int64_t(const NodeSpec& node)>;

// Returns the bytes of a variable or of a part of an embedding table. An unknown number of rows
// (dimension 0) counts as 1 << 20, other unknown dimensions as 1. 0 for nodes without a shape.
int64_t BytesOfVariable(const NodeSpec& node);

// The present load of each server.
struct PsLoads {
  std::vector<int64_t> of_task;

  // The highest load divided by the mean load. 1 if all loads are equal. 0 if there is no load.
  double imbalance() const;
  // Returns a text like "ps:0 31360 bytes, ps:1 40 bytes; the fullest has 2.00 times the mean".
  std::string ToString() const;
};

// Chooses the servers in turn.
PsStrategy RoundRobin(int tasks);
// Chooses the server with the least load, or the first of them if several have equal loads. Adds
// each node's load to `loads`, unless it is null.
PsStrategy GreedyLoadBalancing(int tasks, PsLoad load = BytesOfVariable,
                               std::shared_ptr<PsLoads> loads = nullptr);

// The ops whose state all replicas share, and which parameter servers therefore hold: variables,
// tables, accumulators (OpTraits::is_shared_by_replicas). This is TensorFlow's list.
const std::set<std::string>& StandardPsOps();

struct ReplicaDevicesOptions {
  // Number of parameter servers. 0: the worker runs everything.
  int ps_tasks = 0;
  std::string ps_device = "/job:ps";
  std::string worker_device = "/job:worker";
  // If true, a device that a node requests itself replaces only those fields of the chosen device
  // that it has. If false, it replaces the whole chosen device.
  bool merge_devices = true;
  std::set<std::string> ps_ops = StandardPsOps();
  // Chooses the parameter server of each shared op. Empty: RoundRobin, as in TensorFlow.
  PsStrategy strategy;
};

DeviceFunction ReplicaDevices(ReplicaDevicesOptions options);
// Chooses devices for this task of a cluster: balances bytes greedily over the job "ps". The chief
// counts as a worker.
DeviceFunction ReplicaDevices(const Cluster& cluster, std::shared_ptr<PsLoads> loads = nullptr);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_CLUSTER_REPLICA_DEVICES_H_

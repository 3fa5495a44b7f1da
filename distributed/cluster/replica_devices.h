// Devices for between-graph replication: variables and other shared state to the parameter servers,
// everything else to the replica's own worker.
//
//   DeviceScope place(g, ReplicaDevices(cluster));
//   Variable w(g, "w", {784, 10}, Zeros());       // /job:ps/task:0
//   Output y = MatMul(x, w);                      // /job:worker/task:2
//
// Every replica has to choose the same server for a variable: strategies depend on the order in
// which variables are made, and on nothing else.
//
// Reference behaviour: tf.compat.v1.train.replica_device_setter and
// tf.contrib.training.GreedyLoadBalancingStrategy. Only the default differs, docs/differences.md.
// Thread safety: as the graph's; a DeviceFunction that was made here is of one graph.
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

// The parameter server (0 to tasks - 1) of the next node.
using PsStrategy = std::function<int(const NodeSpec& node)>;
// What a server has to bear for a node.
using PsLoad = std::function<int64_t(const NodeSpec& node)>;

// The bytes of a variable's shape; unknown dimensions count as 1, nodes without a shape as 0.
int64_t BytesOfVariable(const NodeSpec& node);

// What each server bears so far.
struct PsLoads {
  std::vector<int64_t> of_task;

  // The most loaded server's share over the mean; 1 is even. 0 before anything was placed.
  double imbalance() const;
  // "ps:0 31360 bytes, ps:1 40 bytes; the fullest has 2.00 times the mean"
  std::string ToString() const;
};

// One after the other.
PsStrategy RoundRobin(int tasks);
// The one with the least load, of equal ones the first. `loads`, if given, follows.
PsStrategy GreedyLoadBalancing(int tasks, PsLoad load = BytesOfVariable,
                               std::shared_ptr<PsLoads> loads = nullptr);

// Variables, tables, accumulators: what a parameter server has. TensorFlow's list.
const std::set<std::string>& StandardPsOps();

struct ReplicaDevicesOptions {
  int ps_tasks = 0;  // 0: everything is the worker's
  std::string ps_device = "/job:ps";
  std::string worker_device = "/job:worker";
  // Devices that nodes ask for themselves win field by field; else they win as a whole.
  bool merge_devices = true;
  std::set<std::string> ps_ops = StandardPsOps();
  PsStrategy strategy;  // empty: RoundRobin, as TensorFlow
};

DeviceFunction ReplicaDevices(ReplicaDevicesOptions options);
// For this task of a cluster, greedily by bytes over its job "ps". The chief is a worker.
DeviceFunction ReplicaDevices(const Cluster& cluster, std::shared_ptr<PsLoads> loads = nullptr);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_CLUSTER_REPLICA_DEVICES_H_

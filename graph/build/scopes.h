// The scopes here are objects that do what TensorFlow's `with` blocks do: they set the names,
// devices and control dependencies of the nodes that are added during their lifetime.
//
//   {
//     NameScope scope(g, "train");
//     DeviceScope device(g, "/job:ps/task:0");
//     ControlDependencies after(g, {update});
//     Output tokens = Fill(dims, step);        // train/Fill, on the ps task, after update
//   }
//
// A scope ends with its C++ block. Scopes nest and must end in reverse order. A scope does not
// apply to nodes that exist before it.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Lifetime: the graph, and the nodes that are passed to a scope, outlive the scope.
// Errors: Graph::status() keeps them.
#ifndef SLUICE_GRAPH_BUILD_SCOPES_H_
#define SLUICE_GRAPH_BUILD_SCOPES_H_

#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"
#include "graph/ir/scopes.h"

namespace sluice {

// Prefixes the names of the ops in its block with `name/`. The scope is nested in the open name
// scope, and its name is made unique (`train_1/`). An empty name opens the root scope, which has no
// prefix. A name that ends in '/' is the full name of the scope, and is not made unique. Reference:
// tf.name_scope.
//
//   std::string prefix;
//   { NameScope scope(g, "tower"); prefix = scope.prefix(); }
//   { NameScope again(g, prefix); … }          // "tower/" once more
class NameScope {
 public:
  NameScope(Graph& graph, std::string_view name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
  // The full name of the scope, such as "a/b/", with which another NameScope can re-enter it. ""
  // for the root scope. The reference is valid as long as this object.
  const std::string& prefix() const { return prefix_; }

 private:
  Graph& graph_;
  std::string previous_;
  std::string prefix_;
};

// Places the ops of its block on `device`. Outer scopes fill in the fields (job, task, …) that
// `device` does not set. An empty string changes nothing. Reference: tf.device.
//
// "/job:worker" inside "/task:1/device:CPU:0" gives "/job:worker/task:1/device:CPU:0". An invalid
// device name is an error of the graph.
class DeviceScope {
 public:
  DeviceScope(Graph& graph, std::string_view device);

  // Calls the function `device` for each node that is added inside, and requests the device that it
  // returns. The functions of inner scopes are called before those of outer scopes:
  // NodeSpec::device of the argument is the device that inner scopes, or the node itself, have
  // requested. The graph keeps a copy of the function. ReplicaDevices
  // (distributed/cluster/replica_devices.h) makes such functions.
  DeviceScope(Graph& graph, DeviceFunction device);
  // Returns a scope in which outer DeviceScopes have no effect.
  static DeviceScope None(Graph& graph);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  struct Clear {};
  DeviceScope(Graph& graph, Clear);
  Graph& graph_;
  std::vector<DeviceFunction> previous_;
};

// Makes the ops that are added inside the block wait for `controls`. An op with an input from
// inside the block gets no control edge, because it already waits for `controls` through that
// input. Invalid operations are ignored. Reference: tf.control_dependencies.
//
// Ops that were added before the block do not wait. To order a read after an update, add the read
// inside the block:
//
//   Operation update = w.AssignAdd(delta);
//   ControlDependencies after(g, {update});
//   Output now = w.Read();
class ControlDependencies {
 public:
  ControlDependencies(Graph& graph, std::vector<Operation> controls);
  // Returns a block whose ops do not wait for the controls of outer blocks, and are outside of all
  // conds and loops.
  static ControlDependencies None(Graph& graph);
  ~ControlDependencies();
  ControlDependencies(const ControlDependencies&) = delete;
  ControlDependencies& operator=(const ControlDependencies&) = delete;

 private:
  struct Clear {};
  ControlDependencies(Graph& graph, Clear);
  Graph& graph_;
  ControlFlowContext* previous_context_;
};

// Places the ops of its block on the device of `op`. The attribute `_class` of each of them names
// `op`, or the ops with which `op` itself is colocated, so that the placer keeps them together.
// Outer DeviceScopes have no effect inside. If ignore_existing is true, outer ColocateWith blocks
// have no effect inside. If it is false, the ops are also colocated with the ops of those blocks.
// If `op` is invalid, the ops are colocated with nothing, and outer DeviceScopes apply. Reference:
// tf.colocate_with.
class ColocateWith {
 public:
  ColocateWith(Graph& graph, Operation op, bool ignore_existing = false);
  ~ColocateWith();
  ColocateWith(const ColocateWith&) = delete;
  ColocateWith& operator=(const ColocateWith&) = delete;

 private:
  Graph& graph_;
  std::vector<Node*> previous_colocation_;
  std::vector<DeviceFunction> previous_devices_;
};

// Adds the ops of its block outside of all open conds, loops and control dependencies. Name, device
// and colocation scopes still apply. Use it for the initial values of variables that are created
// inside a loop or branch. Reference: tf.init_scope.
class InitScope {
 public:
  explicit InitScope(Graph& graph);
  ~InitScope();
  InitScope(const InitScope&) = delete;
  InitScope& operator=(const InitScope&) = delete;

 private:
  ControlDependencies none_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_SCOPES_H_

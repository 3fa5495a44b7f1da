// TensorFlow's `with` blocks as C++ lifetimes:
//
//   {
//     NameScope scope(g, "train");
//     DeviceScope device(g, "/job:ps/task:0");
//     ControlDependencies after(g, {update});
//     Output tokens = Fill(dims, step);        // named train/Fill, placed, ordered
//   }
//
// A scope ends with its C++ block. Blocks nest and must end in reverse order. A scope applies to
// the nodes that are added during its lifetime, not to nodes that exist before.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Lifetime: the graph outlives the scope. So do the nodes that are passed to a scope.
// Errors: Graph::status() keeps them.
#ifndef SLUICE_GRAPH_BUILD_SCOPES_H_
#define SLUICE_GRAPH_BUILD_SCOPES_H_

#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"
#include "graph/ir/scopes.h"

namespace sluice {

// Prefixes the names of the ops in its block with `name/`. The scope is inside the open one, and
// its name is made unique (`train_1/`). An empty name opens the root. A name that ends in '/' is
// the full name of the scope, and is not made unique. Reference: tf.name_scope.
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
  // "a/b/", with which the scope can be re-entered; "" at the root. Valid as long as the scope.
  const std::string& prefix() const { return prefix_; }

 private:
  Graph& graph_;
  std::string previous_;
  std::string prefix_;
};

// Places the ops of its block on `device`. Outer scopes fill in the fields that `device` does not
// set. An empty string changes nothing. Reference: tf.device.
//
// "/job:worker" inside "/task:1/device:CPU:0" gives "/job:worker/task:1/device:CPU:0". An invalid
// device name is an error of the graph.
class DeviceScope {
 public:
  DeviceScope(Graph& graph, std::string_view device);

  // Calls `device` for each node inside, with the device so far in NodeSpec::device, and uses the
  // device that it returns. The graph copies the function. The functions of inner scopes are called
  // before those of outer scopes. ReplicaDevices (distributed/cluster/replica_devices.h) makes such
  // functions.
  DeviceScope(Graph& graph, DeviceFunction device);
  // A scope in which outer DeviceScopes have no effect.
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

// Makes the ops that are built inside the block wait for `controls`. An op with an input from
// inside the block already waits through that input, so it gets no control edge. Invalid operations
// are ignored. Reference: tf.control_dependencies.
//
// Tensors that were built outside do not wait. To order a read after an update, build the read
// inside:
//
//   Operation update = w.AssignAdd(delta);
//   ControlDependencies after(g, {update});
//   Output now = w.Read();
class ControlDependencies {
 public:
  ControlDependencies(Graph& graph, std::vector<Operation> controls);
  // The ops of this block ignore the controls of outer blocks, and are outside of all conds and
  // loops.
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

// Places the ops of its block on the device of `op`, and records this in attribute `_class`, which
// the placer follows. With ignore_existing, the outer ColocateWith blocks have no effect inside.
// Otherwise the ops are colocated with the ops of these blocks, too. Outer DeviceScopes have no
// effect inside. With an invalid operation, the ops are colocated with nothing, and outer
// DeviceScopes apply. Reference: tf.colocate_with.
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

// Suspends all open conds, loops and control dependencies: nodes inside are added outside of them.
// Name, device and colocation scopes still apply. Use it for the initial values of variables that
// are created inside a loop or branch. Reference: tf.init_scope.
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

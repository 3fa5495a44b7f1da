// TensorFlow's `with` blocks as C++ lifetimes:
//
//   {
//     NameScope scope(g, "train");
//     DeviceScope device(g, "/job:ps/task:0");
//     ControlDependencies after(g, {update});
//     Output tokens = Fill(dims, step);        // named train/Fill, placed, ordered
//   }
//
// A scope ends with its C++ block. Blocks nest and must end in reverse order.
// Thread safety: as the graph's. Lifetime: the graph outlives the scope.
#ifndef SLUICE_GRAPH_BUILD_SCOPES_H_
#define SLUICE_GRAPH_BUILD_SCOPES_H_

#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"
#include "graph/ir/scopes.h"

namespace sluice {

// Prefixes the names of ops inside with `name/`. An empty name opens the root. A name that ends in
// '/' is the full name of the scope, and is not made unique.
class NameScope {
 public:
  NameScope(Graph& graph, std::string_view name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
  // "a/b/", with which the scope can be re-entered; "" at the root.
  const std::string& prefix() const { return prefix_; }

 private:
  Graph& graph_;
  std::string previous_;
  std::string prefix_;
};

// Places ops inside on `device`, merged with the outer scopes: fields of inner ones take
// precedence. An empty string changes nothing.
class DeviceScope {
 public:
  DeviceScope(Graph& graph, std::string_view device);
  DeviceScope(Graph& graph, DeviceFunction device);
  // No device, whatever the outer scopes.
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

// Runs ops inside after `controls`.
class ControlDependencies {
 public:
  ControlDependencies(Graph& graph, std::vector<Operation> controls);
  // Ops inside ignore the controls of outer blocks, and are outside of any cond or while.
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

// Colocates ops inside with `op` (attribute `_class`). With ignore_existing it replaces the outer
// scopes' colocation. An invalid operation colocates with nothing.
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

// Leaves every cond, while and control dependency; names and devices stay. TensorFlow's init_scope.
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

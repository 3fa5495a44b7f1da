// TensorFlow's `with` blocks as C++ lifetimes:
//
//   {
//     NameScope scope(g, "train");
//     DeviceScope device(g, "/job:ps/task:0");
//     ControlDependencies after(g, {update});
//     Output tokens = Fill(dims, step);        // named train/Fill, placed, ordered
//   }
//
// A scope ends with its C++ block; blocks nest and must end in reverse order.
#ifndef SLUICE_GRAPH_BUILD_SCOPES_H_
#define SLUICE_GRAPH_BUILD_SCOPES_H_

#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"
#include "graph/ir/scopes.h"

namespace sluice {

// Names of ops made inside get `name/` in front. An empty name goes to the root; a name that ends
// in '/' is entered as it is, without being made unique.
class NameScope {
 public:
  NameScope(Graph& graph, std::string_view name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
  // "a/b/", to be entered again; "" at the root.
  const std::string& prefix() const { return prefix_; }

 private:
  Graph& graph_;
  std::string previous_;
  std::string prefix_;
};

// Ops made inside are placed on `device`, merged with the scopes around it (inner fields win); an
// empty string changes nothing.
class DeviceScope {
 public:
  DeviceScope(Graph& graph, std::string_view device);
  DeviceScope(Graph& graph, DeviceFunction device);
  // No device at all, whatever the scopes around it say.
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

// Ops made inside run after `controls`.
class ControlDependencies {
 public:
  ControlDependencies(Graph& graph, std::vector<Operation> controls);
  // Ops made inside wait for nothing that an outer block asked for, and leave any cond or while.
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

// Ops made inside are tied to `op`'s device (attr `_class`). With ignore_existing, only to it; an
// invalid operation ties to nothing.
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

// TensorFlow's init_scope: out of every cond, while and control dependency; names and devices stay.
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

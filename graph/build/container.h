// A scope that puts the variables, queues and tables added during its lifetime into a named
// container.
//
//   {
//     ContainerScope mine(g, "experiment_7");
//     w = Variable(g, "w", …);
//   }
//   ResetContainers(*devices, {"experiment_7"});      // executor/device/device_set.h
//
// A device may outlive the jobs that use it. With containers, each job has its own state there.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Lifetime: the graph outlives the scope. Scopes end in the reverse order of their construction.
// Errors: none.
// Reference: tf.container.
#ifndef SLUICE_GRAPH_BUILD_CONTAINER_H_
#define SLUICE_GRAPH_BUILD_CONTAINER_H_

#include <string>

#include "graph/ir/graph.h"

namespace sluice {

// Sets attribute `container` of the stateful nodes that are added during its lifetime.
//
// The nodes get the attribute when the scope's destructor runs. Until then their attribute is
// empty, also in an exported graph. A node keeps a container that it has already, because it was
// set explicitly or by an inner scope. Do not remove nodes from the graph while a scope is open:
// the scope finds its nodes by their position in the list of nodes.
class ContainerScope {
 public:
  // "" leaves nodes in the device's default container.
  ContainerScope(Graph& graph, std::string container);
  ~ContainerScope();
  ContainerScope(const ContainerScope&) = delete;
  ContainerScope& operator=(const ContainerScope&) = delete;

 private:
  Graph& graph_;
  const std::string container_;
  const size_t first_;  // number of nodes before the scope
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_CONTAINER_H_

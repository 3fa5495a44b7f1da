// Puts variables, queues and tables that are added inside into a container of a given name.
//
//   { ContainerScope mine(g, "experiment_7"); w = Variable(g, "w", …); }
//   ResetContainers(*devices, {"experiment_7"});      // executor/device/device_set.h
//
// Containers keep the state of one job apart from that of the next, on devices that outlive jobs.
// Ops that name a container themselves keep it. Reference: tf.container.
//
// Thread safety: as the graph's. Scopes end in the reverse order of their construction.
#ifndef SLUICE_GRAPH_BUILD_CONTAINER_H_
#define SLUICE_GRAPH_BUILD_CONTAINER_H_

#include <string>

#include "graph/ir/graph.h"

namespace sluice {

class ContainerScope {
 public:
  ContainerScope(Graph& graph, std::string container);
  ~ContainerScope();
  ContainerScope(const ContainerScope&) = delete;
  ContainerScope& operator=(const ContainerScope&) = delete;

 private:
  Graph& graph_;
  const std::string container_;
  const size_t first_;  // of the nodes inside, in order of creation
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_CONTAINER_H_

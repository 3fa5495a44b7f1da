// Whose state it is: variables, queues and tables made inside belong to a container of that name.
//
//   { ContainerScope mine(g, "experiment_7"); w = Variable(g, "w", …); }
//   ResetContainers(*devices, {"experiment_7"});      // executor/device/reset.h
//
// Jobs that follow each other on devices that live longer than a job keep apart that way: what one
// leaves behind, the next does not meet. Reference behaviour: tf.container. A container that an op
// names itself stays.
// Thread safety: as the graph's. Scopes end in the reverse order of their beginning.
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
  const size_t first_;  // of the nodes made inside, in order of creation
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_CONTAINER_H_

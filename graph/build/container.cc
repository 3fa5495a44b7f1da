#include "graph/build/container.h"

#include <utility>

namespace sluice {

ContainerScope::ContainerScope(Graph& graph, std::string container)
    : graph_(graph), container_(std::move(container)), first_(graph.nodes().size()) {}

ContainerScope::~ContainerScope() {
  const std::vector<Node*> nodes = graph_.nodes();
  for (size_t i = first_; i < nodes.size(); ++i) {
    const std::string* container = nodes[i]->FindAttr<std::string>("container");
    if (nodes[i]->IsStateful() && container != nullptr && container->empty()) {
      nodes[i]->SetAttr("container", container_);
    }
  }
}

}  // namespace sluice

#include "graph/build/scopes.h"

#include <utility>

#include "graph/build/device_spec.h"
#include "graph/status.h"

namespace sluice {

NameScope::NameScope(Graph& graph, std::string_view name)
    : graph_(graph), previous_(graph.scopes().name) {
  if (name.empty()) {
    prefix_.clear();
  } else if (name.ends_with('/')) {
    prefix_ = std::string(name);
  } else {
    prefix_ = graph.UniqueName(StrCat(previous_, name)) + "/";
  }
  graph_.scopes().name = prefix_;
}
NameScope::~NameScope() { graph_.scopes().name = previous_; }

DeviceScope::DeviceScope(Graph& graph, std::string_view device)
    : graph_(graph), previous_(graph.scopes().devices) {
  if (device.empty()) return;
  absl::StatusOr<DeviceSpec> outer = DeviceSpec::Parse(device);
  if (!outer.ok()) {
    graph_.SetError(outer.status());
    return;
  }
  graph_.scopes().devices.push_back([outer = *outer](const NodeSpec& spec) {
    absl::StatusOr<DeviceSpec> inner = DeviceSpec::Parse(spec.device);
    return inner.ok() ? inner->Over(outer).ToString() : spec.device;
  });
}
DeviceScope::DeviceScope(Graph& graph, DeviceFunction device)
    : graph_(graph), previous_(graph.scopes().devices) {
  graph_.scopes().devices.push_back(std::move(device));
}
DeviceScope::DeviceScope(Graph& graph, Clear) : graph_(graph), previous_(graph.scopes().devices) {
  graph_.scopes().devices.clear();
}
DeviceScope DeviceScope::None(Graph& graph) { return DeviceScope(graph, Clear()); }
DeviceScope::~DeviceScope() { graph_.scopes().devices = std::move(previous_); }

ControlDependencies::ControlDependencies(Graph& graph, std::vector<Operation> controls)
    : graph_(graph), previous_context_(graph.scopes().context) {
  Scopes::ControlFrame frame;
  for (const Operation& op : controls) {
    if (op) frame.controls.push_back(op.node);
  }
  graph_.scopes().control_frames.push_back(std::move(frame));
}
ControlDependencies::ControlDependencies(Graph& graph, Clear)
    : graph_(graph), previous_context_(graph.scopes().context) {
  graph_.scopes().context = nullptr;
  graph_.scopes().control_frames.emplace_back().new_stack = true;
}
ControlDependencies ControlDependencies::None(Graph& graph) {
  return ControlDependencies(graph, Clear());
}
ControlDependencies::~ControlDependencies() {
  graph_.scopes().control_frames.pop_back();
  graph_.scopes().context = previous_context_;
}

ColocateWith::ColocateWith(Graph& graph, Operation op, bool ignore_existing)
    : graph_(graph),
      previous_colocation_(graph.scopes().colocation),
      previous_devices_(graph.scopes().devices) {
  Scopes& scopes = graph_.scopes();
  if (ignore_existing || !op) scopes.colocation.clear();
  if (!op) return;
  // The op's own device replaces those of the outer scopes, as in TensorFlow.
  scopes.devices.clear();
  if (!op.device().empty()) {
    scopes.devices.push_back([device = op.device()](const NodeSpec& spec) {
      return spec.device.empty() ? device : spec.device;
    });
  }
  scopes.colocation.push_back(op.node);
}
ColocateWith::~ColocateWith() {
  graph_.scopes().colocation = std::move(previous_colocation_);
  graph_.scopes().devices = std::move(previous_devices_);
}

InitScope::InitScope(Graph& graph) : none_(ControlDependencies::None(graph)) {}
InitScope::~InitScope() = default;

}  // namespace sluice

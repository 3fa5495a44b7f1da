#include "graph/build/group.h"

#include <map>
#include <string>

#include "graph/build/core_ops.h"
#include "graph/build/scopes.h"

namespace sluice {
namespace {

Operation NoOpAfter(Graph& graph, const std::vector<Operation>& ops, std::string_view name,
                    const std::string& device, At at) {
  DeviceScope on(graph, device);
  return core::NoOp(graph, name, ops, at);
}

}  // namespace

Operation Group(Graph& graph, const std::vector<Operation>& ops, std::string_view name, At at) {
  std::map<std::string, std::vector<Operation>> by_device;
  for (const Operation& op : ops) {
    if (op) by_device[op.device()].push_back(op);
  }
  if (by_device.size() <= 1) {
    const std::string device = by_device.empty() ? "" : by_device.begin()->first;
    return NoOpAfter(graph, by_device.empty() ? std::vector<Operation>{} : by_device[device], name,
                     device, at);
  }
  NameScope scope(graph, name);
  std::vector<Operation> per_device;
  for (const auto& [device, theirs] : by_device) {
    per_device.push_back(NoOpAfter(graph, theirs, "", device, at));
  }
  return NoOpAfter(graph, per_device, scope.prefix(), "", at);
}

}  // namespace sluice

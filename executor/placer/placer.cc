#include "executor/placer/placer.h"

#include <cstdio>

#include "absl/strings/str_join.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Nodes that share a device, by union-find; what they ask for together is kept at the root.
class Groups {
 public:
  explicit Groups(const Graph& graph)
      : parent_(graph.num_node_ids()), wanted_(graph.num_node_ids()) {
    for (int i = 0; i < graph.num_node_ids(); ++i) parent_[i] = i;
  }
  int Root(int id) {
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }
  DeviceSpec& wanted(int id) { return wanted_[Root(id)]; }
  // The later node joins the earlier one's group.
  absl::Status Join(const Node& a, const Node& b, const std::string& why);

 private:
  std::vector<int> parent_;
  std::vector<DeviceSpec> wanted_;
};

// What is wrong with merging the two; empty if they agree wherever both say something.
std::string Conflict(const DeviceSpec& a, const DeviceSpec& b) {
  auto differ = [](const auto& x, const auto& y) { return x && y && *x != *y; };
  const char* field = differ(a.job, b.job)           ? "jobs"
                      : differ(a.replica, b.replica) ? "replicas"
                      : differ(a.task, b.task)       ? "tasks"
                      : differ(a.type, b.type)       ? "types"
                      : differ(a.id, b.id)           ? "ids"
                                                     : nullptr;
  if (field == nullptr) return "";
  return StrCat("Cannot merge devices with incompatible ", field, ": '", a.ToString(), "' and '",
                b.ToString(), "'");
}

absl::Status Groups::Join(const Node& a, const Node& b, const std::string& why) {
  const int x = Root(a.id());
  const int y = Root(b.id());
  if (x == y) return absl::OkStatus();
  if (std::string conflict = Conflict(wanted_[x], wanted_[y]); !conflict.empty()) {
    return InvalidArgument(why, conflict);
  }
  parent_[y] = x;
  wanted_[x] = wanted_[x].Over(wanted_[y]);
  return absl::OkStatus();
}

absl::Status ReadWishes(const Graph& graph, Groups& groups) {
  for (const Node* node : graph.nodes()) {
    absl::StatusOr<DeviceSpec> spec = DeviceSpec::Parse(node->device());
    if (!spec.ok()) return AnnotateAfter(spec.status(), StrCat(" for ", node->Describe()));
    groups.wanted(node->id()) = *std::move(spec);
  }
  return absl::OkStatus();
}

absl::Status JoinByClass(const Graph& graph, Groups& groups) {
  for (const Node* node : graph.nodes()) {
    for (const std::string& name : node->colocation()) {
      const Node* with = graph.Find(name);
      // Pruned away: nothing to share a device with.
      if (with == nullptr) continue;
      SLUICE_RETURN_IF_ERROR(
          groups.Join(*with, *node,
                      StrCat("Cannot colocate nodes {{colocation_node ", node->name(),
                             "}} and {{colocation_node ", name, "}}: ")));
    }
  }
  return absl::OkStatus();
}

absl::Status JoinByEdges(const Graph& graph, Groups& groups) {
  for (const Node* node : graph.nodes()) {
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Output& in = node->input(i);
      if (!in) continue;
      if (IsRefType(node->input_type(i))) {
        SLUICE_RETURN_IF_ERROR(groups.Join(
            *in.node, *node,
            "Nodes were connected by a reference connection (requiring them to be on the same "
            "device), but the two nodes were assigned two different devices: "));
      } else if (in.dtype() == DT_RESOURCE) {
        SLUICE_RETURN_IF_ERROR(groups.Join(
            *in.node, *node,
            StrCat("Cannot place the graph because a reference or resource edge connects "
                   "colocation groups with incompatible requested devices: '",
                   in.node->name(), "' and '", node->name(), "': ")));
      }
    }
  }
  return absl::OkStatus();
}

const Device* FirstMatch(const DeviceSet& devices, const DeviceSpec& wanted) {
  for (int i = 0; i < devices.size(); ++i) {
    if (wanted.Matches(devices.device(i).spec)) return &devices.device(i);
  }
  return nullptr;
}

const Device* Choose(const DeviceSet& devices, DeviceSpec wanted, bool soft) {
  const Device* device = FirstMatch(devices, wanted);
  if (device == nullptr && soft) {
    wanted.type.reset();
    wanted.id.reset();
    device = FirstMatch(devices, wanted);
  }
  return device;
}

}  // namespace

absl::Status Place(Graph& graph, const DeviceSet& devices, const PlaceOptions& options) {
  Groups groups(graph);
  SLUICE_RETURN_IF_ERROR(ReadWishes(graph, groups));
  SLUICE_RETURN_IF_ERROR(JoinByClass(graph, groups));
  SLUICE_RETURN_IF_ERROR(JoinByEdges(graph, groups));
  for (Node* node : graph.nodes()) {
    const DeviceSpec& wanted = groups.wanted(node->id());
    const Device* device = Choose(devices, wanted, options.allow_soft_placement);
    if (device == nullptr) {
      return InvalidArgument("Cannot assign a device for operation ", node->name(), ": {{node ",
                             node->name(), "}} was explicitly assigned to ", wanted.ToString(),
                             " but available devices are [ ", absl::StrJoin(devices.names(), ", "),
                             " ]. Make sure the device specification refers to a valid device.");
    }
    node->set_assigned_device(device->name);
    if (options.log_device_placement) {
      std::fprintf(stderr, "%s: (%s): %s\n", node->name().c_str(), node->op().c_str(),
                   device->name.c_str());
    }
  }
  return absl::OkStatus();
}

}  // namespace sluice

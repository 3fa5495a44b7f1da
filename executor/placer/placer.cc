#include "executor/placer/placer.h"

#include <cstdio>

#include "graph/status.h"

namespace sluice {
namespace {

// Nodes that share a device, by union-find. The root holds the merged request of the group.
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
  // The same, but ignores requests of `b` and its group that conflict.
  void Follow(const Node& a, const Node& b);

 private:
  std::vector<int> parent_;
  std::vector<DeviceSpec> wanted_;
};

// Describes the conflict of two requests; "" if all fields that both set are equal.
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

void Groups::Follow(const Node& a, const Node& b) {
  const int x = Root(a.id());
  const int y = Root(b.id());
  if (x == y) return;
  parent_[y] = x;
  if (Conflict(wanted_[x], wanted_[y]).empty()) wanted_[x] = wanted_[x].Over(wanted_[y]);
}

absl::Status ReadWishes(const Graph& graph, Groups& groups) {
  for (const Node* node : graph.nodes()) {
    absl::StatusOr<DeviceSpec> spec = DeviceSpec::Parse(
        node->assigned_device().empty() ? node->device() : node->assigned_device());
    if (!spec.ok()) return AnnotateAfter(spec.status(), StrCat(" for ", node->Describe()));
    groups.wanted(node->id()) = *std::move(spec);
  }
  return absl::OkStatus();
}

absl::Status JoinByClass(const Graph& graph, Groups& groups) {
  for (const Node* node : graph.nodes()) {
    for (const std::string& name : node->colocation()) {
      const Node* with = graph.Find(name);
      // The other node was pruned.
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
      } else if (in.dtype() == DT_RESOURCE && node->assigned_device().empty()) {
        // The users of a handle run on its device, even if a device scope or function requests
        // another one for them. TensorFlow does the same since 1.14.
        groups.Follow(*in.node, *node);
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

// A fetch runs on the device of its value. It may request another one: that of the call whose
// function computes the value.
void JoinFetches(const Graph& graph, Groups& groups) {
  for (const Node* node : graph.nodes()) {
    if (node->role() == OpRole::kFetch) groups.Follow(*node->input(0).node, *node);
  }
}

const DeviceInfo* FirstMatch(const std::vector<DeviceInfo>& devices, const DeviceSpec& wanted) {
  for (const DeviceInfo& device : devices) {
    if (wanted.Matches(device.spec)) return &device;
  }
  return nullptr;
}

const DeviceInfo* Choose(const std::vector<DeviceInfo>& devices, DeviceSpec wanted, bool soft) {
  const DeviceInfo* device = FirstMatch(devices, wanted);
  if (device == nullptr && soft) {
    wanted.type.reset();
    wanted.id.reset();
    device = FirstMatch(devices, wanted);
  }
  return device;
}

absl::Status NoDevice(const Node& node, const DeviceSpec& wanted,
                      const std::vector<DeviceInfo>& devices) {
  std::string names;
  for (const DeviceInfo& device : devices) {
    StrAppend(&names, names.empty() ? "" : ", ", device.name);
  }
  return InvalidArgument("Cannot assign a device for operation ", node.name(), ": {{node ",
                         node.name(), "}} was explicitly assigned to ", wanted.ToString(),
                         " but available devices are [ ", names,
                         " ]. Make sure the device specification refers to a valid device.");
}

bool IsUsedSource(const Node& node) {
  return node.num_inputs() == 0 && node.num_outputs() == 1 && !node.uses().empty() &&
         !IsRefType(node.output_type(0));
}

// Moves sources to the device of their users, if all users have one device that the source allows
// and the source's group has no other member.
void FollowUsers(const Graph& graph, Groups& groups, const std::vector<DeviceInfo>& devices) {
  std::vector<int> members(graph.num_node_ids(), 0);
  for (const Node* node : graph.nodes()) ++members[groups.Root(node->id())];
  for (Node* node : graph.nodes()) {
    if (!IsUsedSource(*node) || members[groups.Root(node->id())] != 1) continue;
    const std::string& device = node->uses().front().dst->assigned_device();
    const bool is_shared =
        std::all_of(node->uses().begin(), node->uses().end(),
                    [&](const Use& use) { return use.dst->assigned_device() == device; });
    if (!is_shared || device == node->assigned_device()) continue;
    for (const DeviceInfo& info : devices) {
      if (info.name == device && groups.wanted(node->id()).Matches(info.spec)) {
        node->set_assigned_device(device);
      }
    }
  }
}

}  // namespace

absl::Status Place(Graph& graph, const std::vector<DeviceInfo>& devices,
                   const PlaceOptions& options) {
  Groups groups(graph);
  SLUICE_RETURN_IF_ERROR(ReadWishes(graph, groups));
  SLUICE_RETURN_IF_ERROR(JoinByClass(graph, groups));
  SLUICE_RETURN_IF_ERROR(JoinByEdges(graph, groups));
  JoinFetches(graph, groups);
  for (Node* node : graph.nodes()) {
    const DeviceSpec& wanted = groups.wanted(node->id());
    const DeviceInfo* device = Choose(devices, wanted, options.allow_soft_placement);
    if (device == nullptr) return NoDevice(*node, wanted, devices);
    node->set_assigned_device(device->name);
  }
  FollowUsers(graph, groups, devices);
  if (!options.log_device_placement) return absl::OkStatus();
  for (const Node* node : graph.nodes()) {
    std::fprintf(stderr, "%s: (%s): %s\n", node->name().c_str(), node->op().c_str(),
                 node->assigned_device().c_str());
  }
  return absl::OkStatus();
}

absl::Status Place(Graph& graph, const DeviceSet& devices, const PlaceOptions& options) {
  return Place(graph, devices.Describe(), options);
}

}  // namespace sluice

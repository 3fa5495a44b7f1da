#include "distributed/cluster/replica_devices.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_format.h"
#include "graph/build/device_spec.h"
#include "graph/op/op_def.h"
#include "graph/strings.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace sluice {
namespace {

template <typename T>
const T* AttrOf(const NodeSpec& node, std::string_view name) {
  auto it = node.attrs.find(name);
  return it == node.attrs.end() ? nullptr : std::get_if<T>(&it->second);
}

DeviceSpec ParsedOrEmpty(const std::string& device) {
  absl::StatusOr<DeviceSpec> spec = DeviceSpec::Parse(device);
  return spec.ok() ? *spec : DeviceSpec();  // the placer reports the error
}

// Returns the device of a node that a parameter server runs.
std::string PsDevice(const ReplicaDevicesOptions& options, const NodeSpec& node) {
  const DeviceSpec wanted = ParsedOrEmpty(node.device);
  DeviceSpec ps = ParsedOrEmpty(options.ps_device);
  if (ps.job && (!wanted.job || wanted.job == ps.job)) ps.task = options.strategy(node);
  return wanted.Over(ps).ToString();
}

}  // namespace

int64_t BytesOfVariable(const NodeSpec& node) {
  const auto* shape = AttrOf<PartialShape>(node, "shape");
  const auto* dtype = AttrOf<DataType>(node, "dtype");
  if (shape == nullptr || dtype == nullptr || !shape->rank_known()) return 0;
  // A table whose rows are not known is expected to be large, so that its parts go to different
  // servers.
  constexpr int64_t kUnknownRows = 1 << 20;
  int64_t elements = shape->rank() > 0 && shape->dim(0) < 0 ? kUnknownRows : 1;
  for (const int64_t dim : shape->dims()) elements *= std::max<int64_t>(dim, 1);
  return elements * std::max<int64_t>(DataTypeSize(*dtype), 1);
}

double PsLoads::imbalance() const {
  const int64_t sum = std::accumulate(of_task.begin(), of_task.end(), int64_t{0});
  if (sum == 0) return 0;
  const int64_t most = *std::max_element(of_task.begin(), of_task.end());
  return static_cast<double>(most) * static_cast<double>(of_task.size()) / static_cast<double>(sum);
}

std::string PsLoads::ToString() const {
  std::string text;
  for (size_t task = 0; task < of_task.size(); ++task) {
    text += StrCat(task == 0 ? "" : ", ", "ps:", task, " ", of_task[task], " bytes");
  }
  return text + absl::StrFormat("; the fullest has %.2f times the mean", imbalance());
}

PsStrategy RoundRobin(int tasks) {
  // Shared, because scopes copy the strategy.
  return [tasks, next = std::make_shared<int>(0)](const NodeSpec&) {
    const int task = *next;
    *next = (task + 1) % tasks;
    return task;
  };
}

PsStrategy GreedyLoadBalancing(int tasks, PsLoad load, std::shared_ptr<PsLoads> loads) {
  if (loads == nullptr) loads = std::make_shared<PsLoads>();
  loads->of_task.assign(tasks, 0);
  return [load = std::move(load), loads](const NodeSpec& node) {
    auto least = std::min_element(loads->of_task.begin(), loads->of_task.end());
    *least += load(node);
    return static_cast<int>(least - loads->of_task.begin());
  };
}

const std::set<std::string>& StandardPsOps() {
  static const auto* ops = [] {
    auto* shared = new std::set<std::string>;
    for (const OpDef* op : OpRegistry::Global().All()) {
      if (op->traits.is_shared_by_replicas) shared->insert(op->name);
    }
    return shared;
  }();
  return *ops;
}

DeviceFunction ReplicaDevices(ReplicaDevicesOptions options) {
  if (!options.strategy) options.strategy = RoundRobin(std::max(options.ps_tasks, 1));
  return [options = std::move(options)](const NodeSpec& node) -> std::string {
    if (!options.merge_devices && !node.device.empty()) return node.device;
    const bool is_shared =
        options.ps_tasks > 0 && !options.ps_device.empty() && options.ps_ops.contains(node.op);
    if (is_shared) return PsDevice(options, node);
    return ParsedOrEmpty(node.device).Over(ParsedOrEmpty(options.worker_device)).ToString();
  };
}

DeviceFunction ReplicaDevices(const Cluster& cluster, std::shared_ptr<PsLoads> loads) {
  ReplicaDevicesOptions options;
  options.ps_tasks = cluster.spec.NumTasks("ps");
  options.worker_device = cluster.task.ToString();
  if (options.ps_tasks > 0) {
    options.strategy = GreedyLoadBalancing(options.ps_tasks, BytesOfVariable, std::move(loads));
  }
  return ReplicaDevices(std::move(options));
}

}  // namespace sluice

#include "training/checkpoint/saver_graph.h"

#include <map>

#include "graph/build/device_spec.h"
#include "graph/build/group.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/format/proto/saver.pb.h"
#include "graph/status.h"
#include "ops/array/builders.h"
#include "ops/builders/constant.h"
#include "ops/checkpoint/builders.h"
#include "ops/control/builders.h"
#include "ops/math/builders.h"
#include "ops/state/builders.h"
#include "ops/strings/builders.h"
#include "training/checkpoint/update_locks.h"

namespace sluice {
namespace {

constexpr const char* kCpu0 = "/device:CPU:0";

// Returns the CPU of the task that has the device.
std::string CpuOf(const std::string& device) {
  DeviceSpec spec = DeviceSpec::Parse(device).value_or(DeviceSpec());
  spec.type = "CPU";
  spec.id = 0;
  return spec.ToString();
}

class SaverBuilder {
 public:
  SaverBuilder(Graph& graph, const SaverGraphOptions& options, At at)
      : graph_(graph), options_(options), at_(at) {}

  pb::SaverDef Build(const std::vector<SavedVariable>& variables) {
    NameScope scope(graph_, options_.name.empty() ? "save" : options_.name);
    filename_ = Filename();
    ReadUnderLocks(variables);
    Output save;
    Operation restore;
    if (options_.sharded || !options_.tables.empty()) {
      const PerDevice per_device = GroupByDevice(variables);
      save = options_.write_version == CheckpointFormat::kV2 ? SaveShards(per_device)
                                                             : SaveOldShards(per_device);
      restore = RestoreShards(per_device);
    } else {
      save = SaveAll(filename_, variables);
      restore = RestoreAll(variables, "restore_all");
    }
    pb::SaverDef def;
    def.set_filename_tensor_name(filename_.name());
    def.set_save_tensor_name(save.name());
    def.set_restore_op_name(restore.name());
    def.set_version(options_.write_version == CheckpointFormat::kV2 ? pb::SaverDef::V2
                                                                    : pb::SaverDef::V1);
    def.set_sharded(options_.sharded);
    return def;
  }

 private:
  using PerDevice = std::map<std::string, std::vector<SavedVariable>>;

  // If options_.sharded is false, puts all variables in one group.
  PerDevice GroupByDevice(const std::vector<SavedVariable>& variables) const {
    PerDevice groups;
    for (const SavedVariable& v : variables) {
      const DeviceSpec spec = DeviceSpec::Parse(v.variable.device()).value_or(DeviceSpec());
      groups[options_.sharded ? spec.ToString() : ""].push_back(v);
    }
    return groups;
  }

  Output Text(const std::vector<std::string>& texts, std::string_view name) {
    return Constant(graph_, texts, name, at_);
  }
  Output Copy(Output value) { return Identity(value, {}, at_); }

  // Adds two placeholders, as in TensorFlow. The outer one is named "Const", because the file name
  // was a constant of this name in TensorFlow's first versions.
  Output Filename() {
    Output inner;
    {
      NameScope scope(graph_, "filename");
      inner = PlaceholderWithDefault(Constant(graph_, options_.filename, "input", at_),
                                     PartialShape::Scalar(), {.name = scope.prefix()}, at_);
    }
    return PlaceholderWithDefault(inner, PartialShape::Scalar(), {.name = "Const"}, at_);
  }

  // Adds another read of the variable, with the open scopes, on the variable's device.
  Output ReadAnew(const Variable& v) {
    DeviceScope on(graph_, v.device());
    if (!v.is_resource()) return Copy(v.handle());
    Output value;
    {
      NameScope scope(graph_, "Read");
      value = ReadVariableOp(v.handle(), v.dtype(), {}, at_);
    }
    return Copy(value);
  }

  // If updates of this graph hold locks, acquires all of them, reads the variables, and adds ops
  // that release the locks. So all values are from the same moment.
  void ReadUnderLocks(const std::vector<SavedVariable>& variables) {
    const auto mutexes = graph_.collections().find(kUpdateLocks);
    if (mutexes == graph_.collections().end()) return;
    NameScope scope(graph_, "at_one_moment");
    std::vector<Operation> locks;
    for (const std::string& name : mutexes->second) {
      const absl::StatusOr<Output> mutex = graph_.FindOutput(name);
      if (!mutex.ok()) return graph_.SetError(mutex.status());
      // Acquires the locks one after the other. All savers use the same order, so they cannot
      // deadlock.
      ControlDependencies after(graph_, locks);
      DeviceScope on(graph_, mutex->node->device());
      locks.push_back(MutexLock(*mutex, {}, at_));
      if (!locks.back()) return;
    }
    std::vector<Operation> reads;
    {
      ControlDependencies held(graph_, locks);
      for (const SavedVariable& saved : variables) {
        const Output value = ReadAnew(saved.variable);
        if (!value) return;
        read_[saved.variable.name()] = value;
        reads.emplace_back(value);
      }
    }
    ControlDependencies after(graph_, reads);
    for (const Operation& lock : locks) {
      DeviceScope on(graph_, lock.device());
      unlocks_.push_back(ConsumeMutexLock(lock.output(0), {}, at_));
    }
  }

  // Returns the tensor to write for a variable. For a part of a resource variable, it reads again
  // and copies the value to the CPU.
  Output Value(const SavedVariable& saved) {
    const Variable& v = saved.variable;
    if (const auto read = read_.find(v.name()); read != read_.end()) return read->second;
    if (!v.is_resource()) return saved.shape_and_slice.empty() ? v.handle() : v.snapshot();
    if (saved.shape_and_slice.empty()) return v.snapshot();
    const Output value = ReadAnew(v);
    DeviceScope cpu(graph_, kCpu0);
    return Copy(value);
  }

  struct Lists {
    std::vector<std::string> names;
    std::vector<std::string> slices;
    std::vector<DataType> dtypes;
  };
  Lists ListsOf(const std::vector<SavedVariable>& variables) {
    Lists lists;
    for (const SavedVariable& v : variables) {
      lists.names.push_back(v.name);
      lists.slices.push_back(v.shape_and_slice);
      lists.dtypes.push_back(v.variable.dtype());
    }
    return lists;
  }

  Operation Write(Output filename, const std::vector<SavedVariable>& variables) {
    const bool is_v2 = options_.write_version == CheckpointFormat::kV2;
    OutputList values;
    for (const SavedVariable& v : variables) values.push_back(Value(v));
    const Lists lists = ListsOf(variables);
    NameScope scope(graph_, is_v2 ? "SaveV2" : "save");
    const Output names = Text(lists.names, "tensor_names");
    const Output slices = Text(lists.slices, is_v2 ? "shape_and_slices" : "shapes_and_slices");
    return is_v2 ? SaveV2(filename, names, slices, values, {.name = scope.prefix()}, at_)
                 : SaveSlices(filename, names, slices, values, {.name = scope.prefix()}, at_);
  }

  // Returns the name of the file. The tensor is available after the file is written.
  Output SaveAll(Output filename, const std::vector<SavedVariable>& variables) {
    const Operation write = Write(filename, variables);
    if (!write) return Output();
    ColocateWith with(graph_, Operation(filename));
    std::vector<Operation> done = unlocks_;
    done.push_back(write);
    ControlDependencies after(graph_, done);
    return Identity(filename, {.name = "control_dependency"}, at_);
  }

  Output ShardCount(const PerDevice& per_device) {
    const size_t count = per_device.size() + options_.tables.size();
    return Constant(graph_, static_cast<int32_t>(count), "num_shards", at_);
  }

  Output ShardName(Output base, int32_t shard, Output shards) {
    NameScope scope(graph_, "ShardedFilename");
    const Output number = Constant(graph_, shard, "shard", at_);
    return ShardedFilename(base, number, shards, {.name = scope.prefix()}, at_);
  }

  // Returns "<filename>_temp/part", or "<filename>.part" in object stores, which rename by copying.
  Output TemporaryPrefix() {
    DeviceScope cpu(graph_, "/device:CPU:*");
    const Output is_s3 = StaticRegexFullMatch(filename_, "^s3://.*", {}, at_);
    const Output part = Constant(graph_, ".part", "", at_);
    const Output folder = Constant(graph_, "_temp/part", "", at_);
    return StringJoin(graph_, {filename_, Select(is_s3, part, folder, {}, at_)}, {}, at_);
  }

  Output SaveShards(const PerDevice& per_device) {
    const Output temporary = TemporaryPrefix();
    const Output count = ShardCount(per_device);
    OutputList prefixes;
    std::vector<Operation> saves;
    std::string last_cpu;
    for (const auto& [device, variables] : per_device) {
      last_cpu = CpuOf(device);
      DeviceScope on(graph_, last_cpu);
      prefixes.push_back(ShardName(temporary, static_cast<int32_t>(prefixes.size()), count));
      saves.push_back(SaveAll(prefixes.back(), variables));
    }
    for (const Variable& table : options_.tables) {
      DeviceScope on(graph_, table.device());
      prefixes.push_back(ShardName(temporary, static_cast<int32_t>(prefixes.size()), count));
      saves.push_back(TableOp("EmbeddingTableSave", table, prefixes.back()));
    }
    ControlDependencies after_saves(graph_, saves);
    DeviceScope on(graph_, last_cpu);
    Operation merge;
    {
      NameScope scope(graph_, "MergeV2Checkpoints");
      const Output all = Pack(prefixes, {.name = "checkpoint_prefixes"}, at_);
      merge = MergeV2Checkpoints(all, filename_, {.name = scope.prefix()}, at_);
    }
    if (!merge) return Output();
    ControlDependencies after_merge(graph_, {merge});
    return Copy(filename_);
  }

  // Adds an op that saves or restores a part of an embedding table.
  Operation TableOp(const char* op, const Variable& table, Output prefix) {
    const Node& handle = *table.op().node;
    return NodeBuilder(&graph_, op, at_)
        .Input(table.handle())
        .Input(prefix)
        .Attr("table_name", handle.AttrOr<std::string>("table_name", ""))
        .Attr("shard", handle.AttrOr<int64_t>("shard", 0))
        .Attr("num_shards", handle.AttrOr<int64_t>("num_shards", 1))
        .Finish();
  }

  Output SaveOldShards(const PerDevice& per_device) {
    const Output count = ShardCount(per_device);
    std::vector<Operation> saves;
    for (const auto& [device, variables] : per_device) {
      DeviceScope on(graph_, device);
      saves.push_back(
          SaveAll(ShardName(filename_, static_cast<int32_t>(saves.size()), count), variables));
    }
    ControlDependencies after(graph_, saves);
    return ShardedFilespec(filename_, count, {}, at_);
  }

  Output Reshaped(Output value, const Variable& v) {
    if (!options_.reshape || !v.shape().IsFullyDefined()) return value;
    NameScope scope(graph_, "Reshape");
    const auto dims = v.shape().dims();
    const Output to =
        Constant(graph_, std::vector<int32_t>(dims.begin(), dims.end()), "shape", at_);
    return Reshape(value, to, {.name = scope.prefix()}, at_);
  }

  Operation Assign(const Variable& v, Output value) {
    if (!v.is_resource()) {
      value = Reshaped(value, v);
      return v.Assign(value, {.validate_shape = !options_.reshape && v.shape().IsFullyDefined()},
                      at_);
    }
    DeviceScope on(graph_, v.device());
    return AssignVariableOp(v.handle(), Copy(Reshaped(value, v)), {}, at_);
  }

  Operation RestoreAll(const std::vector<SavedVariable>& variables, std::string_view name) {
    const Lists lists = ListsOf(variables);
    OutputList restored;
    {
      DeviceScope cpu(graph_, kCpu0);
      NameScope scope(graph_, "RestoreV2");
      const Output names = Text(lists.names, "tensor_names");
      const Output slices = Text(lists.slices, "shape_and_slices");
      restored = RestoreV2(filename_, names, slices, lists.dtypes, {.name = scope.prefix()}, at_);
    }
    if (!graph_.status().ok()) return Operation();
    std::vector<Operation> assigned;
    for (size_t i = 0; i < variables.size(); ++i) {
      assigned.push_back(Assign(variables[i].variable, restored[i]));
    }
    return Group(graph_, assigned, name, at_);
  }

  Operation RestoreShards(const PerDevice& per_device) {
    std::vector<Operation> restores;
    for (const auto& [device, variables] : per_device) {
      DeviceScope on(graph_, device);
      restores.push_back(RestoreAll(variables, "restore_shard"));
    }
    for (const Variable& table : options_.tables) {
      DeviceScope on(graph_, table.device());
      restores.push_back(TableOp("EmbeddingTableRestore", table, filename_));
    }
    return Group(graph_, restores, "restore_all", at_);
  }

  Graph& graph_;
  const SaverGraphOptions& options_;
  const At at_;
  Output filename_;
  std::map<std::string, Output> read_;  // by variable name, if updates use locks
  std::vector<Operation> unlocks_;
};

}  // namespace

absl::StatusOr<pb::SaverDef> BuildSaverGraph(Graph& graph,
                                             const std::vector<SavedVariable>& variables,
                                             const SaverGraphOptions& options, At at) {
  SLUICE_INVALID_IF(options.write_version == CheckpointFormat::kV1 && !options.tables.empty(),
                    "saver: expected the format V2 for embedding table '", options.tables[0].name(),
                    "', got V1");
  SaverBuilder builder(graph, options, at);
  pb::SaverDef def = builder.Build(variables);
  if (!graph.status().ok()) return graph.status();
  return def;
}

}  // namespace sluice

#include "executor/partition/partition.h"

#include <set>
#include <tuple>
#include <utility>

#include "graph/build/core_ops.h"
#include "graph/function/lower.h"
#include "graph/ir/constant.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/frames.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Returns the part to which a device belongs: its task, or the device itself. The graph is cut
// between parts.
using PlaceOf = std::string_view (*)(std::string_view device);

class Cutter {
 public:
  Cutter(const Graph& graph, Frames frames, PlaceOf place_of,
         const std::function<uint64_t(const std::string&)>& incarnation)
      : whole_(graph),
        frames_(std::move(frames)),
        place_of_(place_of),
        incarnation_(incarnation),
        tasks_(graph.num_node_ids()),
        devices_(graph.num_node_ids()),
        loop_conds_(frames_.frames.size(), nullptr) {}

  absl::StatusOr<std::map<std::string, Part>> Cut(const std::vector<Node*>& order) {
    AssignTasks(order);
    for (Node* node : order) {
      for (const std::string& task : tasks_[node->id()]) SLUICE_RETURN_IF_ERROR(Copy(*node, task));
    }
    for (const BackEdge& edge : back_edges_) {
      SLUICE_ASSIGN_OR_RETURN(const Output source, InputOn(edge.task, edge.source));
      SLUICE_RETURN_IF_ERROR(part(edge.task).UpdateInput(edge.merge, edge.input, source));
    }
    SLUICE_RETURN_IF_ERROR(CloseControlLoops());
    return std::move(parts_);
  }

 private:
  struct BackEdge {
    std::string task;
    Node* merge;
    int input;
    Output source;
  };
  struct ControlLoop {
    int frame;
    std::string task;
    Node* merge;
  };

  static bool IsCopied(const Node& node) {
    return (IsConstant(node) && node.control_inputs().empty()) || IsEnter(node);
  }

  Graph& part(const std::string& task) {
    std::unique_ptr<Graph>& graph = parts_[task].graph;
    if (graph == nullptr) {
      graph = std::make_unique<Graph>();
      graph->versions() = whole_.versions();
    }
    return *graph;
  }

  // Assigns a task to each node. A NextIteration runs on the task of its Merge, and copied nodes
  // run on the tasks of their users.
  void AssignTasks(const std::vector<Node*>& order) {
    for (Node* node : order) {
      devices_[node->id()] = node->assigned_device();
      if (IsNextIteration(*node)) {
        for (const Use& use : node->uses()) {
          if (IsMerge(*use.dst)) {
            devices_[node->id()] = use.dst->assigned_device();
          }
        }
      }
      if (IsLoopCond(*node)) loop_conds_[frames_.of_node[node->id()]] = node;
    }
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      Node* node = *it;
      std::set<std::string>& tasks = tasks_[node->id()];
      if (IsCopied(*node)) AddTasksOfUsers(*node, tasks);
      if (tasks.empty()) tasks.insert(std::string(place_of_(devices_[node->id()])));
    }
  }

  void AddTasksOfUsers(const Node& node, std::set<std::string>& tasks) const {
    for (const Use& use : node.uses()) {
      tasks.insert(tasks_[use.dst->id()].begin(), tasks_[use.dst->id()].end());
    }
    for (const Node* waits : node.control_outputs()) {
      tasks.insert(tasks_[waits->id()].begin(), tasks_[waits->id()].end());
    }
  }

  // The device of a copied node on a task: that of its first user there.
  const std::string& DeviceOn(const Node& node, const std::string& task) const {
    const std::string& own = devices_[node.id()];
    if (place_of_(own) == task) return own;
    for (const Use& use : node.uses()) {
      if (tasks_[use.dst->id()].contains(task)) return DeviceOn(*use.dst, task);
    }
    for (const Node* waits : node.control_outputs()) {
      if (tasks_[waits->id()].contains(task)) return DeviceOn(*waits, task);
    }
    return own;
  }

  absl::Status Copy(const Node& node, const std::string& task) {
    NodeSpec spec;
    spec.name = node.name();
    spec.op = node.op();
    spec.device = node.device();
    spec.attrs = node.attrs();
    spec.at = node.at();
    spec.attrs.erase("_class");  // all nodes are placed
    std::vector<std::pair<int, Output>> back;
    for (int i = 0; i < node.num_inputs(); ++i) {
      const Output& in = node.input(i);
      if (IsBackEdge(*in.node, node)) {
        spec.inputs.push_back(Output());
        spec.allow_missing_inputs = true;
        back.emplace_back(i, in);
      } else {
        SLUICE_ASSIGN_OR_RETURN(const Output source, InputOn(task, in));
        spec.inputs.push_back(source);
      }
    }
    for (Node* control : node.control_inputs()) {
      SLUICE_ASSIGN_OR_RETURN(Node * source, ControlOn(task, *control));
      spec.control_inputs.push_back(source);
    }
    if (node.role() == OpRole::kFeed) Renumber(&spec, &parts_[task].feeds);
    if (node.role() == OpRole::kFetch) Renumber(&spec, &parts_[task].fetches);
    SLUICE_ASSIGN_OR_RETURN(Node * copy, part(task).Add(std::move(spec)));
    copy->set_assigned_device(DeviceOn(node, task));
    for (int i = 0; i < node.num_outputs(); ++i) {
      copy->set_output_shape(i, node.output_shape(i));
      if (const HandleData* handle = node.output_handle(i)) copy->set_output_handle(i, *handle);
    }
    if (TakesFunctions(node)) part(task).function_library() = whole_.function_library();
    copies_[{&node, task}] = copy;
    for (const auto& [i, source] : back) back_edges_.push_back({task, copy, i, source});
    return absl::OkStatus();
  }

  static void Renumber(NodeSpec* spec, std::vector<int>* numbers) {
    AttrValue& index = spec->attrs["index"];
    numbers->push_back(static_cast<int>(std::get<int64_t>(index)));
    index = static_cast<int64_t>(numbers->size()) - 1;
  }

  // The tensor on another task: from a copy of its node or from a Recv.
  absl::StatusOr<Output> InputOn(const std::string& task, const Output& source) {
    auto copy = copies_.find({source.node, task});
    if (copy != copies_.end()) return Output(copy->second, source.index);
    auto [it, is_new] =
        received_.emplace(std::make_tuple(source.node, source.index, task), nullptr);
    if (!is_new) return Output(it->second);
    const std::string& from = *tasks_[source.node->id()].begin();
    const Output sent(copies_.at({source.node, from}), source.index);
    SLUICE_ASSIGN_OR_RETURN(Node * recv, Connect(from, sent, task, *source.node));
    received_[std::make_tuple(source.node, source.index, task)] = recv;
    return Output(recv);
  }

  // A node of the task that runs after `node` has run, and is dead if `node` is dead.
  absl::StatusOr<Node*> ControlOn(const std::string& task, const Node& node) {
    auto copy = copies_.find({&node, task});
    if (copy != copies_.end()) return copy->second;
    auto [it, is_new] = received_.emplace(std::make_tuple(&node, -1, task), nullptr);
    if (!is_new) return it->second;
    const std::string& from = *tasks_[node.id()].begin();
    NodeSpec token = core::ConstSpec(NewName(node, "token"), Tensor(DT_FLOAT, TensorShape({0})));
    token.control_inputs = {copies_.at({&node, from})};
    SLUICE_ASSIGN_OR_RETURN(Node * sent, part(from).Add(std::move(token)));
    sent->set_assigned_device(DeviceOn(node, from));
    SLUICE_ASSIGN_OR_RETURN(Node * recv, Connect(from, Output(sent), task, node));
    SLUICE_ASSIGN_OR_RETURN(
        Node * done, part(task).Add(core::IdentitySpec(NewName(node, "done"), Output(recv))));
    done->set_assigned_device(recv->assigned_device());
    received_[std::make_tuple(&node, -1, task)] = done;
    return done;
  }

  // Adds a Send of `sent` on task `from` and its Recv on task `to`. They replace edges of `source`.
  absl::StatusOr<Node*> Connect(const std::string& from, const Output& sent, const std::string& to,
                                const Node& source) {
    const std::string& send_device = sent.node->assigned_device();
    const std::string recv_device = DeviceIn(to);
    AttrMap attrs = {{"tensor_name", StrCat("edge_", edges_++, "_", source.name())},
                     {"send_device", send_device},
                     {"send_device_incarnation", static_cast<int64_t>(incarnation_(send_device))},
                     {"recv_device", recv_device}};
    NodeSpec send;
    send.name = NewName(source, "send");
    send.op = "_Send";
    send.inputs = {sent};
    send.attrs = attrs;
    send.attrs["T"] = BaseType(sent.dtype());
    send.at = source.at();
    SLUICE_ASSIGN_OR_RETURN(Node * sender, part(from).Add(std::move(send)));
    sender->set_assigned_device(send_device);
    NodeSpec recv;
    recv.name = NewName(source, "recv");
    recv.op = "_Recv";
    recv.attrs = std::move(attrs);
    recv.attrs["tensor_type"] = BaseType(sent.dtype());
    recv.at = source.at();
    // In a loop, the Recv runs once per iteration.
    if (const int frame = frames_.of_outputs[source.id()]; frame != 0) {
      SLUICE_ASSIGN_OR_RETURN(Node * merge, ControlLoopOn(to, frame));
      recv.control_inputs = {merge};
    }
    SLUICE_ASSIGN_OR_RETURN(Node * receiver, part(to).Add(std::move(recv)));
    receiver->set_assigned_device(recv_device);
    receiver->set_output_shape(0, sent.shape());
    return receiver;
  }

  // The Merge of the control loop, which counts the iterations of `frame` on the task.
  absl::StatusOr<Node*> ControlLoopOn(const std::string& task, int frame) {
    for (const ControlLoop& loop : control_loops_) {
      if (loop.frame == frame && loop.task == task) return loop.merge;
    }
    SLUICE_INVALID_IF(
        loop_conds_[frame] == nullptr,
        "A cross-device loop must have a pivot predicate: ", frames_.frames[frame].name);
    NodeSpec constant = core::ConstSpec("", Tensor::Scalar(false));
    if (const int parent = frames_.frames[frame].parent; parent != 0) {
      // A nested loop is entered once per iteration of the outer one.
      SLUICE_ASSIGN_OR_RETURN(Node * outer, ControlLoopOn(task, parent));
      constant.control_inputs = {outer};
    }
    SLUICE_ASSIGN_OR_RETURN(Node * first, AddLoopNode(task, std::move(constant)));
    SLUICE_ASSIGN_OR_RETURN(
        Node * enter,
        AddLoopNode(task, {.op = "Enter",
                           .inputs = {Output(first)},
                           .attrs = {{"T", DT_BOOL},
                                     {"frame_name", frames_.frames[frame].name},
                                     {"is_constant", false},
                                     {"parallel_iterations",
                                      int64_t{frames_.frames[frame].parallel_iterations}}}}));
    SLUICE_ASSIGN_OR_RETURN(Node * merge,
                            AddLoopNode(task, {.op = "Merge",
                                               .inputs = {Output(enter), Output()},
                                               .attrs = {{"T", DT_BOOL}, {"N", int64_t{2}}},
                                               .allow_missing_inputs = true}));
    control_loops_.push_back({frame, task, merge});
    return merge;
  }

  // Adds the predicates after all nodes. Receiving a predicate may need the control loop of an
  // outer frame.
  absl::Status CloseControlLoops() {
    for (size_t i = 0; i < control_loops_.size(); ++i) {
      const ControlLoop loop = control_loops_[i];
      SLUICE_ASSIGN_OR_RETURN(const Output predicate,
                              InputOn(loop.task, Output(loop_conds_[loop.frame])));
      SLUICE_ASSIGN_OR_RETURN(Node * taken,
                              AddLoopNode(loop.task, {.op = "Switch",
                                                      .inputs = {Output(loop.merge), predicate},
                                                      .attrs = {{"T", DT_BOOL}}}));
      SLUICE_ASSIGN_OR_RETURN(Node * next, AddLoopNode(loop.task, {.op = "NextIteration",
                                                                   .inputs = {Output(taken, 1)},
                                                                   .attrs = {{"T", DT_BOOL}}}));
      SLUICE_RETURN_IF_ERROR(part(loop.task).UpdateInput(loop.merge, 1, Output(next)));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Node*> AddLoopNode(const std::string& task, NodeSpec spec) {
    spec.name = StrCat("_cloop_", spec.op, "_", names_++);
    SLUICE_ASSIGN_OR_RETURN(Node * node, part(task).Add(std::move(spec)));
    node->set_assigned_device(DeviceIn(task));
    return node;
  }

  static std::string DeviceIn(const std::string& place) {
    return TaskOf(place) == place ? StrCat(place, "/device:CPU:0") : place;
  }

  std::string NewName(const Node& node, const char* what) {
    return StrCat(node.name(), "/_", what, "_", names_++);
  }

  const Graph& whole_;
  const Frames frames_;
  const PlaceOf place_of_;
  const std::function<uint64_t(const std::string&)>& incarnation_;
  std::vector<std::set<std::string>> tasks_;  // by node id
  std::vector<std::string> devices_;          // by node id
  std::vector<Node*> loop_conds_;             // by frame
  std::map<std::string, Part> parts_;
  std::map<std::pair<const Node*, std::string>, Node*> copies_;  // of a node, on a task
  // Nodes that represent an output (-1: control edges) on another task.
  std::map<std::tuple<const Node*, int, std::string>, Node*> received_;
  std::vector<BackEdge> back_edges_;
  std::vector<ControlLoop> control_loops_;
  int edges_ = 0;
  int names_ = 0;
};

absl::StatusOr<std::map<std::string, Part>> Cut(
    const Graph& graph, PlaceOf place_of,
    const std::function<uint64_t(const std::string&)>& incarnation) {
  SLUICE_ASSIGN_OR_RETURN(std::vector<Node*> order, TopologicalOrder(graph));
  SLUICE_ASSIGN_OR_RETURN(Frames frames, AssignFrames(graph, order));
  return Cutter(graph, std::move(frames), place_of, incarnation).Cut(order);
}

}  // namespace

std::string_view TaskOf(std::string_view device) {
  return device.substr(0, device.find("/device:"));
}

std::string DeviceOnTask(std::string_view device, std::string_view task) {
  return StrCat(task, device.substr(TaskOf(device).size()));
}

absl::StatusOr<std::map<std::string, Part>> PartitionByTask(
    const Graph& graph, const std::function<uint64_t(const std::string&)>& incarnation) {
  return Cut(graph, &TaskOf, incarnation);
}

absl::StatusOr<std::map<std::string, Part>> PartitionByDevice(
    const Graph& graph, const std::function<uint64_t(const std::string&)>& incarnation) {
  return Cut(
      graph, [](std::string_view device) { return device; }, incarnation);
}

}  // namespace sluice

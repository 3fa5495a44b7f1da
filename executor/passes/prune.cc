#include "executor/passes/prune.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "executor/wait/rendezvous.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/unregistered_op.h"
#include "graph/status.h"

namespace sluice {
namespace {

OP(_Arg, "A fed tensor: feed number `index` of the step.")
    .Role(OpRole::kFeed)
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("index", IntAttr().Min(0))
    .Stateful()
    .Hidden()
    .Shape([](ShapeContext&) { return absl::OkStatus(); });

OP(_Retval, "A fetched tensor: becomes result number `index` of the step.")
    .Role(OpRole::kFetch)
    .Input("input", "T")
    .Attr("T", TypeAttr())
    .Attr("index", IntAttr().Min(0))
    .Stateful()
    .Hidden()
    .Shape([](ShapeContext&) { return absl::OkStatus(); });

class Pruner {
 public:
  Pruner(const Graph& graph, const PruneOptions& options)
      : options_(options), copies_(static_cast<size_t>(graph.num_node_ids())) {
    result_->versions() = graph.versions();
  }

  absl::Status AddFeed(const Output& feed, int index) {
    NodeSpec spec;
    if (options_.client_device.empty()) {
      spec.name = StrCat("_arg_", feed.node->name(), "_", feed.index, "_", index);
      spec.op = "_Arg";
      spec.device = feed.node->device();
      spec.attrs = {{"T", BaseType(feed.dtype())}, {"index", int64_t{index}}};
    } else {
      spec.name = StrCat("_recv_", feed.node->name(), "_", feed.index);
      spec.op = "_Recv";
      spec.device = options_.client_device;
      spec.attrs = ClientAttrs(feed);
      spec.attrs.emplace("tensor_type", BaseType(feed.dtype()));
    }
    SLUICE_ASSIGN_OR_RETURN(Node * arg, result_->Add(std::move(spec)));
    arg->set_output_shape(0, feed.shape());
    SLUICE_INVALID_IF(!fed_.emplace(feed, arg).second, "Endpoint \"", feed.name(),
                      "\" fed more than once.");
    return absl::OkStatus();
  }

  bool IsFed(const Output& output) const { return fed_.contains(output); }

  // Copies the node after everything that it needs, and returns the copy.
  absl::StatusOr<Node*> Copy(Node* root) {
    std::vector<Node*> stack = {root};
    while (!stack.empty()) {
      Node* node = stack.back();
      if (copies_[node->id()] != nullptr) {
        stack.pop_back();
      } else if (!PushMissing(*node, &stack)) {
        stack.pop_back();
        SLUICE_RETURN_IF_ERROR(CopyOne(node));
      }
    }
    // Back edges lead to nodes that may not be copied yet.
    while (!back_edges_.empty()) {
      const auto [merge, input, source] = back_edges_.back();
      back_edges_.pop_back();
      SLUICE_ASSIGN_OR_RETURN(Node * from, Copy(source.node));
      SLUICE_RETURN_IF_ERROR(result_->UpdateInput(merge, input, Output(from, source.index)));
    }
    return copies_[root->id()];
  }

  absl::Status AddFetch(const Output& fetch, int index) {
    SLUICE_INVALID_IF(IsFed(fetch), fetch.name(), " is both fed and fetched.");
    SLUICE_ASSIGN_OR_RETURN(Node * copy, Copy(fetch.node));
    NodeSpec spec;
    spec.inputs = {Output(copy, fetch.index)};
    if (options_.client_device.empty()) {
      spec.name = StrCat("_retval_", fetch.node->name(), "_", fetch.index, "_", index);
      spec.op = "_Retval";
      spec.device = fetch.node->device();
      spec.attrs = {{"T", BaseType(fetch.dtype())}, {"index", int64_t{index}}};
    } else {
      spec.name = StrCat("_send_", fetch.node->name(), "_", fetch.index);
      spec.op = "_Send";
      spec.device = options_.client_device;
      spec.attrs = ClientAttrs(fetch);
      spec.attrs.emplace("T", BaseType(fetch.dtype()));
    }
    spec.at = fetch.node->at();
    SLUICE_ASSIGN_OR_RETURN(Node * node, result_->Add(std::move(spec)));
    if (options_.client_device.empty()) node->set_assigned_device(copy->assigned_device());
    return absl::OkStatus();
  }

  std::unique_ptr<Graph> Take() { return std::move(result_); }

 private:
  struct BackEdge {
    Node* merge;
    int input;
    Output source;
  };

  AttrMap ClientAttrs(const Output& tensor) const {
    return {{"tensor_name", tensor.name()},
            {"send_device", options_.client_device},
            {"send_device_incarnation", int64_t{0}},
            {"recv_device", options_.client_device},
            {"client_terminated", true}};
  }

  // The feed of a fed placeholder, and null for all other nodes. Nodes that wait for such a
  // placeholder wait for its feed, which a step has from its start and a partial run receives. A
  // fed node of another op still runs for its control outputs, as in TensorFlow.
  Node* FeedOf(Node* node) const {
    if (node->role() != OpRole::kPlaceholder) return nullptr;
    const auto fed = fed_.find(Output(node));
    return fed == fed_.end() ? nullptr : fed->second;
  }

  // Pushes the nodes that `node` needs and that are not copied yet. False if there are none.
  bool PushMissing(const Node& node, std::vector<Node*>* stack) {
    const size_t before = stack->size();
    for (const Output& in : node.inputs()) {
      if (!in || IsFed(in) || copies_[in.node->id()] != nullptr || IsBackEdge(*in.node, node)) {
        continue;
      }
      stack->push_back(in.node);
    }
    for (Node* control : node.control_inputs()) {
      const bool runs = FeedOf(control) == nullptr;
      if (runs && copies_[control->id()] == nullptr) stack->push_back(control);
    }
    if (stack->size() == before) return false;
    std::reverse(stack->begin() + static_cast<int64_t>(before), stack->end());
    return true;
  }

  static void CopyOutputs(const Node& node, Node* copy) {
    for (int i = 0; i < node.num_outputs(); ++i) {
      copy->set_output_shape(i, node.output_shape(i));
      if (const HandleData* handle = node.output_handle(i)) copy->set_output_handle(i, *handle);
    }
  }

  absl::Status CopyOne(Node* node) {
    // A step adds and numbers its own feeds and fetches. Those of an imported graph have a value
    // only if they are fed.
    if (const OpRole role = node->role(); role == OpRole::kFeed || role == OpRole::kFetch) {
      return InvalidArgument(node->Describe(), ": expected to be fed or cut off, got a step that ",
                             role == OpRole::kFeed ? "needs its value" : "runs it");
    }
    if (!IsRegistered(*node)) return UnregisteredOpError(*node);
    NodeSpec spec;
    spec.name = node->name();
    spec.op = node->op();
    spec.device = node->device();
    spec.attrs = node->attrs();
    spec.at = node->at();
    std::vector<std::pair<int, Output>> back;
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Output& in = node->input(i);
      SLUICE_INVALID_IF(!in, node->Describe(), ": input ", i, " is not connected");
      if (auto fed = fed_.find(in); fed != fed_.end()) {
        spec.inputs.push_back(Output(fed->second));
      } else if (IsBackEdge(*in.node, *node)) {
        spec.inputs.push_back(Output());
        spec.allow_missing_inputs = true;
        back.emplace_back(i, in);
      } else {
        spec.inputs.push_back(Output(copies_[in.node->id()], in.index));
      }
    }
    for (Node* control : node->control_inputs()) {
      Node* feed = FeedOf(control);
      if (feed == nullptr) {
        spec.control_inputs.push_back(copies_[control->id()]);
      } else if (!options_.client_device.empty()) {
        spec.control_inputs.push_back(feed);
      }
    }
    SLUICE_ASSIGN_OR_RETURN(Node * copy, result_->Add(std::move(spec)));
    copy->set_assigned_device(node->assigned_device());
    CopyOutputs(*node, copy);
    for (const auto& [i, source] : back) back_edges_.push_back({copy, i, source});
    copies_[node->id()] = copy;
    return absl::OkStatus();
  }

  const PruneOptions& options_;
  std::unique_ptr<Graph> result_ = std::make_unique<Graph>();
  std::unordered_map<Output, Node*> fed_;  // to its _Arg
  std::vector<Node*> copies_;              // by the id of the original
  std::vector<BackEdge> back_edges_;
};

}  // namespace

std::string ClientKey(const Output& tensor, const std::string& client_device) {
  return RendezvousKey{client_device, 0, client_device, tensor.name(), 0, 0}.ToString();
}

// The incarnation in a client's key is 0, because only devices have one.
bool IsClientKey(std::string_view key) {
  return key.find(";0000000000000000;") != std::string_view::npos;
}

absl::StatusOr<std::unique_ptr<Graph>> Prune(absl::Span<const Output> feeds,
                                             absl::Span<const Output> fetches,
                                             absl::Span<const Operation> targets,
                                             const PruneOptions& options) {
  SLUICE_INVALID_IF(fetches.empty() && targets.empty(),
                    "Must specify at least one target to fetch or execute.");
  Pruner pruner(*(fetches.empty() ? targets[0].node : fetches[0].node)->graph(), options);
  for (size_t i = 0; i < feeds.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      SLUICE_INVALID_IF(feeds[i] == feeds[j], "Endpoint \"", feeds[i].name(),
                        "\" fed more than once.");
    }
    SLUICE_RETURN_IF_ERROR(pruner.AddFeed(feeds[i], static_cast<int>(i)));
  }
  for (size_t i = 0; i < fetches.size(); ++i) {
    SLUICE_RETURN_IF_ERROR(pruner.AddFetch(fetches[i], static_cast<int>(i)));
  }
  for (const Operation& target : targets) {
    SLUICE_RETURN_IF_ERROR(pruner.Copy(target.node).status());
  }
  return pruner.Take();
}

}  // namespace sluice

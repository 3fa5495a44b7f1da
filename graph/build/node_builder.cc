#include "graph/build/node_builder.h"

#include <algorithm>

#include "graph/build/control_flow_context.h"
#include "graph/infer/shape_context.h"
#include "graph/status.h"

namespace sluice {
namespace {

std::string ShapesOf(const Node& node) {
  std::string text;
  for (const Output& in : node.inputs()) {
    StrAppend(&text, text.empty() ? "" : ", ", "'", in ? in.name() : "?", "' ",
              in ? in.shape().ToString() : "");
  }
  return text;
}

void ApplyDevices(const Scopes& scopes, NodeSpec& spec) {
  for (size_t i = scopes.devices.size(); i-- > 0;) spec.device = scopes.devices[i](spec);
}

// Sets attribute `_class` to the groups of the nodes to colocate with, sorted.
void ApplyColocation(const std::vector<Node*>& nodes, NodeSpec& spec) {
  if (nodes.empty()) return;
  std::vector<std::string> groups;
  if (const auto* own = FindAttr<std::vector<std::string>>(spec.attrs, "_class")) groups = *own;
  for (Node* with : nodes) {
    std::vector<std::string> theirs = with->colocation();
    if (theirs.empty()) theirs.push_back(with->name());
    for (const std::string& name : theirs) groups.push_back("loc:@" + name);
    if (spec.device.empty()) spec.device = with->device();
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  spec.attrs["_class"] = std::move(groups);
}

// Whether an input was added in the frame, and so already waits for the frame's controls. Takes
// time linear in the frame's nodes.
bool IsCovered(const Scopes::ControlFrame& frame, const OutputList& inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const Output& in) {
    return std::find(frame.seen.begin(), frame.seen.end(), in.node) != frame.seen.end();
  });
}

}  // namespace

// A node with an input that was added inside a block already waits for that block's controls.
std::vector<Node*> OpenControls(const Scopes& scopes, const OutputList& inputs) {
  std::vector<Node*> controls;
  const auto& frames = scopes.control_frames;
  for (size_t f = frames.size(); f-- > 0;) {
    const Scopes::ControlFrame& frame = frames[f];
    if (!frame.controls.empty() && !IsCovered(frame, inputs)) {
      for (Node* c : frame.controls) {
        const bool is_input = std::any_of(inputs.begin(), inputs.end(),
                                          [&](const Output& in) { return in.node == c; });
        if (!is_input) controls.push_back(c);
      }
    }
    if (frame.new_stack) break;
  }
  return controls;
}

void RecordInFrames(Scopes& scopes, Node* node) {
  for (size_t f = scopes.control_frames.size(); f-- > 0;) {
    scopes.control_frames[f].seen.push_back(node);
    if (scopes.control_frames[f].new_stack) break;
  }
}

Graph* GraphOf(std::initializer_list<const Output*> single,
               std::initializer_list<const OutputList*> lists) {
  for (const Output* o : single) {
    if (*o) return o->graph();
  }
  for (const OutputList* list : lists) {
    for (const Output& o : *list) {
      if (o) return o.graph();
    }
  }
  return nullptr;
}

NodeBuilder::NodeBuilder(Graph* graph, std::string_view op, At at) : graph_(graph), at_(at) {
  if (graph != nullptr && graph->scopes().at != nullptr) at_ = *graph->scopes().at;
  spec_.op = std::string(op);
}

NodeBuilder& NodeBuilder::Name(std::string_view name) {
  name_ = std::string(name);
  return *this;
}
NodeBuilder& NodeBuilder::Input(Output input) {
  arguments_.push_back({{input}, false});
  return *this;
}
NodeBuilder& NodeBuilder::Input(const OutputList& inputs) {
  arguments_.push_back({inputs, true});
  return *this;
}
NodeBuilder& NodeBuilder::ControlInput(Operation op) {
  if (op) spec_.control_inputs.push_back(op.node);
  return *this;
}
NodeBuilder& NodeBuilder::Attr(std::string_view name, AttrValue value) {
  spec_.attrs.insert_or_assign(std::string(name), std::move(value));
  return *this;
}
NodeBuilder& NodeBuilder::Device(std::string_view device) {
  spec_.device = std::string(device);
  return *this;
}
NodeBuilder& NodeBuilder::AllowMissingInputs() {
  allow_missing_ = true;
  return *this;
}

absl::Status NodeBuilder::InferAttrs(const OpDef& def) {
  SLUICE_INVALID_IF(arguments_.size() != def.inputs.size(), "takes ", def.inputs.size(),
                    " arguments, got ", arguments_.size());
  auto infer = [&](const std::string& attr, AttrValue value) {
    if (!attr.empty()) spec_.attrs.emplace(attr, std::move(value));  // keeps a given value
  };
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const ArgDef& arg = def.inputs[i];
    const OutputList& tensors = arguments_[i].tensors;
    infer(arg.number_attr, static_cast<int64_t>(tensors.size()));
    std::vector<DataType> types;
    for (const Output& t : tensors) {
      if (t) types.push_back(BaseType(t.dtype()));
    }
    if (!types.empty()) infer(arg.type_attr, types[0]);
    infer(arg.type_list_attr, types);
    spec_.inputs.insert(spec_.inputs.end(), tensors.begin(), tensors.end());
  }
  return absl::OkStatus();
}

absl::StatusOr<Node*> NodeBuilder::Build() {
  SLUICE_ASSIGN_OR_RETURN(const OpDef* def, OpRegistry::Global().Lookup(spec_.op));
  SLUICE_RETURN_IF_ERROR(InferAttrs(*def));
  spec_.allow_missing_inputs = allow_missing_;
  spec_.at = &at_;
  Scopes& scopes = graph_->scopes();
  const std::string base = name_.empty() ? spec_.op : name_;
  spec_.name = base.ends_with('/') ? base.substr(0, base.size() - 1)
                                   : graph_->UniqueName(StrCat(scopes.name, base));
  ApplyDevices(scopes, spec_);
  std::vector<Node*> beside = scopes.colocation;
  // A reference cannot cross devices. So the node is colocated with the owners of its references,
  // whatever the scopes request.
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!def->inputs[i].is_ref) continue;
    for (const Output& t : arguments_[i].tensors) {
      if (!t || !IsRefType(t.dtype())) continue;
      beside.push_back(t.node);
      spec_.device = t.node->device();
    }
  }
  ApplyColocation(beside, spec_);
  const std::vector<Node*> open = OpenControls(scopes, spec_.inputs);
  spec_.control_inputs.insert(spec_.control_inputs.end(), open.begin(), open.end());
  ControlFlowContext* context = scopes.context;
  if (context != nullptr) {
    SLUICE_ASSIGN_OR_RETURN(context, context->Enter(spec_));
  }
  SLUICE_ASSIGN_OR_RETURN(Node * node, graph_->Add(std::move(spec_)));
  node->set_context(context);
  RecordInFrames(scopes, node);
  return node;
}

Node* NodeBuilder::Finish() {
  if (graph_ == nullptr || !graph_->status().ok()) return nullptr;
  const std::string op = spec_.op;
  for (const Argument& arg : arguments_) {
    for (const Output& t : arg.tensors) {
      if (t && t.graph() != graph_) {
        graph_->SetError(
            InvalidArgument(op, " '", name_, "': input '", t.name(), "' belongs to another graph"),
            at_);
        return nullptr;
      }
      if (!t && !allow_missing_) {
        graph_->SetError(InvalidArgument(op, " '", name_, "': an input is invalid"), at_);
        return nullptr;
      }
    }
  }
  const std::string shown_name = name_.empty() ? op : name_;
  absl::StatusOr<Node*> node = Build();
  if (!node.ok()) {
    graph_->SetError(Annotate(node.status(), StrCat(op, " '", shown_name, "': ")), at_);
    return nullptr;
  }
  if (absl::Status inferred = InferShapes(*node); !inferred.ok()) {
    graph_->SetError(AnnotateAfter(
        Annotate(inferred, StrCat(op, " '", (*node)->name(), "': ")),
        StrCat("\n  built at ", at_.file_name(), ":", at_.line(), "; inputs: ", ShapesOf(**node))));
    return nullptr;
  }
  return *node;
}

}  // namespace sluice

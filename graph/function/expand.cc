#include "graph/function/expand.h"

#include <algorithm>
#include <set>

#include "graph/build/control_flow_context.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/format/attr_value.h"
#include "graph/infer/shape_context.h"
#include "graph/status.h"

namespace sluice {

bool Expander::Knows(std::string_view op) {
  static const auto* ops = new std::set<std::string_view>{"PartitionedCall",
                                                          "StatefulPartitionedCall",
                                                          "RemoteCall",
                                                          "If",
                                                          "StatelessIf",
                                                          "_If",
                                                          "Case",
                                                          "StatelessCase",
                                                          "While",
                                                          "StatelessWhile",
                                                          "_While",
                                                          "For",
                                                          "MapDefun",
                                                          "SymbolicGradient"};
  return ops->contains(op);
}

absl::StatusOr<Expansion> Expander::Expand(const Call& call) {
  NameScope scope(graph_, call.name + "/");
  auto expand = [&]() -> absl::StatusOr<Expansion> {
    const std::string& op = call.op;
    if (op == "If" || op == "StatelessIf" || op == "_If") return If(call);
    if (op == "Case" || op == "StatelessCase") return Case(call);
    if (op == "While" || op == "StatelessWhile" || op == "_While") return While(call);
    if (op == "For") return For(call);
    if (op == "MapDefun") return Map(call);
    if (op == "SymbolicGradient") return Gradient(call);
    if (op == "RemoteCall") {
      // Its first input names a device; what the function does is placed like everything else.
      SLUICE_ASSIGN_OR_RETURN(const FunctionRef function, FunctionOf(call, "f"));
      const std::optional<Tensor> target = ConstantValue(call.inputs[0]);
      if (target && (target->dtype() != DT_STRING || !target->shape().IsScalar())) {
        return InvalidArgument("expected a device's name as target, got ",
                               DataTypeName(target->dtype()), target->shape().ToString());
      }
      return Body(function, OutputList(call.inputs.begin() + 1, call.inputs.end()),
                  target ? target->scalar<std::string>() : call.device);
    }
    if (Knows(op)) {
      SLUICE_ASSIGN_OR_RETURN(const FunctionRef function, FunctionOf(call, "f"));
      return Body(function, call.inputs, call.device);
    }
    return Body({op, *call.attrs}, call.inputs, call.device);  // a call of old style
  };
  absl::StatusOr<Expansion> expansion = expand();
  if (expansion.ok() && graph_.status().ok()) return expansion;
  const absl::Status status = expansion.ok() ? graph_.status() : expansion.status();
  return Annotate(status, StrCat(call.op, " node '", call.name, "': "));
}

absl::StatusOr<FunctionRef> Expander::FunctionOf(const Call& call, std::string_view attr) const {
  const auto* function = FindAttr<FunctionAttr>(*call.attrs, attr);
  if (function == nullptr || *function == nullptr || (*function)->name.empty()) {
    return InvalidArgument("attribute '", attr, "' names no function");
  }
  return **function;
}

absl::StatusOr<const FunctionBody*> Expander::Read(const std::string& name) {
  auto known = bodies_.find(name);
  if (known != bodies_.end()) return &known->second;
  SLUICE_ASSIGN_OR_RETURN(const pb::FunctionDef* def, library_.Find(name));
  SLUICE_ASSIGN_OR_RETURN(FunctionBody body, ReadFunctionBody(*def, library_));
  return &bodies_.emplace(name, std::move(body)).first->second;
}

absl::StatusOr<Expansion> Expander::Body(const FunctionRef& function, const OutputList& args,
                                         const std::string& device) {
  if (static_cast<int>(open_.size()) >= max_depth_) {
    const bool is_recursive = std::find(open_.begin(), open_.end(), function.name) != open_.end();
    return absl::UnimplementedError(StrCat("function '", function.name, "' ",
                                           is_recursive ? "calls itself" : "is called too deep",
                                           ": calls nest more than ", max_depth_, " deep"));
  }
  SLUICE_ASSIGN_OR_RETURN(const FunctionBody* body, Read(function.name));
  const pb::OpDef& signature = body->def->signature();
  // Arguments, by declared argument: one tensor each, or as many as its attributes say.
  std::vector<OutputList> by_arg(static_cast<size_t>(signature.input_arg_size()));
  size_t next = 0;
  for (int i = 0; i < signature.input_arg_size(); ++i) {
    const pb::OpDef::ArgDef& arg = signature.input_arg(i);
    size_t n = 1;
    if (!arg.number_attr().empty()) {
      const auto* number = FindAttr<int64_t>(function.attrs, arg.number_attr());
      n = number != nullptr && *number >= 0 ? static_cast<size_t>(*number) : 0;
    } else if (!arg.type_list_attr().empty()) {
      const auto* types = FindAttr<std::vector<DataType>>(function.attrs, arg.type_list_attr());
      n = types != nullptr ? types->size() : 0;
    }
    for (; n > 0 && next < args.size(); --n) by_arg[static_cast<size_t>(i)].push_back(args[next++]);
    if (n > 0) next = args.size() + 1;
  }
  if (next != args.size()) {
    return InvalidArgument("function '", function.name, "': expected ", signature.input_arg_size(),
                           " arguments, got ", args.size());
  }
  open_.push_back(function.name);
  std::vector<Expansion> made(body->nodes.size());
  absl::Status status;
  for (size_t i = 0; i < body->order.size() && status.ok(); ++i) {
    status = BodyNodeInto(*body, body->order[i], function.attrs, by_arg, device, &made);
  }
  Expansion result;
  for (int n : body->order) {
    for (int input : body->nodes[static_cast<size_t>(n)].back_edges) {
      if (!status.ok()) break;
      const BodyTensor& from = body->nodes[static_cast<size_t>(n)].inputs[input];
      absl::StatusOr<Output> source = Find(*body, from, by_arg, made);
      status = source.status();
      if (status.ok()) {
        Node* merge = made[static_cast<size_t>(n)].outputs[0].node;
        status = graph_.UpdateInput(merge, input, *source);
      }
    }
  }
  open_.pop_back();
  SLUICE_RETURN_IF_ERROR(Annotate(status, StrCat("function '", function.name, "': ")));
  for (const BodyTensor& t : body->returns) {
    SLUICE_ASSIGN_OR_RETURN(Output output, Find(*body, t, by_arg, made));
    result.outputs.push_back(output);
  }
  for (int n : body->controls) {
    const auto& controls = made[static_cast<size_t>(n)].controls;
    result.controls.insert(result.controls.end(), controls.begin(), controls.end());
  }
  return result;
}

absl::StatusOr<AttrMap> Expander::Attributes(const pb::NodeDef& def,
                                             const AttrMap& function) const {
  // `$name` stands for the function's own attribute of that name.
  auto resolve = [&](AttrValue value) -> absl::StatusOr<AttrValue> {
    const auto* placeholder = std::get_if<AttrPlaceholder>(&value);
    if (placeholder == nullptr) return value;
    auto it = function.find(placeholder->name);
    if (it != function.end()) return it->second;
    return InvalidArgument("node '", def.name(), "' asks for attribute '", placeholder->name,
                           "', which the call does not give");
  };
  AttrMap attrs;
  FormatBudget budget;
  for (const auto& [name, proto] : def.attr()) {
    SLUICE_ASSIGN_OR_RETURN(AttrValue value, AttrFromProto(proto, budget));
    SLUICE_ASSIGN_OR_RETURN(value, resolve(std::move(value)));
    if (const auto* ref = std::get_if<FunctionAttr>(&value); ref != nullptr && *ref != nullptr) {
      FunctionRef inner = **ref;
      for (auto& [key, nested] : inner.attrs) {
        SLUICE_ASSIGN_OR_RETURN(nested, resolve(std::move(nested)));
      }
      value = FunctionAttr(std::make_shared<const FunctionRef>(std::move(inner)));
    }
    attrs.emplace(name, std::move(value));
  }
  return attrs;
}

absl::StatusOr<Output> Expander::Find(const FunctionBody& body, const BodyTensor& tensor,
                                      const std::vector<OutputList>& args,
                                      const std::vector<Expansion>& made) const {
  const size_t index = static_cast<size_t>(tensor.index);
  if (tensor.arg >= 0) {
    const OutputList& values = args[static_cast<size_t>(tensor.arg)];
    if (index < values.size()) return values[index];
    return InvalidArgument("argument ", tensor.arg, " has no tensor ", tensor.index);
  }
  const size_t n = static_cast<size_t>(tensor.node);
  const pb::NodeDef& def = *body.nodes[n].def;
  const OutputList& outputs = made[n].outputs;
  size_t first = 0;
  if (!tensor.output.empty()) {
    if (library_.Contains(def.op())) {
      SLUICE_ASSIGN_OR_RETURN(const pb::FunctionDef* callee, library_.Find(def.op()));
      for (const auto& out : callee->signature().output_arg()) {
        if (out.name() == tensor.output) break;
        ++first;
      }
    } else if (!Knows(def.op()) && !outputs.empty()) {
      const Node& node = *outputs[0].node;
      const int arg = node.def().OutputIndex(tensor.output);
      if (arg < 0) {
        return InvalidArgument("node '", def.name(), "' has no output '", tensor.output, "'");
      }
      first = static_cast<size_t>(node.OutputRange(arg).first);
    }
  }
  if (first + index < outputs.size()) return outputs[first + index];
  return InvalidArgument("node '", def.name(), "' has no output '", tensor.output, ":",
                         tensor.index, "'");
}

absl::StatusOr<Node*> Expander::AddNode(NodeSpec spec) {
  ControlFlowContext* context = graph_.scopes().context;
  if (context != nullptr) {
    SLUICE_ASSIGN_OR_RETURN(context, context->Enter(spec));
  } else if (entry_ != nullptr && spec.inputs.empty() && spec.control_inputs.empty()) {
    spec.control_inputs.push_back(entry_);
  }
  SLUICE_ASSIGN_OR_RETURN(Node * node, graph_.Add(std::move(spec)));
  node->set_context(context);
  SLUICE_RETURN_IF_ERROR(Annotate(InferShapes(node), StrCat(node->Describe(), ": ")));
  return node;
}

absl::Status Expander::BodyNodeInto(const FunctionBody& body, int n, const AttrMap& attrs,
                                    const std::vector<OutputList>& args, const std::string& device,
                                    std::vector<Expansion>* made) {
  const BodyNode& node = body.nodes[static_cast<size_t>(n)];
  const pb::NodeDef& def = *node.def;
  SLUICE_ASSIGN_OR_RETURN(AttrMap own, Attributes(def, attrs));
  OutputList inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const bool later = std::find(node.back_edges.begin(), node.back_edges.end(),
                                 static_cast<int>(i)) != node.back_edges.end();
    if (later) {
      inputs.push_back(Output());
      continue;
    }
    SLUICE_ASSIGN_OR_RETURN(Output in, Find(body, node.inputs[i], args, *made));
    inputs.push_back(in);
  }
  std::vector<Node*> controls;
  for (int from : node.controls) {
    const auto& theirs = (*made)[static_cast<size_t>(from)].controls;
    controls.insert(controls.end(), theirs.begin(), theirs.end());
  }
  Expansion& result = (*made)[static_cast<size_t>(n)];
  const std::string name = graph_.UniqueName(StrCat(graph_.scopes().name, def.name()));
  if (Knows(def.op()) || library_.Contains(def.op())) {
    ControlDependencies after(graph_, std::vector<Operation>(controls.begin(), controls.end()));
    Node* entry = entry_;
    if (!controls.empty() && graph_.scopes().context == nullptr) {
      entry_ = NodeBuilder(&graph_, "NoOp", At::current()).Name("entry").Finish();
    }
    absl::StatusOr<Expansion> inner = Expand(
        {def.op(), name, &own, std::move(inputs), def.device().empty() ? device : def.device()});
    entry_ = entry;
    SLUICE_RETURN_IF_ERROR(inner.status());
    result = *std::move(inner);
    if (result.controls.empty() && !result.outputs.empty()) {
      for (const Output& out : result.outputs) result.controls.push_back(out.node);
    }
    return absl::OkStatus();
  }
  NodeSpec spec;
  spec.name = name;
  spec.op = def.op();
  spec.allow_missing_inputs = !node.back_edges.empty();
  spec.inputs = std::move(inputs);
  spec.control_inputs = std::move(controls);
  // Inside a function, colocation names its own nodes; what matters is kept by references.
  own.erase("_class");
  if (spec.op == "Enter" || spec.op == "RefEnter") {
    // Two calls of the function have two loops.
    const auto* frame = FindAttr<std::string>(own, "frame_name");
    own["frame_name"] = StrCat(graph_.scopes().name, frame != nullptr ? *frame : "");
  }
  spec.attrs = std::move(own);
  spec.device = def.device().empty() ? device : def.device();
  // A ControlDependencies block around the call holds for what begins in it.
  if (graph_.scopes().context != nullptr && spec.inputs.empty()) {
    for (Node* c : OpenControls(graph_.scopes(), spec.inputs)) spec.control_inputs.push_back(c);
  }
  SLUICE_ASSIGN_OR_RETURN(Node * added, AddNode(std::move(spec)));
  for (int i = 0; i < added->num_outputs(); ++i) result.outputs.push_back(Output(added, i));
  result.controls = {added};
  return absl::OkStatus();
}

// The outputs, alive only once everything that the call does is done.
OutputList Expander::After(const Expansion& expansion) const {
  if (expansion.controls.empty()) return expansion.outputs;
  ControlDependencies after(
      graph_, std::vector<Operation>(expansion.controls.begin(), expansion.controls.end()));
  OutputList gated;
  for (const Output& out : expansion.outputs) {
    gated.push_back(NodeBuilder(&graph_, "Identity", At::current()).Input(out).Finish());
  }
  return gated;
}

absl::StatusOr<Output> Expander::AsBool(Output value) {
  if (value.dtype() == DT_BOOL && value.shape().rank() == 0) return value;
  const Output truth = NodeBuilder(&graph_, "ToBool", At::current()).Input(value).Finish();
  if (!truth) return graph_.status();
  return truth;
}

absl::Status Expander::Take() {
  SLUICE_RETURN_IF_ERROR(std::exchange(failure_, absl::OkStatus()));
  return graph_.status();
}

}  // namespace sluice

#include "graph/function/expand.h"

#include <algorithm>

#include "graph/build/control_flow_context.h"
#include "graph/build/core_ops.h"
#include "graph/build/device_spec.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/format/attr_value.h"
#include "graph/format/imported_functions.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/unregistered_op.h"
#include "graph/status.h"

namespace sluice {

const Expander::Form* Expander::FormOf(std::string_view op) {
  static const auto* forms = new std::map<std::string_view, Form>{
      {"PartitionedCall", {&Expander::Plain, 0}},
      {"RemoteCall", {&Expander::Remote, 1}},
      {"If", {&Expander::If, 1}},
      {"Case", {&Expander::Case, 1}},
      {"While", {&Expander::While, 0}},
      {"For", {&Expander::For, 3}},
      {"MapDefun", {&Expander::Map, 1}},
      {"SymbolicGradient", {&Expander::Gradient, 0}},
  };
  // StatelessIf, StatefulPartitionedCall and _While, for example, are further forms of one op.
  for (const std::string_view prefix : {"Stateless", "Stateful", "_"}) {
    if (!op.starts_with(prefix)) continue;
    op.remove_prefix(prefix.size());
    break;
  }
  const auto form = forms->find(op);
  return form == forms->end() ? nullptr : &form->second;
}

absl::StatusOr<Expansion> Expander::Expand(const Call& call) {
  NameScope scope(graph_, call.name + "/");
  DeviceScope device(graph_, call.device);
  absl::StatusOr<Expansion> expansion;
  if (const Form* form = FormOf(call.op); form == nullptr) {
    expansion = Body({call.op, *call.attrs}, call.inputs, call.device);  // the op names a function
  } else if (call.inputs.size() < form->min_inputs) {
    expansion = InvalidArgument("expected at least ", form->min_inputs, " inputs, got ",
                                call.inputs.size());
  } else {
    expansion = (this->*form->expand)(call);
  }
  if (expansion.ok() && graph_.status().ok()) return expansion;
  const absl::Status status = expansion.ok() ? graph_.status() : expansion.status();
  return Annotate(status, StrCat(call.op, " node '", call.name, "': "));
}

absl::StatusOr<Expansion> Expander::Plain(const Call& call) {
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef function, FunctionOf(call, "f"));
  SLUICE_ASSIGN_OR_RETURN(Expansion result, Body(function, call.inputs, call.device));
  const auto* types = FindAttr<std::vector<DataType>>(*call.attrs, "Tout");
  for (size_t i = 0; types != nullptr && i < std::min(types->size(), result.outputs.size()); ++i) {
    const DataType given = BaseType(result.outputs[i].dtype());
    SLUICE_INVALID_IF(given != (*types)[i], "Output ", i, " of type ", DataTypeName(given),
                      " does not match declared output type ", DataTypeName((*types)[i]));
  }
  return result;
}

// Input 0 is the device on which the function's nodes run.
absl::StatusOr<Expansion> Expander::Remote(const Call& call) {
  SLUICE_ASSIGN_OR_RETURN(const FunctionRef function, FunctionOf(call, "f"));
  const std::optional<Tensor> target = ConstantValue(call.inputs[0]);
  SLUICE_INVALID_IF(target && (target->dtype() != DT_STRING || !target->shape().IsScalar()),
                    "expected a device's name as target, got ", DataTypeName(target->dtype()),
                    target->shape().ToString());
  return Body(function, OutputList(call.inputs.begin() + 1, call.inputs.end()),
              target ? target->scalar<std::string>() : call.device);
}

absl::StatusOr<FunctionRef> Expander::FunctionOf(const Call& call, std::string_view attr) const {
  const auto* function = FindAttr<FunctionAttr>(*call.attrs, attr);
  SLUICE_INVALID_IF(function == nullptr || *function == nullptr || (*function)->name.empty(),
                    "attribute '", attr, "' names no function");
  return **function;
}

absl::StatusOr<const FunctionBody*> Expander::Read(const std::string& name) {
  auto known = bodies_.find(name);
  if (known != bodies_.end()) return &known->second;
  SLUICE_ASSIGN_OR_RETURN(const pb::FunctionDef* def, library_.Find(name));
  SLUICE_ASSIGN_OR_RETURN(FunctionBody body, ReadFunctionBody(*def, library_));
  return &bodies_.emplace(name, std::move(body)).first->second;
}

namespace {

// The number of tensors of a declared argument.
size_t LengthOf(const pb::OpDef::ArgDef& arg, const AttrMap& attrs) {
  if (!arg.number_attr().empty()) {
    const auto* number = FindAttr<int64_t>(attrs, arg.number_attr());
    return number != nullptr && *number >= 0 ? static_cast<size_t>(*number) : 0;
  }
  if (arg.type_list_attr().empty()) return 1;
  const auto* types = FindAttr<std::vector<DataType>>(attrs, arg.type_list_attr());
  return types != nullptr ? types->size() : 0;
}

// Groups the tensors of a call by declared argument. An argument has one tensor, or as many as an
// attribute says.
absl::StatusOr<std::vector<OutputList>> Arguments(const pb::OpDef& signature,
                                                  const FunctionRef& function,
                                                  const OutputList& args) {
  std::vector<OutputList> by_arg(static_cast<size_t>(signature.input_arg_size()));
  size_t next = 0;
  for (int i = 0; i < signature.input_arg_size(); ++i) {
    size_t n = LengthOf(signature.input_arg(i), function.attrs);
    for (; n > 0 && next < args.size(); --n) by_arg[static_cast<size_t>(i)].push_back(args[next++]);
    if (n > 0) next = args.size() + 1;
    const auto type = static_cast<DataType>(signature.input_arg(i).type());
    for (const Output& value : by_arg[static_cast<size_t>(i)]) {
      SLUICE_INVALID_IF(type != DT_INVALID && BaseType(value.dtype()) != BaseType(type),
                        "Expects arg[", i, "] to be ", DataTypeName(type), " but ",
                        DataTypeName(value.dtype()), " is provided");
    }
  }
  if (next == args.size()) return by_arg;
  return InvalidArgument("function '", function.name, "': expected ", signature.input_arg_size(),
                         " arguments, got ", args.size());
}

}  // namespace

absl::Status Expander::CheckLimits(const std::string& function) const {
  if (static_cast<int>(open_.size()) >= options_.max_depth) {
    const bool is_recursive = std::find(open_.begin(), open_.end(), function) != open_.end();
    return absl::UnimplementedError(StrCat("function '", function, "' ",
                                           is_recursive ? "calls itself" : "is called too deep",
                                           ": calls nest more than ", options_.max_depth, " deep"));
  }
  if (graph_.num_node_ids() - first_id_ > options_.max_nodes || num_calls_ > options_.max_nodes) {
    return absl::ResourceExhaustedError(StrCat(
        "function '", function, "': the calls of functions in this step expand to more than ",
        options_.max_nodes, " nodes"));
  }
  if (!options_.is_wanted || options_.is_wanted()) return absl::OkStatus();
  return absl::CancelledError(StrCat("function '", function, "': its expansion was cancelled"));
}

absl::StatusOr<Expansion> Expander::Body(const FunctionRef& function, const OutputList& args,
                                         const std::string& device) {
  SLUICE_RETURN_IF_ERROR(CheckLimits(function.name));
  ++num_calls_;
  SLUICE_ASSIGN_OR_RETURN(const FunctionBody* body, Read(function.name));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<OutputList> by_arg,
                          Arguments(body->def->signature(), function, args));
  open_.push_back(function.name);
  std::vector<Expansion> made(body->nodes.size());
  const absl::Status status = BodyNodes(*body, function.attrs, by_arg, device, &made);
  open_.pop_back();
  SLUICE_RETURN_IF_ERROR(Annotate(status, StrCat("function '", function.name, "': ")));
  Expansion result;
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

absl::StatusOr<Expansion> Expander::OneOp(const FunctionRef& op, const OutputList& args,
                                          const std::string& device) {
  NodeSpec spec;
  spec.name = graph_.UniqueName(StrCat(graph_.scopes().name, op.name));
  spec.op = op.name;
  spec.inputs = args;
  spec.attrs = op.attrs;
  spec.device = device;
  SLUICE_ASSIGN_OR_RETURN(Node * node, AddNode(std::move(spec)));
  Expansion result{.outputs = {}, .controls = {node}};
  for (int i = 0; i < node->num_outputs(); ++i) result.outputs.push_back(Output(node, i));
  return result;
}

absl::Status Expander::BodyNodes(const FunctionBody& body, const AttrMap& attrs,
                                 const std::vector<OutputList>& args, const std::string& device,
                                 std::vector<Expansion>* made) {
  for (int n : body.order) {
    SLUICE_RETURN_IF_ERROR(BodyNodeInto(body, n, attrs, args, device, made));
  }
  for (int n : body.order) {
    const BodyNode& node = body.nodes[static_cast<size_t>(n)];
    for (int input : node.back_edges) {
      SLUICE_ASSIGN_OR_RETURN(const Output source, Find(body, node.inputs[input], args, *made));
      Node* merge = (*made)[static_cast<size_t>(n)].outputs[0].node;
      SLUICE_RETURN_IF_ERROR(graph_.UpdateInput(merge, input, source));
    }
  }
  return absl::OkStatus();
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
    absl::StatusOr<AttrValue> read = AttrFromProto(proto, budget, *options_.memory);
    if (absl::IsResourceExhausted(read.status())) {
      return AnnotateAfter(read.status(), AtNode(def.name()));
    }
    SLUICE_RETURN_IF_ERROR(read.status());
    SLUICE_ASSIGN_OR_RETURN(AttrValue value, resolve(*std::move(read)));
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

// The place of the first tensor of the output argument `name` among the outputs of a node.
absl::StatusOr<size_t> Expander::FirstOf(const std::string& name, const pb::NodeDef& def,
                                         const OutputList& outputs) const {
  if (name.empty()) return 0;
  if (library_.Contains(def.op())) {
    SLUICE_ASSIGN_OR_RETURN(const pb::FunctionDef* callee, library_.Find(def.op()));
    size_t first = 0;
    for (const auto& out : callee->signature().output_arg()) {
      if (out.name() == name) break;
      ++first;
    }
    return first;
  }
  if (Knows(def.op()) || outputs.empty()) return 0;
  const Node& node = *outputs[0].node;
  const int arg = node.def().OutputIndex(name);
  SLUICE_INVALID_IF(arg < 0, "node '", def.name(), "' has no output '", name, "'");
  return static_cast<size_t>(node.OutputRange(arg).first);
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
  SLUICE_ASSIGN_OR_RETURN(const size_t first, FirstOf(tensor.output, def, outputs));
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
  if (!IsRegistered(*node)) return UnregisteredOpError(*node);
  node->set_context(context);
  SLUICE_RETURN_IF_ERROR(Annotate(InferShapes(node), StrCat(node->Describe(), ": ")));
  return node;
}

// The inputs of a node, without those that close loops.
absl::StatusOr<OutputList> Expander::BodyInputs(const FunctionBody& body, const BodyNode& node,
                                                const std::vector<OutputList>& args,
                                                const std::vector<Expansion>& made) const {
  OutputList inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const bool is_later = std::find(node.back_edges.begin(), node.back_edges.end(),
                                    static_cast<int>(i)) != node.back_edges.end();
    if (is_later) {
      inputs.push_back(Output());
      continue;
    }
    SLUICE_ASSIGN_OR_RETURN(Output in, Find(body, node.inputs[i], args, made));
    inputs.push_back(in);
  }
  return inputs;
}

namespace {

// The device that a node of a body requests. The call's device adds what the node leaves open.
absl::StatusOr<std::string> MergedDevice(const pb::NodeDef& def, const std::string& call) {
  if (def.device().empty() || def.device() == call) return call;
  if (call.empty()) return def.device();
  SLUICE_ASSIGN_OR_RETURN(const DeviceSpec own, DeviceSpec::Parse(def.device()));
  SLUICE_ASSIGN_OR_RETURN(const DeviceSpec outer, DeviceSpec::Parse(call));
  return own.Over(outer).ToString();
}

}  // namespace

absl::Status Expander::BodyNodeInto(const FunctionBody& body, int n, const AttrMap& attrs,
                                    const std::vector<OutputList>& args, const std::string& device,
                                    std::vector<Expansion>* made) {
  const BodyNode& node = body.nodes[static_cast<size_t>(n)];
  const pb::NodeDef& def = *node.def;
  SLUICE_ASSIGN_OR_RETURN(AttrMap own, Attributes(def, attrs));
  SLUICE_ASSIGN_OR_RETURN(OutputList inputs, BodyInputs(body, node, args, *made));
  std::vector<Node*> controls;
  for (int from : node.controls) {
    const auto& theirs = (*made)[static_cast<size_t>(from)].controls;
    controls.insert(controls.end(), theirs.begin(), theirs.end());
  }
  Expansion& result = (*made)[static_cast<size_t>(n)];
  const std::string name = graph_.UniqueName(StrCat(graph_.scopes().name, def.name()));
  SLUICE_ASSIGN_OR_RETURN(const std::string where, MergedDevice(def, device));
  const bool is_by_name = library_.Contains(def.op());
  const bool stays_call = StaysCall(def, own);
  if (!stays_call && (Knows(def.op()) || is_by_name)) {
    SLUICE_ASSIGN_OR_RETURN(result,
                            InnerCall({def.op(), name, &own, std::move(inputs), where}, controls));
    return absl::OkStatus();
  }
  NodeSpec spec;
  spec.name = name;
  spec.op = def.op();
  spec.allow_missing_inputs = !node.back_edges.empty();
  spec.inputs = std::move(inputs);
  spec.control_inputs = std::move(controls);
  // Colocation groups are dropped, because they name nodes of the function's body, which get other
  // names here. Nodes that take references are colocated anyway.
  own.erase("_class");
  if (TraitsOfOp(spec.op).role == OpRole::kEnter) {
    // Each call of the function has a loop of its own.
    const auto* frame = FindAttr<std::string>(own, "frame_name");
    own["frame_name"] = StrCat(graph_.scopes().name, frame != nullptr ? *frame : "");
  }
  spec.attrs = std::move(own);
  spec.device = where;
  if (stays_call && is_by_name) {
    SLUICE_ASSIGN_OR_RETURN(const pb::FunctionDef* callee, library_.Find(def.op()));
    SLUICE_RETURN_IF_ERROR(CallByAttribute(*callee, &spec));
  }
  // Nodes without inputs wait for the controls of a ControlDependencies block around the call.
  if (graph_.scopes().context != nullptr && spec.inputs.empty()) {
    for (Node* c : OpenControls(graph_.scopes(), spec.inputs)) spec.control_inputs.push_back(c);
  }
  SLUICE_ASSIGN_OR_RETURN(Node * added, AddNode(std::move(spec)));
  for (int i = 0; i < added->num_outputs(); ++i) result.outputs.push_back(Output(added, i));
  result.controls = {added};
  return absl::OkStatus();
}

bool Expander::StaysCall(const pb::NodeDef& def, const AttrMap& attrs) const {
  if (!is_differentiated_) return false;
  if (library_.Contains(def.op())) return !library_.GradientOf(def.op()).empty();
  const Form* form = FormOf(def.op());
  if (form == nullptr || form->expand != &Expander::Plain) return false;
  const auto* function = FindAttr<FunctionAttr>(attrs, "f");
  return function != nullptr && *function != nullptr &&
         !library_.GradientOf((*function)->name).empty();
}

absl::StatusOr<Expansion> Expander::InnerCall(const Call& call,
                                              const std::vector<Node*>& controls) {
  ControlDependencies after(graph_, std::vector<Operation>(controls.begin(), controls.end()));
  Node* entry = entry_;
  if (!controls.empty() && graph_.scopes().context == nullptr) entry_ = core::NoOp(graph_, "entry");
  absl::StatusOr<Expansion> expansion = Expand(call);
  entry_ = entry;
  if (expansion.ok() && expansion->controls.empty()) {
    for (const Output& out : expansion->outputs) expansion->controls.push_back(out.node);
  }
  return expansion;
}

OutputList Expander::After(const Expansion& expansion) const {
  if (expansion.controls.empty()) return expansion.outputs;
  ControlDependencies after(
      graph_, std::vector<Operation>(expansion.controls.begin(), expansion.controls.end()));
  OutputList gated;
  for (const Output& out : expansion.outputs) gated.push_back(core::Identity(out));
  return gated;
}

absl::StatusOr<Output> Expander::AsBool(Output value) {
  if (value.dtype() == DT_BOOL && value.shape().rank() == 0) return value;
  const Output truth = core::ToBool(value);
  if (!truth) return graph_.status();
  return truth;
}

OutputList Expander::Fail(const absl::Status& status) {
  failure_.Update(status);
  graph_.SetError(status);
  return {};
}

absl::Status Expander::TakeFailure() {
  SLUICE_RETURN_IF_ERROR(std::exchange(failure_, absl::OkStatus()));
  return graph_.status();
}

}  // namespace sluice

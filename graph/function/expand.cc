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

absl::Status Expander::TooLarge(const std::string& function) const {
  return absl::ResourceExhaustedError(
      StrCat("function '", function, "': the calls of functions in this step expand to more than ",
             options_.max_nodes, " nodes"));
}

absl::Status Expander::CheckLimits(const std::string& function) const {
  if (static_cast<int>(open_.size()) >= options_.max_depth) {
    const bool is_recursive = std::find(open_.begin(), open_.end(), function) != open_.end();
    return absl::UnimplementedError(StrCat("function '", function, "' ",
                                           is_recursive ? "calls itself" : "is called too deep",
                                           ": calls nest more than ", options_.max_depth, " deep"));
  }
  if (graph_.num_node_ids() - first_id_ > options_.max_nodes || num_calls_ > options_.max_nodes) {
    return TooLarge(function);
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
  for (size_t i = 0; i < body->returns.size(); ++i) {
    const pb::OpDef::ArgDef& arg = body->def->signature().output_arg(static_cast<int>(i));
    const size_t before = result.outputs.size(), length = LengthOf(arg, function.attrs);
    SLUICE_RETURN_IF_ERROR(Append(*body, body->returns[i], by_arg, made, &result.outputs));
    SLUICE_INVALID_IF(result.outputs.size() - before != length, "function '", function.name,
                      "': Invalid ret types ", arg.name(), ": expected ", length, " tensors, got ",
                      result.outputs.size() - before);
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

// The outputs [first, end) of a node that belong to its output argument `name`.
absl::StatusOr<std::pair<size_t, size_t>> Expander::RangeOf(const std::string& name,
                                                            const pb::NodeDef& def,
                                                            const Expansion& made) const {
  const std::pair<size_t, size_t> all = {0, made.outputs.size()};
  if (name.empty()) return all;
  if (library_.Contains(def.op())) {
    SLUICE_ASSIGN_OR_RETURN(const pb::FunctionDef* callee, library_.Find(def.op()));
    size_t first = 0;
    for (size_t i = 0; i < made.lengths.size(); ++i) {
      const size_t end = first + made.lengths[i];
      if (callee->signature().output_arg(static_cast<int>(i)).name() == name) return {{first, end}};
      first = end;
    }
  } else if (Knows(def.op())) {
    return all;
  } else if (!made.controls.empty()) {  // the node itself
    const Node& node = *made.controls[0];
    const int arg = node.def().OutputIndex(name);
    if (arg >= 0) return node.OutputRange(arg);
  }
  return InvalidArgument("node '", def.name(), "' has no output '", name, "'");
}

absl::StatusOr<absl::Span<const Output>> Expander::ListOf(
    const FunctionBody& body, const BodyTensor& tensor, const std::vector<OutputList>& args,
    const std::vector<Expansion>& made) const {
  if (tensor.arg >= 0) return absl::MakeConstSpan(args[static_cast<size_t>(tensor.arg)]);
  const size_t n = static_cast<size_t>(tensor.node);
  SLUICE_ASSIGN_OR_RETURN(const auto range, RangeOf(tensor.output, *body.nodes[n].def, made[n]));
  const auto [first, end] = range;
  const absl::Span<const Output> outputs = made[n].outputs;
  if (first <= end && end <= outputs.size()) return outputs.subspan(first, end - first);
  return InvalidArgument("node '", body.nodes[n].def->name(), "' has only ", outputs.size(),
                         " outputs, fewer than its output '", tensor.output, "' needs");
}

absl::StatusOr<Output> Expander::Find(const FunctionBody& body, const BodyTensor& tensor,
                                      const std::vector<OutputList>& args,
                                      const std::vector<Expansion>& made) const {
  SLUICE_ASSIGN_OR_RETURN(const absl::Span<const Output> list, ListOf(body, tensor, args, made));
  const size_t index = static_cast<size_t>(tensor.index);
  if (index < list.size()) return list[index];
  if (tensor.arg >= 0) {
    return InvalidArgument("argument ", tensor.arg, " has no tensor ", tensor.index);
  }
  const pb::NodeDef& def = *body.nodes[static_cast<size_t>(tensor.node)].def;
  return InvalidArgument("node '", def.name(), "' has no output '", tensor.output, ":",
                         tensor.index, "'");
}

absl::Status Expander::Append(const FunctionBody& body, const BodyTensor& tensor,
                              const std::vector<OutputList>& args,
                              const std::vector<Expansion>& made, OutputList* to) {
  if (!tensor.is_whole) {
    SLUICE_ASSIGN_OR_RETURN(const Output output, Find(body, tensor, args, made));
    to->push_back(output);
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(const absl::Span<const Output> list, ListOf(body, tensor, args, made));
  // Nodes that take a list twice can double it again and again.
  if (list.size() > 1) num_listed_ += static_cast<int64_t>(list.size());
  if (num_listed_ > options_.max_nodes) return TooLarge(body.def->signature().name());
  to->insert(to->end(), list.begin(), list.end());
  return absl::OkStatus();
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
                                                const std::vector<Expansion>& made) {
  OutputList inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const bool is_later = std::find(node.back_edges.begin(), node.back_edges.end(),
                                    static_cast<int>(i)) != node.back_edges.end();
    if (is_later) {
      // Node::back_edges has indices of references, which BodyNodes uses as indices of inputs.
      SLUICE_INVALID_IF(inputs.size() != i, "node '", node.def->name(),
                        "' takes a list before an input that closes a loop");
      inputs.push_back(Output());
      continue;
    }
    SLUICE_RETURN_IF_ERROR(Append(body, node.inputs[i], args, made, &inputs));
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
  std::vector<size_t> lengths;
  if (is_by_name) {
    SLUICE_ASSIGN_OR_RETURN(const pb::FunctionDef* callee, library_.Find(def.op()));
    for (const auto& out : callee->signature().output_arg()) lengths.push_back(LengthOf(out, own));
  }
  const bool stays_call = StaysCall(def, own);
  if (!stays_call && (Knows(def.op()) || is_by_name)) {
    SLUICE_ASSIGN_OR_RETURN(result,
                            InnerCall({def.op(), name, &own, std::move(inputs), where}, controls));
    result.lengths = std::move(lengths);
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
  result.lengths = std::move(lengths);
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

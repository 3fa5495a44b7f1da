#include "ops/state/variable.h"

#include <functional>

#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/status.h"

namespace sluice {

Output SafeInitialValue(Output value, std::string_view variable_name,
                        At at);  // initialized_value.h

namespace {

// Colocates the nodes with ids from `first` on, which build an initial value, with its variable.
// The node of the variable does not exist yet.
void ColocateSince(Graph& graph, int first, const std::string& variable) {
  for (int id = first; id < graph.num_node_ids(); ++id) {
    Node* node = graph.node(id);
    if (node == nullptr || !node->colocation().empty()) continue;
    node->SetAttr("_class", std::vector<std::string>{"loc:@" + variable});
  }
}

absl::Status CheckShape(const std::string& name, const PartialShape& shape) {
  if (shape.IsFullyDefined()) return absl::OkStatus();
  return InvalidArgument("variable '", name, "': an initializer needs a fully defined shape, got ",
                         shape.ToString());
}

std::string WithoutSlash(const std::string& prefix) { return prefix.substr(0, prefix.size() - 1); }

}  // namespace

// Describes how the initial value is built in the scope of the variable.
struct Variable::FirstValue {
  std::function<Output(Graph&)> make;
  // Whether the nodes are colocated with the variable. If not, the current scopes place them.
  bool is_colocated;
};

Variable::Variable(Graph& graph, std::string_view name, const PartialShape& shape,
                   const Initializer& initializer, const VariableOptions& options, At at) {
  auto make = [&](Graph& g) -> Output {
    if (absl::Status defined = CheckShape(std::string(name), shape); !defined.ok()) {
      g.SetError(defined, at);
      return Output();
    }
    NameScope scope(g, g.scopes().name + "Initializer/");
    return initializer(g, shape.AsShape(), options.dtype);
  };
  Make(graph, name, shape, {make, true}, options, at);
}

Variable::Variable(Graph& graph, std::string_view name, const Tensor& initial_value,
                   const VariableOptions& options, At at) {
  auto make = [&](Graph& g) {
    NameScope scope(g, g.scopes().name + (options.use_resource ? "Initializer/" : ""));
    return Constant(g, initial_value, "initial_value", at);
  };
  VariableOptions typed = options;
  typed.dtype = initial_value.dtype();
  Make(graph, name, initial_value.shape(), {make, options.use_resource}, typed, at);
}

Variable::Variable(Graph& graph, std::string_view name, Output initial_value,
                   const VariableOptions& options, At at) {
  if (!initial_value) return;
  VariableOptions typed = options;
  typed.dtype = BaseType(initial_value.dtype());
  auto make = [&](Graph& g) {
    if (options.use_resource) return initial_value;
    return SafeInitialValue(initial_value, WithoutSlash(g.scopes().name), at);
  };
  Make(graph, name, initial_value.shape(), {make, false}, typed, at);
}

void Variable::Make(Graph& graph, std::string_view name, const PartialShape& shape,
                    const FirstValue& first, const VariableOptions& options, At at) {
  InitScope init(graph);
  NameScope scope(graph, name);
  const int first_id = graph.num_node_ids();
  if (first.is_colocated) {
    DeviceScope anywhere = DeviceScope::None(graph);
    initial_value_ = first.make(graph);
  } else {
    initial_value_ = first.make(graph);
  }
  if (!initial_value_) return;
  const std::string unique_name = WithoutSlash(scope.prefix());
  if (first.is_colocated) ColocateSince(graph, first_id, unique_name);
  is_resource_ = options.use_resource;
  trainable_ = options.trainable;
  if (is_resource_) {
    MakeResource(shape, options, scope.prefix(), at);
  } else {
    MakeRef(shape, options, scope.prefix(), at);
  }
  if (!graph.status().ok()) {
    *this = Variable();
    return;
  }
  if (first.is_colocated && node_->colocation().empty()) {
    node_->SetAttr("_class", std::vector<std::string>{"loc:@" + unique_name});
  }
  Register(graph, options);
}

void Variable::MakeRef(const PartialShape& shape, const VariableOptions& options,
                       const std::string& prefix, At at) {
  Graph* graph = initial_value_.graph();
  // The op's attribute `shape` must be fully defined or unknown.
  const bool is_known = shape.IsFullyDefined();
  node_ = NodeBuilder(graph, "VariableV2", at)
              .Name(prefix)
              .Attr("shape", is_known ? shape : PartialShape::UnknownRank())
              .Attr("dtype", options.dtype)
              .Attr("container", options.container)
              .Attr("shared_name", options.shared_name)
              .Finish();
  initializer_ = NodeBuilder(graph, "Assign", at)
                     .Name("Assign")
                     .Input(Output(node_))
                     .Input(initial_value_)
                     .Attr("validate_shape", is_known)
                     .Finish();
  ColocateWith with(*graph, Operation(node_));
  snapshot_ = NodeBuilder(graph, "Identity", at).Name("read").Input(Output(node_)).Finish();
}

void Variable::MakeResource(const PartialShape& shape, const VariableOptions& options,
                            const std::string& prefix, At at) {
  Graph* graph = initial_value_.graph();
  const std::string name = WithoutSlash(prefix);
  node_ = NodeBuilder(graph, "VarHandleOp", at)
              .Name(prefix)
              .Attr("dtype", options.dtype)
              .Attr("shape", shape)
              .Attr("container", options.container)
              .Attr("debug_name", prefix)
              .Attr("shared_name", options.shared_name.empty() ? name : options.shared_name)
              .Finish();
  const Output handle(node_);
  // Ops that use the handle must be on the handle's device, so device functions must not place
  // them.
  DeviceScope on(*graph, device());
  {
    NameScope scope(*graph, "IsInitialized");
    NodeBuilder(graph, "VarIsInitializedOp", at).Input(handle).Finish();
  }
  {
    ColocateWith nothing(*graph, Operation(), /*ignore_existing=*/true);
    initializer_ = NodeBuilder(graph, "AssignVariableOp", at)
                       .Name("Assign")
                       .Input(handle)
                       .Input(initial_value_)
                       .Finish();
  }
  NameScope scope(*graph, "Read");
  snapshot_ =
      NodeBuilder(graph, "ReadVariableOp", at).Input(handle).Attr("dtype", options.dtype).Finish();
}

void Variable::Register(Graph& graph, const VariableOptions& options) const {
  const std::string key = handle().name();
  graph.variables()[key] = {.initializer = initializer_.name(),
                            .snapshot = snapshot_.name(),
                            .initial_value = initial_value_.name(),
                            .trainable = trainable_,
                            .is_resource = is_resource_};
  for (const std::string& collection : options.collections) {
    graph.AddToCollection(collection, key);
  }
  if (trainable_) graph.AddToCollection(kTrainableVariables, key);
}

absl::StatusOr<Variable> Variable::Find(const Graph& graph, std::string_view name) {
  std::string key(name);
  if (name.find(':') == name.npos) key += ":0";
  auto it = graph.variables().find(key);
  if (it == graph.variables().end()) {
    return absl::NotFoundError(StrCat("no variable '", name, "' in the graph"));
  }
  const VariableNodes& nodes = it->second;
  Variable v;
  SLUICE_ASSIGN_OR_RETURN(const Output handle, graph.FindOutput(key));
  SLUICE_ASSIGN_OR_RETURN(v.snapshot_, graph.FindOutput(nodes.snapshot));
  if (!nodes.initial_value.empty()) {  // old files lack it
    SLUICE_ASSIGN_OR_RETURN(v.initial_value_, graph.FindOutput(nodes.initial_value));
  }
  SLUICE_ASSIGN_OR_RETURN(const Output assign, graph.FindOutput(nodes.initializer));
  v.node_ = handle.node;
  v.initializer_ = assign;
  v.is_resource_ = nodes.is_resource;
  v.trainable_ = nodes.trainable;
  return v;
}

DataType Variable::dtype() const {
  return node_ == nullptr ? DT_INVALID : node_->AttrOr<DataType>("dtype", DT_INVALID);
}

const PartialShape& Variable::shape() const {
  static const PartialShape* unknown = new PartialShape;
  const PartialShape* shape = node_ == nullptr ? nullptr : node_->FindAttr<PartialShape>("shape");
  return shape == nullptr ? *unknown : *shape;
}

}  // namespace sluice

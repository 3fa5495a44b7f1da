#include "graph/function/call_gradient.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/build/core_ops.h"
#include "graph/build/node_builder.h"
#include "graph/format/attr_value.h"
#include "graph/function/library.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr char kSymbolicGradient[] = "SymbolicGradient";

bool CarriesGradient(DataType type) {
  return IsFloating(type) || IsComplex(type) || BaseType(type) == DT_RESOURCE;
}

class Differentiator {
 public:
  explicit Differentiator(Backprop& b) : b_(b), graph_(b.graph()) {
    absl::StatusOr<FunctionLibrary> library = FunctionLibrary::Parse(graph_.function_library());
    if (library.ok()) {
      library_ = *std::move(library);
    } else {
      b.Fail(library.status());
    }
  }

  // Fails if `name`, or a function that it calls, must not run twice: the gradient runs it again. A
  // function that declares its own gradient passes the check.
  bool Check(const std::string& name) {
    // Without recursion, because functions may be a chain of many thousand calls.
    std::vector<std::string> open = {name};
    while (!open.empty()) {
      const std::string next = std::move(open.back());
      open.pop_back();
      if (!checked_.insert(next).second || !library_.GradientOf(next).empty()) continue;
      if (const absl::Status status = CheckNodes(next, &open); !status.ok()) {
        b_.Fail(status);
        return false;
      }
    }
    return true;
  }

  // Collects the inputs from `first` on, and the gradients of the results.
  void Collect(int first) {
    CollectInputs(first);
    for (int i = 0; i < b_.op().num_outputs(); ++i) {
      Output grad = CarriesGradient(b_.op().output_type(i)) ? b_.Of(i) : Output();
      if (!grad) grad = core::Const(graph_, Tensor::Scalar(false), "no_gradient");
      if (!grad) return;
      inputs_.push_back(grad);
      in_types_.push_back(BaseType(grad.dtype()));
    }
  }

  Output SymbolicGradient(const FunctionAttr& f) {
    return NodeBuilder(&graph_, kSymbolicGradient, At::current())
        .Input(inputs_)
        .Attr("Tin", in_types_)
        .Attr("Tout", out_types_)
        .Attr("f", f)
        .Finish();
  }

  // Adds a function of inputs and gradients that returns SymbolicGradient of `f`.
  FunctionAttr GradientFunction(const FunctionRef& f) {
    pb::FunctionDef def = Signature(f.name + "_grad", in_types_, out_types_);
    pb::NodeDef* node = def.add_node_def();
    node->set_name("gradient");
    node->set_op(kSymbolicGradient);
    for (size_t i = 0; i < in_types_.size(); ++i) node->add_input(StrCat("x", i));
    Set(node, "Tin", in_types_);
    Set(node, "Tout", out_types_);
    Set(node, "f", FunctionAttr(std::make_shared<const FunctionRef>(f)));
    return Finish(std::move(def), "gradient", out_types_.size());
  }

  // Adds a function that consists of the forward op, for an op that calls several functions.
  FunctionAttr OpAsFunction() {
    const Node& op = b_.op();
    std::vector<DataType> in, out;
    for (int i = first_; i < op.num_inputs(); ++i) in.push_back(BaseType(op.input(i).dtype()));
    for (int i = 0; i < op.num_outputs(); ++i) out.push_back(BaseType(op.output_type(i)));
    pb::FunctionDef def = Signature(StrCat(op.op(), "_forward"), in, out);
    pb::NodeDef* node = def.add_node_def();
    node->set_name("forward");
    node->set_op(op.op());
    for (size_t i = 0; i < in.size(); ++i) node->add_input(StrCat("x", i));
    for (const auto& [name, value] : op.attrs()) {
      if (!name.starts_with('_')) Set(node, name, value);
    }
    return Finish(std::move(def), "forward", out.size());
  }

  void Give(Node* node) {
    if (node == nullptr) return;
    for (int i = first_; i < b_.op().num_inputs(); ++i) {
      if (CarriesGradient(b_.In(i).dtype())) b_.Into(i, Output(node, i - first_));
    }
  }

  const OutputList& inputs() const { return inputs_; }
  const std::vector<DataType>& in_types() const { return in_types_; }
  const std::vector<DataType>& out_types() const { return out_types_; }

 private:
  // Checks the nodes of a function, and appends the functions that they call to `callees`.
  absl::Status CheckNodes(const std::string& name, std::vector<std::string>* callees) const {
    SLUICE_ASSIGN_OR_RETURN(const pb::FunctionDef* def, library_.Find(name));
    for (const pb::NodeDef& node : def->node_def()) {
      const OpDef* op = OpRegistry::Global().Find(node.op());
      if (op != nullptr && op->is_stateful && !op->traits.is_repeatable) {
        return absl::UnimplementedError(
            StrCat("the gradient runs function '", name, "' once more, but its node '", node.name(),
                   "' (", node.op(), ") does not do the same twice; lower the graph's functions ",
                   "before taking gradients"));
      }
      for (const auto& [key, attr] : node.attr()) {
        if (attr.has_func()) callees->push_back(attr.func().name());
        for (const auto& f : attr.list().func()) callees->push_back(f.name());
      }
      if (library_.Contains(node.op())) callees->push_back(node.op());
    }
    return absl::OkStatus();
  }

  void CollectInputs(int first) {
    first_ = first;
    for (int i = first; i < b_.op().num_inputs(); ++i) {
      inputs_.push_back(b_.In(i));
      in_types_.push_back(BaseType(b_.In(i).dtype()));
      // The gradient of a handle is that of the variable it refers to.
      const HandleData* data = b_.In(i).node->output_handle(b_.In(i).index);
      const bool holds = in_types_.back() == DT_RESOURCE && data != nullptr;
      out_types_.push_back(holds && data->dtype != DT_INVALID ? data->dtype : in_types_.back());
      if (in_types_.back() == DT_RESOURCE && !holds) out_types_.back() = DT_FLOAT;
    }
  }

  pb::FunctionDef Signature(const std::string& base, const std::vector<DataType>& in,
                            const std::vector<DataType>& out) {
    pb::FunctionDef def;
    def.mutable_signature()->set_name(UniqueFunctionName(library_, base));
    for (size_t i = 0; i < in.size(); ++i) {
      auto* arg = def.mutable_signature()->add_input_arg();
      arg->set_name(StrCat("x", i));
      arg->set_type(static_cast<pb::DataType>(in[i]));
    }
    for (size_t i = 0; i < out.size(); ++i) {
      auto* arg = def.mutable_signature()->add_output_arg();
      arg->set_name(StrCat("y", i));
      arg->set_type(static_cast<pb::DataType>(out[i]));
    }
    return def;
  }

  FunctionAttr Finish(pb::FunctionDef def, const std::string& node, size_t num_outputs) {
    for (size_t i = 0; i < num_outputs; ++i) {
      (*def.mutable_ret())[StrCat("y", i)] = StrCat(node, ":output:", i);
    }
    AddFunction(graph_, def);
    absl::StatusOr<FunctionLibrary> library = FunctionLibrary::Parse(graph_.function_library());
    if (library.ok()) library_ = *std::move(library);
    auto ref = std::make_shared<FunctionRef>();
    ref->name = def.signature().name();
    return ref;
  }

  void Set(pb::NodeDef* node, const std::string& name, const AttrValue& value) {
    const absl::Status status = AttrToProto(value, &(*node->mutable_attr())[name]);
    if (!status.ok()) b_.Fail(status);
  }

  Backprop& b_;
  Graph& graph_;
  FunctionLibrary library_;
  std::set<std::string> checked_;
  int first_ = 0;
  OutputList inputs_;
  std::vector<DataType> in_types_;
  std::vector<DataType> out_types_;
};

FunctionAttr FunctionOf(Backprop& b, std::string_view attr) { return b.attr<FunctionAttr>(attr); }

}  // namespace

void CallGradient(Backprop& b) {
  Differentiator d(b);
  const FunctionAttr f = FunctionOf(b, "f");
  if (f == nullptr || !d.Check(f->name)) return;
  d.Collect(0);
  d.Give(d.SymbolicGradient(f).node);
}

void BranchesGradient(Backprop& b) {
  Differentiator d(b);
  std::vector<FunctionAttr> branches = b.attr<std::vector<FunctionAttr>>("branches");
  const bool is_if = branches.empty();
  if (is_if) branches = {FunctionOf(b, "then_branch"), FunctionOf(b, "else_branch")};
  for (const FunctionAttr& f : branches) {
    if (f == nullptr || !d.Check(f->name)) return;
  }
  d.Collect(1);
  std::vector<FunctionAttr> gradients;
  for (const FunctionAttr& f : branches) gradients.push_back(d.GradientFunction(*f));
  NodeBuilder builder(&b.graph(), is_if ? "If" : "Case", At::current());
  builder.Input(b.In(0)).Input(d.inputs()).Attr("Tin", d.in_types()).Attr("Tout", d.out_types());
  if (is_if) {
    builder.Attr("then_branch", gradients[0]).Attr("else_branch", gradients[1]);
  } else {
    builder.Attr("branches", gradients);
  }
  d.Give(builder.Finish());
}

void WhileGradient(Backprop& b) {
  Differentiator d(b);
  for (const char* attr : {"cond", "body"}) {
    const FunctionAttr f = FunctionOf(b, attr);
    if (f == nullptr || !d.Check(f->name)) return;
  }
  d.Collect(0);
  d.Give(d.SymbolicGradient(d.OpAsFunction()).node);
}

}  // namespace sluice

// Declares ops: inputs, outputs, attributes, traits, shape function, gradient and documentation.
//
// An op is declared once, at namespace scope, with the OP macro:
//
//   OP(Sinh, "Hyperbolic sine.")
//       .Input("x", "T").Output("y", "T")
//       .Attr("T", TypeAttr(FloatTypes() | ComplexTypes()))
//       .With(ElementByElement)
//       GRADIENT([](Backprop& b) { b.Into("x", b.Of("y") * Conj(Cosh(b.Value("x")))); });
//
// Thread safety: registration happens before main; afterwards everything here is immutable.
#ifndef SLUICE_GRAPH_OP_OP_DEF_H_
#define SLUICE_GRAPH_OP_OP_DEF_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "graph/op/attr.h"
#include "graph/op/op_traits.h"
#include "graph/tensor/dtype.h"

namespace sluice {

class Backprop;
class ShapeContext;
using ShapeFunction = std::function<absl::Status(ShapeContext&)>;
using GradientFunction = std::function<void(Backprop&)>;

// One named input or output: a tensor or a list of tensors. Exactly one of `type`, `type_attr` and
// `type_list_attr` is set. Members that end in `_attr` are names of attributes; empty: not set.
struct ArgDef {
  std::string name;
  DataType type = DT_INVALID;
  std::string type_attr;
  std::string number_attr;     // the attribute is the number of tensors
  std::string type_list_attr;  // the attribute is a list of types, one for each tensor
  bool is_ref = false;
  bool is_list() const { return !number_attr.empty() || !type_list_attr.empty(); }
};

enum class AttrKind { kString, kInt, kFloat, kBool, kType, kShape, kTensor, kFunction };

// The declaration of an attribute: its kind and its possible values.
struct AttrDef {
  std::string name;
  AttrKind kind = AttrKind::kInt;
  bool is_list = false;
  std::optional<AttrValue> default_value;  // absent: must be given
  TypeSet allowed_types;                   // for kType; empty: all types are allowed
  std::vector<std::string> allowed_strings;
  std::optional<int64_t> minimum;  // of an int, or of the length of a list; absent: no minimum

  // Returns "int", "list(type)", ..., as in TensorFlow's OpDef.
  std::string KindName() const;

  // Setters for the results of the factories below: `IntAttr().Min(1)`.
  AttrDef& Min(int64_t m) {
    minimum = m;
    return *this;
  }
  AttrDef& Default(AttrValue v) {
    default_value = std::move(v);
    return *this;
  }
};

// Factories of attributes, by kind, with or without a default.
AttrDef TypeAttr(TypeSet allowed = {});
AttrDef TypeAttr(TypeSet allowed, DataType default_value);
AttrDef IntAttr();
AttrDef IntAttr(int64_t default_value);
AttrDef FloatAttr();
AttrDef FloatAttr(float default_value);
AttrDef BoolAttr();
AttrDef BoolAttr(bool default_value);
AttrDef StringAttr();
AttrDef StringAttr(std::string default_value);
AttrDef OneOf(std::vector<std::string> allowed);
AttrDef OneOf(std::vector<std::string> allowed, std::string default_value);
AttrDef ShapeAttr();
AttrDef ShapeAttr(PartialShape default_value);
AttrDef TensorAttr();
AttrDef FunctionAttrDef();
// Factories of attributes that are lists. `{}` as a default value is the empty list.
AttrDef TypeListAttr(TypeSet allowed = {});
AttrDef TypeListAttr(TypeSet allowed, std::vector<DataType> default_value);
AttrDef IntListAttr();
AttrDef IntListAttr(std::vector<int64_t> default_value);
AttrDef FloatListAttr();
AttrDef FloatListAttr(std::vector<float> default_value);
AttrDef BoolListAttr();
AttrDef BoolListAttr(std::vector<bool> default_value);
AttrDef StringListAttr();
AttrDef StringListAttr(std::vector<std::string> default_value);
AttrDef ShapeListAttr();
AttrDef ShapeListAttr(std::vector<PartialShape> default_value);
AttrDef TensorListAttr();
AttrDef FunctionListAttr();

struct OpDef {
  std::string name;
  std::string doc;
  std::string file;  // the source file that declares the op: "ops/math/rounding.cc"
  std::vector<ArgDef> inputs;
  std::vector<ArgDef> outputs;
  std::vector<AttrDef> attrs;
  bool is_stateful = false;
  bool is_commutative = false;
  bool is_aggregate = false;
  bool allows_uninitialized_input = false;
  bool is_distributed_communication = false;
  int deprecated_at = 0;  // from this GraphDef version on; 0 = not deprecated
  std::string deprecation;
  // No builder function is generated, because a hand-written function or class takes its place, or
  // because only the runtime creates nodes of the op.
  bool hidden = false;
  ShapeFunction shape;  // always set by registered ops
  GradientFunction gradient;
  // The op declares that it has no gradient, as if its inputs were constants: no gradient flows to
  // them, and this is no error.
  bool not_differentiable = false;
  OpTraits traits;

  const AttrDef* FindAttr(std::string_view attr_name) const;
  int InputIndex(std::string_view arg_name) const;   // position among `inputs`; -1 = none
  int OutputIndex(std::string_view arg_name) const;  // position among `outputs`; -1 = none
};

// The type of an input or output: DT_INT32 (fixed), "T" (attribute T is the type), "N*T" (attribute
// N is the number of tensors) or "N*int32". If the value of attribute T is a list of types, "T" is
// a list of tensors with these types.
struct ArgType {
  ArgType(DataType type) : spec(DataTypeName(type)) {}  // NOLINT: Input("x", DT_INT32)
  ArgType(std::string type) : spec(std::move(type)) {}  // NOLINT: Input("x", type)
  ArgType(const char* type) : spec(type) {}             // NOLINT: Input("x", "T")

  std::string spec;  // "int32", "T", "N*T" or "N*int32"
};

// Builds an OpDef in the chain of calls that follows OP(...).
class OpDefBuilder {
 public:
  // `file` is the source file with the declaration. By default it is the caller's.
  OpDefBuilder(std::string name, std::string doc, const char* file = __builtin_FILE());
  OpDefBuilder& Input(std::string name, const ArgType& type);
  OpDefBuilder& RefInput(std::string name, const ArgType& type);
  OpDefBuilder& Output(std::string name, const ArgType& type);
  OpDefBuilder& RefOutput(std::string name, const ArgType& type);
  OpDefBuilder& Attr(std::string name, AttrDef def);
  OpDefBuilder& Shape(ShapeFunction shape);
  OpDefBuilder& Gradient(GradientFunction gradient);
  OpDefBuilder& NotDifferentiable() { return Set(def_.not_differentiable, true); }
  OpDefBuilder& Stateful() { return Set(def_.is_stateful, true); }
  OpDefBuilder& Commutative() { return Set(def_.is_commutative, true); }
  OpDefBuilder& Aggregate() { return Set(def_.is_aggregate, true); }
  OpDefBuilder& AllowsUninitializedInput() { return Set(def_.allows_uninitialized_input, true); }
  OpDefBuilder& DistributedCommunication() { return Set(def_.is_distributed_communication, true); }
  OpDefBuilder& Deprecated(int version, std::string explanation);
  OpDefBuilder& Hidden() { return Set(def_.hidden, true); }

  // The setters below set the traits of the op (op_traits.h).
  OpDefBuilder& Role(OpRole role) { return Set(def_.traits.role, role); }
  OpDefBuilder& Impure(Impurity reason) { return Set(def_.traits.impurity, reason); }
  OpDefBuilder& OnVariable(VariableUse use) { return Set(def_.traits.variable_use, use); }
  OpDefBuilder& View(decltype(OpTraits::view_sizes) sizes = nullptr) {
    def_.traits.view_sizes = sizes;
    return Set(def_.traits.output_memory, OutputMemory::kView);
  }
  OpDefBuilder& MayForwardInput() {
    return Set(def_.traits.output_memory, OutputMemory::kMayForward);
  }
  OpDefBuilder& Elementwise(ElementwiseInputs inputs) {
    return Set(def_.traits.elementwise, inputs);
  }
  OpDefBuilder& QueriesShape(ShapeQuery query) { return Set(def_.traits.shape_query, query); }
  OpDefBuilder& Recompute(RecomputeCost cost) { return Set(def_.traits.recompute_cost, cost); }
  OpDefBuilder& Recompute(decltype(OpTraits::multiply_adds) multiply_adds) {
    def_.traits.recompute_cost = RecomputeCost::kProduct;
    return Set(def_.traits.multiply_adds, multiply_adds);
  }
  OpDefBuilder& RunsWhenDead() { return Set(def_.traits.runs_when_dead, true); }
  OpDefBuilder& Repeatable() { return Set(def_.traits.is_repeatable, true); }
  OpDefBuilder& SharedByReplicas() { return Set(def_.traits.is_shared_by_replicas, true); }
  OpDefBuilder& ShapeInput(int8_t input) { return Set(def_.traits.shape_input, input); }
  OpDefBuilder& Neutral(NeutralElement neutral) { return Set(def_.traits.neutral, neutral); }
  OpDefBuilder& Identity(decltype(OpTraits::is_identity) is_identity) {
    return Set(def_.traits.is_identity, is_identity);
  }
  OpDefBuilder& Undoes(decltype(OpTraits::undoes) undoes) {
    return Set(def_.traits.undoes, undoes);
  }
  OpDefBuilder& ConstantValue(decltype(OpTraits::constant_value) value) {
    return Set(def_.traits.constant_value, value);
  }
  OpDefBuilder& Images(decltype(OpTraits::image_roles) layout) {
    return Set(def_.traits.image_roles, layout);
  }
  OpDefBuilder& KeepsLayout(const char* because) {
    return Set(def_.traits.keeps_layout_because, because);
  }

  // Calls `mixin`, a function of OpDefBuilder& that declares inputs, outputs, attributes and traits
  // that several ops share. Inputs and outputs are added after those that are already declared.
  template <typename Mixin>
  OpDefBuilder& With(const Mixin& mixin) {
    mixin(*this);
    return *this;
  }

  const OpDef& def() const { return def_; }

 private:
  template <typename T>
  OpDefBuilder& Set(T& trait, std::type_identity_t<T> value) {
    trait = value;
    return *this;
  }

  OpDef def_;
};

// The table of all ops. An OP declaration that is linked into the program adds its op before main.
class OpRegistry {
 public:
  static OpRegistry& Global();
  // Adds an op, unless its name is taken, it has no shape function, or it uses attributes that it
  // does not declare. `status` returns the first such error.
  void Add(OpDef def);
  // Null if the op is unknown.
  const OpDef* Find(std::string_view name) const;
  // NOT_FOUND if the op is unknown. The error has TensorFlow's text. If the library that declares
  // the op is known, the error names it, so that the user can link it.
  absl::StatusOr<const OpDef*> Lookup(std::string_view name) const;
  std::vector<const OpDef*> All() const;  // sorted by name
  absl::Status status() const { return status_; }

 private:
  std::map<std::string, OpDef, std::less<>> ops_;
  absl::Status status_;
};

// Returns the traits of the op with this name. Returns the default traits if the op is unknown.
const OpTraits& TraitsOfOp(std::string_view op);

struct OpRegistrar {
  OpRegistrar(const OpDefBuilder& builder);  // NOLINT: the end of an OP chain
};

// Ends an OP chain with the gradient of the op. Empty in the program that generates a C++ builder
// function for each op: gradients call these functions, which do not exist before it has run.
#ifdef SLUICE_DEFINITIONS_ONLY
#define GRADIENT(...)
#else
#define GRADIENT(...) .Gradient(__VA_ARGS__)
#endif

#define OP(name, doc) \
  static const ::sluice::OpRegistrar sluice_op_##name = ::sluice::OpDefBuilder(#name, doc)

}  // namespace sluice

#endif  // SLUICE_GRAPH_OP_OP_DEF_H_

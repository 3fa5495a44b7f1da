// What an op is: its inputs, outputs and attributes, how shapes follow, and how gradients flow.
//
// Ops are declared once, at namespace scope, with the OP macro:
//
//   OP(Sinh, "Hyperbolic sine.")
//       .Input("x", "T").Output("y", "T")
//       .Attr("T", TypeAttr(FloatTypes() | ComplexTypes()))
//       .Shape(SameAsInput(0))
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
#include <vector>

#include "absl/status/status.h"
#include "graph/op/attr.h"
#include "graph/tensor/dtype.h"

namespace sluice {

class Backprop;
class ShapeContext;
using ShapeFunction = std::function<absl::Status(ShapeContext&)>;
using GradientFunction = std::function<void(Backprop&)>;

// One named input or output. Exactly one of `type`, `type_attr` and `type_list_attr` is set.
struct ArgDef {
  std::string name;
  DataType type = DT_INVALID;
  std::string type_attr;
  std::string number_attr;     // with type or type_attr: that many tensors of the type
  std::string type_list_attr;  // a tensor for each type of the list
  bool is_ref = false;
  bool is_list() const { return !number_attr.empty() || !type_list_attr.empty(); }
};

enum class AttrKind { kString, kInt, kFloat, kBool, kType, kShape, kTensor, kFunction };

// One attribute: its kind, and what it may be.
struct AttrDef {
  std::string name;
  AttrKind kind = AttrKind::kInt;
  bool is_list = false;
  std::optional<AttrValue> default_value;  // absent: must be given
  TypeSet allowed_types;                   // kType; empty: any
  std::vector<std::string> allowed_strings;
  std::optional<int64_t> minimum;  // of an int, or of the length of a list

  // "int", "list(type)", … as TensorFlow's OpDef writes it.
  std::string KindName() const;

  // Chained on the factories below.
  AttrDef& Min(int64_t m) {
    minimum = m;
    return *this;
  }
  AttrDef& Default(AttrValue v) {
    default_value = std::move(v);
    return *this;
  }
};

// Factories: a kind, with its default where there is one.
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
// Lists; `{}` is a default of no elements.
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
  int deprecated_at = 0;  // GraphDef version; 0 = not deprecated
  std::string deprecation;
  // No builder function is generated: hand-written sugar stands in for it.
  bool hidden = false;
  ShapeFunction shape;  // always set by registered ops
  GradientFunction gradient;
  // Registered as having no gradient: None for all inputs.
  bool not_differentiable = false;

  const AttrDef* FindAttr(std::string_view attr_name) const;
  int InputIndex(std::string_view arg_name) const;   // position among `inputs`; -1 = none
  int OutputIndex(std::string_view arg_name) const;  // position among `outputs`; -1 = none
};

// The chain behind OP(…).
//
// Types of inputs and outputs are written "T" (attribute), DT_INT32 (fixed), "N*T" (as many as
// attribute N says) or "N*int32"; an attribute of kind list(type) makes a list of mixed types.
class OpDefBuilder {
 public:
  // `file` is the caller's.
  OpDefBuilder(std::string name, std::string doc, const char* file = __builtin_FILE());
  OpDefBuilder& Input(std::string name, std::string type);
  OpDefBuilder& Input(std::string name, DataType type);
  OpDefBuilder& RefInput(std::string name, std::string type);
  OpDefBuilder& RefInput(std::string name, DataType type);
  OpDefBuilder& Output(std::string name, std::string type);
  OpDefBuilder& Output(std::string name, DataType type);
  OpDefBuilder& RefOutput(std::string name, std::string type);
  OpDefBuilder& RefOutput(std::string name, DataType type);
  OpDefBuilder& Attr(std::string name, AttrDef def);
  OpDefBuilder& Shape(ShapeFunction shape);
  OpDefBuilder& Gradient(GradientFunction gradient);
  OpDefBuilder& NotDifferentiable();
  OpDefBuilder& Stateful();
  OpDefBuilder& Commutative();
  OpDefBuilder& Aggregate();
  OpDefBuilder& AllowsUninitializedInput();
  OpDefBuilder& DistributedCommunication();
  OpDefBuilder& Deprecated(int version, std::string explanation);
  OpDefBuilder& Hidden();
  // Adds what `mixin`, a function over OpDefBuilder&, declares: inputs, outputs, attributes and
  // traits that several ops share. They take the place of this call in the order of arguments.
  template <typename Mixin>
  OpDefBuilder& With(const Mixin& mixin) {
    mixin(*this);
    return *this;
  }

  const OpDef& def() const { return def_; }

 private:
  OpDef def_;
};

// The ops that this program knows. A linked definition registers itself before main.
class OpRegistry {
 public:
  static OpRegistry& Global();
  // A second op of the same name is kept out and reported by `status`.
  void Add(OpDef def);
  // Null when unknown.
  const OpDef* Find(std::string_view name) const;
  // NOT_FOUND with TensorFlow's text, and the library to link when it is known.
  absl::StatusOr<const OpDef*> Lookup(std::string_view name) const;
  std::vector<const OpDef*> All() const;  // by name
  absl::Status status() const { return status_; }

 private:
  std::map<std::string, OpDef, std::less<>> ops_;
  absl::Status status_;
};

struct OpRegistrar {
  OpRegistrar(const OpDefBuilder& builder);  // NOLINT: the end of an OP chain
};

// Definitions alone (for the builder generator) are compiled without gradients, because gradients
// use the builders that it generates.
#ifdef SLUICE_DEFINITIONS_ONLY
#define GRADIENT(...)
#else
#define GRADIENT(...) .Gradient(__VA_ARGS__)
#endif

#define OP(name, doc) \
  static const ::sluice::OpRegistrar sluice_op_##name = ::sluice::OpDefBuilder(#name, doc)

}  // namespace sluice

#endif  // SLUICE_GRAPH_OP_OP_DEF_H_

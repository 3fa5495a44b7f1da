#include "graph/op/op_def.h"

#include <unistd.h>

#include "absl/strings/strip.h"
#include "graph/status.h"
#include "graph/strings.h"

namespace sluice {

// The library that declares an op, such as "//ops/image". //ops/builders:libraries, which is linked
// with every family of ops, defines the function.
[[gnu::weak]] std::string LibraryOfOp(std::string_view op);

namespace {

AttrDef MakeAttr(AttrKind kind, bool is_list) {
  AttrDef def;
  def.kind = kind;
  def.is_list = is_list;
  return def;
}
AttrDef MakeAttr(AttrKind kind, bool is_list, AttrValue default_value) {
  AttrDef def = MakeAttr(kind, is_list);
  def.default_value = std::move(default_value);
  return def;
}

// ResolveTypeLists finds out later whether a name is an attribute of kind list(type): that one may
// be declared after this argument.
ArgDef MakeArg(std::string name, const ArgType& type, bool is_ref) {
  std::string_view spec = type.spec;
  ArgDef arg;
  arg.name = std::move(name);
  arg.is_ref = is_ref;
  if (size_t star = spec.find('*'); star != spec.npos) {
    arg.number_attr = std::string(spec.substr(0, star));
    spec.remove_prefix(star + 1);
  }
  const DataType fixed = DataTypeFromName(spec);
  if (fixed != DT_INVALID) {
    arg.type = fixed;
  } else {
    arg.type_attr = std::string(spec);
  }
  return arg;
}

int IndexOf(const std::vector<ArgDef>& args, std::string_view name) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

void ResolveTypeLists(const OpDef& def, std::vector<ArgDef>& args) {
  for (ArgDef& arg : args) {
    const AttrDef* attr = def.FindAttr(arg.type_attr);
    if (attr != nullptr && attr->is_list) std::swap(arg.type_list_attr, arg.type_attr);
  }
}

absl::Status CheckArgs(const OpDef& def, const std::vector<ArgDef>& args) {
  for (const ArgDef& arg : args) {
    for (const std::string& used : {arg.type_attr, arg.type_list_attr, arg.number_attr}) {
      if (!used.empty() && def.FindAttr(used) == nullptr) {
        return absl::InternalError(
            StrCat("op ", def.name, ": '", arg.name, "' uses undeclared attr '", used, "'"));
      }
    }
  }
  return absl::OkStatus();
}

Impurity ImpurityOf(const OpDef& def) {
  if (def.is_stateful) return Impurity::kState;
  for (const AttrDef& attr : def.attrs) {
    if (attr.kind == AttrKind::kFunction) return Impurity::kCallsFunction;
  }
  switch (def.traits.role) {
    case OpRole::kKernel:
    case OpRole::kConstant:
    case OpRole::kPass:
    case OpRole::kSend:
    case OpRole::kReceive:
      return Impurity::kNone;
    case OpRole::kPlaceholder:
    case OpRole::kFeed:
    case OpRole::kFetch:
      return Impurity::kPlaceholder;
    default:
      return Impurity::kControlFlow;
  }
}

// Whether nodes of the role pass input 0 on as it is.
bool PassesOn(OpRole role) {
  switch (role) {
    case OpRole::kPass:
    case OpRole::kSwitch:
    case OpRole::kMerge:
    case OpRole::kEnter:
    case OpRole::kExit:
    case OpRole::kNextIteration:
      return true;
    default:
      return false;
  }
}

// Sets the traits that follow from the rest of the declaration.
void DeriveTraits(OpDef& def) {
  OpTraits& traits = def.traits;
  if (traits.impurity == Impurity::kNone) traits.impurity = ImpurityOf(def);
  if (PassesOn(traits.role)) traits.variable_use = VariableUse::kForwards;
  if (traits.elementwise != ElementwiseInputs::kNone) {
    traits.recompute_cost = RecomputeCost::kElements;
  }
}

}  // namespace

std::string AttrDef::KindName() const {
  static constexpr const char* kNames[] = {"string", "int",   "float",  "bool",
                                           "type",   "shape", "tensor", "func"};
  const char* name = kNames[static_cast<int>(kind)];
  return is_list ? StrCat("list(", name, ")") : name;
}

AttrDef TypeAttr(TypeSet allowed) {
  AttrDef def = MakeAttr(AttrKind::kType, false);
  def.allowed_types = allowed;
  return def;
}
AttrDef TypeAttr(TypeSet allowed, DataType default_value) {
  return TypeAttr(allowed).Default(default_value);
}
AttrDef IntAttr() { return MakeAttr(AttrKind::kInt, false); }
AttrDef IntAttr(int64_t v) { return MakeAttr(AttrKind::kInt, false, v); }
AttrDef FloatAttr() { return MakeAttr(AttrKind::kFloat, false); }
AttrDef FloatAttr(float v) { return MakeAttr(AttrKind::kFloat, false, v); }
AttrDef BoolAttr() { return MakeAttr(AttrKind::kBool, false); }
AttrDef BoolAttr(bool v) { return MakeAttr(AttrKind::kBool, false, v); }
AttrDef StringAttr() { return MakeAttr(AttrKind::kString, false); }
AttrDef StringAttr(std::string v) { return MakeAttr(AttrKind::kString, false, std::move(v)); }
AttrDef OneOf(std::vector<std::string> allowed) {
  AttrDef def = StringAttr();
  def.allowed_strings = std::move(allowed);
  return def;
}
AttrDef OneOf(std::vector<std::string> allowed, std::string v) {
  return OneOf(std::move(allowed)).Default(std::move(v));
}
AttrDef ShapeAttr() { return MakeAttr(AttrKind::kShape, false); }
AttrDef ShapeAttr(PartialShape v) { return MakeAttr(AttrKind::kShape, false, std::move(v)); }
AttrDef TensorAttr() { return MakeAttr(AttrKind::kTensor, false); }
AttrDef FunctionAttrDef() { return MakeAttr(AttrKind::kFunction, false); }
AttrDef TypeListAttr(TypeSet allowed) {
  AttrDef def = MakeAttr(AttrKind::kType, true);
  def.allowed_types = allowed;
  return def;
}
AttrDef TypeListAttr(TypeSet allowed, std::vector<DataType> v) {
  return TypeListAttr(allowed).Default(std::move(v));
}
AttrDef IntListAttr() { return MakeAttr(AttrKind::kInt, true); }
AttrDef IntListAttr(std::vector<int64_t> v) { return MakeAttr(AttrKind::kInt, true, std::move(v)); }
AttrDef FloatListAttr() { return MakeAttr(AttrKind::kFloat, true); }
AttrDef FloatListAttr(std::vector<float> v) {
  return MakeAttr(AttrKind::kFloat, true, std::move(v));
}
AttrDef BoolListAttr() { return MakeAttr(AttrKind::kBool, true); }
AttrDef BoolListAttr(std::vector<bool> v) { return MakeAttr(AttrKind::kBool, true, std::move(v)); }
AttrDef StringListAttr() { return MakeAttr(AttrKind::kString, true); }
AttrDef StringListAttr(std::vector<std::string> v) {
  return MakeAttr(AttrKind::kString, true, std::move(v));
}
AttrDef ShapeListAttr() { return MakeAttr(AttrKind::kShape, true); }
AttrDef ShapeListAttr(std::vector<PartialShape> v) {
  return MakeAttr(AttrKind::kShape, true, std::move(v));
}
AttrDef TensorListAttr() { return MakeAttr(AttrKind::kTensor, true); }
AttrDef FunctionListAttr() { return MakeAttr(AttrKind::kFunction, true); }

const AttrDef* OpDef::FindAttr(std::string_view attr_name) const {
  for (const AttrDef& attr : attrs) {
    if (attr.name == attr_name) return &attr;
  }
  return nullptr;
}
int OpDef::InputIndex(std::string_view arg_name) const { return IndexOf(inputs, arg_name); }
int OpDef::OutputIndex(std::string_view arg_name) const { return IndexOf(outputs, arg_name); }

OpDefBuilder::OpDefBuilder(std::string name, std::string doc, const char* file) {
  def_.name = std::move(name);
  def_.doc = std::move(doc);
  def_.file = std::string(absl::StripPrefix(file, "./"));
}
OpDefBuilder& OpDefBuilder::Input(std::string name, const ArgType& type) {
  def_.inputs.push_back(MakeArg(std::move(name), type, false));
  return *this;
}
OpDefBuilder& OpDefBuilder::RefInput(std::string name, const ArgType& type) {
  def_.inputs.push_back(MakeArg(std::move(name), type, true));
  return *this;
}
OpDefBuilder& OpDefBuilder::Output(std::string name, const ArgType& type) {
  def_.outputs.push_back(MakeArg(std::move(name), type, false));
  return *this;
}
OpDefBuilder& OpDefBuilder::RefOutput(std::string name, const ArgType& type) {
  def_.outputs.push_back(MakeArg(std::move(name), type, true));
  return *this;
}
OpDefBuilder& OpDefBuilder::Attr(std::string name, AttrDef def) {
  def.name = std::move(name);
  def_.attrs.push_back(std::move(def));
  return *this;
}
OpDefBuilder& OpDefBuilder::Shape(ShapeFunction shape) {
  def_.shape = std::move(shape);
  return *this;
}
OpDefBuilder& OpDefBuilder::Gradient(GradientFunction gradient) {
  def_.gradient = std::move(gradient);
  return *this;
}
OpDefBuilder& OpDefBuilder::Deprecated(int version, std::string explanation) {
  def_.deprecated_at = version;
  def_.deprecation = std::move(explanation);
  return *this;
}

OpRegistry& OpRegistry::Global() {
  static OpRegistry* registry = new OpRegistry;  // used by static initialisers and destructors
  return *registry;
}

void OpRegistry::Add(OpDef def) {
  ResolveTypeLists(def, def.inputs);
  ResolveTypeLists(def, def.outputs);
  absl::Status checked = CheckArgs(def, def.inputs);
  checked.Update(CheckArgs(def, def.outputs));
  if (!def.shape) {
    checked.Update(absl::InternalError(StrCat("op ", def.name, " has no shape function")));
  }
  if (ops_.contains(def.name)) {
    checked.Update(absl::AlreadyExistsError(StrCat("op ", def.name, " is declared twice")));
  }
  DeriveTraits(def);
  status_.Update(checked);
  if (checked.ok()) ops_.emplace(def.name, std::move(def));
}

const OpDef* OpRegistry::Find(std::string_view name) const {
  auto it = ops_.find(name);
  return it == ops_.end() ? nullptr : &it->second;
}

absl::StatusOr<const OpDef*> OpRegistry::Lookup(std::string_view name) const {
  if (const OpDef* def = Find(name)) return def;
  char host[256] = "unknown";
  gethostname(host, sizeof(host) - 1);
  const std::string library = LibraryOfOp ? LibraryOfOp(name) : "";
  const std::string hint =
      library.empty()
          ? ". Make sure the library that defines it is linked (//ops/all has every op; a static "
            "library needs alwayslink)."
          : StrCat(": it is in ", library, ", which is not linked");
  return absl::NotFoundError(
      StrCat("Op type not registered '", name, "' in binary running on ", host, hint));
}

std::vector<const OpDef*> OpRegistry::All() const {
  std::vector<const OpDef*> all;
  for (const auto& [name, def] : ops_) all.push_back(&def);
  return all;
}

const OpTraits& TraitsOfOp(std::string_view op) {
  static constexpr OpTraits kNone;
  const OpDef* def = OpRegistry::Global().Find(op);
  return def == nullptr ? kNone : def->traits;
}

OpRegistrar::OpRegistrar(const OpDefBuilder& builder) { OpRegistry::Global().Add(builder.def()); }

}  // namespace sluice

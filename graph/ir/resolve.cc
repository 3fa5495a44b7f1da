// Graph::Resolve: checks the specification of a node against the declaration of its op.
#include <algorithm>

#include "graph/ir/graph.h"
#include "graph/ir/names.h"
#include "graph/ir/unregistered_op.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr int64_t kMaxArgumentLength = 1 << 20;  // tensors in one list argument

// AttrValue's alternatives stand in the order of AttrKind, first the scalars and then the lists.
constexpr size_t kFirstScalar = 1, kFirstList = 10;
static_assert(
    std::is_same_v<std::variant_alternative_t<
                       kFirstScalar + static_cast<size_t>(AttrKind::kFunction), AttrValue>,
                   FunctionAttr>);
static_assert(std::is_same_v<std::variant_alternative_t<
                                 kFirstList + static_cast<size_t>(AttrKind::kFunction), AttrValue>,
                             std::vector<FunctionAttr>>);

bool KindMatches(const AttrDef& def, const AttrValue& value) {
  return value.index() == (def.is_list ? kFirstList : kFirstScalar) + static_cast<size_t>(def.kind);
}

// An empty list without a kind (see AttrValue) becomes one of the declared kind.
void AdoptEmptyList(const AttrDef& def, AttrValue& value) {
  const auto* strings = std::get_if<std::vector<std::string>>(&value);
  if (!def.is_list || strings == nullptr || !strings->empty()) return;
  static const AttrValue* empty_lists = new AttrValue[]{
      std::vector<std::string>(), std::vector<int64_t>(),     std::vector<float>(),
      std::vector<bool>(),        std::vector<DataType>(),    std::vector<PartialShape>(),
      std::vector<Tensor>(),      std::vector<FunctionAttr>()};
  value = empty_lists[static_cast<size_t>(def.kind)];
}

absl::Status CheckType(const AttrDef& def, DataType type) {
  if (def.allowed_types.empty() || def.allowed_types.contains(type)) return absl::OkStatus();
  return InvalidArgument("Value for attr '", def.name, "' of ", DataTypeName(type),
                         " is not in the list of allowed values: ", def.allowed_types.ToString());
}

absl::Status CheckString(const AttrDef& def, const std::string& value) {
  const auto& allowed = def.allowed_strings;
  if (allowed.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end()) {
    return absl::OkStatus();
  }
  std::string list;
  for (const std::string& a : allowed) StrAppend(&list, list.empty() ? "" : ", ", "\"", a, "\"");
  return InvalidArgument("Value for attr '", def.name, "' of \"", value,
                         "\" is not in the list of allowed values: ", list);
}

absl::Status CheckMinimum(const AttrDef& def, int64_t value) {
  if (!def.minimum || value >= *def.minimum) return absl::OkStatus();
  return def.is_list ? InvalidArgument("Length for attr '", def.name, "' of ", value,
                                       " must be at least minimum ", *def.minimum)
                     : InvalidArgument("Value for attr '", def.name, "' of ", value,
                                       " must be at least minimum ", *def.minimum);
}

int64_t ListLength(const AttrValue& value) {
  return std::visit(
      [](const auto& v) -> int64_t {
        using T = std::decay_t<decltype(v)>;
        if constexpr (requires { v.size(); } && !std::is_same_v<T, std::string>) {
          return static_cast<int64_t>(v.size());
        } else {
          return 0;
        }
      },
      value);
}

absl::Status CheckAttr(const AttrDef& def, const AttrValue& value) {
  SLUICE_INVALID_IF(!KindMatches(def, value), "AttrValue had value with unexpected type for attr '",
                    def.name, "': expected ", def.KindName(), ", got ", AttrToString(value));
  if (const auto* type = std::get_if<DataType>(&value)) {
    SLUICE_RETURN_IF_ERROR(CheckType(def, *type));
  }
  if (const auto* types = std::get_if<std::vector<DataType>>(&value)) {
    for (DataType t : *types) SLUICE_RETURN_IF_ERROR(CheckType(def, t));
  }
  if (const auto* s = std::get_if<std::string>(&value)) {
    SLUICE_RETURN_IF_ERROR(CheckString(def, *s));
  }
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& s : *list) SLUICE_RETURN_IF_ERROR(CheckString(def, s));
  }
  if (const auto* i = std::get_if<int64_t>(&value)) return CheckMinimum(def, *i);
  if (def.is_list && def.minimum) return CheckMinimum(def, ListLength(value));
  return absl::OkStatus();
}

absl::Status FillAndCheckAttrs(const OpDef& op, NodeSpec& spec) {
  for (const AttrDef& def : op.attrs) {
    auto it = spec.attrs.find(def.name);
    if (it == spec.attrs.end()) {
      SLUICE_INVALID_IF(!def.default_value, "NodeDef missing attr '", def.name,
                        "' from Op<name=", op.name, ">");
      spec.attrs.emplace(def.name, *def.default_value);
      continue;
    }
    AdoptEmptyList(def, it->second);
    SLUICE_RETURN_IF_ERROR(CheckAttr(def, it->second));
  }
  return absl::OkStatus();
}

absl::StatusOr<DataType> TypeOf(const ArgDef& arg, const AttrMap& attrs) {
  DataType type = arg.type;
  if (!arg.type_attr.empty()) {
    const auto* t = FindAttr<DataType>(attrs, arg.type_attr);
    SLUICE_INVALID_IF(t == nullptr, "attr '", arg.type_attr, "' is not a type");
    type = *t;
  }
  SLUICE_INVALID_IF(BaseType(type) == DT_INVALID || !IsValidDataType(type), "argument '", arg.name,
                    "' has invalid type ", static_cast<int>(type));
  return type;
}

absl::StatusOr<int64_t> LengthOf(const ArgDef& arg, const AttrMap& attrs) {
  if (arg.number_attr.empty()) return 1;
  const auto* number = FindAttr<int64_t>(attrs, arg.number_attr);
  SLUICE_INVALID_IF(number == nullptr, "attr '", arg.number_attr, "' is not a number");
  SLUICE_INVALID_IF(*number < 0 || *number > kMaxArgumentLength, "argument '", arg.name, "' has ",
                    *number, " tensors, at most ", kMaxArgumentLength, " are allowed");
  return *number;
}

// Appends the types of one argument to `types`.
template <typename Types>
absl::Status AppendTypes(const ArgDef& arg, const AttrMap& attrs, Types& types) {
  auto add = [&](DataType t) { types.push_back(arg.is_ref ? MakeRefType(t) : t); };
  if (!arg.type_list_attr.empty()) {
    const auto* list = FindAttr<std::vector<DataType>>(attrs, arg.type_list_attr);
    SLUICE_INVALID_IF(list == nullptr, "attr '", arg.type_list_attr, "' is not a list");
    for (DataType t : *list) add(t);
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(const DataType type, TypeOf(arg, attrs));
  SLUICE_ASSIGN_OR_RETURN(const int64_t n, LengthOf(arg, attrs));
  for (int64_t i = 0; i < n; ++i) add(type);
  return absl::OkStatus();
}

template <typename Types, typename Starts>
absl::Status ArgumentTypes(const std::vector<ArgDef>& args, const AttrMap& attrs, Types& types,
                           Starts& starts) {
  for (const ArgDef& arg : args) {
    starts.push_back(static_cast<int>(types.size()));
    SLUICE_RETURN_IF_ERROR(AppendTypes(arg, attrs, types));
  }
  starts.push_back(static_cast<int>(types.size()));
  return absl::OkStatus();
}

absl::Status WrongType(const NodeSpec& spec, size_t i, DataType given, DataType expected) {
  return InvalidArgument("Input ", i, " of node ", spec.name, " was passed ", DataTypeName(given),
                         " from ", spec.inputs[i].name(), " incompatible with expected ",
                         DataTypeName(expected), ".");
}

// An output of an unregistered op has the type that its first user expects.
absl::Status CheckUnregistered(const NodeSpec& spec, size_t i, DataType expected) {
  const Output& in = spec.inputs[i];
  SLUICE_INVALID_IF(in.index >= kMaxUnregisteredOutputs, "Input ", i, " of node ", spec.name,
                    " is ", in.name(), ", but a node whose op is not registered has at most ",
                    kMaxUnregisteredOutputs, " outputs");
  const DataType given = in.index < in.node->num_outputs() ? in.dtype() : DT_INVALID;
  if (given == DT_INVALID || BaseType(given) == BaseType(expected)) return absl::OkStatus();
  return WrongType(spec, i, given, expected);
}

absl::Status CheckInputs(const NodeSpec& spec, absl::Span<const DataType> expected) {
  SLUICE_INVALID_IF(spec.inputs.size() != expected.size(), "expected ", expected.size(),
                    " inputs, got ", spec.inputs.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const Output& in = spec.inputs[i];
    if (!in) {
      if (spec.allow_missing_inputs) continue;
      return InvalidArgument("input ", i, " is missing");
    }
    if (!IsRegistered(*in.node)) {
      SLUICE_RETURN_IF_ERROR(CheckUnregistered(spec, i, expected[i]));
      continue;
    }
    const DataType given = in.dtype();
    if (given == expected[i] || given == MakeRefType(expected[i])) continue;
    return WrongType(spec, i, given, expected[i]);
  }
  return absl::OkStatus();
}

// The type of an input of an unregistered op.
DataType TypeOfInput(const Output& in) {
  return in && in.index < in.node->num_outputs() ? BaseType(in.dtype()) : DT_INVALID;
}

}  // namespace

absl::Status Graph::Resolve(NodeSpec& spec, Node& node) const {
  SLUICE_INVALID_IF(!IsValidNodeName(spec.name, /*allow_internal=*/true), "Node '", spec.name,
                    "': Node name contains invalid characters");
  const OpDef* op = OpRegistry::Global().Find(spec.op);
  if (op == nullptr) {
    auto* unregistered = new OpDef{.name = spec.op, .is_stateful = true};
    unregistered->traits.impurity = Impurity::kState;
    node.def_ = unregistered;  // owned by the node
    for (const Output& in : spec.inputs) node.input_types_.push_back(TypeOfInput(in));
    node.output_types_ = {DT_INVALID};
    return AnnotateAfter(CheckInputs(spec, node.input_types_), AtNode(spec.name));
  }
  node.def_ = op;
  auto resolve = [&]() -> absl::Status {
    SLUICE_RETURN_IF_ERROR(FillAndCheckAttrs(*op, spec));
    SLUICE_RETURN_IF_ERROR(
        ArgumentTypes(op->inputs, spec.attrs, node.input_types_, node.input_starts_));
    SLUICE_RETURN_IF_ERROR(
        ArgumentTypes(op->outputs, spec.attrs, node.output_types_, node.output_starts_));
    return CheckInputs(spec, node.input_types_);
  };
  const absl::Status status = resolve();
  if (status.ok()) return status;
  return AnnotateAfter(status, StrCat("; NodeDef: {{node ", spec.name, "}} = ", spec.op));
}

}  // namespace sluice

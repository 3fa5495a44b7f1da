// Graph::Resolve: holds a node's specification against its op's declaration.
#include <algorithm>

#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr int64_t kMaxArgumentLength = 1 << 20;  // tensors in one list argument

bool IsNameStart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '.'; }
bool IsNameChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
         c == '/' || c == '\\';
}

// [A-Za-z0-9.][A-Za-z0-9_.\-/]*, groups joined by '>'; a leading '_' is for internal graphs.
bool IsValidNodeName(std::string_view name) {
  if (name.empty()) return false;
  bool at_start = true;
  for (char c : name) {
    if (at_start ? !(IsNameStart(c) || c == '_') : !(IsNameChar(c) || c == '>')) return false;
    at_start = c == '>';
  }
  return !at_start;
}

bool KindMatches(const AttrDef& def, const AttrValue& value) {
  switch (def.kind) {
    case AttrKind::kString:
      return def.is_list ? std::holds_alternative<std::vector<std::string>>(value)
                         : std::holds_alternative<std::string>(value);
    case AttrKind::kInt:
      return def.is_list ? std::holds_alternative<std::vector<int64_t>>(value)
                         : std::holds_alternative<int64_t>(value);
    case AttrKind::kFloat:
      return def.is_list ? std::holds_alternative<std::vector<float>>(value)
                         : std::holds_alternative<float>(value);
    case AttrKind::kBool:
      return def.is_list ? std::holds_alternative<std::vector<bool>>(value)
                         : std::holds_alternative<bool>(value);
    case AttrKind::kType:
      return def.is_list ? std::holds_alternative<std::vector<DataType>>(value)
                         : std::holds_alternative<DataType>(value);
    case AttrKind::kShape:
      return def.is_list ? std::holds_alternative<std::vector<PartialShape>>(value)
                         : std::holds_alternative<PartialShape>(value);
    case AttrKind::kTensor:
      return def.is_list ? std::holds_alternative<std::vector<Tensor>>(value)
                         : std::holds_alternative<Tensor>(value);
    case AttrKind::kFunction:
      return def.is_list ? std::holds_alternative<std::vector<FunctionAttr>>(value)
                         : std::holds_alternative<FunctionAttr>(value);
  }
  return false;
}

// A list without elements comes without a kind (see AttrValue).
void AdoptEmptyList(const AttrDef& def, AttrValue& value) {
  const auto* strings = std::get_if<std::vector<std::string>>(&value);
  if (!def.is_list || strings == nullptr || !strings->empty()) return;
  switch (def.kind) {
    case AttrKind::kString:
      return;
    case AttrKind::kInt:
      value = std::vector<int64_t>();
      return;
    case AttrKind::kFloat:
      value = std::vector<float>();
      return;
    case AttrKind::kBool:
      value = std::vector<bool>();
      return;
    case AttrKind::kType:
      value = std::vector<DataType>();
      return;
    case AttrKind::kShape:
      value = std::vector<PartialShape>();
      return;
    case AttrKind::kTensor:
      value = std::vector<Tensor>();
      return;
    case AttrKind::kFunction:
      value = std::vector<FunctionAttr>();
      return;
  }
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
  if (!KindMatches(def, value)) {
    return InvalidArgument("AttrValue had value with unexpected type for attr '", def.name,
                           "': expected ", def.KindName(), ", got ", AttrToString(value));
  }
  if (const auto* type = std::get_if<DataType>(&value))
    SLUICE_RETURN_IF_ERROR(CheckType(def, *type));
  if (const auto* types = std::get_if<std::vector<DataType>>(&value)) {
    for (DataType t : *types) SLUICE_RETURN_IF_ERROR(CheckType(def, t));
  }
  if (const auto* s = std::get_if<std::string>(&value))
    SLUICE_RETURN_IF_ERROR(CheckString(def, *s));
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
      if (!def.default_value) {
        return InvalidArgument("NodeDef missing attr '", def.name, "' from Op<name=", op.name, ">");
      }
      spec.attrs.emplace(def.name, *def.default_value);
      continue;
    }
    AdoptEmptyList(def, it->second);
    SLUICE_RETURN_IF_ERROR(CheckAttr(def, it->second));
  }
  return absl::OkStatus();
}

// Appends the types of one argument to `types`.
template <typename Types>
absl::Status AppendTypes(const ArgDef& arg, const AttrMap& attrs, Types& types) {
  auto add = [&](DataType t) { types.push_back(arg.is_ref ? MakeRefType(t) : t); };
  if (!arg.type_list_attr.empty()) {
    const auto* list = FindAttr<std::vector<DataType>>(attrs, arg.type_list_attr);
    if (list == nullptr) return InvalidArgument("attr '", arg.type_list_attr, "' is not a list");
    for (DataType t : *list) add(t);
    return absl::OkStatus();
  }
  DataType type = arg.type;
  if (!arg.type_attr.empty()) {
    const auto* t = FindAttr<DataType>(attrs, arg.type_attr);
    if (t == nullptr) return InvalidArgument("attr '", arg.type_attr, "' is not a type");
    type = *t;
  }
  if (BaseType(type) == DT_INVALID || !IsValidDataType(type)) {
    return InvalidArgument("argument '", arg.name, "' has invalid type ", static_cast<int>(type));
  }
  int64_t n = 1;
  if (!arg.number_attr.empty()) {
    const auto* number = FindAttr<int64_t>(attrs, arg.number_attr);
    if (number == nullptr) return InvalidArgument("attr '", arg.number_attr, "' is not a number");
    n = *number;
  }
  if (n < 0 || n > kMaxArgumentLength) {
    return InvalidArgument("argument '", arg.name, "' has ", n, " tensors, at most ",
                           kMaxArgumentLength, " are allowed");
  }
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

absl::Status CheckInputs(const NodeSpec& spec, absl::Span<const DataType> expected) {
  if (spec.inputs.size() != expected.size()) {
    return InvalidArgument("expected ", expected.size(), " inputs, got ", spec.inputs.size());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const Output& in = spec.inputs[i];
    if (!in) {
      if (spec.allow_missing_inputs) continue;
      return InvalidArgument("input ", i, " is missing");
    }
    const DataType given = in.dtype();
    if (given == expected[i] || given == MakeRefType(expected[i])) continue;
    return InvalidArgument("Input ", i, " of node ", spec.name, " was passed ", DataTypeName(given),
                           " from ", in.name(), " incompatible with expected ",
                           DataTypeName(expected[i]), ".");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Graph::Resolve(NodeSpec& spec, Node& node) const {
  if (!IsValidNodeName(spec.name)) {
    return InvalidArgument("Node '", spec.name, "': Node name contains invalid characters");
  }
  absl::StatusOr<const OpDef*> op = OpRegistry::Global().Lookup(spec.op);
  if (!op.ok()) return AnnotateAfter(op.status(), StrCat(" [node '", spec.name, "']"));
  node.def_ = *op;
  auto resolve = [&]() -> absl::Status {
    SLUICE_RETURN_IF_ERROR(FillAndCheckAttrs(**op, spec));
    SLUICE_RETURN_IF_ERROR(
        ArgumentTypes((*op)->inputs, spec.attrs, node.input_types_, node.input_starts_));
    SLUICE_RETURN_IF_ERROR(
        ArgumentTypes((*op)->outputs, spec.attrs, node.output_types_, node.output_starts_));
    return CheckInputs(spec, node.input_types_);
  };
  const absl::Status status = resolve();
  if (status.ok()) return status;
  return AnnotateAfter(status, StrCat("; NodeDef: {{node ", spec.name, "}} = ", spec.op));
}

}  // namespace sluice

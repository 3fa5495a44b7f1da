#include "graph/format/attr_value.h"

#include "graph/format/tensor_proto.h"
#include "graph/status.h"

namespace sluice {
namespace {

// What the functions that read one message share: its budget (limits.h) and the allocator of its
// tensors.
struct Means {
  FormatBudget& budget;
  Allocator& memory;
};

absl::StatusOr<AttrValue> FromProto(const pb::AttrValue& proto, const Means& means, int depth);

absl::StatusOr<DataType> TypeFromProto(int type) {
  // A type attribute without a value reads as 0. Whether it is allowed is checked by the op's
  // declaration.
  SLUICE_INVALID_IF(type != 0 && !IsValidDataType(type), "no data type has number ", type);
  return static_cast<DataType>(type);
}

absl::StatusOr<FunctionAttr> FunctionFromProto(const pb::NameAttrList& proto, const Means& means,
                                               int depth) {
  auto function = std::make_shared<FunctionRef>();
  function->name = proto.name();
  for (const auto& [name, value] : proto.attr()) {
    SLUICE_ASSIGN_OR_RETURN(function->attrs[name], FromProto(value, means, depth + 1));
  }
  return FunctionAttr(std::move(function));
}

// Converts the elements of `field` by `convert`, which returns StatusOr<T>.
template <typename T, typename Field, typename Convert>
absl::StatusOr<AttrValue> List(const Field& field, Convert convert) {
  std::vector<T> list;
  list.reserve(field.size());
  for (const auto& element : field) {
    SLUICE_ASSIGN_OR_RETURN(T value, convert(element));
    list.push_back(std::move(value));
  }
  return AttrValue(std::move(list));
}

template <typename T, typename Field>
AttrValue List(const Field& field) {
  return AttrValue(std::vector<T>(field.begin(), field.end()));
}

absl::StatusOr<AttrValue> ListFromProto(const pb::AttrValue::ListValue& list, const Means& means,
                                        int depth) {
  const int64_t sizes[] = {list.s_size(),      list.i_size(),    list.f_size(),
                           list.b_size(),      list.type_size(), list.shape_size(),
                           list.tensor_size(), list.func_size()};
  int kinds = 0;
  for (int64_t n : sizes) {
    kinds += n > 0;
    SLUICE_INVALID_IF(n > means.budget.limits.max_list_length, "list of ", n, " elements, at most ",
                      means.budget.limits.max_list_length, " are allowed");
  }
  SLUICE_INVALID_IF(kinds > 1, "list with elements of ", kinds, " kinds");
  if (list.i_size() > 0) return List<int64_t>(list.i());
  if (list.f_size() > 0) return List<float>(list.f());
  if (list.b_size() > 0) return List<bool>(list.b());
  if (list.type_size() > 0) return List<DataType>(list.type(), TypeFromProto);
  if (list.shape_size() > 0) return List<PartialShape>(list.shape(), ShapeFromProto);
  if (list.tensor_size() > 0) {
    return List<Tensor>(list.tensor(), [&](const pb::TensorProto& t) {
      return TensorFromProto(t, means.budget, means.memory);
    });
  }
  if (list.func_size() > 0) {
    return List<FunctionAttr>(
        list.func(), [&](const pb::NameAttrList& f) { return FunctionFromProto(f, means, depth); });
  }
  return List<std::string>(list.s());
}

template <typename T>
absl::StatusOr<AttrValue> Lift(absl::StatusOr<T> value) {
  if (!value.ok()) return value.status();
  return AttrValue(*std::move(value));
}

absl::StatusOr<AttrValue> FromProto(const pb::AttrValue& proto, const Means& means, int depth) {
  const int max_depth = means.budget.limits.max_attr_depth;
  SLUICE_INVALID_IF(depth > max_depth, "attributes nested deeper than ", max_depth);
  switch (proto.value_case()) {
    case pb::AttrValue::kS:
      return AttrValue(proto.s());
    case pb::AttrValue::kI:
      return AttrValue(static_cast<int64_t>(proto.i()));
    case pb::AttrValue::kF:
      return AttrValue(proto.f());
    case pb::AttrValue::kB:
      return AttrValue(proto.b());
    case pb::AttrValue::kType:
      return Lift(TypeFromProto(proto.type()));
    case pb::AttrValue::kShape:
      return Lift(ShapeFromProto(proto.shape()));
    case pb::AttrValue::kTensor:
      return Lift(TensorFromProto(proto.tensor(), means.budget, means.memory));
    case pb::AttrValue::kFunc:
      return Lift(FunctionFromProto(proto.func(), means, depth));
    case pb::AttrValue::kPlaceholder:
      return AttrValue(AttrPlaceholder{proto.placeholder()});
    case pb::AttrValue::kList:
      return ListFromProto(proto.list(), means, depth);
    case pb::AttrValue::VALUE_NOT_SET:
      return AttrValue();
  }
  return InvalidArgument("attribute of unknown kind ", static_cast<int>(proto.value_case()));
}

absl::Status FunctionToProto(const FunctionAttr& function, pb::NameAttrList* proto) {
  if (function == nullptr) return absl::OkStatus();
  proto->set_name(function->name);
  for (const auto& [name, value] : function->attrs) {
    SLUICE_RETURN_IF_ERROR(AttrToProto(value, &(*proto->mutable_attr())[name]));
  }
  return absl::OkStatus();
}

pb::DataType ToProto(DataType t) { return static_cast<pb::DataType>(t); }

// Writes a value of any kind.
struct Writer {
  pb::AttrValue* proto;
  pb::AttrValue::ListValue* list() const { return proto->mutable_list(); }

  absl::Status operator()(std::monostate) const { return absl::OkStatus(); }
  absl::Status operator()(const std::string& v) const { return proto->set_s(v), absl::OkStatus(); }
  absl::Status operator()(int64_t v) const { return proto->set_i(v), absl::OkStatus(); }
  absl::Status operator()(float v) const { return proto->set_f(v), absl::OkStatus(); }
  absl::Status operator()(bool v) const { return proto->set_b(v), absl::OkStatus(); }
  absl::Status operator()(DataType v) const {
    return proto->set_type(ToProto(v)), absl::OkStatus();
  }
  absl::Status operator()(const PartialShape& v) const {
    return ShapeToProto(v, proto->mutable_shape()), absl::OkStatus();
  }
  absl::Status operator()(const Tensor& v) const {
    return TensorToProto(v, proto->mutable_tensor());
  }
  absl::Status operator()(const FunctionAttr& v) const {
    return FunctionToProto(v, proto->mutable_func());
  }
  absl::Status operator()(const AttrPlaceholder& v) const {
    return proto->set_placeholder(v.name), absl::OkStatus();
  }
  absl::Status operator()(const std::vector<std::string>& v) const {
    list()->mutable_s()->Assign(v.begin(), v.end());
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<int64_t>& v) const {
    list()->mutable_i()->Assign(v.begin(), v.end());
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<float>& v) const {
    list()->mutable_f()->Assign(v.begin(), v.end());
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<bool>& v) const {
    list();
    for (bool b : v) list()->add_b(b);
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<DataType>& v) const {
    list();
    for (DataType t : v) list()->add_type(ToProto(t));
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<PartialShape>& v) const {
    list();
    for (const PartialShape& s : v) ShapeToProto(s, list()->add_shape());
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<Tensor>& v) const {
    list();
    for (const Tensor& t : v) SLUICE_RETURN_IF_ERROR(TensorToProto(t, list()->add_tensor()));
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<FunctionAttr>& v) const {
    list();
    for (const FunctionAttr& f : v) SLUICE_RETURN_IF_ERROR(FunctionToProto(f, list()->add_func()));
    return absl::OkStatus();
  }
};

void ArgToProto(const ArgDef& arg, pb::OpDef::ArgDef* proto) {
  proto->set_name(arg.name);
  proto->set_type(ToProto(arg.type));
  proto->set_type_attr(arg.type_attr);
  proto->set_number_attr(arg.number_attr);
  proto->set_type_list_attr(arg.type_list_attr);
  proto->set_is_ref(arg.is_ref);
}

void AttrDefToProto(const AttrDef& def, pb::OpDef::AttrDef* proto) {
  proto->set_name(def.name);
  proto->set_type(def.KindName());
  // Default values are constants of this program, which can always be written.
  if (def.default_value) {
    AttrToProto(*def.default_value, proto->mutable_default_value()).IgnoreError();
  }
  if (def.minimum) {
    proto->set_has_minimum(true);
    proto->set_minimum(*def.minimum);
  }
  for (DataType t : def.allowed_types.list()) {
    proto->mutable_allowed_values()->mutable_list()->add_type(ToProto(t));
  }
  for (const std::string& s : def.allowed_strings) {
    proto->mutable_allowed_values()->mutable_list()->add_s(s);
  }
}

}  // namespace

absl::StatusOr<AttrValue> AttrFromProto(const pb::AttrValue& proto, FormatBudget& budget,
                                        Allocator& memory) {
  return FromProto(proto, {budget, memory}, 0);
}

absl::Status AttrToProto(const AttrValue& value, pb::AttrValue* proto) {
  proto->Clear();
  return std::visit(Writer{proto}, value);
}

void OpDefToProto(const OpDef& def, pb::OpDef* proto) {
  proto->Clear();
  proto->set_name(def.name);
  proto->set_summary(def.doc);
  for (const ArgDef& arg : def.inputs) ArgToProto(arg, proto->add_input_arg());
  for (const ArgDef& arg : def.outputs) ArgToProto(arg, proto->add_output_arg());
  for (const AttrDef& attr : def.attrs) AttrDefToProto(attr, proto->add_attr());
  proto->set_is_stateful(def.is_stateful);
  proto->set_is_commutative(def.is_commutative);
  proto->set_is_aggregate(def.is_aggregate);
  proto->set_allows_uninitialized_input(def.allows_uninitialized_input);
  proto->set_is_distributed_communication(def.is_distributed_communication);
  if (def.deprecated_at != 0) {
    proto->mutable_deprecation()->set_version(def.deprecated_at);
    proto->mutable_deprecation()->set_explanation(def.deprecation);
  }
}

}  // namespace sluice

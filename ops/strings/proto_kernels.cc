// Kernels of DecodeProtoV2 and EncodeProto.
#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "executor/kernel/context.h"
#include "google/protobuf/descriptor.pb.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/strings/proto_type.h"
#include "ops/strings/proto_wire.h"

namespace sluice {
namespace {

using Field = ProtoType::Field;

absl::StatusOr<std::shared_ptr<const ProtoType>> TypeOf(const KernelInit& init) {
  absl::StatusOr<std::shared_ptr<const ProtoType>> type = ProtoType::Make(
      init.attr<std::string>("descriptor_source"), init.attr<std::string>("message_type"),
      init.AttrOr<std::vector<std::string>>("field_names", {}));
  return type.ok()
             ? type
             : Annotate(type.status(), StrCat(init.node().op(), " node '", init.name(), "': "));
}

// Returns the integer or float in the lowest bits of `bits`, as type T.
template <typename T>
T NumberOf(const Field& field, uint64_t bits) {
  switch (field.type()) {
    case Field::TYPE_DOUBLE:
      return static_cast<T>(std::bit_cast<double>(bits));
    case Field::TYPE_FLOAT:
      return static_cast<T>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    case Field::TYPE_BOOL:
      return static_cast<T>(bits != 0);
    case Field::TYPE_UINT64:
    case Field::TYPE_FIXED64:
      return static_cast<T>(bits);
    case Field::TYPE_UINT32:
    case Field::TYPE_FIXED32:
      return static_cast<T>(static_cast<uint32_t>(bits));
    case Field::TYPE_INT64:
    case Field::TYPE_SFIXED64:
      return static_cast<T>(static_cast<int64_t>(bits));
    case Field::TYPE_SINT64:
      return static_cast<T>(static_cast<int64_t>((bits >> 1) ^ (~(bits & 1) + 1)));
    case Field::TYPE_SINT32: {
      const auto low = static_cast<uint32_t>(bits);
      return static_cast<T>(static_cast<int32_t>((low >> 1) ^ (~(low & 1) + 1)));
    }
    default:
      return static_cast<T>(static_cast<int32_t>(bits));
  }
}

void SetNumber(const Field& field, uint64_t bits, Tensor& to, int64_t at) {
  switch (to.dtype()) {
    case DT_DOUBLE:
      to.data<double>()[at] = NumberOf<double>(field, bits);
      break;
    case DT_FLOAT:
      to.data<float>()[at] = NumberOf<float>(field, bits);
      break;
    case DT_BOOL:
      to.data<bool>()[at] = NumberOf<bool>(field, bits);
      break;
    case DT_INT64:
      to.data<int64_t>()[at] = NumberOf<int64_t>(field, bits);
      break;
    case DT_UINT64:
      to.data<uint64_t>()[at] = NumberOf<uint64_t>(field, bits);
      break;
    case DT_UINT32:
      to.data<uint32_t>()[at] = NumberOf<uint32_t>(field, bits);
      break;
    default:
      to.data<int32_t>()[at] = NumberOf<int32_t>(field, bits);
  }
}

void SetDefault(const Field& field, Tensor& to, int64_t at) {
  switch (field.cpp_type()) {
    case Field::CPPTYPE_STRING:
      to.data<std::string>()[at] = field.default_value_string();
      break;
    case Field::CPPTYPE_MESSAGE:
      to.data<std::string>()[at].clear();
      break;
    case Field::CPPTYPE_DOUBLE:
      to.data<double>()[at] = field.default_value_double();
      break;
    case Field::CPPTYPE_FLOAT:
      SetNumber(field, std::bit_cast<uint32_t>(field.default_value_float()), to, at);
      break;
    case Field::CPPTYPE_BOOL:
      to.data<bool>()[at] = field.default_value_bool();
      break;
    case Field::CPPTYPE_ENUM:
      to.data<int32_t>()[at] = field.default_value_enum()->number();
      break;
    case Field::CPPTYPE_INT64:
      to.data<int64_t>()[at] = field.default_value_int64();
      break;
    case Field::CPPTYPE_UINT64:
      to.data<uint64_t>()[at] = field.default_value_uint64();
      break;
    case Field::CPPTYPE_UINT32:
      SetNumber(field, field.default_value_uint32(), to, at);
      break;
    case Field::CPPTYPE_INT32: {
      const int32_t value = field.default_value_int32();
      if (to.dtype() == DT_INT64) {
        to.data<int64_t>()[at] = value;
      } else {
        to.data<int32_t>()[at] = value;
      }
    }
  }
}

bool ReadNumber(WireReader& reader, WireType type, uint64_t* bits) {
  return type == WireType::kVarint ? reader.ReadVarint(bits)
                                   : reader.ReadFixed(type == WireType::kFixed64 ? 8 : 4, bits);
}

// Calls take(field, number) or take(field, bytes) for each value of the fields in `type`. `field`
// is a position in type.fields(). Returns null, or a description of what is wrong with the bytes.
template <typename Take>
const char* ForValues(const ProtoType& type, std::string_view message, const Take& take) {
  WireReader reader(message);
  while (!reader.is_at_end()) {
    uint32_t number;
    WireType wire;
    if (!reader.ReadTag(&number, &wire)) return "Failed skipping unrequested field";
    const auto at = std::find_if(type.order().begin(), type.order().end(), [&](int i) {
      return static_cast<uint32_t>(type.fields()[i]->number()) == number;
    });
    if (at == type.order().end()) {
      if (!reader.Skip(number, wire)) return "Failed skipping unrequested field";
      continue;
    }
    const WireType expected = WireTypeOf(*type.fields()[*at]);
    const bool is_number = expected != WireType::kBytes && expected != WireType::kStartGroup;
    std::string_view bytes;
    uint64_t bits;
    if (wire == expected && is_number) {
      if (!ReadNumber(reader, wire, &bits)) return "Failed skipping field when counting";
      take(*at, bits);
    } else if (wire == expected) {
      const bool is_read =
          wire == WireType::kBytes ? reader.ReadBytes(&bytes) : reader.ReadGroup(number, &bytes);
      if (!is_read) return "Failed skipping field when counting";
      take(*at, bytes);
    } else if (wire == WireType::kBytes && is_number) {
      if (!reader.ReadBytes(&bytes)) return "Skipping packed field failed";
      for (WireReader packed(bytes); !packed.is_at_end();) {
        if (!ReadNumber(packed, expected, &bits)) {
          return expected == WireType::kVarint ? "Corrupt packed varint"
                                               : "Illegal data length for packed fixed-size type";
        }
        take(*at, bits);
      }
    } else if (!reader.Skip(number, wire)) {
      return "Failed skipping malformed field";
    }
  }
  return nullptr;
}

class DecodeProtoKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(auto type, TypeOf(init));
    const auto types = init.AttrOr<std::vector<DataType>>("output_types", {});
    SLUICE_INVALID_IF(types.size() != type->fields().size(), "DecodeProtoV2 node '", init.name(),
                      "': field_names and output_types attributes must have the same length");
    for (size_t i = 0; i < types.size(); ++i) {
      SLUICE_INVALID_IF(!HoldsField(types[i], *type->fields()[i]), "DecodeProtoV2 node '",
                        init.name(), "': Unexpected output type for ",
                        type->fields()[i]->full_name(), ": ", type->fields()[i]->type_name(),
                        " to ", DataTypeName(types[i]));
    }
    const std::string& format = init.attr<std::string>("message_format");
    SLUICE_INVALID_IF(format != "binary" && format != "text", "DecodeProtoV2 node '", init.name(),
                      "': format must be one of binary or text");
    return std::unique_ptr<Kernel>(
        new DecodeProtoKernel(std::move(type), format == "text", init.attr<bool>("sanitize")));
  }

  absl::Status Compute(KernelContext& c) override {
    const Tensor& bytes = c.input(0);
    SLUICE_INVALID_IF(bytes.num_elements() == 0, "DecodeProtoV2 node '", c.name(),
                      "': Bufs argument must contain at least one value");
    std::vector<std::string> converted;
    for (int64_t i = 0; (is_text_ || sanitizes_) && i < bytes.num_elements(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(std::string made,
                              type_->Reserialize(bytes.data<std::string>()[i], is_text_));
      converted.push_back(std::move(made));
    }
    const std::string* messages = converted.empty() ? bytes.data<std::string>() : converted.data();
    const int64_t n = bytes.num_elements();
    const auto fields = static_cast<int64_t>(type_->fields().size());
    TensorShape shape = bytes.shape();
    shape.AddDim(fields);
    SLUICE_ASSIGN_OR_RETURN(Tensor * sizes, c.AllocateOutput(0, shape));
    std::vector<int64_t> most(static_cast<size_t>(fields), 1);
    int32_t* counts = sizes->data<int32_t>();
    for (int64_t i = 0; i < n; ++i, counts += fields) {
      std::fill_n(counts, fields, 0);
      const char* wrong = ForValues(*type_, messages[i], [&](int field, const auto&) {
        counts[field] = type_->fields()[field]->is_repeated() ? counts[field] + 1 : 1;
      });
      if (wrong != nullptr) {
        return absl::DataLossError(StrCat("DecodeProtoV2 node '", c.name(), "': message ", i,
                                          " is not a valid ", type_->descriptor().full_name(), ": ",
                                          wrong));
      }
      for (int64_t f = 0; f < fields; ++f) most[f] = std::max<int64_t>(most[f], counts[f]);
    }
    std::vector<Tensor*> values;
    for (int64_t f = 0; f < fields; ++f) {
      shape = bytes.shape();
      shape.AddDim(most[f]);
      SLUICE_ASSIGN_OR_RETURN(Tensor * value, c.AllocateOutput(static_cast<int>(1 + f), shape));
      values.push_back(value);
    }
    for (int64_t i = 0; i < n; ++i) Decode(messages[i], i, most, values);
    return absl::OkStatus();
  }

 private:
  DecodeProtoKernel(std::shared_ptr<const ProtoType> type, bool is_text, bool sanitizes)
      : type_(std::move(type)), is_text_(is_text), sanitizes_(sanitizes) {}

  // Writes row `row` of the values. The message must be valid.
  void Decode(const std::string& message, int64_t row, const std::vector<int64_t>& most,
              const std::vector<Tensor*>& values) const {
    std::vector<int64_t> counts(most.size(), 0);
    ForValues(*type_, message, [&](int f, const auto& value) {
      const Field& field = *type_->fields()[f];
      const int64_t at = row * most[f] + (field.is_repeated() ? counts[f] : 0);
      counts[f] = field.is_repeated() ? counts[f] + 1 : 1;
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string_view>) {
        values[f]->data<std::string>()[at] = std::string(value);
      } else {
        SetNumber(field, value, *values[f], at);
      }
    });
    for (size_t f = 0; f < most.size(); ++f) {
      for (int64_t k = counts[f]; k < most[f]; ++k) {
        SetDefault(*type_->fields()[f], *values[f], row * most[f] + k);
      }
    }
  }

  const std::shared_ptr<const ProtoType> type_;
  const bool is_text_, sanitizes_;
};
KERNEL(DecodeProtoV2, DecodeProtoKernel);

// Returns the bits of element `at` as they are on the wire.
uint64_t BitsOf(const Field& field, const Tensor& t, int64_t at) {
  switch (t.dtype()) {
    case DT_DOUBLE: {
      const double value = t.data<double>()[at];
      return field.type() == Field::TYPE_FLOAT ? std::bit_cast<uint32_t>(static_cast<float>(value))
                                               : std::bit_cast<uint64_t>(value);
    }
    case DT_FLOAT:
      return std::bit_cast<uint32_t>(t.data<float>()[at]);
    case DT_BOOL:
      return t.data<bool>()[at] ? 1 : 0;
    case DT_UINT32:
      return t.data<uint32_t>()[at];
    case DT_UINT64: {
      const uint64_t value = t.data<uint64_t>()[at];
      return field.type() == Field::TYPE_UINT32 ? static_cast<uint32_t>(value) : value;
    }
    default:
      break;
  }
  const int64_t value = t.dtype() == DT_INT64 ? t.data<int64_t>()[at] : t.data<int32_t>()[at];
  const auto sign = [](int64_t v) { return v < 0 ? ~uint64_t{0} : 0; };
  const auto narrow = static_cast<int64_t>(static_cast<int32_t>(value));
  switch (field.type()) {
    case Field::TYPE_SINT64:
      return static_cast<uint64_t>(value) << 1 ^ sign(value);
    case Field::TYPE_SINT32:
      return static_cast<uint32_t>(static_cast<uint64_t>(narrow) << 1 ^ sign(narrow));
    case Field::TYPE_INT32:
    case Field::TYPE_ENUM:
      return static_cast<uint64_t>(narrow);
    default:
      return static_cast<uint64_t>(value);
  }
}

// Appends elements [begin, begin + n) of the tensor as values of the field.
void AppendField(const Field& field, const Tensor& t, int64_t begin, int64_t n, std::string* to) {
  const WireType wire = WireTypeOf(field);
  const auto append = [&](int64_t i, std::string* out) {
    const uint64_t bits = BitsOf(field, t, i);
    if (wire == WireType::kVarint) {
      AppendVarint(bits, out);
    } else {
      AppendFixed(bits, wire == WireType::kFixed64 ? 8 : 4, out);
    }
  };
  const bool is_number = wire != WireType::kBytes && wire != WireType::kStartGroup;
  if (is_number && field.options().packed()) {
    std::string packed;
    for (int64_t i = begin; i < begin + n; ++i) append(i, &packed);
    AppendTag(field.number(), WireType::kBytes, to);
    AppendVarint(packed.size(), to);
    to->append(packed);
    return;
  }
  for (int64_t i = begin; i < begin + n; ++i) {
    AppendTag(field.number(), wire, to);
    if (is_number) {
      append(i, to);
      continue;
    }
    const std::string& bytes = t.data<std::string>()[i];
    if (wire == WireType::kBytes) AppendVarint(bytes.size(), to);
    to->append(bytes);
    if (wire == WireType::kStartGroup) AppendTag(field.number(), WireType::kEndGroup, to);
  }
}

// Checks the values. Input 1 + i has the values of field i.
absl::StatusOr<TensorShape> CheckValues(const KernelContext& c, const ProtoType& type) {
  const auto fields = static_cast<int>(type.fields().size());
  SLUICE_INVALID_IF(c.num_inputs() != 1 + fields, "EncodeProto node '", c.name(),
                    "': Length of inputs list must match field_names");
  TensorShape messages;
  for (int i = 0; i < fields; ++i) {
    const Tensor& v = c.input(1 + i);
    const Field& field = *type.fields()[i];
    SLUICE_INVALID_IF(!HoldsField(v.dtype(), field), "EncodeProto node '", c.name(),
                      "': Incompatible type for field ", field.name(),
                      ".  Saw dtype: ", DataTypeName(v.dtype()),
                      " but field type is: ", field.type_name());
    SLUICE_INVALID_IF(v.rank() < 2, "EncodeProto node '", c.name(), "': Invalid shape for field ",
                      field.name(), ".  Saw shape ", v.shape().ToString(),
                      " but it should be at least a matrix.");
    TensorShape own = v.shape();
    own.RemoveDim(own.rank() - 1);
    SLUICE_INVALID_IF(i > 0 && own != messages, "EncodeProto node '", c.name(),
                      "': Values must match up to the last dimension, got ", own.ToString(),
                      " and ", messages.ToString());
    messages = own;
  }
  TensorShape expected = messages;
  expected.AddDim(fields);
  const Tensor& sizes = c.input(0);
  SLUICE_INVALID_IF(sizes.shape() != expected, "EncodeProto node '", c.name(),
                    "': sizes should be batch_size + [len(field_names)].  Saw: ",
                    sizes.shape().ToString(), " but expected: ", expected.ToString());
  for (int64_t k = 0; k < sizes.num_elements(); ++k) {
    const Tensor& v = c.input(static_cast<int>(1 + k % fields));
    const int32_t size = sizes.data<int32_t>()[k];
    SLUICE_INVALID_IF(size < 0 || size > v.dim(v.rank() - 1), "EncodeProto node '", c.name(),
                      "': Size to write must not be larger than value tensor; but saw: ", size,
                      " > ", v.dim(v.rank() - 1), " at message ", k / fields, " field ",
                      k % fields);
  }
  return messages;
}

absl::Status EncodeProto(KernelContext& c, const Prepared<TypeOf>& prepared) {
  const ProtoType& type = **prepared;
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, CheckValues(c, type));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  const auto fields = static_cast<int64_t>(type.fields().size());
  for (int64_t m = 0; m < out->num_elements(); ++m) {
    std::string& message = out->data<std::string>()[m];
    message.clear();
    for (int f : type.order()) {
      const Tensor& v = c.input(1 + f);
      const int32_t size = c.input(0).data<int32_t>()[m * fields + f];
      if (size > 0) AppendField(*type.fields()[f], v, m * v.dim(v.rank() - 1), size, &message);
    }
  }
  return absl::OkStatus();
}
KERNEL(EncodeProto, FunctionKernel<EncodeProto>);

}  // namespace
}  // namespace sluice

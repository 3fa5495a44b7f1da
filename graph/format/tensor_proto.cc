#include "graph/format/tensor_proto.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

#include "google/protobuf/io/coded_stream.h"
#include "graph/status.h"

namespace sluice {
namespace {

// --- reading

// Converts the values of `field` by `convert`. The last one fills the remaining elements.
template <typename T, typename Field, typename Convert>
void FillFrom(const Field& field, Tensor& tensor, Convert convert) {
  const int64_t elements = tensor.num_elements();
  const int64_t given = std::min<int64_t>(field.size(), elements);
  T* data = tensor.data<T>();
  for (int64_t i = 0; i < given; ++i) data[i] = convert(field[static_cast<int>(i)]);
  std::fill(data + given, data + elements, given > 0 ? data[given - 1] : T());
}

template <typename T, typename Field>
void FillFrom(const Field& field, Tensor& tensor) {
  FillFrom<T>(field, tensor, [](const auto& v) { return static_cast<T>(v); });
}

// Real and imaginary parts alternate.
template <typename T, typename Field>
void FillComplex(const Field& field, Tensor& tensor) {
  const int64_t elements = tensor.num_elements();
  const int64_t given = std::min<int64_t>(field.size() / 2, elements);
  auto* data = tensor.data<std::complex<T>>();
  for (int i = 0; i < given; ++i) data[i] = {field[2 * i], field[2 * i + 1]};
  std::fill(data + given, data + elements, given > 0 ? data[given - 1] : std::complex<T>());
}

absl::Status FillVariants(const pb::TensorProto& proto, Tensor& tensor) {
  FillFrom<Variant>(proto.variant_val(), tensor, [](const pb::VariantTensorDataProto& v) {
    if (v.type_name().empty()) return Variant();
    return Variant(std::make_shared<SerializedVariant>(v.type_name(), v.SerializeAsString()));
  });
  return absl::OkStatus();
}

absl::Status FillFromValues(const pb::TensorProto& proto, Tensor& tensor) {
  switch (tensor.dtype()) {
    case DT_FLOAT:
      FillFrom<float>(proto.float_val(), tensor);
      break;
    case DT_DOUBLE:
      FillFrom<double>(proto.double_val(), tensor);
      break;
    case DT_INT32:
    case DT_QINT32:
      FillFrom<int32_t>(proto.int_val(), tensor);
      break;
    case DT_INT16:
    case DT_QINT16:
      FillFrom<int16_t>(proto.int_val(), tensor);
      break;
    case DT_UINT16:
    case DT_QUINT16:
      FillFrom<uint16_t>(proto.int_val(), tensor);
      break;
    case DT_INT8:
    case DT_QINT8:
    case DT_INT4:
    case DT_INT2:
      FillFrom<int8_t>(proto.int_val(), tensor);
      break;
    case DT_UINT8:
    case DT_QUINT8:
    case DT_UINT4:
    case DT_UINT2:
      FillFrom<uint8_t>(proto.int_val(), tensor);
      break;
    case DT_INT64:
      FillFrom<int64_t>(proto.int64_val(), tensor);
      break;
    case DT_UINT32:
      FillFrom<uint32_t>(proto.uint32_val(), tensor);
      break;
    case DT_UINT64:
      FillFrom<uint64_t>(proto.uint64_val(), tensor);
      break;
    case DT_BOOL:
      FillFrom<bool>(proto.bool_val(), tensor);
      break;
    case DT_HALF:
    case DT_BFLOAT16:
      FillFrom<uint16_t>(proto.half_val(), tensor);
      break;
    case DT_COMPLEX64:
      FillComplex<float>(proto.scomplex_val(), tensor);
      break;
    case DT_COMPLEX128:
      FillComplex<double>(proto.dcomplex_val(), tensor);
      break;
    case DT_FLOAT8_E5M2:
    case DT_FLOAT8_E4M3FN:
    case DT_FLOAT8_E4M3FNUZ:
    case DT_FLOAT8_E4M3B11FNUZ:
    case DT_FLOAT8_E5M2FNUZ:
    case DT_FLOAT4_E2M1FN:
      FillFrom<uint8_t>(proto.float8_val(), tensor);
      break;
    case DT_STRING:
      FillFrom<std::string>(proto.string_val(), tensor);
      break;
    case DT_RESOURCE:
      FillFrom<ResourceHandle>(proto.resource_handle_val(), tensor, ResourceHandleFromProto);
      break;
    case DT_VARIANT:
      return FillVariants(proto, tensor);
    default:
      return InvalidArgument("tensor of type ", DataTypeName(tensor.dtype()), " has no encoding");
  }
  return absl::OkStatus();
}

// The encoding of strings that TensorFlow's clients feed: all lengths as varints, then all bytes.
absl::Status FillStrings(const std::string& content, Tensor& tensor) {
  const absl::Status damaged =
      InvalidArgument("tensor_content of ", content.size(), " bytes does not hold ",
                      tensor.num_elements(), " strings");
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(content.data()),
                                            static_cast<int>(content.size()));
  std::vector<uint32_t> lengths(static_cast<size_t>(tensor.num_elements()));
  for (uint32_t& length : lengths) {
    if (!in.ReadVarint32(&length)) return damaged;
  }
  size_t at = static_cast<size_t>(in.CurrentPosition());
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] > content.size() - at) return damaged;
    tensor.data<std::string>()[i] = content.substr(at, lengths[i]);
    at += lengths[i];
  }
  return at == content.size() ? absl::OkStatus() : damaged;
}

absl::Status FillFromContent(const std::string& content, Tensor& tensor) {
  if (tensor.dtype() == DT_STRING) return FillStrings(content, tensor);
  SLUICE_INVALID_IF(!IsPlainBytes(tensor.dtype()), "tensor of type ", DataTypeName(tensor.dtype()),
                    " has tensor_content, which is for numbers and strings");
  SLUICE_INVALID_IF(content.size() != tensor.bytes(), "tensor_content has ", content.size(),
                    " bytes, expected ", tensor.bytes(), " for ", DataTypeName(tensor.dtype()), " ",
                    tensor.shape().ToString());
  if (tensor.dtype() == DT_BOOL) {  // a bool other than 0 and 1 is undefined behavior
    for (size_t i = 0; i < content.size(); ++i) tensor.data<bool>()[i] = content[i] != 0;
  } else {
    std::memcpy(tensor.raw(), content.data(), content.size());
  }
  return absl::OkStatus();
}

size_t MemorySize(DataType dtype) {
  switch (dtype) {
    case DT_STRING:
      return sizeof(std::string);
    case DT_RESOURCE:
      return sizeof(ResourceHandle);
    case DT_VARIANT:
      return sizeof(Variant);
    default:
      return DataTypeSize(dtype);
  }
}

absl::Status Spend(DataType dtype, const TensorShape& shape, FormatBudget& budget) {
  const int64_t bytes =
      MultiplyWithoutOverflow(shape.num_elements(), static_cast<int64_t>(MemorySize(dtype)));
  SLUICE_INVALID_IF(
      bytes < 0 || bytes > budget.limits.max_tensor_bytes || bytes > budget.bytes_left,
      "tensor of type ", DataTypeName(dtype), " and shape ", shape.ToString(),
      " is larger than allowed: at most ", budget.limits.max_tensor_bytes, " bytes a tensor and ",
      budget.limits.max_total_bytes, " in all");
  budget.bytes_left -= bytes;
  return absl::OkStatus();
}

absl::StatusOr<TensorShape> KnownShape(const pb::TensorShapeProto& proto) {
  SLUICE_INVALID_IF(proto.unknown_rank(), "a tensor's shape has no rank");
  absl::InlinedVector<int64_t, 4> dims;
  for (const auto& dim : proto.dim()) dims.push_back(dim.size());
  return TensorShape::Make(dims);
}

// --- writing

template <typename T, typename Add>
void ForEach(const Tensor& tensor, Add add) {
  for (const T& v : tensor.flat<T>()) add(v);
}

// A tensor with more elements than this, all of them equal, is written as one element. Smaller
// tensors are written as Python writes them.
constexpr int64_t kMostEqualElements = 64;

bool HasEqualElements(const Tensor& tensor) {
  const char* bytes = tensor.data<char>();
  const size_t size = tensor.bytes() / tensor.num_elements();
  return std::memcmp(bytes, bytes + size, tensor.bytes() - size) == 0;
}

// The first element of a plain tensor as a *_val. Readers fill the tensor with it.
void WriteNumber(const Tensor& tensor, pb::TensorProto* proto) {
  switch (tensor.dtype()) {
    case DT_FLOAT:
      return proto->add_float_val(tensor.scalar<float>());
    case DT_DOUBLE:
      return proto->add_double_val(tensor.scalar<double>());
    case DT_INT32:
    case DT_QINT32:
      return proto->add_int_val(tensor.scalar<int32_t>());
    case DT_INT16:
    case DT_QINT16:
      return proto->add_int_val(tensor.scalar<int16_t>());
    case DT_UINT16:
    case DT_QUINT16:
      return proto->add_int_val(tensor.scalar<uint16_t>());
    case DT_INT8:
    case DT_QINT8:
    case DT_INT4:
    case DT_INT2:
      return proto->add_int_val(tensor.scalar<int8_t>());
    case DT_UINT8:
    case DT_QUINT8:
    case DT_UINT4:
    case DT_UINT2:
      return proto->add_int_val(tensor.scalar<uint8_t>());
    case DT_BOOL:
      return proto->add_bool_val(tensor.scalar<bool>());
    case DT_INT64:
      return proto->add_int64_val(tensor.scalar<int64_t>());
    case DT_UINT32:
      return proto->add_uint32_val(tensor.scalar<uint32_t>());
    case DT_UINT64:
      return proto->add_uint64_val(tensor.scalar<uint64_t>());
    case DT_HALF:
    case DT_BFLOAT16:
      return proto->add_half_val(tensor.scalar<uint16_t>());
    case DT_COMPLEX64:
      proto->add_scomplex_val(tensor.scalar<complex64>().real());
      return proto->add_scomplex_val(tensor.scalar<complex64>().imag());
    case DT_COMPLEX128:
      proto->add_dcomplex_val(tensor.scalar<complex128>().real());
      return proto->add_dcomplex_val(tensor.scalar<complex128>().imag());
    default:  // float8 and float4: one byte per element
      proto->mutable_float8_val()->push_back(tensor.data<char>()[0]);
  }
}

absl::Status WriteVariants(const Tensor& tensor, pb::TensorProto* proto) {
  for (const Variant& v : tensor.flat<Variant>()) {
    pb::VariantTensorDataProto* written = proto->add_variant_val();
    if (v.empty()) continue;
    const auto* serialized = v.get<SerializedVariant>();
    if (serialized == nullptr) {
      return absl::UnimplementedError(
          StrCat("a variant of class ", v.TypeName(), " cannot be written into a TensorProto"));
    }
    if (!written->ParseFromString(serialized->bytes())) {
      return absl::DataLossError(StrCat("variant of class ", v.TypeName(), " is damaged"));
    }
  }
  return absl::OkStatus();
}

absl::Status WriteHeader(const Tensor& tensor, pb::TensorProto* proto) {
  SLUICE_INVALID_IF(!tensor.IsInitialized(), "tensor without a value");
  proto->Clear();
  proto->set_dtype(static_cast<pb::DataType>(tensor.dtype()));
  ShapeToProto(tensor.shape(), proto->mutable_tensor_shape());
  return absl::OkStatus();
}

void WriteContent(const Tensor& tensor, pb::TensorProto* proto) {
  proto->set_tensor_content(tensor.raw(), tensor.bytes());
}

absl::Status WriteObjects(const Tensor& tensor, pb::TensorProto* proto) {
  switch (tensor.dtype()) {
    case DT_STRING:
      ForEach<std::string>(tensor, [&](const std::string& s) { proto->add_string_val(s); });
      return absl::OkStatus();
    case DT_RESOURCE:
      ForEach<ResourceHandle>(tensor, [&](const ResourceHandle& h) {
        ResourceHandleToProto(h, proto->add_resource_handle_val());
      });
      return absl::OkStatus();
    default:
      return WriteVariants(tensor, proto);
  }
}

}  // namespace

absl::StatusOr<PartialShape> ShapeFromProto(const pb::TensorShapeProto& proto) {
  if (proto.unknown_rank()) {
    SLUICE_INVALID_IF(proto.dim_size() > 0,
                      "An unknown shape must not have any dimensions set, but has ",
                      proto.dim_size());
    return PartialShape();
  }
  SLUICE_INVALID_IF(proto.dim_size() > TensorShape::kMaxRank,
                    "Shape has too many dimensions: ", proto.dim_size(), ", at most ",
                    TensorShape::kMaxRank);
  PartialShape shape = PartialShape::Scalar();
  int64_t product = 1;
  for (const auto& dim : proto.dim()) {
    SLUICE_INVALID_IF(dim.size() < -1, "Shape has a dimension of negative size ", dim.size());
    product = dim.size() > 0 ? MultiplyWithoutOverflow(product, dim.size()) : product;
    SLUICE_INVALID_IF(product < 0, "Shape is too large (more than 2**63 - 1 entries)");
    shape.AddDim(dim.size());
  }
  return shape;
}

void ShapeToProto(const PartialShape& shape, pb::TensorShapeProto* proto) {
  proto->Clear();
  if (!shape.rank_known()) {
    proto->set_unknown_rank(true);
    return;
  }
  for (int64_t d : shape.dims()) proto->add_dim()->set_size(d);
}

absl::StatusOr<Tensor> TensorFromProto(const pb::TensorProto& proto, FormatBudget& budget,
                                       Allocator& memory) {
  const DataType dtype = static_cast<DataType>(proto.dtype());
  SLUICE_INVALID_IF(!IsValidDataType(dtype) || IsRefType(dtype), "tensor of type ",
                    static_cast<int>(proto.dtype()), ", which no tensor can have");
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, KnownShape(proto.tensor_shape()));
  SLUICE_RETURN_IF_ERROR(Spend(dtype, shape, budget));
  SLUICE_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(memory, dtype, shape));
  SLUICE_RETURN_IF_ERROR(proto.tensor_content().empty()
                             ? FillFromValues(proto, tensor)
                             : FillFromContent(proto.tensor_content(), tensor));
  return tensor;
}

absl::StatusOr<Tensor> TensorFromProto(const pb::TensorProto& proto) {
  FormatBudget budget;
  return TensorFromProto(proto, budget);
}

absl::Status TensorToProto(const Tensor& tensor, pb::TensorProto* proto) {
  SLUICE_INVALID_IF(IsPlainBytes(tensor.dtype()) && tensor.bytes() > INT_MAX,
                    "Cannot create a tensor proto whose content is larger than 2GB, got ",
                    tensor.bytes(), " bytes");
  SLUICE_RETURN_IF_ERROR(WriteHeader(tensor, proto));
  if (tensor.num_elements() == 0) return absl::OkStatus();
  if (!IsPlainBytes(tensor.dtype())) return WriteObjects(tensor, proto);
  if (tensor.num_elements() == 1 ||
      (tensor.num_elements() > kMostEqualElements && HasEqualElements(tensor))) {
    WriteNumber(tensor, proto);
  } else if (tensor.dtype() == DT_BOOL) {
    ForEach<bool>(tensor, [&](bool b) { proto->add_bool_val(b); });
  } else {
    WriteContent(tensor, proto);
  }
  return absl::OkStatus();
}

absl::Status TensorToContentProto(const Tensor& tensor, pb::TensorProto* proto) {
  SLUICE_RETURN_IF_ERROR(WriteHeader(tensor, proto));
  if (!IsPlainBytes(tensor.dtype())) return WriteObjects(tensor, proto);
  WriteContent(tensor, proto);
  return absl::OkStatus();
}

ResourceHandle ResourceHandleFromProto(const pb::ResourceHandleProto& proto) {
  ResourceHandle handle;
  handle.device = proto.device();
  handle.container = proto.container();
  handle.name = proto.name();
  handle.hash_code = proto.hash_code();
  handle.type_name = proto.maybe_type_name();
  for (const auto& c : proto.dtypes_and_shapes()) {
    // Handles come from peers: a bad shape counts as unknown.
    handle.components.push_back(
        {static_cast<DataType>(c.dtype()), ShapeFromProto(c.shape()).value_or(PartialShape())});
  }
  return handle;
}

void ResourceHandleToProto(const ResourceHandle& handle, pb::ResourceHandleProto* proto) {
  proto->set_device(handle.device);
  proto->set_container(handle.container);
  proto->set_name(handle.name);
  proto->set_hash_code(handle.hash_code);
  proto->set_maybe_type_name(handle.type_name);
  for (const auto& c : handle.components) {
    auto* component = proto->add_dtypes_and_shapes();
    component->set_dtype(static_cast<pb::DataType>(c.dtype));
    ShapeToProto(c.shape, component->mutable_shape());
  }
}

}  // namespace sluice

#include "tools/npz/tensor_npy.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "graph/status.h"
#include "graph/tensor/bools.h"
#include "graph/tensor/buffer.h"

namespace sluice {
namespace {

struct TypeRow {
  std::string_view npy;
  DataType dtype;
};
// If a reader requests no type, an array type converts to the tensor type of its first row.
constexpr TypeRow kTypes[] = {
    {"f4", DT_FLOAT},     {"f8", DT_DOUBLE},      {"f2", DT_HALF},   {"i1", DT_INT8},
    {"i2", DT_INT16},     {"i4", DT_INT32},       {"i8", DT_INT64},  {"u1", DT_UINT8},
    {"u2", DT_UINT16},    {"u4", DT_UINT32},      {"u8", DT_UINT64}, {"b1", DT_BOOL},
    {"c8", DT_COMPLEX64}, {"c16", DT_COMPLEX128}, {"i1", DT_QINT8},  {"u1", DT_QUINT8},
    {"i2", DT_QINT16},    {"u2", DT_QUINT16},     {"i4", DT_QINT32},
};

bool IsString(const NpyArray& array) { return array.type[0] == 'S' || array.type[0] == 'U'; }

// DT_INVALID if no tensor type fits.
DataType TypeFor(const NpyArray& array, DataType wanted) {
  DataType first = DT_INVALID;
  for (const TypeRow& row : kTypes) {
    if (row.npy != array.type) continue;
    if (row.dtype == wanted) return wanted;
    if (first == DT_INVALID) first = row.dtype;
  }
  return first;
}

void AppendUtf8(std::string& text, uint32_t c) {
  const auto put = [&text](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6), put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | (c >> 18 & 0x07)), put(0x80 | (c >> 12 & 0x3f)), put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  }
}

std::string Utf8FromUtf32(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    uint32_t c = 0;
    std::memcpy(&c, bytes.data() + i, 4);
    AppendUtf8(text, c);
  }
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

std::string WithoutPadding(std::string_view bytes) {
  return std::string(bytes.substr(0, bytes.find_last_not_of('\0') + 1));
}

absl::StatusOr<Tensor> StringsFrom(const NpyArray& array, const TensorShape& shape) {
  SLUICE_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(Heap(), DT_STRING, shape));
  const size_t item = NpyItemSize(array.type);
  const std::string_view all = array.bytes;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const std::string_view element = all.substr(i * item, item);
    tensor.data<std::string>()[i] =
        array.type[0] == 'U' ? Utf8FromUtf32(element) : WithoutPadding(element);
  }
  return tensor;
}

NpyArray FromStrings(const Tensor& tensor, NpyArray array) {
  size_t item = 1;  // NumPy has no strings of no bytes
  for (const std::string& s : tensor.flat<std::string>()) item = std::max(item, s.size());
  array.type = StrCat("S", item);
  for (const std::string& s : tensor.flat<std::string>()) {
    array.bytes += s;
    array.bytes.append(item - s.size(), '\0');
  }
  return array;
}

NpyArray FromBfloat16(const Tensor& tensor, NpyArray array) {
  array.type = "f4";
  for (const bfloat16 value : tensor.flat<bfloat16>()) {
    const float wide = static_cast<float>(value);
    array.bytes.append(reinterpret_cast<const char*>(&wide), sizeof(wide));
  }
  return array;
}

absl::StatusOr<Tensor> Bfloat16From(const NpyArray& array, const TensorShape& shape) {
  SLUICE_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(Heap(), DT_BFLOAT16, shape));
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    float wide = 0;
    std::memcpy(&wide, array.bytes.data() + i * sizeof(wide), sizeof(wide));
    tensor.data<bfloat16>()[i] = bfloat16(wide);
  }
  return tensor;
}

}  // namespace

absl::StatusOr<NpyArray> NpyFromTensor(const Tensor& tensor) {
  NpyArray array{"", {tensor.shape().dims().begin(), tensor.shape().dims().end()}, ""};
  const DataType dtype = BaseType(tensor.dtype());
  if (dtype == DT_STRING) return FromStrings(tensor, std::move(array));
  if (dtype == DT_BFLOAT16) return FromBfloat16(tensor, std::move(array));
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [dtype](const TypeRow& r) { return r.dtype == dtype; });
  if (row == std::end(kTypes)) {
    return InvalidArgument("a tensor of ", DataTypeName(dtype), " has no NumPy form");
  }
  array.type = row->npy;
  if (tensor.bytes() != 0)
    array.bytes.assign(static_cast<const char*>(tensor.raw()), tensor.bytes());
  return array;
}

absl::StatusOr<Tensor> TensorFromNpy(const NpyArray& array, DataType wanted) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(array.shape));
  if (IsString(array)) return StringsFrom(array, shape);
  if (array.type == "f4" && wanted == DT_BFLOAT16) return Bfloat16From(array, shape);
  const DataType dtype = TypeFor(array, wanted);
  if (dtype == DT_INVALID) {
    return InvalidArgument("an array of type '", array.type, "' has no tensor form");
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(Heap(), dtype, shape));
  if (!array.bytes.empty()) std::memcpy(tensor.raw(), array.bytes.data(), array.bytes.size());
  FixBools(&tensor);
  return tensor;
}

}  // namespace sluice

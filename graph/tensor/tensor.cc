#include "graph/tensor/tensor.h"

#include <cstring>

#include "absl/status/status.h"
#include "graph/strings.h"

namespace sluice {
namespace {

template <typename T>
std::string ElementText(const T& v) {
  if constexpr (std::is_same_v<T, std::string>) {
    return v;
  } else if constexpr (std::is_same_v<T, bool>) {
    return v ? "1" : "0";
  } else if constexpr (std::is_same_v<T, ResourceHandle>) {
    return StrCat("<resource ", v.container, "/", v.name, ">");
  } else if constexpr (std::is_same_v<T, Variant>) {
    return StrCat("<variant ", v.TypeName(), ">");
  } else if constexpr (kIsFloat16<T>) {
    return StrCat(static_cast<float>(v));
  } else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
    return StrCat("(", v.real(), ",", v.imag(), ")");
  } else if constexpr (sizeof(T) == 1) {
    return StrCat(static_cast<int>(v));
  } else {
    return StrCat(v);
  }
}

template <typename T>
std::string Summarize(const Tensor& t, int64_t max_values) {
  std::string text;
  const int64_t n = t.num_elements();
  for (int64_t i = 0; i < n; ++i) {
    if (max_values >= 0 && i >= max_values) return text + "...";
    if (i > 0) text += " ";
    text += ElementText(t.data<T>()[i]);
  }
  return text;
}

template <typename... Ts>
std::string SummarizeAs(const Tensor& t, int64_t max_values, TypeList<Ts...>) {
  std::string text = "<no printer>";
  ((t.dtype() == kDataTypeOf<Ts> ? (text = Summarize<Ts>(t, max_values), true) : false) || ...);
  return text;
}

}  // namespace

Tensor::Tensor(DataType dtype, const TensorShape& shape) : shape_(shape) {
  buffer_ = BufferRef(Buffer::New(Heap(), dtype, shape.num_elements()));
  if (buffer_) {
    dtype_ = dtype;
    data_ = buffer_->data();
  }
}

Tensor::Tensor(DataType dtype, const TensorShape& shape, BufferRef buffer, size_t offset_bytes)
    : dtype_(dtype), buffer_(std::move(buffer)), shape_(shape) {
  if (buffer_) data_ = static_cast<char*>(buffer_->data()) + offset_bytes;
}

absl::StatusOr<Tensor> Tensor::Allocate(Allocator& allocator, DataType dtype,
                                        const TensorShape& shape) {
  Buffer* buffer = Buffer::New(allocator, dtype, shape.num_elements());
  if (buffer == nullptr) {
    return absl::ResourceExhaustedError(StrCat("OOM when allocating tensor with shape",
                                               shape.ToString(), " and type ",
                                               DataTypeName(dtype)));
  }
  return Tensor(dtype, shape, BufferRef(buffer));
}

Tensor Tensor::Reshaped(const TensorShape& shape) const {
  Tensor t = *this;
  t.shape_ = shape;
  return t;
}

Tensor Tensor::Bitcast(DataType dtype) const {
  Tensor t = *this;
  t.dtype_ = dtype;
  return t;
}

Tensor Tensor::SliceRows(int64_t begin, int64_t end) const {
  Tensor t = *this;
  const int64_t row_elements = dim(0) == 0 ? 0 : num_elements() / dim(0);
  t.shape_.set_dim(0, end - begin);
  size_t element = DataTypeSize(dtype_);
  if (dtype_ == DT_STRING) element = sizeof(std::string);
  if (dtype_ == DT_RESOURCE) element = sizeof(ResourceHandle);
  if (dtype_ == DT_VARIANT) element = sizeof(Variant);
  if (data_ != nullptr) {
    t.data_ = static_cast<char*>(data_) + static_cast<size_t>(begin * row_elements) * element;
  }
  return t;
}

absl::StatusOr<Tensor> Tensor::Clone(Allocator& allocator) const {
  absl::StatusOr<Tensor> copy = Allocate(allocator, dtype_, shape_);
  if (!copy.ok()) return copy;
  const int64_t n = num_elements();
  if (dtype_ == DT_STRING) {
    std::copy_n(data<std::string>(), n, copy->data<std::string>());
  } else if (dtype_ == DT_RESOURCE) {
    std::copy_n(data<ResourceHandle>(), n, copy->data<ResourceHandle>());
  } else if (dtype_ == DT_VARIANT) {
    std::copy_n(data<Variant>(), n, copy->data<Variant>());
  } else if (bytes() > 0) {  // a default tensor has one element, without bytes
    std::memcpy(copy->raw(), raw(), bytes());
  }
  return copy;
}

std::string Tensor::SummarizeValues(int64_t max_values) const {
  if (!IsInitialized()) return "uninitialized Tensor";
  return SummarizeAs(*this, max_values, AllList());
}

std::string Tensor::ToString(int max_values) const {
  return StrCat("Tensor<", DataTypeName(dtype_), ", ", shape_.ToString(), ": ",
                SummarizeValues(max_values), ">");
}

absl::Status ExpectRank(const Tensor& tensor, int rank, std::string_view problem) {
  if (tensor.rank() == rank) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(problem, tensor.shape().ToString()));
}

}  // namespace sluice

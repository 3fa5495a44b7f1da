#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "c_api/handles.h"
#include "executor/wait/out_of_memory.h"
#include "graph/status.h"

namespace sluice::c_api {
namespace {

static_assert(SLUICE_FLOAT == int{DT_FLOAT} && SLUICE_STRING == int{DT_STRING} &&
              SLUICE_BFLOAT16 == int{DT_BFLOAT16} && SLUICE_UINT64 == int{DT_UINT64});

absl::StatusOr<TensorShape> ShapeOf(const int64_t* dims, int32_t rank) {
  SLUICE_INVALID_IF(rank < 0, "tensor: expected a rank of at least 0, got ", rank);
  return TensorShape::Make(absl::MakeConstSpan(dims, static_cast<size_t>(rank)));
}

// The shape of a tensor of numbers whose elements take `bytes`.
absl::StatusOr<TensorShape> ShapeOfNumbers(int32_t type, const int64_t* dims, int32_t rank,
                                           size_t bytes) {
  const auto dtype = static_cast<DataType>(type);
  SLUICE_INVALID_IF(!IsValidDataType(type) || IsRefType(dtype) || DataTypeSize(dtype) == 0,
                    "tensor: expected a type of numbers, got ", DataTypeName(dtype), " (", type,
                    ")");
  SLUICE_ASSIGN_OR_RETURN(TensorShape shape, ShapeOf(dims, rank));
  const int64_t expected =
      MultiplyWithoutOverflow(shape.num_elements(), static_cast<int64_t>(DataTypeSize(dtype)));
  SLUICE_INVALID_IF(expected < 0 || static_cast<uint64_t>(expected) != bytes, "tensor: expected ",
                    expected, " bytes for ", DataTypeName(dtype), shape.ToString(), ", got ",
                    bytes);
  return shape;
}

absl::Status Wrap(int32_t type, const int64_t* dims, int32_t rank, void* data, size_t bytes,
                  void (*release)(void* data, void* context), void* context,
                  sluice_tensor** tensor) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ShapeOfNumbers(type, dims, rank, bytes));
  const auto dtype = static_cast<DataType>(type);
  SLUICE_INVALID_IF(reinterpret_cast<uintptr_t>(data) % std::min<size_t>(DataTypeSize(dtype), 8),
                    "tensor: the memory is not aligned for ", DataTypeName(dtype));
  std::function<void()> freed = [] {};
  if (release != nullptr) freed = [=] { release(data, context); };
  BufferRef buffer(Buffer::Wrap(data, bytes, std::move(freed)));
  *tensor = new sluice_tensor{Tensor(dtype, shape, std::move(buffer))};
  return absl::OkStatus();
}

absl::Status Copy(int32_t type, const int64_t* dims, int32_t rank, const void* data, size_t bytes,
                  sluice_tensor** tensor) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ShapeOfNumbers(type, dims, rank, bytes));
  SLUICE_ASSIGN_OR_RETURN(Tensor copy,
                          Tensor::Allocate(Heap(), static_cast<DataType>(type), shape));
  if (bytes > 0) std::memcpy(copy.raw(), data, bytes);
  *tensor = new sluice_tensor{std::move(copy)};
  return absl::OkStatus();
}

absl::Status Strings(const int64_t* dims, int32_t rank, const char* const* values,
                     const size_t* sizes, sluice_tensor** tensor) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ShapeOf(dims, rank));
  SLUICE_ASSIGN_OR_RETURN(Tensor strings, Tensor::Allocate(Heap(), DT_STRING, shape));
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    strings.data<std::string>()[i].assign(values[i], sizes[i]);
  }
  *tensor = new sluice_tensor{std::move(strings)};
  return absl::OkStatus();
}

}  // namespace
}  // namespace sluice::c_api

sluice_error* sluice_tensor_wrap(int32_t type, const int64_t* dims, int32_t rank, void* data,
                                 size_t bytes, void (*release)(void* data, void* context),
                                 void* context, sluice_tensor** tensor) noexcept {
  using namespace sluice::c_api;
  return ErrorOf(Wrap(type, dims, rank, data, bytes, release, context, tensor));
}

sluice_error* sluice_tensor_copy(int32_t type, const int64_t* dims, int32_t rank, const void* data,
                                 size_t bytes, sluice_tensor** tensor) noexcept {
  using namespace sluice::c_api;
  return ErrorOf(Copy(type, dims, rank, data, bytes, tensor));
}

sluice_error* sluice_tensor_strings(const int64_t* dims, int32_t rank, const char* const* values,
                                    const size_t* sizes, sluice_tensor** tensor) noexcept {
  using namespace sluice::c_api;
  return ErrorOf(sluice::OrOutOfMemory([&] { return Strings(dims, rank, values, sizes, tensor); }));
}

void sluice_tensor_free(sluice_tensor* tensor) noexcept { delete tensor; }

int32_t sluice_tensor_type(const sluice_tensor* tensor) noexcept { return tensor->tensor.dtype(); }

int32_t sluice_tensor_rank(const sluice_tensor* tensor) noexcept { return tensor->tensor.rank(); }

int64_t sluice_tensor_dim(const sluice_tensor* tensor, int32_t i) noexcept {
  return i < 0 || i >= tensor->tensor.rank() ? -1 : tensor->tensor.dim(i);
}

int64_t sluice_tensor_elements(const sluice_tensor* tensor) noexcept {
  return tensor->tensor.num_elements();
}

const void* sluice_tensor_data(const sluice_tensor* tensor) noexcept {
  return sluice::DataTypeSize(tensor->tensor.dtype()) == 0 ? nullptr : tensor->tensor.raw();
}

size_t sluice_tensor_bytes(const sluice_tensor* tensor) noexcept { return tensor->tensor.bytes(); }

const char* sluice_tensor_string(const sluice_tensor* tensor, int64_t i, size_t* size) noexcept {
  const sluice::Tensor& t = tensor->tensor;
  *size = 0;
  if (t.dtype() != sluice::DT_STRING || i < 0 || i >= t.num_elements()) return nullptr;
  const std::string& text = t.data<std::string>()[i];
  *size = text.size();
  return text.data();
}

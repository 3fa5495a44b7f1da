// A tensor: a type, a shape, and a shared buffer of elements in row-major order.
//
//   Tensor t = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
//   for (float& v : t.flat<float>()) v *= 2;
//   Tensor same = t;                       // shares the buffer
//   absl::StatusOr<Tensor> own = t.Clone();
//
// Thread safety: a value; different threads may use copies of one tensor. Elements of a shared
// buffer must not be written: kernels check `BufferIsUnique` or copy.
// Ownership: tensors share the buffer by reference counts. The buffer is freed with the last tensor
// that shares it. Pointers and spans of elements are valid until then.
// Errors: accessors do not check types, indices or shapes. The caller does.
// Reference: tensorflow::Tensor.
#ifndef SLUICE_GRAPH_TENSOR_TENSOR_H_
#define SLUICE_GRAPH_TENSOR_TENSOR_H_

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor/buffer.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/resource_handle.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/variant.h"

namespace sluice {

// Copies and moves are cheap. A moved-from tensor is not initialized; it may only be assigned to or
// destroyed.
class Tensor {
 public:
  // No type and no elements. IsInitialized() is false.
  Tensor() = default;

  // Allocates from the heap. Numbers are uninitialized, strings empty. IsInitialized() is false if
  // there is no memory: use Allocate for sizes that a user chose.
  Tensor(DataType dtype, const TensorShape& shape);

  // Allocates from `allocator`, which must outlive the buffer. RESOURCE_EXHAUSTED if it has no
  // memory.
  //
  //   SLUICE_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(Heap(), DT_FLOAT, shape));
  static absl::StatusOr<Tensor> Allocate(Allocator& allocator, DataType dtype,
                                         const TensorShape& shape);

  // A view of a buffer, from `offset_bytes` on. Shares its ownership. The elements must lie within
  // the buffer.
  Tensor(DataType dtype, const TensorShape& shape, BufferRef buffer, size_t offset_bytes = 0);

  // Constants: `Tensor::Scalar(3.0f)`, `Tensor::Vector<int32_t>({1, 2})`,
  // `Tensor::Of<float>({2, 2}, {1, 2, 3, 4})`. T is a type that DataTypeOf maps
  // (graph/tensor/dtype.h). The number of values must fit the shape. If there are too few, the last
  // elements stay uninitialized. If there are too many, the last values are ignored.
  template <typename T>
  static Tensor Scalar(T value);
  template <typename T>
  static Tensor Vector(absl::Span<const T> values);
  template <typename T>
  static Tensor Vector(std::initializer_list<T> values) {
    return Vector(absl::MakeConstSpan(values.begin(), values.size()));
  }
  template <typename T>
  static Tensor Of(const TensorShape& shape, absl::Span<const T> values);
  template <typename T>
  static Tensor Of(const TensorShape& shape, std::initializer_list<T> values) {
    return Of(shape, absl::MakeConstSpan(values.begin(), values.size()));
  }

  // Type and sizes. The default tensor is a scalar of type DT_INVALID. dim(i) needs 0 <= i <
  // rank().
  DataType dtype() const { return dtype_; }
  const TensorShape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int i) const { return shape_.dim(i); }
  int64_t num_elements() const { return shape_.num_elements(); }

  // Bytes of the elements. 0 for strings, resource handles and variants, whose elements are
  // objects.
  size_t bytes() const { return static_cast<size_t>(num_elements()) * DataTypeSize(dtype_); }
  // Whether the elements can be read: the type is valid, and there is a buffer or there are no
  // elements.
  bool IsInitialized() const { return dtype_ != DT_INVALID && (buffer_ || num_elements() == 0); }

  // Elements in row-major order. T must be the C++ type of dtype(), or the integer of the same size
  // for a quantized type. The pointer is valid if IsInitialized(). It is null for a default tensor.
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  template <typename T>
  T* data() {
    return static_cast<T*>(data_);
  }
  // The elements as one span, for any rank: element [i, j] of a matrix is flat()[i * dim(1) + j].
  template <typename T>
  absl::Span<const T> flat() const {
    return absl::Span<const T>(data<T>(), static_cast<size_t>(num_elements()));
  }
  template <typename T>
  absl::Span<T> flat() {
    return absl::Span<T>(data<T>(), static_cast<size_t>(num_elements()));
  }
  // The value of a scalar. The shape is not checked: for any other tensor it is the first element,
  // which must exist.
  template <typename T>
  const T& scalar() const {
    return *data<T>();
  }
  template <typename T>
  T& scalar() {
    return *data<T>();
  }
  // The first element, whatever its type.
  const void* raw() const { return data_; }
  void* raw() { return data_; }

  // The same elements under another shape of as many elements. Shares the buffer.
  Tensor Reshaped(const TensorShape& shape) const;
  // The same bytes under another type of the same size. Shares the buffer.
  Tensor Bitcast(DataType dtype) const;

  // Rows [begin, end) of dimension 0, sharing the buffer (not aligned to 64 bytes in general).
  // Needs rank >= 1 and 0 <= begin <= end <= dim(0).
  Tensor SliceRows(int64_t begin, int64_t end) const;

  // A copy of the elements in a buffer of its own, from `allocator`. RESOURCE_EXHAUSTED if it has
  // no memory.
  absl::StatusOr<Tensor> Clone(Allocator& allocator = Heap()) const;

  // The methods below are for kernels and the executor, which reuse memory.
  //
  // Whether no other tensor shares the buffer, so that it may be reused for another result of its
  // size. False for memory that the tensor only wraps (Buffer::Wrap).
  bool BufferIsUnique() const { return buffer_ && buffer_->is_owned() && buffer_->RefCountIsOne(); }
  // Whether BufferIsUnique() and the tensor has all elements of the buffer.
  bool HasBufferAlone() const {
    return BufferIsUnique() && data_ == buffer_->data() && bytes() == buffer_->bytes();
  }
  // Whether both tensors use the same buffer, even if their elements do not overlap.
  bool SharesBufferWith(const Tensor& o) const {
    return buffer_ && buffer_.get() == o.buffer_.get();
  }
  // The shared memory. Null for a default tensor.
  const BufferRef& buffer() const { return buffer_; }
  // Moves the buffer out of this tensor and returns it. The tensor's elements may be read only
  // while the result lives. The tensor may be assigned to.
  BufferRef ReleaseBuffer() { return std::move(buffer_); }
  // Makes the tensor uninitialized and releases the buffer. The shape object keeps its memory for
  // the next value.
  void Clear() {
    buffer_ = BufferRef();
    dtype_ = DT_INVALID;
  }
  // As Clear, but keeps a small buffer that no other tensor shares, for Reuse.
  void Retire() {
    dtype_ = DT_INVALID;
    if (buffer_ && !(buffer_->is_small() && buffer_->RefCountIsOne())) buffer_ = BufferRef();
  }
  // Turns the buffer that Retire kept into an uninitialized tensor. False if it does not fit; the
  // tensor is then unchanged.
  bool Reuse(DataType dtype, const TensorShape& shape) {
    if (!buffer_ || dtype_ != DT_INVALID || !buffer_->IsFor(dtype, shape.num_elements()) ||
        !buffer_->RefCountIsOne()) {
      return false;
    }
    Reset(dtype, shape, std::move(buffer_));
    return true;
  }
  // Turns this tensor into an uninitialized scalar of `bytes` that uses the memory of `from`. The
  // old element of `from` can be read until the element of this tensor is written. Returns false,
  // and changes nothing, if the memory of `from` has another size, is shared, or is only wrapped.
  bool TakeOverScalar(DataType dtype, size_t bytes, Tensor& from) {
    if (!from.BufferIsUnique() || from.buffer_->bytes() != bytes) return false;
    dtype_ = dtype;
    data_ = from.data_;
    buffer_ = std::move(from.buffer_);
    if (!shape_.IsScalar()) shape_ = TensorShape();
    return true;
  }
  // *this = Tensor(dtype, shape, buffer), cheaper if the shape is the same.
  void Reset(DataType dtype, const TensorShape& shape, BufferRef buffer) {
    dtype_ = dtype;
    buffer_ = std::move(buffer);
    data_ = buffer_ ? buffer_->data() : nullptr;
    if (!(shape_ == shape)) shape_ = shape;
  }

  // "Tensor<float, [2,3]: 1 2 3 4 5 6>", shortened after `max_values`. All values if it is
  // negative.
  std::string ToString(int max_values = 10) const;

  // The first `max_values` elements, as Assert and Print show them: "1 2 3...". All elements if
  // `max_values` is negative. "uninitialized Tensor" if there are no elements to read.
  std::string SummarizeValues(int64_t max_values) const;

 private:
  DataType dtype_ = DT_INVALID;
  void* data_ = nullptr;
  BufferRef buffer_;
  TensorShape shape_;
};

using Tensors = std::vector<Tensor>;

// Whether the tensor keeps much more memory alive than its elements need, as a slice does.
inline bool IsSmallPartOfBuffer(const Tensor& tensor) {
  return tensor.buffer() && tensor.buffer()->bytes() > 2 * tensor.bytes() + kTensorAlignment;
}

// INVALID_ARGUMENT "<problem><shape>" unless the tensor has this rank. A scalar has rank 0.
absl::Status ExpectRank(const Tensor& tensor, int rank, std::string_view problem);

template <typename T>
Tensor Tensor::Scalar(T value) {
  if constexpr (std::is_same_v<T, const char*>) {
    return Scalar(std::string(value));
  } else {
    Tensor t(kDataTypeOf<T>, TensorShape());
    t.scalar<T>() = std::move(value);
    return t;
  }
}

template <typename T>
Tensor Tensor::Vector(absl::Span<const T> values) {
  return Of(TensorShape({static_cast<int64_t>(values.size())}), values);
}

template <typename T>
Tensor Tensor::Of(const TensorShape& shape, absl::Span<const T> values) {
  Tensor t(kDataTypeOf<T>, shape);
  const int64_t n = std::min<int64_t>(shape.num_elements(), static_cast<int64_t>(values.size()));
  std::copy_n(values.begin(), n, t.data<T>());
  return t;
}

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_TENSOR_H_

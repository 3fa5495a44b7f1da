// A tensor: a type, a shape, and a shared buffer of elements in row-major order.
//
//   Tensor t = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
//   for (float& v : t.flat<float>()) v *= 2;
//   Tensor same = t;                       // shares the buffer
//   absl::StatusOr<Tensor> own = t.Clone();
//
// Thread safety: different threads may use different copies of a tensor. Elements of a buffer that
// several tensors share must not be written: kernels write only if BufferIsUnique(), or to a copy.
// Ownership: tensors share the buffer by reference counts. The buffer is freed with the last tensor
// that shares it. Pointers and spans of elements are valid until then.
// Errors: accessors do not check types, indices or shapes. The caller must ensure them.
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

  // Makes a tensor whose elements lie in `buffer`, from `offset_bytes` on. Shares the ownership of
  // the buffer, which must be large enough for all elements.
  Tensor(DataType dtype, const TensorShape& shape, BufferRef buffer, size_t offset_bytes = 0);

  // Make tensors with the given values: `Tensor::Scalar(3.0f)`, `Tensor::Vector<int32_t>({1, 2})`,
  // `Tensor::Of<float>({2, 2}, {1, 2, 3, 4})`. T is the C++ type of a DataType (DataTypeOf in
  // graph/tensor/dtype.h). Of needs one value per element. If there are too few, the last elements
  // stay uninitialized. If there are too many, the last values are ignored.
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
  // A pointer to the first element, for code that handles any type. Null for a default tensor.
  const void* raw() const { return data_; }
  void* raw() { return data_; }

  // Returns a tensor with the same elements and another shape, which must have as many elements.
  // Shares the buffer.
  Tensor Reshaped(const TensorShape& shape) const;
  // Returns a tensor with the same bytes and another type, whose elements must have the same size.
  // Shares the buffer.
  Tensor Bitcast(DataType dtype) const;

  // Returns the rows [begin, end) of dimension 0. Shares the buffer, so the result need not be
  // aligned to 64 bytes. Needs rank >= 1 and 0 <= begin <= end <= dim(0).
  Tensor SliceRows(int64_t begin, int64_t end) const;

  // Returns a copy of the elements in a new buffer from `allocator`. RESOURCE_EXHAUSTED if the
  // allocator has no memory.
  absl::StatusOr<Tensor> Clone(Allocator& allocator = Heap()) const;

  // The methods below are for kernels and the executor, which reuse memory.
  //
  // Whether there is a buffer and no other tensor shares it, so that it may be overwritten or
  // reused for another result of the same size. False for memory from Buffer::Wrap.
  bool BufferIsUnique() const { return buffer_ && buffer_->is_owned() && buffer_->RefCountIsOne(); }
  // Whether BufferIsUnique() and the tensor is the whole buffer, not a slice of it. False for
  // strings, resource handles and variants, except in empty tensors.
  bool HasBufferAlone() const {
    return BufferIsUnique() && data_ == buffer_->data() && bytes() == buffer_->bytes();
  }
  // Whether both tensors use the same buffer, even if their elements do not overlap.
  bool SharesBufferWith(const Tensor& o) const {
    return buffer_ && buffer_.get() == o.buffer_.get();
  }
  // The memory of the elements, which other tensors may share. Null for a default tensor.
  const BufferRef& buffer() const { return buffer_; }
  // Moves the buffer out of this tensor and returns it. The tensor's elements may be read only
  // while the result lives. The tensor may be assigned to.
  BufferRef ReleaseBuffer() { return std::move(buffer_); }
  // Releases the buffer. IsInitialized() is false afterwards. shape() does not change, so that a
  // later Reset to the same shape is cheap.
  void Clear() {
    buffer_ = BufferRef();
    dtype_ = DT_INVALID;
  }
  // As Clear, but keeps the buffer for Reuse if Buffer::is_small() and no other tensor shares it.
  void Retire() {
    dtype_ = DT_INVALID;
    if (buffer_ && !(buffer_->is_small() && buffer_->RefCountIsOne())) buffer_ = BufferRef();
  }
  // Makes a tensor of this type and shape, with arbitrary elements, in the buffer that Retire kept.
  // Returns false and changes nothing if there is none, or if it was allocated for another type or
  // number of elements.
  bool Reuse(DataType dtype, const TensorShape& shape) {
    if (!buffer_ || dtype_ != DT_INVALID || !buffer_->IsFor(dtype, shape.num_elements()) ||
        !buffer_->RefCountIsOne()) {
      return false;
    }
    Reset(dtype, shape, std::move(buffer_));
    return true;
  }
  // Makes this tensor a scalar of type `dtype`, whose element has `bytes` bytes, in the memory of
  // `from`. The old element can be read through `from` until the element of this tensor is written.
  // Returns false and changes nothing if `from` has a buffer of another size, or if its
  // BufferIsUnique() is false.
  bool TakeOverScalar(DataType dtype, size_t bytes, Tensor& from) {
    if (!from.BufferIsUnique() || from.buffer_->bytes() != bytes) return false;
    dtype_ = dtype;
    data_ = from.data_;
    buffer_ = std::move(from.buffer_);
    if (!shape_.IsScalar()) shape_ = TensorShape();
    return true;
  }
  // Equals *this = Tensor(dtype, shape, buffer), but is cheaper if the shape does not change.
  void Reset(DataType dtype, const TensorShape& shape, BufferRef buffer) {
    dtype_ = dtype;
    buffer_ = std::move(buffer);
    data_ = buffer_ ? buffer_->data() : nullptr;
    if (!(shape_ == shape)) shape_ = shape;
  }

  // Returns "Tensor<float, [2,3]: 1 2 3 4 5 6>", with at most `max_values` elements. Shows all
  // elements if `max_values` is negative.
  std::string ToString(int max_values = 10) const;

  // Returns the first `max_values` elements, as the ops Assert and Print show them: "1 2 3...".
  // Shows all elements if `max_values` is negative. Returns "uninitialized Tensor" if
  // IsInitialized() is false.
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
  const BufferRef& buffer = tensor.buffer();
  if (!buffer) return false;
  if (!IsPlainBytes(tensor.dtype())) return buffer->count() > 2 * tensor.num_elements() + 2;
  return buffer->bytes() > 2 * tensor.bytes() + kTensorAlignment;
}

// Returns INVALID_ARGUMENT "<problem><shape>" unless the tensor has this rank. A scalar has rank 0.
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

// The memory of tensors: reference-counted blocks. Those from an allocator are aligned to 64 bytes.
//
// Thread safety: reference counts are atomic. The bytes are not guarded. A writer must hold the
// only reference, or the lock of the variable whose value the tensor is (executor/wait/claim.h).
#ifndef SLUICE_GRAPH_TENSOR_BUFFER_H_
#define SLUICE_GRAPH_TENSOR_BUFFER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "graph/tensor/dtype.h"

namespace sluice {

inline constexpr size_t kTensorAlignment = 64;  // a cache line, and the widest vector register
// Buffers of numbers up to this size are small (Buffer::is_small).
inline constexpr size_t kSmallBufferBytes = 64;

// Allocates blocks. Implementations are thread-safe and outlive their blocks.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // Returns at least `bytes` bytes, aligned to kTensorAlignment, or null if there is no memory.
  virtual void* Allocate(size_t bytes) = 0;
  // `bytes` is the argument with which Allocate returned the block.
  virtual void Deallocate(void* block, size_t bytes) = 0;
};

// Allocates from the heap of the process. Counts allocations and bytes, for tests and reports.
class HeapAllocator final : public Allocator {
 public:
  void* Allocate(size_t bytes) override;
  void Deallocate(void* block, size_t bytes) override;
  int64_t allocations() const { return allocations_.load(std::memory_order_relaxed); }
  int64_t bytes_in_use() const { return bytes_in_use_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> allocations_{0};
  std::atomic<int64_t> bytes_in_use_{0};
};
HeapAllocator& Heap();

// A reference-counted block of memory for the elements of tensors. New puts the Buffer object and
// the elements into one allocation. It constructs strings, resource handles and variants, and the
// last Unref destroys them.
class Buffer {
 public:
  // Allocates a buffer for `count` elements of type `dtype`. Null if the allocator has no memory or
  // the size overflows. The caller owns one reference.
  static Buffer* New(Allocator& allocator, DataType dtype, int64_t count);
  // Returns a buffer that refers to memory of no Allocator, such as the bytes of a message. The
  // last Unref calls `release`. `data` must be aligned for the type of the elements. The caller
  // owns one reference.
  static Buffer* Wrap(void* data, size_t bytes, std::function<void()> release);

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (refs_.load(std::memory_order_acquire) == 1 ||
        refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      Destroy();
    }
  }
  bool RefCountIsOne() const { return refs_.load(std::memory_order_acquire) == 1; }
  // Whether the memory is from an allocator, so that a kernel may reuse it for another result.
  bool is_owned() const { return allocator_ != nullptr; }
  // Whether the block is from an allocator, has at most kSmallBufferBytes bytes, and holds no
  // strings, resource handles or variants. Tensor::Retire keeps such blocks, so that the next
  // result of the same type and number of elements needs no allocation.
  bool is_small() const { return is_small_; }
  // The number of elements for which the block was allocated. 0 for wrapped memory.
  int64_t count() const { return count_; }
  // Whether the block was allocated for `count` elements of `dtype`.
  bool IsFor(DataType dtype, int64_t count) const { return dtype_ == dtype && count_ == count; }

 private:
  Buffer() = default;
  ~Buffer() = default;
  void Destroy();

  std::atomic<int32_t> refs_{1};
  DataType dtype_ = DT_INVALID;
  bool is_small_ = false;
  int64_t count_ = 0;
  size_t bytes_ = 0;
  void* data_ = nullptr;
  Allocator* allocator_ = nullptr;  // null for wrapped memory
  std::function<void()>* release_ = nullptr;
};

// Owns one reference to a Buffer, or none.
class BufferRef {
 public:
  BufferRef() = default;
  explicit BufferRef(Buffer* adopted) : buffer_(adopted) {}
  BufferRef(const BufferRef& o) : buffer_(o.buffer_) {
    if (buffer_ != nullptr) buffer_->Ref();
  }
  BufferRef(BufferRef&& o) noexcept : buffer_(std::exchange(o.buffer_, nullptr)) {}
  BufferRef& operator=(const BufferRef& o) {
    BufferRef copy(o);
    std::swap(buffer_, copy.buffer_);
    return *this;
  }
  BufferRef& operator=(BufferRef&& o) noexcept {
    if (this != &o) {
      if (buffer_ != nullptr) buffer_->Unref();
      buffer_ = std::exchange(o.buffer_, nullptr);
    }
    return *this;
  }
  ~BufferRef() {
    if (buffer_ != nullptr) buffer_->Unref();
  }
  Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }

 private:
  Buffer* buffer_ = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_BUFFER_H_

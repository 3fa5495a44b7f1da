// The memory behind tensors: reference-counted blocks from an allocator, aligned to 64 bytes.
//
// Thread safety: reference counts are atomic; the bytes are not guarded (whoever writes holds the
// only reference, or the variable's mutex).
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
// Up to here buffers of numbers are small (Buffer::is_small).
inline constexpr size_t kSmallBufferBytes = 64;

// Where blocks come from. Implementations are thread-safe and outlive their blocks.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // At least `bytes`, aligned to kTensorAlignment; null when there is no memory.
  virtual void* Allocate(size_t bytes) = 0;
  // `bytes` as given to Allocate.
  virtual void Deallocate(void* block, size_t bytes) = 0;
};

// The process's heap. Counts what it hands out, for tests and reports.
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

// A counted block of `count` elements of `dtype`. Its header sits in front of the elements in one
// allocation. Elements of string, resource and variant are constructed and destroyed with it.
class Buffer {
 public:
  // Null when the allocator has no memory, or when the size overflows. One reference.
  static Buffer* New(Allocator& allocator, DataType dtype, int64_t count);
  // Foreign memory (bytes of a message, a mapped file): `release` is called at the last Unref.
  // `data` must be aligned for the elements.
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
  // Memory is the allocator's own, so that a kernel may take it over for another result.
  bool is_owned() const { return allocator_ != nullptr; }
  // So little memory, without objects in it and not foreign, that it may be kept for the next
  // result of its kind rather than given back.
  bool is_small() const { return is_small_; }
  // It was made for so many elements.
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

// Owns one reference.
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

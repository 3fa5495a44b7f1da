#include "graph/tensor/buffer.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "graph/tensor/resource_handle.h"
#include "graph/tensor/variant.h"

namespace sluice {
namespace {

// If the elements of the type are objects, calls `f` with a null pointer to their class.
template <typename F>
void WithObjectType(DataType dtype, F f) {
  if (dtype == DT_STRING) f(static_cast<std::string*>(nullptr));
  if (dtype == DT_RESOURCE) f(static_cast<ResourceHandle*>(nullptr));
  if (dtype == DT_VARIANT) f(static_cast<Variant*>(nullptr));
}

size_t ElementSize(DataType dtype) {
  size_t size = DataTypeSize(dtype);
  WithObjectType(dtype, [&](auto* p) { size = sizeof(*p); });
  return size;
}

}  // namespace

void* HeapAllocator::Allocate(size_t bytes) {
  const size_t rounded = (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  if (rounded < bytes) return nullptr;
  void* block = std::aligned_alloc(kTensorAlignment, rounded);
  if (block != nullptr) {
    allocations_.fetch_add(1, std::memory_order_relaxed);
    bytes_in_use_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  }
  return block;
}

void HeapAllocator::Deallocate(void* block, size_t bytes) {
  bytes_in_use_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  std::free(block);
}

HeapAllocator& Heap() {
  static HeapAllocator* heap = new HeapAllocator;  // outlives every static tensor
  return *heap;
}

static constexpr size_t kHeaderBytes = kTensorAlignment;

Buffer* Buffer::New(Allocator& allocator, DataType dtype, int64_t count) {
  static_assert(sizeof(Buffer) <= kHeaderBytes);
  size_t bytes;
  if (count < 0 || __builtin_mul_overflow(static_cast<size_t>(count), ElementSize(dtype), &bytes) ||
      bytes > SIZE_MAX / 2) {
    return nullptr;
  }
  void* block = allocator.Allocate(kHeaderBytes + bytes);
  if (block == nullptr) return nullptr;
  Buffer* buffer = new (block) Buffer;
  buffer->dtype_ = dtype;
  buffer->count_ = count;
  buffer->bytes_ = bytes;
  buffer->data_ = static_cast<char*>(block) + kHeaderBytes;
  buffer->allocator_ = &allocator;
  buffer->is_small_ = bytes <= kSmallBufferBytes && IsPlainBytes(dtype);
  WithObjectType(dtype, [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    std::uninitialized_value_construct_n(static_cast<T*>(buffer->data_), count);
  });
  return buffer;
}

Buffer* Buffer::Wrap(void* data, size_t bytes, std::function<void()> release) {
  Buffer* buffer = new Buffer;
  buffer->bytes_ = bytes;
  buffer->data_ = data;
  buffer->release_ = new std::function<void()>(std::move(release));
  return buffer;
}

// Variants, and handles that own their resources, may nest without a limit. Those that are nested
// deeper than this are destroyed after the outermost one, so that the destruction needs little
// stack.
static constexpr int kMostNested = 32;
static thread_local int nested = 0;
static thread_local std::vector<Buffer*>* deferred_nested = nullptr;  // of the outermost one

void Buffer::Destroy() {
  if (allocator_ == nullptr) {
    (*release_)();
    delete release_;
    delete this;
    return;
  }
  const bool may_nest = dtype_ == DT_VARIANT || dtype_ == DT_RESOURCE;
  if (may_nest && nested == kMostNested) {
    deferred_nested->push_back(this);
    return;
  }
  std::vector<Buffer*> deferred;
  if (may_nest && nested++ == 0) deferred_nested = &deferred;
  WithObjectType(dtype_, [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    std::destroy_n(static_cast<T*>(data_), count_);
  });
  Allocator* allocator = allocator_;
  const size_t bytes = kHeaderBytes + bytes_;
  this->~Buffer();
  allocator->Deallocate(this, bytes);
  while (!deferred.empty()) {
    Buffer* const next = deferred.back();
    deferred.pop_back();
    next->Destroy();
  }
  if (may_nest) --nested;
}

}  // namespace sluice

#include "distributed/wire/fetched_buffers.h"

#include <mutex>
#include <unordered_map>
#include <utility>

namespace sluice {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<const void*, BufferRef> buffers;  // by their data; guarded by mutex
};
Table& Fetched() {
  static auto* const table = new Table;
  return *table;
}

// The last slice of the buffer has gone.
void Drop(void* data) {
  BufferRef dropped;  // let go without the lock
  std::lock_guard<std::mutex> lock(Fetched().mutex);
  auto it = Fetched().buffers.find(data);
  dropped = std::move(it->second);
  Fetched().buffers.erase(it);
}

}  // namespace

grpc::Slice SliceOfFetched(BufferRef buffer) {
  void* const data = buffer->data();
  const size_t bytes = buffer->bytes();
  {
    std::lock_guard<std::mutex> lock(Fetched().mutex);
    Fetched().buffers.emplace(data, std::move(buffer));
  }
  return grpc::Slice(data, bytes, Drop, data);
}

BufferRef FetchedBuffer(const void* data, size_t bytes) {
  std::lock_guard<std::mutex> lock(Fetched().mutex);
  auto it = Fetched().buffers.find(data);
  if (it == Fetched().buffers.end() || it->second->bytes() != bytes) return BufferRef();
  return it->second;
}

}  // namespace sluice

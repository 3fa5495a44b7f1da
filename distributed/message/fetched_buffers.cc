#include "distributed/message/fetched_buffers.h"

#include <unordered_map>
#include <utility>

#include "graph/mutex.h"

namespace sluice {
namespace {

struct Table {
  Mutex mutex;
  std::unordered_map<const void*, BufferRef> buffers ABSL_GUARDED_BY(mutex);  // by address
};
Table& Fetched() {
  static auto* const table = new Table;
  return *table;
}

// Called with the last reference to a slice.
void Drop(void* data) {
  Table& table = Fetched();
  BufferRef dropped;  // freed without the lock
  ScopedLock lock(&table.mutex);
  auto it = table.buffers.find(data);
  dropped = std::move(it->second);
  table.buffers.erase(it);
}

}  // namespace

grpc::Slice SliceOfFetched(BufferRef buffer) {
  void* const data = buffer->data();
  const size_t bytes = buffer->bytes();
  Table& table = Fetched();
  {
    ScopedLock lock(&table.mutex);
    table.buffers.emplace(data, std::move(buffer));
  }
  return grpc::Slice(data, bytes, Drop, data);
}

BufferRef FetchedBuffer(const void* data, size_t bytes) {
  Table& table = Fetched();
  ScopedLock lock(&table.mutex);
  auto it = table.buffers.find(data);
  if (it == table.buffers.end() || it->second->bytes() != bytes) return BufferRef();
  return it->second;
}

}  // namespace sluice

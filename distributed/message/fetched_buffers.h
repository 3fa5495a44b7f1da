// Recognises tensor buffers among the slices of a received message, so that a tensor takes over the
// buffer that its content was received into. It then owns the buffer like a kernel's output, and
// kernels may write into it.
//
// A slice does not reveal the owner of its memory, so a table keeps the buffers by address.
//
// Thread safety: all functions may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_FETCHED_BUFFERS_H_
#define SLUICE_DISTRIBUTED_MESSAGE_FETCHED_BUFFERS_H_

#include <cstddef>

#include "graph/tensor/buffer.h"
#include "grpcpp/support/slice.h"

namespace sluice {

// Returns a slice of the whole buffer. The slice keeps the buffer alive.
grpc::Slice SliceOfFetched(BufferRef buffer);

// Returns the buffer of such a slice if it has exactly these bytes, otherwise null.
BufferRef FetchedBuffer(const void* data, size_t bytes);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_FETCHED_BUFFERS_H_

// Lets a tensor take over the buffer into which its content was received. It then owns the buffer
// like the output of a kernel, and kernels may write into it.
//
// A slice of a gRPC message does not reveal the owner of its memory. So a table maps addresses to
// the buffers of tensors, and this code looks slices up in it.
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

// Returns the buffer that was passed to SliceOfFetched and has exactly these bytes. Null if there
// is none.
BufferRef FetchedBuffer(const void* data, size_t bytes);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_FETCHED_BUFFERS_H_

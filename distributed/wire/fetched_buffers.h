// Buffers that bytes of messages were fetched into. A tensor whose content is one of them as a
// whole takes it over, and owns it as if a kernel had made it: it may be written, or become a sum.
//
// Why a table: between socket and decoder bytes are slices, which do not tell whose memory they
// are.
#ifndef SLUICE_DISTRIBUTED_WIRE_FETCHED_BUFFERS_H_
#define SLUICE_DISTRIBUTED_WIRE_FETCHED_BUFFERS_H_

#include <cstddef>

#include "graph/tensor/buffer.h"
#include "grpcpp/support/slice.h"

namespace sluice {

// A slice of all of the buffer, which it keeps. Thread safety: any thread.
grpc::Slice SliceOfFetched(BufferRef buffer);

// The buffer of such a slice that has these bytes; null where they are something else.
BufferRef FetchedBuffer(const void* data, size_t bytes);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_FETCHED_BUFFERS_H_

// Encodes and decodes the response to RecvTensor and RecvBuf: one tensor, or a mark that the value
// is dead, because it belongs to a branch that is not taken.
//
// Thread safety: all functions may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_TENSOR_RESPONSE_H_
#define SLUICE_DISTRIBUTED_MESSAGE_TENSOR_RESPONSE_H_

#include <string>

#include "absl/status/statusor.h"
#include "distributed/proto/worker.pb.h"
#include "graph/tensor/tensor.h"
#include "grpcpp/support/byte_buffer.h"

namespace sluice {

struct TensorResponse {
  Tensor value;  // uninitialized if dead
  bool is_dead = false;
};

// Encodes `response` and, unless it is dead, the tensor.
absl::StatusOr<grpc::ByteBuffer> EncodeTensorResponse(const pb::RecvTensorResponse& response,
                                                      Tensor value);

// Decodes the response of `task` and leaves its bytes empty. An error names the task. INTERNAL if
// the response has neither a tensor nor a dead value.
absl::StatusOr<TensorResponse> TakeTensorResponse(const std::string& task,
                                                  absl::StatusOr<grpc::ByteBuffer>& response);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_TENSOR_RESPONSE_H_

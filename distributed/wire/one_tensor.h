// The answer to RecvTensor and to RecvBuf: one tensor, or word that the value is dead.
//
// Thread safety: functions only.
#ifndef SLUICE_DISTRIBUTED_WIRE_ONE_TENSOR_H_
#define SLUICE_DISTRIBUTED_WIRE_ONE_TENSOR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distributed/proto/worker.pb.h"
#include "graph/tensor/tensor.h"
#include "grpcpp/support/byte_buffer.h"

namespace sluice {

struct OneTensor {
  Tensor value;  // without elements where it is dead
  bool is_dead = false;
};

// `response` says what goes with the tensor; its own tensor is left out where is_dead() is set.
absl::StatusOr<grpc::ByteBuffer> EncodeOneTensor(const pb::RecvTensorResponse& response,
                                                 Tensor value);

// What `task` answered: its error, which then names the task, or what is in `bytes`, which are
// empty afterwards. INTERNAL if that is neither a tensor nor dead.
absl::StatusOr<OneTensor> TakeOneTensor(const std::string& task, absl::Status answered,
                                        grpc::ByteBuffer* bytes);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_ONE_TENSOR_H_

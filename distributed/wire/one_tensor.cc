#include "distributed/wire/one_tensor.h"

#include <utility>
#include <vector>

#include "distributed/wire/tensor_message.h"
#include "distributed/wire/worker_method.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr TensorField kTensor{pb::RecvTensorResponse::kTensorFieldNumber, TensorField::kBare};

}  // namespace

absl::StatusOr<grpc::ByteBuffer> EncodeOneTensor(const pb::RecvTensorResponse& response,
                                                 Tensor value) {
  if (response.is_dead()) return EncodeMessage(response);
  return EncodeMessage(response, kTensor, {{{"", std::move(value)}}});
}

absl::StatusOr<OneTensor> TakeOneTensor(const std::string& task, absl::Status answered,
                                        grpc::ByteBuffer* bytes) {
  pb::RecvTensorResponse response;
  std::vector<NamedTensor> tensors;
  if (answered.ok()) answered = TakeMessage(bytes, kTensor, &response, &tensors);
  if (answered.ok() && !response.is_dead() && tensors.size() != 1) {
    answered = absl::InternalError("expected a tensor, got none");
  }
  if (!answered.ok()) return FromTask(task, answered);
  if (response.is_dead()) return OneTensor{Tensor(), true};
  return OneTensor{std::move(tensors[0].value), false};
}

}  // namespace sluice

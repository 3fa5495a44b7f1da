#include "distributed/message/tensor_response.h"

#include <utility>
#include <vector>

#include "distributed/message/service_methods.h"
#include "distributed/message/tensor_message.h"
#include "executor/wait/out_of_memory.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr TensorField kTensor{pb::RecvTensorResponse::kTensorFieldNumber, TensorField::kBare};

absl::StatusOr<TensorResponse> Take(absl::StatusOr<grpc::ByteBuffer>& response) {
  SLUICE_RETURN_IF_ERROR(response.status());
  pb::RecvTensorResponse rest;
  std::vector<NamedTensor> tensors;
  SLUICE_RETURN_IF_ERROR(TakeMessage(&*response, kTensor, &rest, &tensors));
  if (rest.is_dead()) return TensorResponse{Tensor(), true};
  if (tensors.size() != 1) return absl::InternalError("expected a tensor, got none");
  return TensorResponse{std::move(tensors[0].value), false};
}

}  // namespace

absl::StatusOr<grpc::ByteBuffer> EncodeTensorResponse(const pb::RecvTensorResponse& response,
                                                      Tensor value) {
  if (response.is_dead()) return EncodeMessage(response);
  return OrOutOfMemory([&] {
    return EncodeMessage(response, kTensor, {{{"", std::move(value)}}});
  });
}

absl::StatusOr<TensorResponse> TakeTensorResponse(const std::string& task,
                                                  absl::StatusOr<grpc::ByteBuffer>& response) {
  absl::StatusOr<TensorResponse> taken = Take(response);
  if (!taken.ok()) return FromTask(task, taken.status());
  return taken;
}

}  // namespace sluice

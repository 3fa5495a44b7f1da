// Tests small parts of messages: bytes, slices, methods and responses. tensor_message_test.cc tests
// tensors.
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "distributed/message/bytes.h"
#include "distributed/message/device_attributes.h"
#include "distributed/message/open_calls.h"
#include "distributed/message/respond.h"
#include "distributed/message/service_methods.h"
#include "distributed/message/slice_reader.h"
#include "distributed/message/tensor_response.h"
#include "distributed/proto/master.pb.h"
#include "distributed/testing/fake_call.h"
#include "gmock/gmock.h"
#include "graph/status.h"
#include "graph/tensor/variant.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// The slices have at least this many bytes, because gRPC joins small slices.
constexpr size_t kRun = 100;

// Slices of 100 letters a, none, 200 letters b, and 300 letters c.
grpc::ByteBuffer InSlices() {
  const grpc::Slice slices[] = {grpc::Slice(std::string(kRun, 'a')), grpc::Slice(),
                                grpc::Slice(std::string(2 * kRun, 'b')),
                                grpc::Slice(std::string(3 * kRun, 'c'))};
  return grpc::ByteBuffer(slices, 4);
}
std::string Text() {
  return std::string(kRun, 'a') + std::string(2 * kRun, 'b') + std::string(3 * kRun, 'c');
}

TEST(Bytes, TextIsTheBytesOfAllSlices) {
  EXPECT_EQ(TextOf(InSlices()), Text());
  EXPECT_EQ(TextOf(BytesOf("x")), "x");
  EXPECT_TRUE(BytesOf("").Valid());
  EXPECT_EQ(TextOf(grpc::ByteBuffer()), "");
}

TEST(Bytes, TakenBytesAreNoLongerInTheResponse) {
  absl::StatusOr<grpc::ByteBuffer> response = BytesOf("x");
  EXPECT_EQ(TextOf(*TakeBytes(response)), "x");
  EXPECT_FALSE(response->Valid());
  response = absl::AbortedError("no");
  EXPECT_EQ(TakeBytes(response).status(), absl::AbortedError("no"));
}

TEST(SliceReader, ReadsAcrossSlices) {
  grpc::ByteBuffer bytes = InSlices();
  SliceReader in(&bytes);
  EXPECT_FALSE(bytes.Valid());
  EXPECT_EQ(in.size(), 6 * kRun);
  char first[kRun + 1];
  ASSERT_TRUE(in.Read(first, sizeof(first)));
  EXPECT_EQ(std::string(first, sizeof(first)), Text().substr(0, kRun + 1));
  EXPECT_EQ(in.offset(), 1u);  // in the slice of letters b
  ASSERT_TRUE(in.Skip(2 * kRun - 2));
  std::string text = "+";
  ASSERT_TRUE(in.ReadString(2, &text));
  EXPECT_EQ(text, "+bc");
  EXPECT_EQ(in.position(), 3 * kRun + 1);
  EXPECT_EQ(in.left(), 3 * kRun - 1);
}

TEST(SliceReader, GivesSlicesWithoutCopyingThem) {
  grpc::ByteBuffer bytes = InSlices();
  SliceReader in(&bytes);
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(in.ReadSlices(4 * kRun, &slices));
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(TextOf(grpc::ByteBuffer(slices.data(), slices.size())), Text().substr(0, 4 * kRun));
  EXPECT_EQ(slices[2].end(), in.slice().begin() + in.offset());
}

TEST(SliceReader, ReadsNothingBeyondTheEnd) {
  grpc::ByteBuffer bytes = InSlices();
  SliceReader in(&bytes);
  std::string text;
  std::vector<grpc::Slice> slices;
  char byte;
  const uint64_t too_many = in.size() + 1;
  EXPECT_FALSE(in.ReadString(too_many, &text) || in.Skip(too_many) ||
               in.ReadSlices(too_many, &slices));
  EXPECT_EQ(text, "");
  ASSERT_TRUE(in.Skip(in.size()));
  EXPECT_FALSE(in.Read(&byte, 1));
}

TEST(SliceReader, VarintsHaveUpTo64Bits) {
  grpc::ByteBuffer bytes = BytesOf(std::string("\x05\xac\x02") + std::string(9, '\xff') + '\x01' +
                                   std::string(10, '\x80') + std::string("\x80"));
  SliceReader in(&bytes);
  uint64_t value;
  EXPECT_TRUE(in.ReadVarint(&value) && value == 5);
  EXPECT_TRUE(in.ReadVarint(&value) && value == 300);
  EXPECT_TRUE(in.ReadVarint(&value) && value == UINT64_MAX);
  EXPECT_FALSE(in.ReadVarint(&value));  // more than ten bytes
  EXPECT_FALSE(in.ReadVarint(&value));  // ends early
}

TEST(FromTask, NamesTheFirstTaskOnly) {
  const absl::Status error = FromTask("/job:ps/task:0", absl::AbortedError("lost"));
  EXPECT_EQ(error, absl::AbortedError("From /job:ps/task:0:\nlost"));
  EXPECT_EQ(FromTask("/job:worker/task:1", error), error);
  EXPECT_TRUE(FromTask("/job:ps/task:0", absl::OkStatus()).ok());
}

TEST(DeviceAttributes, CarryNameTypeAndIncarnation) {
  const std::string name = "/job:ps/replica:0/task:0/device:CPU:1";
  DeviceAttributesList list;
  DevicesToProto({{name, *DeviceSpec::Parse(name), 17}}, &list);
  EXPECT_EQ(list.Get(0).device_type(), "CPU");
  std::vector<DeviceInfo> devices;
  ASSERT_TRUE(DevicesFromProto(list, &devices).ok());
  EXPECT_EQ(devices[0].name, name);
  EXPECT_EQ(devices[0].incarnation, 17u);
  list.Mutable(0)->set_name("/job");
  EXPECT_TRUE(absl::IsInvalidArgument(DevicesFromProto(list, &devices)));
}

class Service {
 public:
  absl::Status Release(const pb::ReleaseCallableRequest& request, pb::ReleaseCallableResponse*) {
    return request.handle() == 1 ? absl::OkStatus() : absl::NotFoundError("no such handle");
  }
};

TEST(UnaryMethod, RespondsWithTheMessageOrTheError) {
  Service service;
  const RpcMethod method = UnaryMethod("/a.B/Release", &service, &Service::Release);
  EXPECT_TRUE(method.blocks && !method.is_one_way);
  pb::ReleaseCallableRequest request;
  request.set_handle(1);
  FakeCall known(EncodeMessage(request));
  method.handle(known);
  EXPECT_TRUE(known.Await().ok());
  FakeCall unknown(EncodeMessage(pb::ReleaseCallableRequest()));
  method.handle(unknown);
  EXPECT_EQ(unknown.Await().status(), absl::NotFoundError("no such handle"));
  FakeCall damaged(BytesOf("\xff"));
  method.handle(damaged);
  EXPECT_EQ(damaged.Await().status().message(),
            "damaged message: expected a ReleaseCallableRequest");
}

TEST(UnaryMethod, MayBeCalledOneWayIfItDoesNotBlock) {
  Service service;
  EXPECT_TRUE(UnaryMethod("/a.B/R", &service, &Service::Release, /*blocks=*/false).is_one_way);
}

TEST(RespondWhenReleased, WaitsForTheLastCopy) {
  FakeCall call(BytesOf(""));
  std::shared_ptr<void> first = RespondWhenReleased(call);
  std::shared_ptr<void> second = first;
  first.reset();
  EXPECT_FALSE(call.is_finished());
  second.reset();
  EXPECT_EQ(TextOf(*call.Await()), "");
}

constexpr TensorField kFetches{pb::RunStepResponse::kTensorFieldNumber, TensorField::kNamed};

TEST(RespondToStep, PutsErrorsWhereTheRequestAsksForThem) {
  pb::RunStepRequest request;
  FakeCall plain(BytesOf(""));
  RespondToStep(plain, request, absl::AbortedError("lost"), pb::RunStepResponse(), kFetches, {});
  EXPECT_EQ(plain.Await().status(), absl::AbortedError("lost"));
  request.set_store_errors_in_response_body(true);
  FakeCall call(BytesOf(""));
  RespondToStep(call, request, absl::AbortedError("lost"), pb::RunStepResponse(), kFetches, {});
  pb::RunStepResponse response;
  ASSERT_TRUE(DecodeMessage(*call.Await(), &response).ok());
  EXPECT_EQ(response.status_code(), pb::error::ABORTED);
  EXPECT_EQ(response.status_error_message(), "lost");
}

TEST(RespondToStep, NamesTheLargestFetchIfTheClientCannotReceiveAll) {
  const std::vector<NamedTensor> fetches = {{"small:0", Tensor::Scalar(1.0f)},
                                            {"large:0", Tensor(DT_FLOAT, {100})}};
  FakeCall call(BytesOf(""), /*max_response_bytes=*/200);
  RespondToStep(call, pb::RunStepRequest(), absl::OkStatus(), pb::RunStepResponse(), kFetches,
                fetches);
  const absl::Status status = call.Await().status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("fetch 'large:0' is float [100] of 400 bytes"));
  EXPECT_THAT(status.message(), HasSubstr("expected at most 200"));
}

// A variant for whose encoding there is no memory.
class Huge final : public VariantObject {
 public:
  std::string TypeName() const override { throw std::bad_alloc(); }
};

// The exception ended the process, or the sender's kernel, so that the call was never finished.
TEST(Responses, FailIfThereIsNoMemoryForThem) {
  const Tensor huge = Tensor::Scalar(Variant(std::make_shared<Huge>()));
  EXPECT_TRUE(
      absl::IsResourceExhausted(EncodeTensorResponse(pb::RecvTensorResponse(), huge).status()));
  FakeCall call(BytesOf(""));
  RespondToStep(call, pb::RunStepRequest(), absl::OkStatus(), pb::RunStepResponse(), kFetches,
                {{"huge:0", huge}});
  EXPECT_TRUE(absl::IsResourceExhausted(call.Await().status()));
}

TEST(TensorResponse, IsATensorOrDead) {
  pb::RecvTensorResponse response;
  absl::StatusOr<grpc::ByteBuffer> bytes = EncodeTensorResponse(response, Tensor::Scalar(2.0f));
  absl::StatusOr<TensorResponse> taken = TakeTensorResponse("/job:ps/task:0", bytes);
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_FALSE(taken->is_dead);
  EXPECT_EQ(taken->value.scalar<float>(), 2);
  response.set_is_dead(true);
  bytes = EncodeTensorResponse(response, Tensor());
  taken = TakeTensorResponse("/job:ps/task:0", bytes);
  EXPECT_TRUE(taken.ok() && taken->is_dead);
}

TEST(TensorResponse, ErrorsNameTheTask) {
  absl::StatusOr<grpc::ByteBuffer> bytes = BytesOf("");
  EXPECT_EQ(TakeTensorResponse("/job:ps/task:0", bytes).status(),
            absl::InternalError("From /job:ps/task:0:\nexpected a tensor, got none"));
  bytes = absl::UnavailableError("down");
  EXPECT_EQ(TakeTensorResponse("/job:ps/task:0", bytes).status(),
            absl::UnavailableError("From /job:ps/task:0:\ndown"));
}

TEST(OpenCalls, NoneBeginsAfterClose) {
  OpenCalls calls;
  EXPECT_TRUE(calls.Begin());
  calls.Close();
  EXPECT_FALSE(calls.Begin());
  calls.AwaitNone(std::chrono::steady_clock::now());  // returns although one is open
  calls.End();
  calls.AwaitNone();
}

}  // namespace
}  // namespace sluice

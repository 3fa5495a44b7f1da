#include "distributed/message/tensor_message.h"

#include <atomic>

#include "distributed/message/bytes.h"
#include "distributed/message/counters.h"
#include "distributed/message/fetched_buffers.h"
#include "distributed/proto/master.pb.h"
#include "gmock/gmock.h"
#include "graph/format/tensor_proto.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

constexpr TensorField kFeeds{pb::RunStepRequest::kFeedFieldNumber, TensorField::kNamed};
constexpr TensorField kBare{pb::RunCallableRequest::kFeedFieldNumber, TensorField::kBare};

// Returns a message in slices of `size` bytes, as a network would deliver it.
grpc::ByteBuffer InSlices(const std::string& bytes, size_t size) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += size) slices.emplace_back(bytes.substr(at, size));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

Tensor Large() {
  Tensor t(DT_FLOAT, TensorShape({100, 100}));
  for (int i = 0; i < 10000; ++i) t.data<float>()[i] = static_cast<float>(i);
  return t;
}

TEST(TensorMessage, IsWhatProtocolBuffersReadAndWrite) {
  pb::RunStepRequest rest;
  rest.set_session_handle("s");
  rest.add_fetch("y:0");
  rest.set_request_id(-3);
  const std::vector<NamedTensor> tensors = {{"x:0", Large()},
                                            {"i:0", Tensor::Vector<int32_t>({1, 2})},
                                            {"s:0", Tensor::Vector<std::string>({"a", ""})},
                                            {"b:0", Tensor::Scalar(true)},
                                            {"e:0", Tensor(DT_FLOAT, TensorShape({0, 3}))}};
  auto encoded = EncodeMessage(rest, kFeeds, tensors);
  ASSERT_TRUE(encoded.ok()) << encoded.status();
  pb::RunStepRequest whole;
  ASSERT_TRUE(whole.ParseFromString(TextOf(*encoded)));
  ASSERT_EQ(whole.feed_size(), 5);
  EXPECT_EQ(whole.session_handle(), "s");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(whole.feed(i).name(), tensors[i].name);
    EXPECT_EQ(TensorFromProto(whole.feed(i).tensor())->ToString(100),
              tensors[i].value.ToString(100));
  }
  for (const size_t slice : {size_t{1}, size_t{7}, size_t{8192}, size_t{1} << 20}) {
    pb::RunStepRequest read;
    std::vector<NamedTensor> back;
    const absl::Status status =
        DecodeMessage(InSlices(whole.SerializeAsString(), slice), kFeeds, &read, &back);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(read.request_id(), -3);
    EXPECT_EQ(read.fetch(0), "y:0");
    ASSERT_EQ(back.size(), 5);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(back[i].name, tensors[i].name);
      EXPECT_EQ(back[i].value.ToString(10000), tensors[i].value.ToString(10000));
    }
  }
}

TEST(TensorMessage, LargeContentsAreNotCopied) {
  const Tensor large = Large();
  auto encoded = EncodeMessage(pb::RunCallableRequest(), kBare, {{{"", large}}});
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(encoded->Dump(&slices).ok());
  EXPECT_EQ(slices.back().begin(), static_cast<const uint8_t*>(large.raw()));
  EXPECT_FALSE(large.BufferIsUnique());
  slices.clear();
  encoded->Clear();
  EXPECT_TRUE(large.BufferIsUnique());
}

TEST(TensorMessage, ATensorKeepsTheSliceThatItsContentsLieIn) {
  const Tensor large = Large();
  auto encoded = EncodeMessage(pb::RunCallableRequest(), kBare, {{{"", large}}});
  const std::atomic<int64_t>& lent = WireCounters::Global().lent;
  EXPECT_EQ(lent.load(), 0);
  pb::RunCallableRequest rest;
  std::vector<NamedTensor> tensors;
  ASSERT_TRUE(TakeMessage(&*encoded, kBare, &rest, &tensors).ok());
  EXPECT_EQ(lent.load(), 1);
  EXPECT_EQ(tensors[0].value.raw(), large.raw());
  tensors.clear();
  EXPECT_EQ(lent.load(), 0);
  EXPECT_TRUE(large.BufferIsUnique());
}

// An accumulator can then add in place to a gradient that came over a lane.
TEST(TensorMessage, ATensorTakesTheBufferOverThatItsContentWasFetchedInto) {
  const Tensor sent = Large();
  const auto encoded = EncodeMessage(pb::RunCallableRequest(), kBare, {{{"", sent}}});
  ASSERT_TRUE(encoded.ok());
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(encoded->Dump(&slices).ok());
  for (grpc::Slice& slice : slices) {
    if (slice.size() != sent.bytes()) continue;
    BufferRef buffer(Buffer::New(Heap(), DT_UINT8, static_cast<int64_t>(slice.size())));
    slice = SliceOfFetched(std::move(buffer));
  }
  grpc::ByteBuffer received(slices.data(), slices.size());
  slices.clear();
  std::vector<NamedTensor> taken;
  pb::RunCallableRequest rest;
  ASSERT_TRUE(TakeMessage(&received, kBare, &rest, &taken).ok());
  EXPECT_TRUE(taken[0].value.BufferIsUnique());
  EXPECT_FALSE(FetchedBuffer(taken[0].value.raw(), sent.bytes()));  // the slice was released
}

TEST(TensorMessage, DamagedBytesAreRefused) {
  pb::RunCallableRequest whole;
  ASSERT_TRUE(TensorToContentProto(Large(), whole.add_feed()).ok());
  whole.set_session_handle("s");
  const std::string good = whole.SerializeAsString();
  for (size_t cut = 1; cut < good.size(); cut += 977) {
    pb::RunCallableRequest read;
    std::vector<NamedTensor> tensors;
    const absl::Status status =
        DecodeMessage(InSlices(good.substr(0, cut), 4096), kBare, &read, &tensors);
    EXPECT_TRUE(status.ok() ? tensors.empty() : absl::IsInvalidArgument(status)) << cut;
  }
}

TEST(TensorMessage, ContentThatDoesNotFitTheShapeIsRefusedBeforeMemoryIsTaken) {
  pb::RunCallableRequest whole;
  pb::TensorProto* tensor = whole.add_feed();
  tensor->set_dtype(pb::DT_FLOAT);
  tensor->mutable_tensor_shape()->add_dim()->set_size(int64_t{1} << 40);
  tensor->set_tensor_content("abcd");
  pb::RunCallableRequest read;
  std::vector<NamedTensor> tensors;
  const absl::Status status =
      DecodeMessage(InSlices(whole.SerializeAsString(), 100), kBare, &read, &tensors);
  EXPECT_THAT(status.message(), HasSubstr("tensor_content has 4 bytes"));
}

}  // namespace
}  // namespace sluice

#include "tools/npz/tensor_npy.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

Tensor ThereAndBack(const Tensor& tensor) {
  const auto array = NpyFromTensor(tensor);
  EXPECT_TRUE(array.ok()) << array.status();
  const auto again = TensorFromNpy(*array, tensor.dtype());
  EXPECT_TRUE(again.ok()) << again.status();
  return *again;
}

TEST(TensorNpy, NumbersComeBackWithTypeAndShape) {
  const Tensor tensor = ThereAndBack(Tensor::Of<int64_t>({2, 1}, {-1, 1ll << 40}));
  EXPECT_EQ(tensor.dtype(), DT_INT64);
  EXPECT_EQ(tensor.shape(), TensorShape({2, 1}));
  EXPECT_THAT(tensor.flat<int64_t>(), ElementsAre(-1, 1ll << 40));
}

TEST(TensorNpy, Bfloat16TravelsAsFloat) {
  const Tensor tensor = Tensor::Vector<bfloat16>({bfloat16(1.5f), bfloat16(-2.0f)});
  EXPECT_EQ(NpyFromTensor(tensor)->type, "f4");
  EXPECT_EQ(static_cast<float>(ThereAndBack(tensor).flat<bfloat16>()[1]), -2.0f);
  EXPECT_EQ(TensorFromNpy(*NpyFromTensor(tensor))->dtype(), DT_FLOAT);
}

TEST(TensorNpy, StringsTravelAsBytesOfEqualLength) {
  const Tensor tensor = Tensor::Vector<std::string>({"abc", "", "d"});
  EXPECT_EQ(NpyFromTensor(tensor)->type, "S3");
  EXPECT_THAT(ThereAndBack(tensor).flat<std::string>(), ElementsAre("abc", "", "d"));
}

TEST(TensorNpy, UnicodeBecomesUtf8) {
  const NpyArray array{"U2", {1}, std::string("\xe9\0\0\0\0\xf6\x01\0", 8)};
  EXPECT_EQ(TensorFromNpy(array)->scalar<std::string>(), "\xc3\xa9\xf0\x9f\x98\x80");
}

TEST(TensorNpy, EveryByteBecomesAValidBool) {
  const auto tensor = TensorFromNpy({"b1", {3}, std::string("\0\1\2", 3)});
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->dtype(), DT_BOOL);
  EXPECT_THAT(tensor->Bitcast(DT_UINT8).flat<uint8_t>(), ElementsAre(0, 1, 1));
}

TEST(TensorNpy, EmptyTensorsKeepTheirShape) {
  EXPECT_EQ(ThereAndBack(Tensor(DT_FLOAT, {0, 3})).shape(), TensorShape({0, 3}));
  EXPECT_EQ(ThereAndBack(Tensor(DT_STRING, {0})).shape(), TensorShape({0}));
}

// An array of 'S0' has no bytes, so its shape may be any.
TEST(TensorNpy, ShapesWithoutMemoryAreErrors) {
  EXPECT_EQ(TensorFromNpy({"S0", {int64_t{1} << 50}, ""}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(TensorNpy, TypesWithoutAFormAreErrors) {
  EXPECT_EQ(NpyFromTensor(Tensor(DT_RESOURCE, {})).status().message(),
            "a tensor of resource has no NumPy form");
}

}  // namespace
}  // namespace sluice

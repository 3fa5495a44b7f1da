#include "tools/commands/json.h"

#include <cmath>

#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(JsonTest, StringsAreEscapedOrBase64) {
  EXPECT_EQ(JsonString("a\"b\\\n"), "\"a\\\"b\\\\\\n\"");
  EXPECT_EQ(JsonString("na\xc3\xafve"), "\"na\xc3\xafve\"");
  EXPECT_EQ(JsonString("\xff\x01"), "{\"b64\": \"/wE=\"}");
}

TEST(JsonTest, TensorsAreNestedArrays) {
  EXPECT_EQ(JsonTensor(Tensor::Of<float>({2, 2}, {1, 0.1f, INFINITY, -2})),
            "{\"dtype\": \"float\", \"shape\": [2, 2], \"values\": [[1, 0.1], [\"inf\", -2]]}");
  EXPECT_EQ(JsonTensor(Tensor::Scalar(int64_t{1} << 62)),
            "{\"dtype\": \"int64\", \"shape\": [], \"values\": 4611686018427387904}");
  EXPECT_EQ(JsonTensor(Tensor(DT_BOOL, {0, 3})),
            "{\"dtype\": \"bool\", \"shape\": [0, 3], \"values\": []}");
  EXPECT_EQ(JsonTensor(Tensor::Vector<uint8_t>({7, 255})),
            "{\"dtype\": \"uint8\", \"shape\": [2], \"values\": [7, 255]}");
  EXPECT_EQ(JsonTensor(Tensor::Scalar(std::string("x"))),
            "{\"dtype\": \"string\", \"shape\": [], \"values\": \"x\"}");
}

TEST(JsonTest, UnknownSizesAreNull) {
  EXPECT_EQ(JsonShape(PartialShape({2, -1})), "[2, null]");
  EXPECT_EQ(JsonShape(PartialShape::UnknownRank()), "null");
}

}  // namespace
}  // namespace sluice

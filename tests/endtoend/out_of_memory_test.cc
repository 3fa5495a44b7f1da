// Steps that need more memory than the process may have end with an error. This process may have
// 512 MB.
#include <sys/resource.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class OutOfMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers need much more memory";
#endif
    const rlimit limit = {512 << 20, 512 << 20};
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
  }
  // Runs a step that computes `y` and one that does not.
  void ExpectExhausted(Output y, const char* op) {
    Session session(g_);
    const absl::Status status = session.Run({}, {y}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(op), HasSubstr("OOM when")));
    EXPECT_TRUE(session.Run({}, {Constant(g_, Tensor::Scalar(1.0f))}).ok());
  }
  // A string of 4 GB.
  Output LongString() {
    Output joined = Constant(g_, Tensor::Scalar(std::string(1 << 20, 'a')));
    for (int i = 0; i < 12; ++i) joined = StringJoin(g_, {joined, joined});
    return joined;
  }
  Output Int64s(std::initializer_list<int64_t> values) {
    return Constant(g_, Tensor::Vector<int64_t>(values));
  }
  Output Zeros(int64_t n) { return Fill(Int64s({n}), Constant(g_, Tensor::Scalar(int64_t{0}))); }
  Graph g_;
};

TEST_F(OutOfMemoryTest, InStrings) { ExpectExhausted(StringLength(LongString()), "StringJoin"); }

TEST_F(OutOfMemoryTest, InTensors) {
  ExpectExhausted(Fill(Constant(g_, Tensor::Vector<int64_t>({int64_t{1} << 32})),
                       Constant(g_, Tensor::Scalar(1.0f))),
                  "Fill");
}

// A row of 2^16 splits, which is gathered 2^16 times.
TEST_F(OutOfMemoryTest, InGatheredSplits) {
  constexpr int64_t kMany = 1 << 16;
  ExpectExhausted(RaggedGather({Int64s({0, kMany}), Zeros(kMany + 1)}, Zeros(1), Zeros(kMany), 2)
                      .output_dense_values,
                  "RaggedGather");
}

// 2^16 variants that share a ragged tensor of 2^16 splits.
TEST_F(OutOfMemoryTest, InSplitsOfVariants) {
  constexpr int64_t kMany = 1 << 16;
  Output variant = RaggedTensorToVariant({Zeros(kMany + 1)}, Zeros(1), false);
  Output variants = GatherV2(Reshape(variant, Int64s({1})), Zeros(kMany),
                             Constant(g_, Tensor::Scalar(int32_t{0})));
  ExpectExhausted(RaggedTensorFromVariant(variants, 1, 2, DT_INT64).output_dense_values,
                  "RaggedTensorFromVariant");
}

}  // namespace
}  // namespace sluice

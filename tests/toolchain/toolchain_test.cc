// The distribution's libraries compile, link and run together, in each configuration of .bazelrc.

#include <string>
#include <unsupported/Eigen/CXX11/Tensor>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

absl::StatusOr<int> Half(int n) {
  if (n % 2 != 0) return absl::InvalidArgumentError(absl::StrCat("odd: ", n));
  return n / 2;
}

TEST(Toolchain, AbseilCarriesValuesAndErrors) {
  EXPECT_EQ(Half(4).value(), 2);
  EXPECT_EQ(Half(3).status().message(), "odd: 3");
  absl::flat_hash_map<std::string, absl::InlinedVector<int, 2>> map;
  for (int i = 0; i < 100; ++i) map[absl::StrCat(i % 10)].push_back(i);
  EXPECT_THAT(map["3"], testing::SizeIs(10));
}

TEST(Toolchain, EigenContracts) {
  Eigen::Tensor<float, 2, Eigen::RowMajor> a(2, 3);
  a.setConstant(2);
  Eigen::Tensor<float, 0, Eigen::RowMajor> sum = a.sum();
  EXPECT_EQ(sum(), 12);
}

TEST(Toolchain, FmtFormats) { EXPECT_EQ(fmt::format("{:.2f}", 1.5), "1.50"); }

}  // namespace
}  // namespace sluice

#include "executor/cpu/instruction_sets.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace sluice {
namespace {

int LimitInEnvironment() {
  const std::string values[] = {"none", "sse4", "avx2", "avx512"};
  return static_cast<int>(std::find(values, values + 4, std::getenv("SLUICE_CPU")) - values);
}

bool Permits(InstructionSets sets) { return LimitInEnvironment() >= static_cast<int>(sets); }

TEST(InstructionSets, LimitIsThatOfTheEnvironment) {
  EXPECT_EQ(static_cast<int>(InstructionSetLimit()), LimitInEnvironment());
}

TEST(InstructionSets, UsableOnesAreWithinTheLimit) {
  EXPECT_LE(static_cast<int>(UsableInstructionSets()), LimitInEnvironment());
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

TEST(InstructionSets, SetsBeyondTheLimitAreNotSupported) {
  if (!Permits(InstructionSets::kSse4)) {
    EXPECT_FALSE(__builtin_cpu_supports("ssse3"));
    EXPECT_FALSE(__builtin_cpu_supports("sse4.1"));
    EXPECT_FALSE(__builtin_cpu_supports("x86-64-v2"));
  }
  if (!Permits(InstructionSets::kAvx2)) {
    EXPECT_FALSE(__builtin_cpu_supports("avx"));
    EXPECT_FALSE(__builtin_cpu_supports("fma"));
    EXPECT_FALSE(__builtin_cpu_supports("x86-64-v3"));
  }
  if (!Permits(InstructionSets::kAvx512)) {
    EXPECT_FALSE(__builtin_cpu_supports("avx512f"));
    EXPECT_FALSE(__builtin_cpu_supports("avx512vl"));
    EXPECT_FALSE(__builtin_cpu_supports("avx512bf16"));
    EXPECT_FALSE(__builtin_cpu_supports("x86-64-v4"));
  }
}

// All x86-64 processors on which the tests run have SSE4.2. So SSE4.2 is missing only if the limit
// excludes it.
TEST(InstructionSets, SetsWithinTheLimitRemain) {
  EXPECT_TRUE(__builtin_cpu_supports("sse2"));
  EXPECT_TRUE(__builtin_cpu_supports("x86-64"));
  if (Permits(InstructionSets::kSse4)) {
    EXPECT_TRUE(__builtin_cpu_supports("sse4.2"));
    EXPECT_TRUE(__builtin_cpu_supports("x86-64-v2"));
  }
}

__attribute__((target("default"))) int Version() { return 1; }
__attribute__((target("arch=x86-64-v3"))) int Version() { return 3; }
__attribute__((target("arch=x86-64-v4"))) int Version() { return 4; }

// Resolvers run before the C library can be used.
TEST(InstructionSets, ResolversSelectAVersionWithinTheLimit) {
  const int expected = __builtin_cpu_supports("x86-64-v4")   ? 4
                       : __builtin_cpu_supports("x86-64-v3") ? 3
                                                             : 1;
  EXPECT_EQ(Version(), expected);
  EXPECT_EQ(UsableInstructionSets() == InstructionSets::kAvx512, expected == 4);
  EXPECT_EQ(UsableInstructionSets() >= InstructionSets::kAvx2, expected >= 3);
  if (!Permits(InstructionSets::kAvx2)) {
    EXPECT_EQ(Version(), 1);
  }
}

#endif

}  // namespace
}  // namespace sluice

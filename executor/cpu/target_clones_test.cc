#include "executor/cpu/target_clones.h"

#include <vector>

#include "gtest/gtest.h"

namespace sluice {
namespace {

template <class T>
SLUICE_INLINE_IN_CLONES T SquarePlusOne(T x) {
  return x * x + 1;
}

template <class T>
SLUICE_TARGET_CLONES void Apply(const T* in, T* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = SquarePlusOne(in[i]);
}

// The resolver must have run before main(), since kernels may run from a static initialiser.
const float kAtStart = [] {
  float in = 3, out = 0;
  Apply(&in, &out, 1);
  return out;
}();

TEST(TargetClones, ComputesTheSameOnEveryMachineAndBeforeMain) {
  std::vector<float> in(1000), out(1000);
  for (int i = 0; i < 1000; ++i) in[i] = static_cast<float>(i % 50);
  Apply(in.data(), out.data(), 1000);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(out[i], in[i] * in[i] + 1);
  EXPECT_EQ(kAtStart, 10);
}

}  // namespace
}  // namespace sluice

// Helpers of the tests of passes, which rewrite the graph of a step: options, counts of the nodes
// that a step runs, tensors, and comparisons.
#ifndef SLUICE_TESTS_PASSES_PASS_CHECKS_H_
#define SLUICE_TESTS_PASSES_PASS_CHECKS_H_

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {

inline SessionOptions Without(std::set<std::string> passes) {
  SessionOptions options;
  options.disabled_passes = std::move(passes);
  return options;
}

// Runs a step and adds the numbers of its nodes, by op, to `counts`.
inline absl::StatusOr<Tensors> RunAndCount(Session& session, absl::Span<const Feed> feeds,
                                           absl::Span<const Output> fetches,
                                           absl::Span<const Operation> targets,
                                           std::map<std::string, int>* counts) {
  RunMetadata metadata;
  absl::StatusOr<Tensors> out =
      session.Run(feeds, fetches, targets, {.output_partition_graphs = true}, &metadata);
  if (!out.ok()) return out;
  for (const Node* node : metadata.partition_graphs.at(0)->nodes()) ++(*counts)[node->op()];
  return out;
}

// Uniform between -bound and bound; equal for equal seeds.
inline Tensor RandomFloats(const TensorShape& shape, int seed, float bound = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-bound, bound);
  Tensor t(DT_FLOAT, shape);
  for (float& x : t.flat<float>()) x = value(random);
  return t;
}

inline void ExpectSameBits(const Tensor& found, const Tensor& expected) {
  ASSERT_EQ(found.dtype(), expected.dtype());
  ASSERT_EQ(found.shape(), expected.shape());
  EXPECT_EQ(std::memcmp(found.raw(), expected.raw(), expected.bytes()), 0);
}

inline void ExpectSameBits(const absl::StatusOr<Tensors>& found,
                           const absl::StatusOr<Tensors>& expected) {
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_EQ(found->size(), expected->size());
  for (size_t i = 0; i < found->size(); ++i) {
    SCOPED_TRACE(i);
    ExpectSameBits((*found)[i], (*expected)[i]);
  }
}

}  // namespace sluice

#endif  // SLUICE_TESTS_PASSES_PASS_CHECKS_H_

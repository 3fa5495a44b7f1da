// A source gives the kernel of a random op its generator: from the node itself, from a seed, from a
// key and a counter, or from a variable.
//
// A source has these members:
//   kShapeInput:  index of the input that holds the shape of the output.
//   kArguments:   index of the first input that belongs neither to the source nor to the shape.
//   Take:         returns a generator for `results` results.
//
// NodeSource and the sources with a variable advance their generator. The sources of stateless ops
// (SeedSource, KeySource) return the same generator for the same inputs.
//
// Thread safety: Take may be called from any thread.
#ifndef SLUICE_OPS_RANDOM_SOURCES_H_
#define SLUICE_OPS_RANDOM_SOURCES_H_

#include "executor/kernel/context.h"
#include "ops/random/generator_state.h"
#include "ops/random/node_generator.h"
#include "ops/random/seeds.h"

namespace sluice {

class NodeSource {
 public:
  static constexpr int kShapeInput = 0, kArguments = 1;
  explicit NodeSource(KernelInit& init) : generator_(init) {}
  absl::StatusOr<Philox> Take(KernelContext&, int64_t results) {
    return generator_.ReserveOutputs(results);
  }

 private:
  NodeGenerator generator_;
};

template <int kSeedInput>
struct SeedSourceAt {
  static constexpr int kShapeInput = 0, kArguments = 2;
  explicit SeedSourceAt(KernelInit&) {}
  static absl::StatusOr<Philox> Take(KernelContext& c, int64_t) {
    return random::FromSeed(c.input(kSeedInput));
  }
};
using SeedSource = SeedSourceAt<1>;

struct KeySource {
  static constexpr int kShapeInput = 0, kArguments = 4;
  explicit KeySource(KernelInit&) {}
  static absl::StatusOr<Philox> Take(KernelContext& c, int64_t) {
    return random::FromKeyAndCounter(c.input(1), c.input(2), c.input(3));
  }
};

struct StateSource {
  static constexpr int kShapeInput = 2, kArguments = 3;
  explicit StateSource(KernelInit&) {}
  static absl::StatusOr<Philox> Take(KernelContext& c, int64_t results) {
    SLUICE_RETURN_IF_ERROR(random::CheckScalar(c.input(1), 1));
    return TakeFromState(c, c.input(1).scalar<int64_t>(), 0, static_cast<uint64_t>(results));
  }
};

// Like StateSource, but for the older form of the variable, which begins with the number of the
// algorithm.
struct TaggedStateSource {
  static constexpr int kShapeInput = 1, kArguments = 2;
  explicit TaggedStateSource(KernelInit&) {}
  static absl::StatusOr<Philox> Take(KernelContext& c, int64_t results) {
    return TakeFromState(c, 0, 1, static_cast<uint64_t>(results));
  }
};

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_SOURCES_H_

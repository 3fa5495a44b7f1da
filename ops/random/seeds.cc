#include "ops/random/seeds.h"

#include "graph/status.h"

namespace sluice::random {

absl::StatusOr<Philox> FromSeed(const Tensor& seed) {
  SLUICE_INVALID_IF(seed.rank() != 1 || seed.dim(0) != 2, "seed must have shape [2], not ",
                    seed.shape().ToString());
  auto word = [&seed](int i) -> uint64_t {
    switch (seed.dtype()) {
      case DT_INT32:
        return static_cast<uint64_t>(int64_t{seed.data<int32_t>()[i]});
      case DT_UINT32:
        return seed.data<uint32_t>()[i];
      case DT_UINT64:
        return seed.data<uint64_t>()[i];
      default:
        return static_cast<uint64_t>(seed.data<int64_t>()[i]);
    }
  };
  const uint64_t low = word(0), high = word(1);
  const Philox::Results mixed =
      Philox::Rounds({Philox::Low(low), Philox::High(low), Philox::Low(high), Philox::High(high)},
                     {0x3ec8f720, 0x02461e29});
  return Philox(Philox::Counter{0, 0, mixed[2], mixed[3]}, Philox::Key{mixed[0], mixed[1]});
}

absl::StatusOr<Philox> FromKeyAndCounter(const Tensor& key, const Tensor& counter,
                                         const Tensor& algorithm) {
  SLUICE_RETURN_IF_ERROR(CheckScalar(algorithm, 3));
  const int32_t id = algorithm.scalar<int32_t>();
  SLUICE_INVALID_IF(key.rank() != 1 || key.dim(0) != 1, "key must have shape [1], not ",
                    key.shape().ToString(), ". (Note that batched keys are not supported yet.)");
  SLUICE_INVALID_IF(
      counter.rank() != 1 || (id != 2 && counter.dim(0) < 2),
      "counter must be a vector with length at least 2; got shape: ", counter.shape().ToString());
  SLUICE_INVALID_IF(id != kPhiloxAlgorithm && id != kAnyAlgorithm,
                    "Unsupported algorithm id: ", id);
  const uint64_t* words = counter.data<uint64_t>();
  return FromWords(words[0], words[1], key.data<uint64_t>()[0]);
}

absl::Status CheckScalar(const Tensor& t, int i) {
  if (t.rank() == 0) return absl::OkStatus();
  return InvalidArgument("input ", i, " (0-based) must have shape [], not ", t.shape().ToString());
}

uint64_t KeyOf(const Philox& generator) {
  return Philox::Join(generator.key()[0], generator.key()[1]);
}

CounterWords CounterOf(const Philox& generator) {
  const Philox::Counter& c = generator.counter();
  return {Philox::Join(c[0], c[1]), Philox::Join(c[2], c[3])};
}

Philox FromWords(uint64_t counter_low, uint64_t counter_high, uint64_t key) {
  return Philox(Philox::Counter{Philox::Low(counter_low), Philox::High(counter_low),
                                Philox::Low(counter_high), Philox::High(counter_high)},
                Philox::Key{Philox::Low(key), Philox::High(key)});
}

}  // namespace sluice::random

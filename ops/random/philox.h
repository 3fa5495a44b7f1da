// Philox 4x32 with 10 rounds, the counter-based random number generator of every random op.
//
// A generator is a 64-bit key and a 128-bit counter. Each call returns four 32-bit numbers and
// increments the counter. Skip advances the counter in constant time. So several threads can fill
// one output with the numbers that a single thread would draw, and results do not depend on the
// number of threads.
//
// Thread safety: one thread at a time may call a Philox or SingleNumbers. ReservedGenerator may be
// used from any thread.
// Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
// Seeds are converted to keys and counters as in TensorFlow, so that equal seeds give equal
// numbers.
#ifndef SLUICE_OPS_RANDOM_PHILOX_H_
#define SLUICE_OPS_RANDOM_PHILOX_H_

#include <array>
#include <atomic>
#include <cstdint>

namespace sluice {

class Philox {
 public:
  static constexpr int kResults = 4;  // numbers per call
  using Results = std::array<uint32_t, kResults>;
  using Counter = std::array<uint32_t, 4>;
  using Key = std::array<uint32_t, 2>;

  // The key is `seed`, and the upper half of the counter is `seed2`.
  Philox(uint64_t seed, uint64_t seed2)
      : counter_{0, 0, Low(seed2), High(seed2)}, key_{Low(seed), High(seed)} {}
  Philox(Counter counter, Key key) : counter_(counter), key_(key) {}

  const Counter& counter() const { return counter_; }
  const Key& key() const { return key_; }

  // Advances as if the generator had been called `calls` times.
  void Skip(uint64_t calls) {
    const uint64_t low = Join(counter_[0], counter_[1]) + calls;
    counter_[0] = Low(low);
    counter_[1] = High(low);
    if (low < calls && ++counter_[2] == 0) ++counter_[3];
  }

  Results operator()() {
    const Results results = Rounds(counter_, key_);
    Skip(1);
    return results;
  }

  // Returns the numbers of a generator with counter `c` and key `k`.
  static Results Rounds(Counter c, Key k) {
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xD2511F53} * c[0];
      const uint64_t b = uint64_t{0xCD9E8D57} * c[2];
      c = {High(b) ^ c[1] ^ k[0], Low(b), High(a) ^ c[3] ^ k[1], Low(a)};
      k[0] += 0x9E3779B9;
      k[1] += 0xBB67AE85;
    }
    return c;
  }

  static uint32_t Low(uint64_t v) { return static_cast<uint32_t>(v); }
  static uint32_t High(uint64_t v) { return static_cast<uint32_t>(v >> 32); }
  static uint64_t Join(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }

 private:
  Counter counter_;
  Key key_;
};

// Returns one number at a time.
class SingleNumbers {
 public:
  explicit SingleNumbers(Philox* source) : source_(source) {}
  uint32_t operator()() {
    if (used_ == Philox::kResults) {
      results_ = (*source_)();
      used_ = 0;
    }
    return results_[used_++];
  }

 private:
  Philox* source_;
  Philox::Results results_;
  int used_ = Philox::kResults;
};

// The generator of one node. Every execution reserves a separate part of the sequence, so that
// successive steps continue the sequence.
class ReservedGenerator {
 public:
  // Seeds (0, 0) stand for random seeds.
  ReservedGenerator(int64_t seed, int64_t seed2);

  // Returns a generator whose next `calls` calls are reserved for the caller.
  Philox Reserve(uint64_t calls) {
    Philox reserved = first_;
    reserved.Skip(reserved_.fetch_add(calls, std::memory_order_relaxed));
    return reserved;
  }
  // Reserves enough calls for `outputs` results, each of which may take many attempts. TensorFlow's
  // ops reserve the same number.
  Philox ReserveOutputs(int64_t outputs) {
    return Reserve(static_cast<uint64_t>(outputs) * kCallsPerOutput);
  }

  static constexpr uint64_t kCallsPerOutput = 256;

 private:
  const Philox first_;
  // Number of reserved calls. 64 bits are enough for two years of a billion results per second.
  std::atomic<uint64_t> reserved_{0};
};

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_PHILOX_H_

#include "ops/embedding/admission.h"

#include <algorithm>

#include "ops/random/philox.h"

namespace sluice {
namespace {

constexpr uint64_t kChoice = 0x61646d6974;  // separates these numbers from those of initial rows
constexpr uint8_t kCountMax = 255;

Philox::Results NumbersOf(int64_t seed, int64_t key) {
  return Philox(static_cast<uint64_t>(seed) ^ kChoice, static_cast<uint64_t>(key))();
}

}  // namespace

Admission::Admission(const AdmissionRule& rule, int64_t seed)
    : rule_(rule), seed_(seed), filter_(static_cast<size_t>(rule.filter_counters)) {}

bool Admission::Admits(int64_t key) {
  if (rule_.probability < 1 && !IsChosen(key)) return false;
  if (rule_.after_updates <= 1) return true;
  return filter_.empty() ? CountExactly(key) : CountInFilter(key);
}

void Admission::Clear() {
  for (Shard& shard : shards_) {
    ScopedLock lock(&shard.mutex);
    waiting_.fetch_sub(static_cast<int64_t>(shard.counts.size()), std::memory_order_relaxed);
    shard.counts.clear();
  }
  for (std::atomic<uint8_t>& counter : filter_) counter.store(0, std::memory_order_relaxed);
}

bool Admission::IsChosen(int64_t key) const {
  return NumbersOf(seed_, key)[0] * 0x1p-32 < rule_.probability;
}

bool Admission::CountExactly(int64_t key) {
  Shard& shard = shards_[NumbersOf(seed_, key)[1] % kShards];
  ScopedLock lock(&shard.mutex);
  const auto [at, is_new] = shard.counts.try_emplace(key, 0);
  if (is_new) waiting_.fetch_add(1, std::memory_order_relaxed);
  if (++at->second < rule_.after_updates) return false;
  shard.counts.erase(at);
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

// The least of the key's four counters is the estimate. Only counters that equal it count, which
// keeps the others closer to the truth. An admitted key leaves its count in the filter, so that it
// is admitted at once after a removal.
bool Admission::CountInFilter(int64_t key) {
  const Philox::Results numbers = NumbersOf(seed_, key);
  std::array<std::atomic<uint8_t>*, 4> counters;
  uint8_t least = kCountMax;
  for (size_t i = 0; i < counters.size(); ++i) {
    counters[i] = &filter_[numbers[i] * uint64_t{filter_.size()} >> 32];
    least = std::min(least, counters[i]->load(std::memory_order_relaxed));
  }
  if (least == kCountMax) return true;
  for (std::atomic<uint8_t>* counter : counters) {
    uint8_t count = least;
    counter->compare_exchange_strong(count, static_cast<uint8_t>(least + 1),
                                     std::memory_order_relaxed);
  }
  return least + 1 >= rule_.after_updates;
}

}  // namespace sluice

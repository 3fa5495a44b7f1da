#include "ops/embedding/admission.h"

#include <algorithm>

#include "ops/embedding/key_index.h"
#include "ops/random/philox.h"

namespace sluice {
namespace {

constexpr uint64_t kChoice = 0x61646d6974;  // separates these numbers from those of initial rows
constexpr uint8_t kCountMax = 255;

Philox::Results NumbersOf(int64_t seed, int64_t key) {
  return Philox(static_cast<uint64_t>(seed) ^ kChoice, static_cast<uint64_t>(key))();
}

int64_t BlockOf(int64_t key) {
  return static_cast<int64_t>((KeyIndex::StableHash(key) & 0xffffffff) * Admission::kBlocks >> 32);
}

}  // namespace

Admission::Admission(const AdmissionRule& rule, int64_t seed, int64_t shard, int64_t num_shards)
    : rule_(rule),
      seed_(seed),
      first_block_(shard * kBlocks / num_shards),
      end_block_(((shard + 1) * kBlocks + num_shards - 1) / num_shards),
      block_size_((rule.filter_counters + kBlocks - 1) / kBlocks),
      filter_(static_cast<size_t>((end_block_ - first_block_) * block_size_)) {}

bool Admission::Admits(int64_t key) {
  if (rule_.probability < 1 && !IsChosen(key)) return false;
  if (rule_.after_updates <= 1) return true;
  return filter_.empty() ? CountExactly(key) : CountInFilter(key);
}

void Admission::Clear() {
  for (Shard& shard : shards_) {
    ScopedLock lock(&shard.mutex);
    shard.counts.clear();
  }
  for (std::atomic<uint8_t>& counter : filter_) counter.store(0, std::memory_order_relaxed);
}

bool Admission::IsChosen(int64_t key) const {
  return NumbersOf(seed_, key)[0] * 0x1p-32 < rule_.probability;
}

Admission::Shard& Admission::ShardOf(int64_t key) {
  return shards_[NumbersOf(seed_, key)[1] % kShards];
}

bool Admission::CountExactly(int64_t key) {
  Shard& shard = ShardOf(key);
  ScopedLock lock(&shard.mutex);
  const auto at = shard.counts.try_emplace(key, 0).first;
  if (++at->second < rule_.after_updates) return false;
  shard.counts.erase(at);
  return true;
}

// Estimates the key's count by the least of its four counters. Only counters that equal the least
// one are increased, which makes the estimates of other keys more accurate. After an admission the
// counters stay, so a key that was removed is admitted again at once.
bool Admission::CountInFilter(int64_t key) {
  const Philox::Results numbers = NumbersOf(seed_, key);
  // Clamps the number, because a graph may update keys that belong to other parts.
  const int64_t number = std::clamp(BlockOf(key), first_block_, end_block_ - 1) - first_block_;
  std::atomic<uint8_t>* const block = &filter_[static_cast<size_t>(number * block_size_)];
  std::array<std::atomic<uint8_t>*, 4> counters;
  uint8_t least = kCountMax;
  for (size_t i = 0; i < counters.size(); ++i) {
    counters[i] = block + (numbers[i] * static_cast<uint64_t>(block_size_) >> 32);
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

std::vector<std::pair<int64_t, int64_t>> Admission::Waiting(int share) {
  Shard& shard = shards_[static_cast<size_t>(share)];
  std::vector<std::pair<int64_t, int64_t>> all;
  {
    ScopedLock lock(&shard.mutex);
    all.assign(shard.counts.begin(), shard.counts.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

void Admission::SetWaiting(int64_t key, int64_t count) {
  if (rule_.after_updates <= 1 || !filter_.empty()) return;
  Shard& shard = ShardOf(key);
  ScopedLock lock(&shard.mutex);
  shard.counts.insert_or_assign(key, std::clamp<int64_t>(count, 0, rule_.after_updates - 1));
}

std::vector<uint8_t> Admission::FilterBlock(int64_t block) const {
  if (filter_.empty() || !Has(block)) return {};
  const auto first = filter_.begin() + (block - first_block_) * block_size_;
  return {first, first + block_size_};
}

void Admission::RaiseFilterBlock(int64_t block, absl::Span<const uint8_t> counts) {
  if (!Has(block) || static_cast<int64_t>(counts.size()) != block_size_) return;
  const auto first = filter_.begin() + (block - first_block_) * block_size_;
  for (int64_t i = 0; i < block_size_; ++i) {
    std::atomic<uint8_t>& counter = first[i];
    counter.store(std::max(counter.load(std::memory_order_relaxed), counts[static_cast<size_t>(i)]),
                  std::memory_order_relaxed);
  }
}

}  // namespace sluice

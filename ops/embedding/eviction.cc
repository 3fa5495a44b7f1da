// The part of a row store that removes records. Each call examines a limited number of records, so
// that training removes them in small steps.
#include <algorithm>
#include <tuple>

#include "ops/embedding/row_store.h"

namespace sluice {
namespace {

// A number below `end`. Neighbours become distant, because they often have the same age.
Records::Number Scattered(uint32_t i, Records::Number end) {
  return static_cast<Records::Number>(uint64_t{i * 0x9E3779B1u} * end >> 32);
}

}  // namespace

void RowStore::Remove(Keys keys) {
  for (const int64_t key : keys) RemoveIf(key, [](const Record&) { return true; });
}

void RowStore::EvictIdle(int64_t step, int64_t records) {
  if (options_.eviction.idle_steps <= 0) return;
  const auto count = static_cast<uint32_t>(std::min<int64_t>(records, records_.end()));
  const uint32_t first = next_examined_.fetch_add(count, std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    int64_t key;
    {
      // The record may be another key's soon. Then the check under its lock fails.
      const ReaderPhases::Reader reader(&phases_);
      const Record& record = *records_.at((first + i) % records_.end());
      const bool is_used = record.updated.load(std::memory_order_acquire) != 0;
      if (!is_used || !IsIdle(record, step)) continue;
      key = record.key;
    }
    const bool was_removed = RemoveIf(key, [&](const Record& r) { return IsIdle(r, step); });
    if (was_removed) evicted_.fetch_add(1, std::memory_order_relaxed);
  }
}

// Records of this step stay, so that each call makes progress for the keys that it was given.
void RowStore::EvictToCapacity(int64_t step, int64_t keys_max) {
  constexpr uint32_t kCandidates = 16;
  const EvictionRule& rule = options_.eviction;
  if (rule.capacity <= 0) return;
  for (int64_t n = std::min(keys_max, size() - rule.capacity); n > 0; --n) {
    const uint32_t first = next_examined_.fetch_add(kCandidates, std::memory_order_relaxed);
    int64_t key = 0, updated = 0;
    uint32_t count = 0;
    {
      const ReaderPhases::Reader reader(&phases_);
      for (uint32_t i = 0; i < kCandidates; ++i) {
        const Record& record = *records_.at(Scattered(first + i, records_.end()));
        const int64_t last = record.updated.load(std::memory_order_acquire);
        const uint32_t uses = rule.least_updated ? record.count.load(std::memory_order_relaxed) : 0;
        if (last == 0 || last - 1 >= step) continue;
        if (updated != 0 && std::tie(uses, last) >= std::tie(count, updated)) continue;
        std::tie(key, updated, count) = std::tuple(record.key, last, uses);
      }
    }
    if (updated == 0) continue;
    const bool was_removed = RemoveIf(key, [&](const Record& record) {
      return record.updated.load(std::memory_order_relaxed) == updated;
    });
    if (was_removed) evicted_.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace sluice

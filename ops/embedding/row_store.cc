#include "ops/embedding/row_store.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <tuple>

#include "absl/container/inlined_vector.h"
#include "graph/status.h"
#include "graph/strings.h"
#include "graph/tensor/float16.h"

namespace sluice {
namespace {

using Search = KeyIndex::Search;

constexpr size_t kGroup = 16;  // keys that are searched at once

// A row as words, on the stack unless it is large.
using Words = absl::InlinedVector<uint64_t, 64>;

void FillElements(DataType dtype, float value, int64_t size, char* out) {
  if (dtype == DT_FLOAT) std::fill_n(reinterpret_cast<float*>(out), size, value);
  if (dtype == DT_HALF) std::fill_n(reinterpret_cast<half*>(out), size, half(value));
  if (dtype == DT_BFLOAT16) std::fill_n(reinterpret_cast<bfloat16*>(out), size, bfloat16(value));
}

// In a fixed order, so that equal rows have equal norms.
template <typename T>
double SquaredNorm(const void* row, int64_t size) {
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    const auto x = static_cast<double>(static_cast<float>(static_cast<const T*>(row)[i]));
    sum += x * x;
  }
  return sum;
}

double SquaredNorm(DataType dtype, const void* row, int64_t size) {
  if (dtype == DT_HALF) return SquaredNorm<half>(row, size);
  if (dtype == DT_BFLOAT16) return SquaredNorm<bfloat16>(row, size);
  return SquaredNorm<float>(row, size);
}

// The caller holds the lock, so that the answer stays right.
bool WasRemoved(const Record& record) {
  return record.updated.load(std::memory_order_relaxed) == 0;
}

// The value of Record::updated for a step, which a client chose.
int64_t UpdatedAt(int64_t step) {
  return std::min(step, std::numeric_limits<int64_t>::max() - 1) + 1;
}

void CountUpdate(Record* record, int64_t step) {
  const uint32_t count = record->count.load(std::memory_order_relaxed);
  const bool is_full = count == std::numeric_limits<uint32_t>::max();
  record->count.store(count + (is_full ? 0 : 1), std::memory_order_relaxed);
  record->updated.store(UpdatedAt(step), std::memory_order_release);
}

// A number below `end`. Neighbours become distant, because they often have the same age.
Records::Number Scattered(uint32_t i, Records::Number end) {
  return static_cast<Records::Number>(uint64_t{i * 0x9E3779B1u} * end >> 32);
}

}  // namespace

RowStore::RowStore(RowStoreOptions options)
    : options_(std::move(options)),
      row_bytes_(options_.dim * static_cast<int64_t>(DataTypeSize(options_.dtype))),
      records_(row_bytes_, static_cast<int>(options_.slot_values.size())),
      index_(&records_, &phases_),
      admission_(options_.admission, options_.seed, options_.shard, options_.num_shards),
      idle_(options_.eviction, options_.clock) {}

RowStore::Counts RowStore::counts() const {
  return {admitted_.load(std::memory_order_relaxed), filtered_.load(std::memory_order_relaxed),
          evicted_.load(std::memory_order_relaxed)};
}

std::string RowStore::DebugString() const {
  return StrCat("embedding table '", options_.name, "': ", size(), " keys, ", bytes(), " bytes");
}

// Calls f(position of the first key, searches) for groups of keys. A search waits for memory up to
// three times. So the keys are searched in groups, and each step of a group is one step of the
// search behind that of the next group. Loops over one step have many loads at the same time.
template <bool inserts, typename F>
void RowStore::ForEachGroup(Keys keys, int64_t bytes, const F& f) const {
  constexpr size_t kSteps = 4;
  std::array<std::array<Search, kGroup>, kSteps> searches;
  const size_t groups = (keys.size() + kGroup - 1) / kGroup;
  const auto for_group = [&](size_t group, const auto& step) {
    if (group >= groups) return;  // or group is before the first one
    std::array<Search, kGroup>& some = searches[group % kSteps];
    const size_t begin = group * kGroup, n = std::min(kGroup, keys.size() - begin);
    for (size_t i = 0; i < n; ++i) step(begin + i, some[i]);
  };
  const Records::Lines lines = records_.LinesOf(bytes);
  for (size_t group = 0; group < groups + kSteps - 1; ++group) {
    for_group(group, [&](size_t i, Search& s) { index_.Begin(keys[i], s); });
    for_group(group - 1, [](size_t, Search& s) { KeyIndex::FetchBucket(s); });
    for_group(group - 2, [&](size_t, Search& s) {
      index_.Guess(s);
      if (s.guess != nullptr) {
        lines.Prefetch(s.guess);
      } else if (inserts) {
        index_.PrefetchInsertion(s);
      }
    });
    if (group < kSteps - 1) continue;
    const size_t begin = (group - (kSteps - 1)) * kGroup;
    f(begin, absl::MakeConstSpan(searches[(group + 1) % kSteps].data(),
                                 std::min(kGroup, keys.size() - begin)));
  }
}

void RowStore::Gather(Keys keys, void* rows) const {
  const ReaderPhases::Reader reader(&phases_);
  char* out = static_cast<char*>(rows);
  const IdleLimits::Limits limits = idle_.ForLookups();
  const bool is_observed = options_.observer != nullptr;
  const int64_t row_bytes = row_bytes_;
  const auto record_bytes = static_cast<int64_t>(sizeof(Record)) + row_bytes;
  ForEachGroup<false>(keys, record_bytes, [&](size_t begin, absl::Span<const Search> searches) {
    int64_t missing[kGroup];
    void* missing_rows[kGroup];
    size_t n = 0;
    char* row = out + static_cast<int64_t>(begin) * row_bytes;
    for (const Search& search : searches) {
      if (is_observed) Observe(TableEvent::kPause, search.key);
      const Record* record = index_.Find(search);
      const int64_t updated = record == nullptr ? 0 : ReadRow(*record, row_bytes, row);
      if (updated == 0 || IsEvicted(updated - 1, row, limits)) {
        missing[n] = search.key;
        missing_rows[n++] = row;
      }
      row += row_bytes;
    }
    options_.initial_rows.Fill(options_.seed, {missing, n}, options_.dtype, options_.dim,
                               missing_rows);
  });
}

void RowStore::FillSlots(Record* record) {
  char* slot = records_.slots_of(record);
  for (const float value : options_.slot_values) {
    FillElements(options_.dtype, value, options_.dim, slot);
    slot += slot_stride();
  }
}

// The initial rows of the keys of a group, in one computation.
class RowStore::NewRows {
 public:
  explicit NewRows(const RowStore& store) : store_(store), row_words_(store.slot_stride() / 8) {}

  // Begins a group.
  void Clear() { rows_.fill(nullptr); }
  // Begins a group, and computes the rows of its keys that have no records.
  void Prepare(absl::Span<const Search> searches) {
    Clear();
    int64_t keys[kGroup];
    void* rows[kGroup];
    size_t n = 0;
    for (size_t i = 0; i < searches.size(); ++i) {
      if (!searches[i].is_absent) continue;
      keys[n] = searches[i].key;
      rows[n++] = Place(i);
    }
    Fill({keys, n}, rows);
  }

  // The row of a key of the group. Computes it if Prepare did not.
  const void* RowOf(size_t i, int64_t key) {
    if (rows_[i] == nullptr) {
      void* const row = Place(i);
      Fill({&key, 1}, &row);
    }
    return rows_[i];
  }

 private:
  // Sets rows_[i] to memory for the row, and returns it.
  void* Place(size_t i) {
    memory_.resize(kGroup * row_words_);
    return rows_[i] = memory_.data() + i * row_words_;
  }
  void Fill(Keys keys, void* const* rows) const {
    const RowStoreOptions& o = store_.options();
    o.initial_rows.Fill(o.seed, keys, o.dtype, o.dim, rows);
  }

  const RowStore& store_;
  const size_t row_words_;
  std::vector<uint64_t> memory_;
  std::array<void*, kGroup> rows_ = {};
};

absl::StatusOr<Records::Number> RowStore::NewRecord(int64_t key, const void* row) {
  SLUICE_ASSIGN_OR_RETURN(const Records::Number number, records_.Allocate());
  Record* record = records_.at(number);
  record->key = key;
  WriteRow(*record, row_bytes_, row);
  FillSlots(record);
  record->count.store(0, std::memory_order_relaxed);
  record->updated.store(UpdatedAt(idle_.latest()), std::memory_order_release);
  return number;
}

absl::StatusOr<Record*> RowStore::FindOrAdd(int64_t key, Admit admit,
                                            absl::FunctionRef<const void*()> row) {
  const auto make = [&]() -> absl::StatusOr<Records::Number> {
    if (admit == Admit::kByRule && !admission_.Admits(key)) {
      filtered_.fetch_add(1, std::memory_order_relaxed);
      Observe(TableEvent::kFiltered, key);
      return Records::kNone;
    }
    SLUICE_ASSIGN_OR_RETURN(const Records::Number number, NewRecord(key, row()));
    if (admit == Admit::kByRule) admitted_.fetch_add(1, std::memory_order_relaxed);
    Observe(TableEvent::kAdmitted, key);
    return number;
  };
  SLUICE_ASSIGN_OR_RETURN(const KeyIndex::Found added, index_.FindOrInsert(key, make));
  return added.number == Records::kNone ? nullptr : records_.at(added.number);
}

absl::Status RowStore::Update(Keys keys, absl::Span<const int64_t> positions, int64_t step,
                              RowUpdate update) {
  idle_.Begin(step);
  const absl::Status status = Change(keys, positions, update, Admit::kByRule,
                                     [&](Record* record) { CountUpdate(record, idle_.latest()); });
  const auto some = static_cast<int64_t>(positions.size()) + 64;
  EvictIdle(some);
  EvictToCapacity(some);
  return status;
}

// Lookups and updates treat such a record as removed. So results do not depend on when it is
// examined.
bool RowStore::IsEvicted(int64_t last_step, const void* row,
                         const IdleLimits::Limits& limits) const {
  if (last_step < limits.all) return true;
  if (last_step >= limits.small) return false;
  const auto least = static_cast<double>(options_.eviction.min_norm);
  return SquaredNorm(options_.dtype, row, options_.dim) < least * least;
}

bool RowStore::IsEvicted(const Record& record, const IdleLimits::Limits& limits) const {
  return IsEvicted(record.updated.load(std::memory_order_relaxed) - 1, record.words(), limits);
}

absl::Status RowStore::Change(Keys keys, absl::Span<const int64_t> positions, RowUpdate update,
                              Admit admit, absl::FunctionRef<void(Record*)> count) {
  // Readers that stay long delay the reuse of memory.
  constexpr size_t kAtOnce = 4096;
  for (size_t begin = 0; begin < positions.size(); begin += kAtOnce) {
    SLUICE_RETURN_IF_ERROR(
        ChangeSome(keys, positions.subspan(begin, kAtOnce), update, admit, count));
  }
  return absl::OkStatus();
}

absl::Status RowStore::ChangeSome(Keys keys, absl::Span<const int64_t> positions, RowUpdate update,
                                  Admit admit, absl::FunctionRef<void(Record*)> count) {
  const ReaderPhases::Reader reader(&phases_);
  absl::Status status;
  Words row(static_cast<size_t>(slot_stride() / 8));
  absl::InlinedVector<int64_t, 64> block;
  const auto record_bytes = static_cast<int64_t>(sizeof(Record)) + slot_stride() * (1 + slots());
  const auto is_evicted = [&](const Record& record) {
    return IsEvicted(record, idle_.ForUpdates());
  };
  // False if the record was removed.
  const auto try_update = [&](size_t i, Record* record) {
    const RowLock lock(record);
    if (WasRemoved(*record) || is_evicted(*record)) return false;
    std::memcpy(row.data(), static_cast<const void*>(record->words()),
                static_cast<size_t>(row_bytes_));
    update(positions[i], row.data(), records_.slots_of(record));
    WriteRow(*record, row_bytes_, row.data());
    count(record);
    return true;
  };
  NewRows new_rows(*this);
  const auto update_one = [&](size_t i, size_t in_group, Record* found) {
    const int64_t key = block[i];
    const auto row_of = [&] { return new_rows.RowOf(in_group, key); };
    while (status.ok()) {
      Observe(TableEvent::kPause, key);
      if (found == nullptr) {
        const absl::StatusOr<Record*> record = FindOrAdd(key, admit, row_of);
        status = record.status();
        if (!record.ok() || *record == nullptr) return;
        found = *record;
      }
      if (try_update(i, found)) return;
      found = nullptr;
      Evict(key, is_evicted);
    }
  };
  block.reserve(positions.size());
  for (const int64_t position : positions) block.push_back(keys[static_cast<size_t>(position)]);
  const bool makes_all = admit == Admit::kAlways || options_.admission == AdmissionRule();
  ForEachGroup<true>(block, record_bytes, [&](size_t begin, absl::Span<const Search> searches) {
    if (makes_all) {
      new_rows.Prepare(searches);
    } else {
      new_rows.Clear();
    }
    for (size_t i = 0; i < searches.size(); ++i) {
      update_one(begin + i, i, index_.Find(searches[i]));
    }
  });
  return status;
}

bool RowStore::RemoveIf(int64_t key, absl::FunctionRef<bool(const Record&)> may_remove) {
  const auto mark_removed = [&](Records::Number number) {
    Record* record = records_.at(number);
    const RowLock lock(record);
    if (!may_remove(*record)) return false;
    record->updated.store(0, std::memory_order_relaxed);
    Observe(TableEvent::kRemoved, key);
    return true;
  };
  Records::Number number;
  {
    const ReaderPhases::Reader reader(&phases_);
    number = index_.Remove(key, mark_removed);
  }
  if (number == Records::kNone) return false;
  phases_.Retire([this, number] { records_.Free(number); });
  return true;
}

void RowStore::Remove(Keys keys) {
  for (const int64_t key : keys) RemoveIf(key, [](const Record&) { return true; });
}

void RowStore::Evict(int64_t key, absl::FunctionRef<bool(const Record&)> may_evict) {
  Observe(TableEvent::kPause, key);
  if (RemoveIf(key, may_evict)) evicted_.fetch_add(1, std::memory_order_relaxed);
}

void RowStore::EvictIdle(int64_t records) {
  const EvictionRule& rule = options_.eviction;
  if (rule.idle_steps <= 0 && rule.idle_seconds <= 0 && rule.min_norm <= 0) return;
  const auto count = static_cast<uint32_t>(std::min<int64_t>(records, records_.end()));
  const uint32_t first = next_examined_.fetch_add(count, std::memory_order_relaxed);
  Words row(static_cast<size_t>(slot_stride() / 8));
  for (uint32_t i = 0; i < count; ++i) {
    const IdleLimits::Limits limits = idle_.ForUpdates();
    int64_t key;
    {
      // The record may be another key's soon. Then the check under its lock fails.
      const ReaderPhases::Reader reader(&phases_);
      const Record& record = *records_.at((first + i) % records_.end());
      const int64_t updated = record.updated.load(std::memory_order_acquire);
      if (updated == 0 || updated - 1 >= std::max(limits.all, limits.small)) continue;
      ReadRow(record, row_bytes_, row.data());
      if (!IsEvicted(updated - 1, row.data(), limits)) continue;
      key = record.key;
    }
    Evict(key, [&](const Record& found) { return IsEvicted(found, limits); });
  }
}

// Records of this step stay, so that each call makes progress for the keys that it was given.
void RowStore::EvictToCapacity(int64_t keys_max) {
  constexpr uint32_t kCandidates = 16;
  const EvictionRule& rule = options_.eviction;
  if (rule.capacity <= 0) return;
  const int64_t step = idle_.latest();
  // Other threads may evict keys at the same time.
  const auto is_over = [&] { return size() > rule.capacity; };
  for (int64_t n = std::min(keys_max, size() - rule.capacity); n > 0 && is_over(); --n) {
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
    Evict(key, [&](const Record& record) {
      return is_over() && record.updated.load(std::memory_order_relaxed) == updated;
    });
  }
}

RowStore::Contents RowStore::Export(Records::Number begin, Records::Number end) const {
  const ReaderPhases::Reader reader(&phases_);
  Contents contents;
  contents.slots.resize(static_cast<size_t>(slots()));
  const auto append = [](std::vector<char>& to, const char* from, int64_t bytes) {
    to.insert(to.end(), from, from + bytes);
  };
  for (Records::Number number = begin; number < end; ++number) {
    Record* record = records_.at(number);
    if (record->updated.load(std::memory_order_acquire) == 0) continue;
    const RowLock lock(record);
    if (WasRemoved(*record)) continue;
    contents.keys.push_back(record->key);
    contents.counts.push_back(record->count.load(std::memory_order_relaxed));
    contents.steps.push_back(record->updated.load(std::memory_order_relaxed) - 1);
    const char* row = reinterpret_cast<const char*>(record->words());
    append(contents.rows, row, row_bytes_);
    for (std::vector<char>& slot : contents.slots) {
      row += slot_stride();
      append(slot, row, row_bytes_);
    }
  }
  return contents;
}

absl::Status RowStore::Put(int64_t key, const void* row, absl::Span<const char* const> slots,
                           uint32_t count, int64_t step) {
  const auto replace = [&](int64_t, void* to, char* to_slots) {
    std::memcpy(to, row, static_cast<size_t>(row_bytes_));
    for (size_t i = 0; i < slots.size(); ++i) {
      std::memcpy(to_slots + static_cast<int64_t>(i) * slot_stride(), slots[i],
                  static_cast<size_t>(row_bytes_));
    }
  };
  idle_.Raise(step);
  return Change({key}, {0}, replace, Admit::kAlways, [&](Record* record) {
    record->count.store(count, std::memory_order_relaxed);
    record->updated.store(UpdatedAt(step), std::memory_order_release);
  });
}

}  // namespace sluice

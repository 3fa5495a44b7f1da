// The rows of an embedding table: a resource that maps integer keys to rows, without a bound on the
// number of keys.
//
// A key has a record after its first update or insertion: weights, optimizer slots, the number of
// updates and the step of the last one. A key without a record has its initial row, which depends
// on the seed and the key only. So the table has a row for every key, and lookups never change it.
//
// Thread safety: all methods may be called from any thread. Lookups take no lock, but wait while
// one of their rows is updated. A lookup sees a row before or after each of its updates. An update
// locks its row, so no update is lost.
// Memory: a record has 24 bytes, the row and the slots; the index takes about 10 bytes per key.
// Errors: RESOURCE_EXHAUSTED if there is no memory. Updates before the error are not undone.
#ifndef SLUICE_OPS_EMBEDDING_ROW_STORE_H_
#define SLUICE_OPS_EMBEDDING_ROW_STORE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/device/resource_manager.h"
#include "graph/tensor/dtype.h"
#include "ops/embedding/admission.h"
#include "ops/embedding/idle_limits.h"
#include "ops/embedding/initial_rows.h"
#include "ops/embedding/key_index.h"
#include "ops/embedding/reader_phases.h"
#include "ops/embedding/records.h"
#include "ops/embedding/table_rules.h"

namespace sluice {

// Events that a table reports to the observer of a test. kPause: the table holds no lock, so the
// test may let another thread use the table now. The other events are reported under locks: a key
// got a record (kAdmitted), an update was dropped because its key was not admitted (kFiltered), or
// a record was removed.
enum class TableEvent { kPause, kAdmitted, kFiltered, kRemoved };

struct RowStoreOptions {
  std::string name;
  DataType dtype = DT_FLOAT;  // or DT_HALF, DT_BFLOAT16
  int64_t dim = 0;            // elements of a row
  InitialRows initial_rows;
  int64_t seed = 0;
  // One number per optimizer slot: the value of the slot's elements before the first update.
  std::vector<float> slot_values;
  AdmissionRule admission;
  EvictionRule eviction;
  // The number of this part, and the number of parts of the table. ShardOf assigns keys to parts.
  int64_t shard = 0, num_shards = 1;
  // Null: the steady clock. For tests.
  IdleLimits::Clock clock = nullptr;
  // May be null. For tests.
  std::function<void(TableEvent, int64_t key)> observer = nullptr;
};

class RowStore : public Resource {
 public:
  static constexpr const char* kTypeName = "sluice::RowStore";

  explicit RowStore(RowStoreOptions options);

  const RowStoreOptions& options() const { return options_; }
  int64_t row_bytes() const { return row_bytes_; }
  int slots() const { return records_.slots(); }
  // The number of records.
  int64_t size() const { return index_.size(); }
  // The size of the records and of the index, in bytes.
  int64_t bytes() const { return records_.bytes() + index_.bytes(); }
  std::string DebugString() const override;

  // The largest number of parts of a table.
  static constexpr int64_t kShardsMax = 1 << 16;
  // Returns which of the `shards` parts of a table has the key. The answer must be the same in all
  // versions, because checkpoints rely on it.
  static int32_t ShardOf(int64_t key, uint64_t shards) {
    return static_cast<int32_t>((KeyIndex::StableHash(key) & 0xffffffff) * shards >> 32);
  }

  using Keys = absl::Span<const int64_t>;
  // Writes the rows of `keys`, one after the other.
  void Gather(Keys keys, void* rows) const;

  // Call it once per batch of updates. Returns the step of the batch: `step`, or the number of
  // earlier calls if `step` is negative.
  int64_t BeginUpdate(int64_t step) {
    const int64_t calls = update_calls_.fetch_add(1, std::memory_order_relaxed);
    return step < 0 ? calls : step;
  }
  // The numbers of keys that a rule admitted and evicted, and of updates that were dropped because
  // their keys were not admitted (filtered).
  struct Counts {
    int64_t admitted, filtered, evicted;
  };
  Counts counts() const;
  // A function that changes the row of keys[position] and its slots in place. Slot i begins at
  // slots + i * slot_stride().
  using RowUpdate = absl::FunctionRef<void(int64_t position, void* row, char* slots)>;
  int64_t slot_stride() const { return records_.RowBytes(); }
  // Calls update(p, ...) for the row of keys[p], for each p in `positions` in this order, under the
  // lock of the row. Makes records for new keys that the rule admits, and skips new keys that it
  // does not admit. `step`, at least 0, is the step of the update. A record stores it as the step
  // of its last update, or stores the table's latest step if that is greater, so that a late update
  // does not make a key older. Then examines at most 17 * (positions.size() + 64) records, and
  // evicts those that the rules remove.
  absl::Status Update(Keys keys, absl::Span<const int64_t> positions, int64_t step,
                      RowUpdate update);

  // Removes the records of `keys`. Ignores keys without a record.
  void Remove(Keys keys);

  // The state of the rules that is not in the records, for checkpoints.
  Admission& admission() { return admission_; }
  IdleLimits& idle() { return idle_; }
  int64_t update_calls() const { return update_calls_.load(std::memory_order_relaxed); }
  void set_update_calls(int64_t calls) { update_calls_.store(calls, std::memory_order_relaxed); }
  // Forgets the steps and counts of the rules. Called before records are restored, because the
  // records may be of earlier steps.
  void ForgetSteps() {
    idle_.Restore({});
    set_update_calls(0);
    admission_.Clear();
  }

  // Records as columns: `rows` and each of `slots` have one row per key.
  struct Contents {
    std::vector<int64_t> keys;
    std::vector<int64_t> steps;
    std::vector<uint32_t> counts;
    std::vector<char> rows;
    std::vector<std::vector<char>> slots;
  };
  // Returns the records with numbers in [begin, end). Each record is consistent by itself.
  Contents Export(Records::Number begin, Records::Number end) const;
  // All record numbers are less than this.
  Records::Number end() const { return records_.end(); }
  // Replaces or adds a record. slots[i] is the new content of slot i. Further slots do not change.
  absl::Status Put(int64_t key, const void* row, absl::Span<const char* const> slots,
                   uint32_t count, int64_t step);

 private:
  template <bool inserts, typename F>
  void ForEachGroup(Keys keys, int64_t bytes, const F& f) const;
  class NewRows;
  absl::StatusOr<Records::Number> NewRecord(int64_t key, const void* row);
  // Whether the update of a record needs the admission of its key.
  enum class Admit { kByRule, kAlways };
  // Returns the record of the key, or makes it. Null if the key is not admitted. `row` returns the
  // key's initial row.
  absl::StatusOr<Record*> FindOrAdd(int64_t key, Admit admit, absl::FunctionRef<const void*()> row);
  void FillSlots(Record* record);
  void Observe(TableEvent event, int64_t key) const {
    if (options_.observer) options_.observer(event, key);
  }
  // Whether the rules by step, time and norm evict a key with this row.
  bool IsEvicted(int64_t last_step, const void* row, const IdleLimits::Limits& limits) const;
  // Whether the rules by step, time and norm evict `record`, whose lock the caller holds.
  bool IsEvicted(const Record& record, const IdleLimits::Limits& limits) const;
  // Removes the key if `may_remove` accepts its record. Calls `may_remove` under the record's lock.
  bool RemoveIf(int64_t key, absl::FunctionRef<bool(const Record&)> may_remove);
  void Evict(int64_t key, absl::FunctionRef<bool(const Record&)> may_evict);
  // Examines the next `records` records and evicts idle ones. After the last record of the table,
  // continues with the first one.
  void EvictIdle(int64_t records);
  void EvictToCapacity(int64_t keys_max);
  // Does the work of Update and Put. `count` sets the step and the number of updates of a record.
  absl::Status Change(Keys keys, absl::Span<const int64_t> positions, RowUpdate update, Admit admit,
                      absl::FunctionRef<void(Record*)> count);
  absl::Status ChangeSome(Keys keys, absl::Span<const int64_t> positions, RowUpdate update,
                          Admit admit, absl::FunctionRef<void(Record*)> count);

  const RowStoreOptions options_;
  const int64_t row_bytes_;
  Records records_;
  mutable ReaderPhases phases_;
  KeyIndex index_;
  std::atomic<int64_t> update_calls_{0};
  Admission admission_;
  alignas(64) IdleLimits idle_;  // not in a cache line with counters: each lookup reads it
  alignas(64) std::atomic<uint32_t> next_examined_{0};
  std::atomic<int64_t> admitted_{0}, filtered_{0}, evicted_{0};
};

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_ROW_STORE_H_

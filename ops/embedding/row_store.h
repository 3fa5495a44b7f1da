// The rows of an embedding table: a resource that maps integer keys to rows, without a bound on the
// number of keys.
//
// A key has a record after its first update or insertion: weights, optimizer slots, the number of
// updates and the step of the last one. A key without a record has its initial row, which depends
// on the seed and the key only. So the table is a function of all keys, and lookups never change
// it.
//
// Thread safety: all methods may be called from any thread. Lookups take no lock, but wait while
// one of their rows is updated. A lookup sees a row before or after each of its updates. An update
// locks its row; none is lost.
// Memory: a record has 24 bytes, the row and the slots; the index takes about 10 bytes per key.
// Errors: RESOURCE_EXHAUSTED if there is no memory. Updates that were done before stay.
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

// What a test observes of a table. kPause comes where another thread may act, without a lock. The
// others come with the change, under locks.
enum class TableEvent { kPause, kAdmitted, kFiltered, kRemoved };

struct RowStoreOptions {
  std::string name;
  DataType dtype = DT_FLOAT;  // or DT_HALF, DT_BFLOAT16
  int64_t dim = 0;            // elements of a row
  InitialRows initial_rows;
  int64_t seed = 0;
  // The value that each element of an optimizer slot has before the first update, per slot.
  std::vector<float> slot_values;
  AdmissionRule admission;
  EvictionRule eviction;
  // The keys that ShardOf assigns to this part.
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
  // The size of records and index.
  int64_t bytes() const { return records_.bytes() + index_.bytes(); }
  std::string DebugString() const override;

  // The part, of `shards` parts of a table, that has the key. The same in all versions.
  static int32_t ShardOf(int64_t key, uint64_t shards) {
    return static_cast<int32_t>((KeyIndex::StableHash(key) & 0xffffffff) * shards >> 32);
  }

  using Keys = absl::Span<const int64_t>;
  // Writes the rows of `keys`, one after the other.
  void Gather(Keys keys, void* rows) const;

  // Returns `step` or, if it is negative, the number of earlier calls. Once per batch of updates.
  int64_t BeginUpdate(int64_t step) {
    const int64_t calls = update_calls_.fetch_add(1, std::memory_order_relaxed);
    return step < 0 ? calls : step;
  }
  // Keys that a rule admitted or evicted, and updates that were dropped because their keys were not
  // admitted.
  struct Counts {
    int64_t admitted, filtered, evicted;
  };
  Counts counts() const;
  // Changes a row in place. `slots` has the slots, slot_stride() bytes apart.
  using RowUpdate = absl::FunctionRef<void(int64_t position, void* row, char* slots)>;
  int64_t slot_stride() const { return records_.RowBytes(); }
  // Calls update(positions[i], ...) for the key at each position in this order, under the lock of
  // the row. Makes records for new keys that the rule admits, and leaves out the others. `step`,
  // at least 0, is the step of the update. The records get it, or the latest step if that is
  // greater, so that a late update does not make a key older. Also evicts records: it examines at
  // most as many as 16 times the number of positions, and some.
  absl::Status Update(Keys keys, absl::Span<const int64_t> positions, int64_t step,
                      RowUpdate update);

  // Removes keys. Ignores those without a record.
  void Remove(Keys keys);

  // What the rules know besides the records, for checkpoints.
  Admission& admission() { return admission_; }
  IdleLimits& idle() { return idle_; }
  int64_t update_calls() const { return update_calls_.load(std::memory_order_relaxed); }
  void set_update_calls(int64_t calls) { update_calls_.store(calls, std::memory_order_relaxed); }
  // Forgets it, before records of earlier steps are restored.
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
  // The records among numbers [begin, end), in any order. Each record is consistent by itself.
  Contents Export(Records::Number begin, Records::Number end) const;
  // All record numbers are less than this.
  Records::Number end() const { return records_.end(); }
  // Replaces or adds a record. `slots` has one row per slot. Slots that it lacks stay as they are.
  absl::Status Put(int64_t key, const void* row, absl::Span<const char* const> slots,
                   uint32_t count, int64_t step);

 private:
  template <bool inserts, typename F>
  void ForEachGroup(Keys keys, int64_t bytes, const F& f) const;
  class NewRows;
  absl::StatusOr<Records::Number> NewRecord(int64_t key, const void* row);
  // Whether the update of a record needs the admission of its key.
  enum class Admit { kByRule, kAlways };
  // Null if the key is not admitted. `row` returns the initial row of the key.
  absl::StatusOr<Record*> FindOrAdd(int64_t key, Admit admit, absl::FunctionRef<const void*()> row);
  void FillSlots(Record* record);
  void Observe(TableEvent event, int64_t key) const {
    if (options_.observer) options_.observer(event, key);
  }
  // Whether the rules by step, time and norm evict a key with this row.
  bool IsEvicted(int64_t last_step, const void* row, const IdleLimits::Limits& limits) const;
  // For a record whose lock the caller holds.
  bool IsEvicted(const Record& record, const IdleLimits::Limits& limits) const;
  // Removes the key if `may_remove` accepts its record, whose lock it holds.
  bool RemoveIf(int64_t key, absl::FunctionRef<bool(const Record&)> may_remove);
  void Evict(int64_t key, absl::FunctionRef<bool(const Record&)> may_evict);
  // Continues to examine records, in a circle.
  void EvictIdle(int64_t records);
  void EvictToCapacity(int64_t keys_max);
  // Update, with `count` to set the step and the number of updates.
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
  alignas(64) IdleLimits idle_;  // away from counters, because each lookup reads it
  alignas(64) std::atomic<uint32_t> next_examined_{0};
  std::atomic<int64_t> admitted_{0}, filtered_{0}, evicted_{0};
};

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_ROW_STORE_H_

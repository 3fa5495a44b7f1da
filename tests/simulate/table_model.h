// A model of what a part of an embedding table must do, written without the table's data
// structures. The table reports its changes to the model. The model checks that each change is
// allowed, and that a lookup returns a row that the key had during the call. The first violation is
// `failure()`.
//
// Thread safety: none. In a simulation, one thread runs at a time.
#ifndef SLUICE_TESTS_SIMULATE_TABLE_MODEL_H_
#define SLUICE_TESTS_SIMULATE_TABLE_MODEL_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ops/embedding/row_store.h"

namespace sluice {

inline constexpr int64_t kModelDim = 2;
inline constexpr float kModelInitial = 1;  // each element of an initial row
inline constexpr float kModelSlot = 0.5f;  // each element of an initial slot
using ModelRow = std::array<float, kModelDim>;

// By key, whether an admission by probability chose it. Restarts do not change this.
using ChosenKeys = std::map<int64_t, bool>;

class TableModel {
 public:
  TableModel(const AdmissionRule& admission, const EvictionRule& eviction, ChosenKeys* chosen)
      : admission_(admission), eviction_(eviction), chosen_(chosen) {}

  // The first violated invariant, or empty.
  const std::string& failure() const { return failure_; }
  int64_t size() const { return static_cast<int64_t>(rows_.size()); }

  // The table calls this when an update begins, with its step and the time in milliseconds.
  void Begin(int64_t step, int64_t now);
  // The table calls these when it admits a key, drops an update of a key that it has not admitted,
  // or removes the record (row, slots and counters) of a key.
  void Admitted(int64_t key);
  void Filtered(int64_t key);
  void Removed(int64_t key);
  // The table calls this before it updates a row. `row` and `slot` are the table's values.
  void Updated(int64_t key, ModelRow& row, ModelRow& slot, const ModelRow& delta);
  // Between these two calls, the key may be removed without a rule that evicts it.
  void BeginRemoval(int64_t key) { removing_.insert(key); }
  void EndRemoval(int64_t key) { removing_.erase(removing_.find(key)); }

  // A lookup of some keys, for the duration of the call.
  class Lookup {
   public:
    Lookup(TableModel* model, std::vector<int64_t> keys);
    ~Lookup() { model_->lookups_.erase(this); }
    Lookup(const Lookup&) = delete;
    Lookup& operator=(const Lookup&) = delete;
    // Checks the rows that the table returned.
    void Check(const std::vector<float>& rows);

   private:
    friend class TableModel;
    void AddPossibleRows();

    TableModel* const model_;
    const std::vector<int64_t> keys_;
    std::vector<std::set<ModelRow>> possible_;  // per key
  };

  // Checks all records and counters. No update may be running.
  void CheckAll(RowStore& store);

  // A saved part, and the time in milliseconds at which it was saved.
  struct Saved {
    std::shared_ptr<const TableModel> model;
    int64_t saved_at;
  };
  // Replaces the content with those keys of the saved parts for which `is_own` returns true. Times
  // in a part are moved by `now - saved_at`, so the time between its save and the restore does not
  // count.
  void Restore(const std::vector<Saved>& parts, int64_t now,
               const std::function<bool(int64_t key)>& is_own);

 private:
  struct Row {
    ModelRow value;
    ModelRow slot;
    int64_t last;
    int64_t count;
  };
  // If the step of a key's last update is below `must`, the table has to evict the key. If it is
  // below `may`, the table may evict the key. The two differ if there is a limit in seconds,
  // because the table may evict up to 1/64 of this time too late.
  struct Limit {
    int64_t must = IdleLimits::kNever, may = IdleLimits::kNever;
  };
  struct Time {
    int64_t earliest, latest;  // differ after a restore of several parts
  };

  void Fail(const std::string& what);
  Limit LimitByTime(int64_t now) const;
  Limit ForLookups() const { return LimitAt(latest_, by_time_); }
  Limit ForUpdates() const { return LimitAt(latest_ - 1, by_time_previously_); }
  Limit LimitAt(int64_t step, Limit by_time) const;
  bool IsSmall(const Row& row, int64_t step) const;
  void AddPossibleRows(int64_t key, std::set<ModelRow>& possible) const;
  void Changed();

  const AdmissionRule admission_;
  const EvictionRule eviction_;
  ChosenKeys* const chosen_;
  std::string failure_;
  std::map<int64_t, Row> rows_;         // records, also of keys that are evicted already
  std::map<int64_t, int64_t> waiting_;  // updates since the last removal, of keys without records
  int64_t latest_ = 0;
  std::map<int64_t, Time> begins_;  // of steps
  Limit by_time_, by_time_previously_;
  int64_t admitted_ = 0, filtered_ = 0;
  std::multiset<int64_t> removing_;
  std::set<Lookup*> lookups_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_TABLE_MODEL_H_

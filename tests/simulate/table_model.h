// Specifies what a part of an embedding table must do, without its data structures. The table
// reports its changes to the model, which checks that each is allowed, and that lookups return rows
// that the key had during the call. The first violation is `failure()`.
//
// Thread safety: a model belongs to one simulation, which runs one thread at a time.
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

// The decisions of an admission by probability: whether a key was chosen. They survive restarts.
using ChosenKeys = std::map<int64_t, bool>;

class TableModel {
 public:
  TableModel(const AdmissionRule& admission, const EvictionRule& eviction, ChosenKeys* chosen)
      : admission_(admission), eviction_(eviction), chosen_(chosen) {}

  // The first violated invariant, or empty.
  const std::string& failure() const { return failure_; }
  int64_t size() const { return static_cast<int64_t>(rows_.size()); }

  // An update of the step begins, at a time in milliseconds.
  void Begin(int64_t step, int64_t now);
  // Reported by the table.
  void Admitted(int64_t key);
  void Filtered(int64_t key);
  void Removed(int64_t key);
  // The table is about to update a row; `row` and `slot` are as the table has them.
  void Updated(int64_t key, ModelRow& row, ModelRow& slot, const ModelRow& delta);
  // Between these, removals of the key need no rule.
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

  // The union of parts that were saved, at the times `saved_at`, as far as `is_own` accepts keys.
  struct Saved {
    std::shared_ptr<const TableModel> model;
    int64_t saved_at;
  };
  void Restore(const std::vector<Saved>& parts, int64_t now,
               const std::function<bool(int64_t key)>& is_own);

 private:
  struct Row {
    ModelRow value;
    ModelRow slot;
    int64_t last;
    int64_t count;
  };
  // Keys are evicted at the latest below `must`, and at the earliest below `may`. They differ for
  // rules by time, which the table keeps to 1/64.
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

#include "tests/simulate/table_model.h"

#include <algorithm>
#include <cmath>

#include "graph/strings.h"

namespace sluice {
namespace {

constexpr ModelRow kInitialRow = {kModelInitial, kModelInitial};
constexpr ModelRow kInitialSlot = {kModelSlot, kModelSlot};

std::string Text(const ModelRow& row) { return StrCat("(", row[0], ", ", row[1], ")"); }

}  // namespace

void TableModel::Fail(const std::string& what) {
  if (failure_.empty()) failure_ = what;
}

TableModel::Limit TableModel::LimitByTime(int64_t now) const {
  Limit limit;
  if (eviction_.idle_seconds <= 0) return limit;
  const auto span = static_cast<int64_t>(static_cast<double>(eviction_.idle_seconds) * 1000);
  bool all_before_are_old = true;
  for (const auto& [step, time] : begins_) {
    if (now - time.earliest > span) limit.may = step;
    if (all_before_are_old && now - time.latest > span + span / 64 + 2) limit.must = step;
    all_before_are_old &= now - time.latest > span;
  }
  return limit;
}

TableModel::Limit TableModel::LimitAt(int64_t step, Limit by_time) const {
  if (eviction_.idle_steps <= 0) return by_time;
  const int64_t by_step = step - eviction_.idle_steps;
  return {std::max(by_step, by_time.must), std::max(by_step, by_time.may)};
}

bool TableModel::IsSmall(const Row& row, int64_t step) const {
  if (eviction_.min_norm <= 0 || row.last >= step - eviction_.min_norm_steps) return false;
  return std::hypot(row.value[0], row.value[1]) < eviction_.min_norm;
}

void TableModel::Begin(int64_t step, int64_t now) {
  if (step <= latest_) return;
  latest_ = step;
  by_time_previously_ = by_time_;
  const Limit limit = LimitByTime(now);
  by_time_ = {std::max(by_time_.must, limit.must), std::max(by_time_.may, limit.may)};
  begins_.try_emplace(step, Time{now, now});
  Changed();
}

// E4: the n-th update makes the record. A filter may count too many, but never too few.
void TableModel::Admitted(int64_t key) {
  if (rows_.contains(key)) Fail(StrCat("E3: key ", key, " has two records"));
  const auto found = waiting_.find(key);
  const int64_t count = 1 + (found == waiting_.end() ? 0 : found->second);
  const bool is_exact = admission_.filter_counters == 0;
  if (is_exact && count != std::max<int64_t>(1, admission_.after_updates)) {
    Fail(StrCat("E4: key ", key, " was admitted with update ", count));
  }
  if (!chosen_->try_emplace(key, true).first->second) {
    Fail(StrCat("E4: key ", key, " was not chosen before"));
  }
  if (is_exact) {
    waiting_.erase(key);
  } else {
    waiting_[key] = std::min<int64_t>(count, 255);
  }
  ++admitted_;
  rows_[key] = {kInitialRow, kInitialSlot, latest_, 0};
  Changed();
}

void TableModel::Filtered(int64_t key) {
  ++filtered_;
  if (rows_.contains(key)) Fail(StrCat("E3: an update of key ", key, " was lost"));
  if (admission_.probability < 1) {
    const auto chosen = chosen_->find(key);
    if (chosen != chosen_->end() && !chosen->second) return;
    const int64_t count = waiting_.contains(key) ? waiting_[key] + 1 : 1;
    if (count >= std::max<int64_t>(1, admission_.after_updates)) {
      // Then it is not chosen, which must stay so.
      if (!chosen_->try_emplace(key, false).first->second) return;
      return Fail(StrCat("E4: key ", key, " was not admitted with update ", count));
    }
    waiting_[key] = count;
    return;
  }
  const int64_t count = ++waiting_[key];
  if (count >= std::max<int64_t>(1, admission_.after_updates)) {
    Fail(StrCat("E4: key ", key, " was not admitted with update ", count));
  }
}

// E1: a record disappears by a rule only.
void TableModel::Removed(int64_t key) {
  const auto found = rows_.find(key);
  if (found == rows_.end()) return Fail(StrCat("E1: key ", key, " was removed twice"));
  const Row& row = found->second;
  const bool is_over = eviction_.capacity > 0 && size() > eviction_.capacity && row.last < latest_;
  const bool may_go = removing_.contains(key) || is_over || row.last < ForUpdates().may ||
                      IsSmall(row, latest_ - 1);
  if (!may_go) {
    Fail(StrCat("E1: key ", key, " of step ", row.last, " and row ", Text(row.value),
                " was removed at step ", latest_, " without a rule"));
  }
  rows_.erase(found);
  Changed();
}

// E2 and E3: the row is the one that the updates so far gave, and was not evicted.
void TableModel::Updated(int64_t key, ModelRow& row, ModelRow& slot, const ModelRow& delta) {
  const auto found = rows_.find(key);
  if (found == rows_.end()) return Fail(StrCat("E3: key ", key, " was updated without a record"));
  Row& known = found->second;
  if (known.last < ForUpdates().must || IsSmall(known, latest_ - 1)) {
    Fail(StrCat("E2: an update at step ", latest_, " continues the evicted row of key ", key,
                " of step ", known.last));
  }
  if (row != known.value || slot != known.slot) {
    Fail(StrCat("E3: key ", key, " has row ", Text(row), " and slot ", Text(slot), ", expected ",
                Text(known.value), " and ", Text(known.slot)));
  }
  for (size_t i = 0; i < row.size(); ++i) known.value[i] += delta[i];
  known.slot = {static_cast<float>(key), known.slot[1] + 1};
  row = known.value;
  slot = known.slot;
  known.last = latest_;
  ++known.count;
  Changed();
}

void TableModel::AddPossibleRows(int64_t key, std::set<ModelRow>& possible) const {
  const auto found = rows_.find(key);
  const Limit limit = ForLookups();
  const bool is_present =
      found != rows_.end() && found->second.last >= limit.must && !IsSmall(found->second, latest_);
  if (is_present) possible.insert(found->second.value);
  if (!is_present || found->second.last < limit.may) possible.insert(kInitialRow);
}

void TableModel::Changed() {
  for (Lookup* lookup : lookups_) lookup->AddPossibleRows();
}

TableModel::Lookup::Lookup(TableModel* model, std::vector<int64_t> keys)
    : model_(model), keys_(std::move(keys)), possible_(keys_.size()) {
  model_->lookups_.insert(this);
  AddPossibleRows();
}

void TableModel::Lookup::AddPossibleRows() {
  for (size_t i = 0; i < keys_.size(); ++i) model_->AddPossibleRows(keys_[i], possible_[i]);
}

void TableModel::Lookup::Check(const std::vector<float>& rows) {
  for (size_t i = 0; i < keys_.size(); ++i) {
    const ModelRow row = {rows[2 * i], rows[2 * i + 1]};
    if (possible_[i].contains(row)) continue;
    std::string all;
    for (const ModelRow& one : possible_[i]) StrAppend(&all, " ", Text(one));
    model_->Fail(StrCat("E2: a lookup of key ", keys_[i], " returned ", Text(row),
                        ", expected one of", all));
  }
}

// Checks E5 and E6 (docs/simulator.md): the store has exactly the records and counts of the model.
void TableModel::CheckAll(RowStore& store) {
  const RowStore::Contents contents = store.Export(0, store.end());
  const auto* rows = reinterpret_cast<const ModelRow*>(contents.rows.data());
  const auto* slots = reinterpret_cast<const ModelRow*>(contents.slots[0].data());
  for (size_t i = 0; i < contents.keys.size(); ++i) {
    const auto found = rows_.find(contents.keys[i]);
    if (found == rows_.end()) {
      return Fail(StrCat("E5: key ", contents.keys[i], " should have no record"));
    }
    const Row& row = found->second;
    if (rows[i] == row.value && slots[i] == row.slot && contents.steps[i] == row.last &&
        contents.counts[i] == row.count) {
      continue;
    }
    return Fail(StrCat("E5: the record of key ", contents.keys[i], " is ", Text(rows[i]),
                       Text(slots[i]), " ", contents.counts[i], " ", contents.steps[i],
                       ", expected ", Text(row.value), Text(row.slot), " ", row.count, " ",
                       row.last));
  }
  const int64_t records = static_cast<int64_t>(contents.keys.size());
  if (records != size() || store.size() != size()) {
    Fail(StrCat("E5: expected ", size(), " records, got ", records, ", and size ", store.size()));
  }
  const bool counts_waiting = admission_.filter_counters == 0 && admission_.after_updates > 1 &&
                              admission_.probability >= 1;
  size_t waiting = 0;
  for (int share = 0; share < Admission::kShards; ++share) {
    waiting += store.admission().Waiting(share).size();
  }
  if (counts_waiting && waiting != waiting_.size()) {
    Fail(StrCat("E6: expected ", waiting_.size(), " keys that wait, got ", waiting));
  }
  const RowStore::Counts counts = store.counts();
  if (counts.admitted != admitted_ || counts.filtered != filtered_) {
    Fail(StrCat("E6: expected ", admitted_, " admitted keys and ", filtered_,
                " dropped updates, got ", counts.admitted, " and ", counts.filtered));
  }
}

void TableModel::Restore(const std::vector<Saved>& parts, int64_t now,
                         const std::function<bool(int64_t key)>& is_own) {
  rows_.clear();
  waiting_.clear();
  begins_.clear();
  latest_ = 0;
  by_time_ = by_time_previously_ = {};
  const auto raise = [](Limit& to, const Limit& by) {
    to = {std::max(to.must, by.must), std::max(to.may, by.may)};
  };
  for (const auto& [model, saved_at] : parts) {
    for (const auto& [key, row] : model->rows_) {
      if (is_own(key)) rows_[key] = row;
    }
    for (const auto& [key, count] : model->waiting_) {
      if (is_own(key)) waiting_[key] = count;
    }
    latest_ = std::max(latest_, model->latest_);
    raise(by_time_, model->by_time_);
    raise(by_time_previously_, model->by_time_previously_);
    for (const auto& [step, time] : model->begins_) {
      const int64_t earliest = now - saved_at + time.earliest;
      const auto [at, is_new] = begins_.try_emplace(step, Time{earliest, earliest});
      if (!is_new) at->second.earliest = std::min(at->second.earliest, earliest);
    }
  }
  // Parts are saved one after the other, and not every step reaches every part. A key of a part had
  // no update since that part's next step began.
  for (auto& [step, time] : begins_) {
    for (const auto& [model, saved_at] : parts) {
      const auto next = model->begins_.lower_bound(step);
      if (next == model->begins_.end()) continue;
      time.latest = std::max(time.latest, now - saved_at + next->second.latest);
    }
  }
}

}  // namespace sluice

// The checks during a run of a simulated cluster.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "graph/status.h"
#include "ops/state/variable_resource.h"
#include "tests/simulate/cluster_run.h"

namespace sluice {
namespace {

// The number of lineages of deterministic training that are kept.
constexpr size_t kMaxLineages = 20'000;

template <typename V>
bool ReadVariable(ResourceManager& resources, const char* name, Tensor* value) {
  auto found = resources.Lookup<V>(ResourceManager::kDefaultContainer, name);
  if (!found.ok()) return false;
  *value = (*found)->tensor;  // no other thread runs
  return value->IsInitialized() && value->num_elements() > 0;
}

bool Read(ResourceManager& resources, const char* name, Tensor* value) {
  return ReadVariable<RefVar>(resources, name, value) || ReadVariable<Var>(resources, name, value);
}

uint64_t HashOf(const std::vector<float>& values) {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

}  // namespace

ResourceManager* ClusterRun::ServerResources() const {
  const auto task = tasks_.find(kServer);
  return task == tasks_.end() ? nullptr : task->second->devices->device(0).resources.get();
}

bool ClusterRun::ObserveStep(int64_t* step) const {
  ResourceManager* resources = ServerResources();
  Tensor value;
  if (resources == nullptr || !Read(*resources, "global_step", &value)) return false;
  *step = value.scalar<int64_t>();
  return true;
}

bool ClusterRun::Observe(State* state) const {
  Tensor dense, sparse;
  if (!ObserveStep(&state->step) || !Read(*ServerResources(), "dense", &dense) ||
      !Read(*ServerResources(), "sparse", &sparse)) {
    return false;
  }
  state->dense = Floats(dense);
  state->sparse = Floats(sparse);
  return true;
}

void ClusterRun::Fail(const std::string& what) {
  if (!verdict_.failure.empty()) return;
  verdict_.failure = what;
  world_.Tell(StrCat("FAILED: ", what));
}

void ClusterRun::Look() {
  int64_t step;
  if (!is_restored_ || !ObserveStep(&step) || step == last_.step) return;
  State now;
  if (!Observe(&now)) return;
  world_.Tell(StrCat("update ", now.step));
  verdict_.updates_us.push_back(world_.now());
  if (now.step != last_.step + 1) {
    return Fail(StrCat("S2: the global step went from ", last_.step, " to ", now.step));
  }
  CheckUpdate(last_, &now);
  history_[now.step] = now;
  last_ = std::move(now);
  tokens_made_ += std::max(options_.aggregate, options_.replicas);
}

std::set<ClusterRun::Gradient> ClusterRun::UsedBy(const std::vector<float>& from,
                                                  const std::vector<float>& to, float weight) {
  std::set<Gradient> used;
  for (int64_t i = 0; i < codes(); ++i) {
    if (from[i] == to[i]) continue;
    const Gradient gradient = {static_cast<int>(i / options_.attempts),
                               static_cast<int>(i % options_.attempts)};
    used.insert(gradient);
    if (std::abs(from[i] - to[i] - weight) > 1e-6f) {
      Fail(StrCat("S2: gradient ", gradient.second, " of replica ", gradient.first, " counts for ",
                  from[i] - to[i], " instead of ", weight));
    }
  }
  return used;
}

void ClusterRun::CheckUpdate(const State& from, State* to) {
  to->used = from.used;
  to->lineage = from.lineage;
  to->applied = from.applied;
  to->life = from.life;
  // The queue form applies a sum, and no two gradients share a row.
  const float mean =
      options_.form == Form::kQueues ? 1.0f : 1.0f / static_cast<float>(options_.aggregate);
  std::set<Gradient> of_update;
  for (const auto& [values, weight] :
       {std::pair(&State::dense, mean), std::pair(&State::sparse, 1.0f)}) {
    const std::set<Gradient> used = UsedBy(from.*values, to->*values, weight);
    if (static_cast<int>(used.size()) != options_.aggregate) {
      Fail(StrCat("S2: update ", to->step, " used ", used.size(), " gradients instead of ",
                  options_.aggregate));
    }
    for (const Gradient& gradient : used) {
      CheckGradient(gradient, from);
      ++to->applied[gradient.first];
      StrAppend(&to->lineage, gradient.first, ".", gradient.second, " ");
    }
    of_update.insert(used.begin(), used.end());
  }
  for (const Gradient& gradient : of_update) {
    if (to->used.insert(gradient).second) continue;
    Fail(StrCat("S2: gradient ", gradient.second, " of replica ", gradient.first,
                " was used twice"));
  }
  if (options_.deterministic) CheckBits(*to);
}

// Checks that the update of this state could use the gradient.
void ClusterRun::CheckGradient(const Gradient& gradient, const State& from) {
  const auto push = pushes_.find(gradient);
  const std::string text = StrCat("update ", from.step + 1, " used gradient ", gradient.second,
                                  " of replica ", gradient.first, ", which ");
  if (push == pushes_.end()) {
    Fail(StrCat("S2: ", text, "nobody has made"));
  } else if (push->second.life != life_) {
    Fail(StrCat("S5: ", text, "was made before the parameter server was started again"));
  } else if (push->second.local_step > from.step &&
             (push->second.restores == restores_ || options_.form == Form::kAccumulators)) {
    // (The steps of the queue form's replicas are restored, too, so they may change between our
    // read and the push.)
    Fail(StrCat("S5: ", text, "is of step ", push->second.local_step, " of a training that was ",
                "undone when an older model was restored"));
  } else if (push->second.local_step < from.step) {
    Fail(StrCat("S1: ", text, "is of step ", push->second.local_step));
  }
}

void ClusterRun::CheckBits(const State& state) {
  const uint64_t bits = HashOf(state.dense) * 31 + HashOf(state.sparse);
  const auto known = owner_.bits_.find(state.lineage);
  if (known != owner_.bits_.end()) {
    if (known->second == bits) return;
    Fail(StrCat("S4: update ", state.step, " has other bits than in another training with the ",
                "same gradients, ", state.lineage));
  } else if (owner_.bits_.size() < kMaxLineages) {
    owner_.bits_.emplace(state.lineage, bits);
  }
}

// Checks the ledger, which is complete if no fault happened. The chief calls it after its last
// step, while other replicas may still run theirs.
void ClusterRun::CheckEnd(Session& session) {
  ReplicaGraph& r = *owner_.graphs_.back();
  OutputList fetches = {r.totals, r.tokens_left};
  fetches.insert(fetches.end(), r.left.begin(), r.left.end());
  // Replicas continue while the ledger is fetched.
  const auto attempts = attempts_;
  const int64_t taken = tokens_taken_;
  const auto books = session.Run({}, fetches, {});
  const bool is_disturbed = loss_ > 0 || verdict_.crashes > 0;
  if (!books.ok()) {
    if (!is_disturbed) Fail(StrCat("S6: the books cannot be read: ", books.status().ToString()));
    return;
  }
  int64_t waiting = 0;
  for (size_t i = 2; i < books->size(); ++i) waiting += (*books)[i].scalar<int32_t>();
  CheckLedger((*books)[0], waiting, attempts);
  if (!is_disturbed) CheckTokens((*books)[1].scalar<int32_t>(), taken);
}

void ClusterRun::CheckLedger(const Tensor& totals, int64_t waiting,
                             const std::map<int, int>& attempts_before) {
  int64_t entered = 0, made = 0, made_before = 0;
  for (const auto& [replica, attempts] : attempts_before) made_before += 2 * int64_t{attempts};
  for (int i = 0; i < options_.replicas; ++i) {
    const int64_t* row = totals.data<int64_t>() + int64_t{3} * i;
    if (row[0] != last_.applied[i]) {
      Fail(StrCat("S6: the ledger has ", row[0], " applied gradients of replica ", i, ", ",
                  last_.applied[i], " were seen"));
    }
    const int64_t of_replica = row[0] + row[1] + row[2];
    const int64_t pushed = 2 * int64_t{attempts_[i]};  // one per variable
    if (of_replica > pushed) {
      Fail(StrCat("S6: the ledger has ", of_replica, " gradients of replica ", i, ", ", pushed,
                  " were made"));
    }
    entered += of_replica;
    made += pushed;
  }
  if (loss_ > 0 || verdict_.crashes > 0) return;
  // At most the last gradient of each replica is in flight.
  const int64_t known = entered + waiting;
  if (known > made || known + 2 * int64_t{options_.replicas} < made_before) {
    Fail(StrCat("S6: ", made, " gradients were made, ", entered, " are in the ledger and ", waiting,
                " wait"));
  }
}

void ClusterRun::CheckTokens(int64_t left, int64_t taken_before) {
  const int64_t first =
      options_.deterministic ? options_.aggregate - options_.replicas : options_.aggregate;
  const int64_t made = tokens_made_ + std::max<int64_t>(first, 0);
  // A replica may not have reported its last token yet.
  if (left + taken_before > made || left + tokens_taken_ + options_.replicas < made) {
    Fail(StrCat("S2: ", made, " tokens were made, ", left, " are left and ", tokens_taken_,
                " were taken"));
  }
}

}  // namespace sluice

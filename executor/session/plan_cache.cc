#include "executor/session/plan_cache.h"

#include <utility>

namespace sluice {
namespace {

uint64_t Number(const Output& output) {
  return (static_cast<uint64_t>(output.node->id()) << 20) + static_cast<uint64_t>(output.index);
}
uint64_t Number(const Operation& op) { return static_cast<uint64_t>(op.node->id()); }

uint64_t Mix(uint64_t hash, uint64_t number) {
  hash = (hash ^ number) * 0x9e3779b97f4a7815ull;
  return hash ^ (hash >> 32);
}

// Calls `f` with each number of the key; stops when it returns false.
template <typename F>
bool WalkKey(const PlanRequest& request, F f) {
  if (!f(2 * request.num_feeds + (request.is_partial ? 1 : 0)) || !f(request.fetches.size()))
    return false;
  for (size_t i = 0; i < request.num_feeds; ++i) {
    if (!f(Number(request.feed(i)))) return false;
  }
  for (const Output& fetch : request.fetches) {
    if (!f(Number(fetch))) return false;
  }
  for (const Operation& target : request.targets) {
    if (!f(Number(target))) return false;
  }
  return true;
}

uint64_t HashOf(const PlanRequest& request) {
  uint64_t hash = request.targets.size();
  WalkKey(request, [&](uint64_t number) {
    hash = Mix(hash, number);
    return true;
  });
  return hash;
}

}  // namespace

PlanCache::PlanCache() {
  tables_.push_back(std::make_unique<Table>(16));
  table_.store(tables_.back().get());
}
PlanCache::~PlanCache() = default;

bool PlanCache::Matches(const Entry& entry, const PlanRequest& request) {
  const size_t size = 2 + request.num_feeds + request.fetches.size() + request.targets.size();
  if (entry.key.size() != size) return false;
  size_t i = 0;
  return WalkKey(request, [&](uint64_t number) { return entry.key[i++] == number; });
}

SessionPlan* PlanCache::Find(const PlanRequest& request) const {
  const uint64_t hash = HashOf(request);
  const Table& table = *table_.load(std::memory_order_acquire);
  const size_t mask = table.slots.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Entry* entry = table.slots[at].load(std::memory_order_acquire);
    if (entry == nullptr) return nullptr;
    if (entry->hash == hash && Matches(*entry, request)) return entry->plan.get();
  }
}

void PlanCache::Grow() {
  auto larger = std::make_unique<Table>(table_.load()->slots.size() * 2);
  const size_t mask = larger->slots.size() - 1;
  for (const auto& entry : entries_) {
    size_t at = entry->hash & mask;
    while (larger->slots[at].load(std::memory_order_relaxed) != nullptr) at = (at + 1) & mask;
    larger->slots[at].store(entry.get(), std::memory_order_relaxed);
  }
  tables_.push_back(std::move(larger));
  table_.store(tables_.back().get(), std::memory_order_release);
}

SessionPlan* PlanCache::Insert(const PlanRequest& request, std::unique_ptr<SessionPlan> plan) {
  if (entries_.size() * 2 >= table_.load()->slots.size()) Grow();
  auto entry = std::make_unique<Entry>();
  entry->hash = HashOf(request);
  WalkKey(request, [&](uint64_t number) {
    entry->key.push_back(number);
    return true;
  });
  entry->plan = std::move(plan);
  Table& table = *table_.load();
  const size_t mask = table.slots.size() - 1;
  size_t at = entry->hash & mask;
  while (table.slots[at].load(std::memory_order_relaxed) != nullptr) at = (at + 1) & mask;
  entries_.push_back(std::move(entry));
  table.slots[at].store(entries_.back().get(), std::memory_order_release);
  return entries_.back()->plan.get();
}

void PlanCache::ForEach(const std::function<void(SessionPlan&)>& f) const {
  for (const auto& entry : entries_) f(*entry->plan);
}

}  // namespace sluice

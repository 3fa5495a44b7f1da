#include "executor/session/step_cache.h"

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

// Calls `f` with each number of the key until it returns false.
template <typename F>
bool WalkKey(const StepRequest& request, F f) {
  if (!f(2 * request.num_feeds + (request.is_partial ? 1 : 0)) || !f(request.fetches.size())) {
    return false;
  }
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

uint64_t HashOf(const StepRequest& request) {
  uint64_t hash = request.targets.size();
  WalkKey(request, [&](uint64_t number) {
    hash = Mix(hash, number);
    return true;
  });
  return hash;
}

bool HasKey(const std::vector<uint64_t>& key, const StepRequest& request) {
  const size_t size = 2 + request.num_feeds + request.fetches.size() + request.targets.size();
  if (key.size() != size) return false;
  size_t i = 0;
  return WalkKey(request, [&](uint64_t number) { return key[i++] == number; });
}

}  // namespace

StepCache::StepCache() {
  tables_.push_back(std::make_unique<Table>(16));
  table_.store(tables_.back().get());
}

PreparedStep* StepCache::Find(const StepRequest& request) const {
  const uint64_t hash = HashOf(request);
  const Table& table = *table_.load(std::memory_order_acquire);
  const size_t mask = table.slots.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Entry* entry = table.slots[at].load(std::memory_order_acquire);
    if (entry == nullptr) return nullptr;
    if (entry->hash == hash && HasKey(entry->key, request)) return entry->step.get();
  }
}

void StepCache::Table::Add(Entry* entry) {
  const size_t mask = slots.size() - 1;
  size_t at = entry->hash & mask;
  while (slots[at].load(std::memory_order_relaxed) != nullptr) at = (at + 1) & mask;
  slots[at].store(entry, std::memory_order_release);
}

PreparedStep* StepCache::Insert(const StepRequest& request, std::unique_ptr<PreparedStep> step) {
  if (entries_.size() * 2 >= tables_.back()->slots.size()) {
    auto larger = std::make_unique<Table>(tables_.back()->slots.size() * 2);
    for (const auto& entry : entries_) larger->Add(entry.get());
    tables_.push_back(std::move(larger));
    table_.store(tables_.back().get(), std::memory_order_release);
  }
  auto entry = std::make_unique<Entry>();
  entry->hash = HashOf(request);
  WalkKey(request, [&](uint64_t number) {
    entry->key.push_back(number);
    return true;
  });
  entry->step = std::move(step);
  entries_.push_back(std::move(entry));
  tables_.back()->Add(entries_.back().get());
  return entries_.back()->step.get();
}

void StepCache::ForEach(absl::FunctionRef<void(PreparedStep&)> f) const {
  for (const auto& entry : entries_) f(*entry->step);
}

}  // namespace sluice

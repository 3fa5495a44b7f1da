#include "executor/kernel/deferred_updates.h"

#include <mutex>
#include <unordered_map>
#include <utility>

namespace sluice {
namespace {

struct Away {
  std::mutex mutex;  // the last to be taken
  std::unordered_map<const Tensor*, std::shared_ptr<DeferredUpdates>> by_home;  // guarded by mutex
};

Away& AllAway() {
  static auto* away = new Away;
  return *away;
}

}  // namespace

Tensor TakeAway(Tensor* home, std::shared_ptr<DeferredUpdates> by) {
  Tensor taken = std::move(*home);
  *home = Tensor(taken.dtype(), taken.shape(), BufferRef());
  std::lock_guard lock(AllAway().mutex);
  AllAway().by_home[home] = std::move(by);
  return taken;
}

void BringBack(Tensor* home, Tensor tensor) {
  ForgetDeferred(home);
  *home = std::move(tensor);
}

std::shared_ptr<DeferredUpdates> WhoHas(const Tensor* home) {
  if (home->IsInitialized()) return nullptr;
  std::lock_guard lock(AllAway().mutex);
  const auto found = AllAway().by_home.find(home);
  return found != AllAway().by_home.end() ? found->second : nullptr;
}

void SettleDeferred(Tensor* home, const StepContext& step) {
  if (const std::shared_ptr<DeferredUpdates> holder = WhoHas(home)) holder->Settle(home, step);
}

void ForgetDeferred(const Tensor* home) {
  std::shared_ptr<DeferredUpdates> last;  // destroyed without the lock
  std::lock_guard lock(AllAway().mutex);
  const auto found = AllAway().by_home.find(home);
  if (found == AllAway().by_home.end()) return;
  last = std::move(found->second);
  AllAway().by_home.erase(found);
}

}  // namespace sluice

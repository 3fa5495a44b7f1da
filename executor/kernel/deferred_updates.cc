#include "executor/kernel/deferred_updates.h"

#include <unordered_map>
#include <utility>

#include "graph/mutex.h"

namespace sluice {
namespace {

struct Away {
  Mutex mutex;  // last in the lock order
  std::unordered_map<const Tensor*, std::shared_ptr<DeferredUpdates>> by_home
      ABSL_GUARDED_BY(mutex);
};

Away& AllAway() {
  static auto* away = new Away;
  return *away;
}

}  // namespace

Tensor TakeAway(Tensor* home, std::shared_ptr<DeferredUpdates> by) {
  Tensor taken = std::move(*home);
  *home = Tensor(taken.dtype(), taken.shape(), BufferRef());
  ScopedLock lock(&AllAway().mutex);
  AllAway().by_home[home] = std::move(by);
  return taken;
}

void BringBack(Tensor* home, Tensor tensor) {
  ForgetDeferred(home);
  *home = std::move(tensor);
}

std::shared_ptr<DeferredUpdates> WhoHas(const Tensor* home) {
  if (home->IsInitialized()) return nullptr;
  ScopedLock lock(&AllAway().mutex);
  const auto found = AllAway().by_home.find(home);
  return found != AllAway().by_home.end() ? found->second : nullptr;
}

void SettleDeferred(Tensor* home, const StepContext& step) {
  if (const std::shared_ptr<DeferredUpdates> holder = WhoHas(home)) holder->Settle(home, step);
}

void ForgetDeferred(const Tensor* home) {
  std::shared_ptr<DeferredUpdates> last;  // destroyed without the lock
  ScopedLock lock(&AllAway().mutex);
  const auto found = AllAway().by_home.find(home);
  if (found == AllAway().by_home.end()) return;
  last = std::move(found->second);
  AllAway().by_home.erase(found);
}

}  // namespace sluice

// A mutex between steps of graphs: what MutexV2 makes, for critical sections.
//
// Thread safety: all methods from any thread. Blocking: Acquire never blocks a thread; it calls
// `taken` when the mutex is free or when the caller is cancelled, whichever is first, exactly once,
// with no lock held. Order: first come, first served. The lock ends with the last copy of the
// Variant that stands for it, or earlier, when it is consumed.
// Errors: CANCELLED.
#ifndef SLUICE_OPS_CONTROL_NAMED_MUTEX_H_
#define SLUICE_OPS_CONTROL_NAMED_MUTEX_H_

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "graph/tensor/variant.h"
#include "ops/state/wait.h"

namespace sluice {

class NamedMutex : public Resource, public std::enable_shared_from_this<NamedMutex> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12_GLOBAL__N_15MutexE";
  // Holds a MutexHold.
  using Taken = std::function<void(absl::StatusOr<Variant>)>;

  explicit NamedMutex(std::string name) : name_(std::move(name)) {}
  std::string DebugString() const override;
  void Acquire(const Caller& caller, Taken taken);

 private:
  friend class MutexHold;
  struct Waiting {
    Wait wait;
    Taken taken;
    std::string node;
  };
  Variant NewHold();
  void Cancel(const std::shared_ptr<Waiting>& waiting);
  void Release();
  std::string State() const;

  const std::string name_;
  mutable std::mutex mutex_;
  bool is_held_ = false;                      // guarded by mutex_
  std::string holder_;                        // guarded by mutex_; the node that holds it
  std::list<std::shared_ptr<Waiting>> line_;  // guarded by mutex_; empty unless is_held_
};

// A lock that is held.
class MutexHold : public VariantObject {
 public:
  explicit MutexHold(std::shared_ptr<NamedMutex> mutex) : mutex_(std::move(mutex)) {}
  ~MutexHold() override { Consume(); }
  MutexHold(const MutexHold&) = delete;
  MutexHold& operator=(const MutexHold&) = delete;
  std::string TypeName() const override { return "tensorflow::Mutex::SharedLockReleaser"; }
  // Releases the lock; false when that was done before.
  bool Consume() const;

 private:
  const std::shared_ptr<NamedMutex> mutex_;
  mutable std::atomic<bool> is_released_{false};
};

}  // namespace sluice

#endif  // SLUICE_OPS_CONTROL_NAMED_MUTEX_H_

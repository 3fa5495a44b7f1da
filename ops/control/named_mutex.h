// A mutex that graphs use for critical sections. The op MutexV2 makes it. The op MutexLock acquires
// it and outputs a Variant, the MutexHold.
//
// Thread safety: all methods may be called from any thread. Acquire never blocks. It calls `taken`
// exactly once, without a lock: when the caller holds the mutex, or when the caller is cancelled.
// Callers get the mutex in the order of their calls. The mutex is released when the op
// ConsumeMutexLock gets the MutexHold, or when the last copy of the MutexHold is destroyed.
// Errors: CANCELLED if the caller is cancelled before it gets the mutex.
#ifndef SLUICE_OPS_CONTROL_NAMED_MUTEX_H_
#define SLUICE_OPS_CONTROL_NAMED_MUTEX_H_

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "graph/mutex.h"
#include "graph/tensor/variant.h"
#include "ops/state/wait.h"

namespace sluice {

class NamedMutex : public Resource, public std::enable_shared_from_this<NamedMutex> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12_GLOBAL__N_15MutexE";
  // Receives a MutexHold.
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
  mutable Mutex mutex_;
  bool is_held_ ABSL_GUARDED_BY(mutex_) = false;
  std::string holder_ ABSL_GUARDED_BY(mutex_);  // the last node that took the mutex
  // The callers that wait for the mutex. Empty unless is_held_.
  std::list<std::shared_ptr<Waiting>> queue_ ABSL_GUARDED_BY(mutex_);
};

// A hold of a mutex: while the object lives and is not consumed, the mutex is held.
class MutexHold : public VariantObject {
 public:
  explicit MutexHold(std::shared_ptr<NamedMutex> mutex) : mutex_(std::move(mutex)) {}
  ~MutexHold() override { Consume(); }
  MutexHold(const MutexHold&) = delete;
  MutexHold& operator=(const MutexHold&) = delete;
  std::string TypeName() const override { return "tensorflow::Mutex::SharedLockReleaser"; }
  // Releases the mutex. Returns false if the hold has been consumed before.
  bool Consume() const;

 private:
  const std::shared_ptr<NamedMutex> mutex_;
  mutable std::atomic<bool> is_released_{false};
};

}  // namespace sluice

#endif  // SLUICE_OPS_CONTROL_NAMED_MUTEX_H_

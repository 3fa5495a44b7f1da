// Notifies threads of this process that wait for a model when another thread has initialized it.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_TRAINING_SESSION_READINESS_H_
#define SLUICE_TRAINING_SESSION_READINESS_H_

#include <memory>
#include <set>

#include "absl/base/thread_annotations.h"
#include "graph/mutex.h"
#include "training/loop/clock.h"

namespace sluice {

class Readiness {
 public:
  static Readiness& Global();
  // Each announcement sets the wake, until Leave.
  void Join(const std::shared_ptr<Wake>& wake);
  void Leave(const std::shared_ptr<Wake>& wake);
  void Announce();

 private:
  Mutex mutex_;
  std::set<std::shared_ptr<Wake>> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_READINESS_H_

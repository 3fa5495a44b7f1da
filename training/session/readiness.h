// Tells those who wait in this process for a model that somebody here has just made one ready.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_TRAINING_SESSION_READINESS_H_
#define SLUICE_TRAINING_SESSION_READINESS_H_

#include <memory>
#include <mutex>
#include <set>

#include "training/loop/clock.h"

namespace sluice {

class Readiness {
 public:
  static Readiness& Global();
  // From now until Leave, each announcement sets the wake.
  void Join(const std::shared_ptr<Wake>& wake);
  void Leave(const std::shared_ptr<Wake>& wake);
  void Announce();

 private:
  std::mutex mutex_;
  std::set<std::shared_ptr<Wake>> waiting_;  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_READINESS_H_

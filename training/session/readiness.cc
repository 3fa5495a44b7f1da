#include "training/session/readiness.h"

namespace sluice {

Readiness& Readiness::Global() {
  static auto* readiness = new Readiness;
  return *readiness;
}

void Readiness::Join(const std::shared_ptr<Wake>& wake) {
  ScopedLock lock(&mutex_);
  waiting_.insert(wake);
}

void Readiness::Leave(const std::shared_ptr<Wake>& wake) {
  ScopedLock lock(&mutex_);
  waiting_.erase(wake);
}

void Readiness::Announce() {
  ScopedLock lock(&mutex_);
  for (const std::shared_ptr<Wake>& wake : waiting_) wake->Set();
}

}  // namespace sluice

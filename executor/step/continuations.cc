#include "executor/step/continuations.h"

#include <algorithm>
#include <utility>

namespace sluice {

thread_local ContinuationScope* ContinuationScope::current_ = nullptr;

ContinuationScope::~ContinuationScope() {
  GoOn();
  current_ = nullptr;
}

bool ContinuationScope::Add(Continuation* continuation) {
  if (std::find(continuations_.begin(), continuations_.end(), continuation) !=
      continuations_.end()) {
    return false;
  }
  continuations_.push_back(continuation);
  return true;
}

void ContinuationScope::GoOn() {
  while (!continuations_.empty()) {
    Continuation* const next = continuations_.front();
    continuations_.erase(continuations_.begin());
    next->GoOnHere();
  }
}

void ContinuationScope::Release() {
  for (Continuation* continuation : std::exchange(continuations_, {})) {
    continuation->GoOnElsewhere();
  }
}

}  // namespace sluice

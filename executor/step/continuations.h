// Steps that go on in the thread that brings what they wait for, so that an answer wakes no second
// thread.
//
// A thread that hears of answers opens a scope around what it does with them. A step that waits
// for one of them then goes on in this thread, at the scope's end, not in the one that waits.
#ifndef SLUICE_EXECUTOR_STEP_CONTINUATIONS_H_
#define SLUICE_EXECUTOR_STEP_CONTINUATIONS_H_

#include <vector>

namespace sluice {

// Work of a step that an answer made ready. Exactly one of the two is called for each Add that
// returned true.
class Continuation {
 public:
  virtual ~Continuation() = default;
  virtual void GoOnHere() = 0;
  virtual void GoOnElsewhere() = 0;
};

// Thread safety: used by the thread that made it. Scopes of a thread do not nest.
class ContinuationScope {
 public:
  ContinuationScope() { current_ = this; }
  ~ContinuationScope();
  ContinuationScope(const ContinuationScope&) = delete;
  ContinuationScope& operator=(const ContinuationScope&) = delete;

  // Of this thread; null: none.
  static ContinuationScope* Current() { return current_; }
  // False when it is there already.
  bool Add(Continuation* continuation);
  bool is_empty() const { return continuations_.empty(); }
  // Goes on with what was added, and with what that adds.
  void GoOn();
  // While one lives, what is made ready in this thread goes on elsewhere at once.
  class Closed {
   public:
    Closed() : scope_(current_) {
      BeforeWork();
      current_ = nullptr;
    }
    ~Closed() { current_ = scope_; }
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

   private:
    ContinuationScope* const scope_;
  };
  // Before something that may take long, or waits, perhaps for just that: what was added goes on
  // elsewhere.
  static void BeforeWork() {
    if (current_ != nullptr && !current_->continuations_.empty()) current_->Release();
  }

 private:
  void Release();

  static thread_local ContinuationScope* current_;
  std::vector<Continuation*> continuations_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_STEP_CONTINUATIONS_H_

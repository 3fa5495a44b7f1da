// Lets the thread that receives a response of another task run the nodes that waited for the
// response, so that no second thread has to be woken.
//
// Such a thread opens a ContinuationScope, delivers the responses, and closes the scope. Steps that
// waited for a response add themselves to the scope as a Continuation. They continue on this thread
// when the scope closes.
#ifndef SLUICE_EXECUTOR_STEP_CONTINUATIONS_H_
#define SLUICE_EXECUTOR_STEP_CONTINUATIONS_H_

#include <vector>

namespace sluice {

// The work of one step that a response made ready. For each ContinuationScope::Add that returns
// true, the scope calls exactly one of these functions, once, on the thread of the scope.
class Continuation {
 public:
  virtual ~Continuation() = default;
  // Does the work on this thread.
  virtual void GoOnHere() = 0;
  // Leaves the work to other threads and returns at once.
  virtual void GoOnElsewhere() = 0;
};

// Thread safety: only the thread that created a scope uses it. Scopes of one thread do not nest.
class ContinuationScope {
 public:
  ContinuationScope() { current_ = this; }
  ~ContinuationScope();
  ContinuationScope(const ContinuationScope&) = delete;
  ContinuationScope& operator=(const ContinuationScope&) = delete;

  // The scope of this thread, or null.
  static ContinuationScope* Current() { return current_; }
  // Adds a continuation. Returns false if the scope already has it.
  bool Add(Continuation* continuation);
  bool is_empty() const { return continuations_.empty(); }
  // Runs the continuations of the scope, and the continuations that are added meanwhile.
  void GoOn();
  // While a Closed exists, this thread has no scope, so other threads run the work at once.
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
  // Moves the continuations of this thread's scope to other threads. Call it before long work,
  // because the continuations would have to wait until the work is done. Call it before any wait,
  // because the thread may wait for the result of a continuation.
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

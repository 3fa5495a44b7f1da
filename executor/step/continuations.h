// Lets the thread that delivers an answer run what the answer makes ready, so that no second thread
// has to be woken.
//
// A thread that receives answers opens a ContinuationScope while it delivers them. The steps that
// wait for these answers then go on in this thread, when the scope ends.
#ifndef SLUICE_EXECUTOR_STEP_CONTINUATIONS_H_
#define SLUICE_EXECUTOR_STEP_CONTINUATIONS_H_

#include <vector>

namespace sluice {

// The work of a step that an answer made ready. Each Add that returns true leads to exactly one
// call of one of these functions.
class Continuation {
 public:
  virtual ~Continuation() = default;
  virtual void GoOnHere() = 0;
  virtual void GoOnElsewhere() = 0;
};

// Thread safety: only the thread that created it uses it. Scopes of one thread do not nest.
class ContinuationScope {
 public:
  ContinuationScope() { current_ = this; }
  ~ContinuationScope();
  ContinuationScope(const ContinuationScope&) = delete;
  ContinuationScope& operator=(const ContinuationScope&) = delete;

  // The scope of this thread, or null.
  static ContinuationScope* Current() { return current_; }
  // Returns false if the scope already has it.
  bool Add(Continuation* continuation);
  bool is_empty() const { return continuations_.empty(); }
  // Runs the continuations, and those that they add.
  void GoOn();
  // While one exists, this thread has no scope: other threads run at once what is made ready.
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
  // Call it before long work or a wait, which may be a wait for these very continuations. It moves
  // them to other threads.
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

// Records for which client's session a thread works, for the audit of files (SetFileAudit).
//
// A server gives numbers to its sessions (distributed/master/session_table.h). A thread that a
// graph starts (ThreadUse::kGraphs) works for the session of the thread that starts it.
//
// Thread safety: each thread has its own number.
#ifndef SLUICE_EXECUTOR_WAIT_SESSION_SCOPE_H_
#define SLUICE_EXECUTOR_WAIT_SESSION_SCOPE_H_

#include <cstdint>
#include <utility>

namespace sluice {

// While the object lives, the thread that made it works for the session with this number.
class SessionScope {
 public:
  // 0 stands for an unknown session: the thread goes on working for the session of the outer scope.
  explicit SessionScope(int64_t session)
      : outer_(session == 0 ? current_ : std::exchange(current_, session)) {}
  ~SessionScope() { current_ = outer_; }
  SessionScope(const SessionScope&) = delete;
  SessionScope& operator=(const SessionScope&) = delete;

  // From now on the thread works for no session. For threads that serve all sessions of the
  // process.
  static void Leave() { current_ = 0; }

  // The number of the session for which the calling thread works. 0: no session, or an unknown one.
  static int64_t Current() { return current_; }

 private:
  static thread_local constinit int64_t current_;
  const int64_t outer_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_SESSION_SCOPE_H_

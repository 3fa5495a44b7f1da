#include "executor/wait/thread.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>

#include "executor/wait/session_scope.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr int64_t kMaxThreads = 4096;
// The stack size of each thread. With the default of 8 MB, few threads would exhaust RLIMIT_DATA.
// Sanitizers need larger stack frames.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kStackBytes = 16 << 20;
#else
constexpr size_t kStackBytes = 2 << 20;
#endif

// The threads that the system allows to this process if the user has no other processes.
int64_t SystemLimit() {
  int64_t limit = INT64_MAX;
  rlimit processes;
  if (getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur != RLIM_INFINITY) {
    limit = static_cast<int64_t>(processes.rlim_cur);
  }
  int64_t of_group;
  // If the file contains "max", which is no number, there is no limit.
  if (std::ifstream("/sys/fs/cgroup/pids.max") >> of_group) limit = std::min(limit, of_group);
  return limit;
}

std::atomic<int>& CountOf(ThreadUse use) {
  static std::atomic<int> counts[3];
  return counts[static_cast<int>(use)];
}

struct Body {
  std::string purpose;
  ThreadUse use;
  int64_t session;  // 0: none
  std::function<void()> run;
};

void* RunBody(void* argument) {
  const std::unique_ptr<Body> body(static_cast<Body*>(argument));
  pthread_setname_np(pthread_self(), body->purpose.substr(0, 15).c_str());
  const SessionScope scope(body->session);
  body->run();
  body->run = nullptr;  // the objects that it holds end before the thread counts as ended
  CountOf(body->use).fetch_sub(1, std::memory_order_relaxed);
  return nullptr;
}

}  // namespace

int Thread::MaxOf(ThreadUse use) {
  if (use == ThreadUse::kProcess) return INT32_MAX;
  static const int most = static_cast<int>(std::clamp<int64_t>(SystemLimit() / 4, 8, kMaxThreads));
  return most;
}

absl::StatusOr<Thread> Thread::Start(std::string purpose, ThreadUse use,
                                     std::function<void()> body) {
  const int64_t session = use == ThreadUse::kGraphs ? SessionScope::Current() : 0;
  auto owned = std::make_unique<Body>(Body{std::move(purpose), use, session, std::move(body)});
  std::atomic<int>& count = CountOf(use);
  if (count.fetch_add(1, std::memory_order_relaxed) >= MaxOf(use)) {
    count.fetch_sub(1, std::memory_order_relaxed);
    return absl::ResourceExhaustedError(
        StrCat("cannot start a thread for '", owned->purpose, "': all ", MaxOf(use),
               " threads for ", use == ThreadUse::kCalls ? "calls" : "graphs", " are in use"));
  }
  pthread_t id;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (use != ThreadUse::kProcess) pthread_attr_setstacksize(&attributes, kStackBytes);
  const int error = pthread_create(&id, &attributes, &RunBody, owned.get());
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    count.fetch_sub(1, std::memory_order_relaxed);
    return absl::ResourceExhaustedError(
        StrCat("cannot start a thread for '", owned->purpose, "': ", std::strerror(error)));
  }
  owned.release();
  return Thread(id);
}

void Thread::Join() {
  if (std::exchange(joinable_, false)) pthread_join(id_, nullptr);
}

void Thread::Detach() {
  if (std::exchange(joinable_, false)) pthread_detach(id_);
}

absl::Status StartDetached(std::string purpose, ThreadUse use, std::function<void()> body) {
  SLUICE_ASSIGN_OR_RETURN(Thread thread, Thread::Start(std::move(purpose), use, std::move(body)));
  thread.Detach();
  return absl::OkStatus();
}

}  // namespace sluice

#include "executor/wait/thread.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "executor/wait/session_scope.h"
#include "gmock/gmock.h"
#include "graph/mutex.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(ThreadTest, RunsItsBodyAndIsJoined) {
  std::atomic<bool> has_run{false};
  absl::StatusOr<Thread> thread =
      Thread::Start("test", ThreadUse::kProcess, [&] { has_run = true; });
  ASSERT_TRUE(thread.ok()) << thread.status();
  EXPECT_TRUE(thread->joinable());
  EXPECT_FALSE(thread->IsCurrent());
  thread->Join();
  EXPECT_TRUE(has_run);
  EXPECT_FALSE(thread->joinable());
  thread->Join();  // does nothing
}

// Starts threads that wait, until a limit refuses another one. Returns the number of threads that
// were started, and the error in `refusal`.
int StartAll(ThreadUse use, absl::Status* refusal) {
  Mutex mutex;
  CondVar changed;
  bool end = false;
  std::vector<Thread> threads;
  for (int i = 0; i < 10'000; ++i) {
    absl::StatusOr<Thread> thread = Thread::Start("test", use, [&] {
      ScopedLock lock(&mutex);
      while (!end) changed.Wait(&mutex);
    });
    if (!thread.ok()) {
      *refusal = thread.status();
      break;
    }
    threads.push_back(*std::move(thread));
  }
  {
    ScopedLock lock(&mutex);
    end = true;
    changed.NotifyAll();
  }
  const int started = static_cast<int>(threads.size());
  threads.clear();
  return started;
}

// Runs `body` in a process of a user without other processes, so that the limit counts only the
// threads of this process.
int ExitCodeWithLimit(int threads, int (*body)()) {
  const pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && setuid(54321) != 0) _exit(100);
    const rlimit limit = {static_cast<rlim_t>(threads), static_cast<rlim_t>(threads)};
    if (setrlimit(RLIMIT_NPROC, &limit) != 0) _exit(101);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// For each use, checks for which session a thread works that session 7 starts. Runs in a process of
// its own, because the first thread for a graph fixes the limits that the tests below set.
TEST(ThreadTest, ThreadsForGraphsKeepTheSessionOfTheirStarter) {
  EXPECT_EQ(ExitCodeWithLimit(200,
                              [] {
                                const SessionScope scope(7);
                                std::vector<int64_t> sessions;
                                const auto note = [&] {
                                  sessions.push_back(SessionScope::Current());
                                };
                                for (const ThreadUse use :
                                     {ThreadUse::kProcess, ThreadUse::kCalls, ThreadUse::kGraphs}) {
                                  if (!Thread::Start("test", use, note).ok()) return 1;
                                }
                                return sessions == std::vector<int64_t>{0, 0, 7} ? 0 : 2;
                              }),
            0);
}

TEST(ThreadTest, ClientsThreadsAreBoundedBelowTheLimitOfTheSystem) {
  EXPECT_EQ(ExitCodeWithLimit(200,
                              [] {
                                for (int round = 0; round < 2; ++round) {
                                  absl::Status refusal;
                                  const int started = StartAll(ThreadUse::kGraphs, &refusal);
                                  if (started > 50) return 1;
                                  if (!absl::IsResourceExhausted(refusal)) return 2;
                                  if (getuid() == 54321 && started != 50) return 3;
                                }
                                return 0;
                              }),
            0);
}

TEST(ThreadTest, TheSystemsRefusalIsAnError) {
  EXPECT_EQ(ExitCodeWithLimit(200,
                              [] {
                                absl::Status refusal;
                                const int started = StartAll(ThreadUse::kProcess, &refusal);
                                if (started >= 200) return 1;
                                return absl::IsResourceExhausted(refusal) ? 0 : 2;
                              }),
            0);
}

}  // namespace
}  // namespace sluice

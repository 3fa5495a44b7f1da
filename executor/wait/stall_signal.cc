#include "executor/wait/stall_signal.h"

#include <cstdio>
#include <string>

#include "executor/wait/stalls.h"
#include "executor/wait/thread.h"

namespace sluice {

// A thread waits for the signal, because a signal handler must not take locks.
void ReportStallsOnSignal(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const absl::Status started = StartDetached("stall reports", ThreadUse::kProcess, [set] {
    int received = 0;
    while (sigwait(&set, &received) == 0) {
      const std::string report = Stalls::AllToString();
      std::fprintf(stderr, "%s", report.empty() ? "no step waits\n" : report.c_str());
      std::fflush(stderr);
    }
  });
  if (!started.ok()) std::fprintf(stderr, "%s\n", started.ToString().c_str());
}

}  // namespace sluice

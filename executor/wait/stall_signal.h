// Writes a report of all blocked operations when a signal arrives, for programs that seem to hang.
//
//   int main() { ReportStallsOnSignal(SIGQUIT); … }      // then: kill -QUIT <pid>, or Ctrl-\.
//
// Thread safety: call it once, before other threads start.
// Lifetime: a thread waits for the signal until the process ends.
#ifndef SLUICE_EXECUTOR_WAIT_STALL_SIGNAL_H_
#define SLUICE_EXECUTOR_WAIT_STALL_SIGNAL_H_

#include <csignal>

namespace sluice {

// Writes Stalls::AllToString() (executor/wait/stalls.h), or "no step waits", to stderr each time
// the process receives `signal`. The program goes on. Call it before other threads start, because
// threads inherit the blocked signal.
void ReportStallsOnSignal(int signal = SIGQUIT);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_STALL_SIGNAL_H_

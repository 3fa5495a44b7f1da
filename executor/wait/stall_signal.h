// A report of all blocked operations on a signal, for programs that seem to hang.
//
//   int main() { ReportStallsOnSignal(SIGQUIT); … }      // then: kill -QUIT <pid>, or Ctrl-\.
//
// Thread safety: call it once, before other threads start.
// Lifetime: a thread waits for the signal until the process ends.
#ifndef SLUICE_EXECUTOR_WAIT_STALL_SIGNAL_H_
#define SLUICE_EXECUTOR_WAIT_STALL_SIGNAL_H_

#include <csignal>

namespace sluice {

// Writes Stalls::AllToString() (executor/wait/stalls.h) to stderr each time the process receives
// `signal`, or "no step waits"; the program goes on. Call it before other threads start, because
// threads inherit the blocked signal.
void ReportStallsOnSignal(int signal = SIGQUIT);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_STALL_SIGNAL_H_

// A report of everything that waits, on a signal: what to ask a program that seems to hang.
//
//   int main() { ReportStallsOnSignal(SIGQUIT); … }      // then: kill -QUIT <pid>, or Ctrl-\.
#ifndef SLUICE_EXECUTOR_WAIT_STALL_SIGNAL_H_
#define SLUICE_EXECUTOR_WAIT_STALL_SIGNAL_H_

#include <csignal>

namespace sluice {

// Writes Stalls::AllToString() to stderr each time `signal` comes; the program goes on. Call it
// before other threads are started: they inherit that the signal is not theirs.
void ReportStallsOnSignal(int signal = SIGQUIT);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_STALL_SIGNAL_H_

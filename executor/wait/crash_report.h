// A report on stderr when a fatal signal ends the process: the signal, the thread, the step and
// node that the thread ran, and its stack.
//
//   FATAL SIGSEGV at address 0x8 in thread 4711
//   running node 'dense/MatMul' (MatMul) of step 12
//   ./sluice(+0x51c3d0)[0x55d0b5f1c3d0]        addr2line -Cfe ./sluice 0x51c3d0
//
// The signal then has its usual effect: exit status, core file.
//
// Limits: a thread that ran out of stack reports nothing. Threads that help with a node's loops
// report their stack only.
// Thread safety: ReportCrashes is called once, before other threads start.
#ifndef SLUICE_EXECUTOR_WAIT_CRASH_REPORT_H_
#define SLUICE_EXECUTOR_WAIT_CRASH_REPORT_H_

#include <cstdint>

namespace sluice {

void ReportCrashes();

// The node that a thread runs. While it lives, `name` and `op` must too.
class RunningNode {
 public:
  RunningNode(const char* name, const char* op, int64_t step) : outer_(current_) {
    current_ = {name, op, step};
  }
  ~RunningNode() { current_ = outer_; }
  RunningNode(const RunningNode&) = delete;
  RunningNode& operator=(const RunningNode&) = delete;

  struct Id {
    const char* name;  // null: none
    const char* op;
    int64_t step;
  };
  static Id Current() { return current_; }

 private:
  static thread_local constinit Id current_;
  const Id outer_;  // of a function's node, whose steps run within it
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_CRASH_REPORT_H_

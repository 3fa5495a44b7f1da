// Writes a report to stderr when a fatal signal ends the process: the signal, the thread, the step
// and node that the thread ran, and its stack.
//
//   FATAL SIGSEGV at address 0x8 in thread 4711
//   running node 'dense/MatMul' (MatMul) of step 12
//   ./sluice(+0x51c3d0)[0x55d0b5f1c3d0]        addr2line -Cfe ./sluice 0x51c3d0
//
// Then the signal has its usual effect on the exit status and the core file.
//
// Limits: a thread that ran out of stack reports nothing. The report of a thread that helps with a
// node's loops does not name the node.
// Thread safety: ReportCrashes is called once, before other threads start.
#ifndef SLUICE_EXECUTOR_WAIT_CRASH_REPORT_H_
#define SLUICE_EXECUTOR_WAIT_CRASH_REPORT_H_

#include <cstdint>

namespace sluice {

// Installs the handlers of fatal signals.
void ReportCrashes();

// Records, while the object lives, that the calling thread runs this node. `name` and `op` must
// outlive the object.
class RunningNode {
 public:
  RunningNode(const char* name, const char* op, int64_t step) : outer_(current_) {
    current_ = {name, op, step};
  }
  ~RunningNode() { current_ = outer_; }
  RunningNode(const RunningNode&) = delete;
  RunningNode& operator=(const RunningNode&) = delete;

  struct Id {
    const char* name;  // null: the thread runs no node
    const char* op;
    int64_t step;
  };
  static Id Current() { return current_; }

 private:
  static thread_local constinit Id current_;
  // The node that the thread ran before. It calls the function that contains this object's node.
  const Id outer_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_CRASH_REPORT_H_

// A Stalls object is a table of blocked operations: which node waits, since when, and for what. It
// shows why a step does not end. Each session has a table. A report covers one table or all tables
// of the process.
//
// A kernel that has to wait opens an entry when the wait begins and closes it when the wait ends.
// Timeouts, signals and tools read the table while operations are blocked.
//
//   Stalls::Entry entry = stalls->Open({.node = name, .resource = "queue 'q'", …});
//   … stalls->Close(entry);
//
// Thread safety: all methods may be called from any thread. A report calls Stall::describe from any
// thread, without the table's lock, between Open and the return of Close. `describe` must not call
// into the table. The caller of Close must not hold a lock that `describe` takes, because Close
// waits for running calls of `describe`.
#ifndef SLUICE_EXECUTOR_WAIT_STALLS_H_
#define SLUICE_EXECUTOR_WAIT_STALLS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/mutex.h"

namespace sluice {

struct Stall {
  int64_t step_id = 0;
  std::string node;
  std::string op;
  std::string resource;  // "queue 'sync_token_q'"
  // Returns the present state of the wait: "2 of 3 gradients". May be null.
  std::function<std::string()> describe;
};

class Stalls {
 public:
  using Entry = int64_t;
  // Adds this table to those that AllToString reports. The destructor removes it from them.
  Stalls();
  ~Stalls();
  Stalls(const Stalls&) = delete;
  Stalls& operator=(const Stalls&) = delete;
  // The table for operations that belong to no session.
  static Stalls& Global();

  Entry Open(Stall stall);
  // Waits until no report reads the entry, and then removes it.
  void Close(Entry entry);

  struct Report {
    int64_t step_id;
    std::string node;
    std::string op;
    std::string resource;
    std::string state;  // the result of `describe`
    double seconds;     // waited so far
  };
  // Returns the waits of one step in this table, the longest first. Step 0 stands for all steps.
  std::vector<Report> Describe(int64_t step_id = 0);
  // Returns one line per wait, or "" if nothing waits:
  // "'q_dequeue' (QueueDequeueV2) has waited 3.2 s for queue 'q': 0 elements".
  std::string ToString(int64_t step_id = 0);
  // Returns such lines for all tables of the process, the longest wait first. Each line begins with
  // the step of the wait: "step 7: ".
  static std::string AllToString();

 private:
  struct Waiting {
    Stall stall;
    std::chrono::steady_clock::time_point since;
    int readers = 0;
  };
  Mutex mutex_;
  CondVar read_;  // notified when a report has read an entry
  std::map<Entry, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  Entry next_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_STALLS_H_

// Who waits for what: a table of blocked operations. Each session has one; all tables of the
// process can be asked at once.
//
// A kernel that has to wait opens an entry when it stores its callback and closes it when the
// callback is taken; the table is read by timeouts, signals and tools while things hang.
//
//   Stalls::Entry entry = stalls->Open({.node = name, .resource = "queue 'q'", …});
//   … stalls->Close(entry);
//
// Thread safety: all methods from any thread. `describe` is called without the table's lock, from
// any thread, between Open and the return of Close; it must not call back into the table.
#ifndef SLUICE_EXECUTOR_WAIT_STALLS_H_
#define SLUICE_EXECUTOR_WAIT_STALLS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace sluice {

struct Stall {
  int64_t step_id = 0;
  std::string node;
  std::string op;
  std::string resource;  // "queue 'sync_token_q'"
  // What is there and what is needed, at the moment of the question: "2 of 3 gradients".
  std::function<std::string()> describe;
};

class Stalls {
 public:
  using Entry = int64_t;
  // Joins the tables of this process, and leaves them.
  Stalls();
  ~Stalls();
  Stalls(const Stalls&) = delete;
  Stalls& operator=(const Stalls&) = delete;
  // The table of what belongs to no session.
  static Stalls& Global();

  Entry Open(Stall stall);
  // Waits for a report that is reading the entry.
  void Close(Entry entry);

  struct Report {
    int64_t step_id;
    std::string node;
    std::string op;
    std::string resource;
    std::string state;  // what `describe` said
    double seconds;     // waiting so far
  };
  // The longest wait first. step_id 0: of all steps.
  std::vector<Report> Describe(int64_t step_id = 0);
  // One line a wait: "'q_dequeue' (QueueDequeueV2) has waited 3.2 s for queue 'q': 0 elements".
  std::string ToString(int64_t step_id = 0);
  // The same of all tables of this process, the longest wait first, each line with its step.
  static std::string AllToString();

 private:
  struct Waiting {
    Stall stall;
    std::chrono::steady_clock::time_point since;
    int readers = 0;
  };
  std::mutex mutex_;
  std::condition_variable read_;
  std::map<Entry, Waiting> waiting_;  // guarded by mutex_
  Entry next_ = 1;                    // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_STALLS_H_

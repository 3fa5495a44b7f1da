// Stops a group of threads together: any of them asks to stop, all see it, the first error is kept.
//
// Reference behaviour: tf.train.Coordinator.
// Thread safety: all methods from any thread. Blocking: WaitForStop and Join block the calling
// thread until a stop was requested (and the threads ended); RequestStop wakes them at once.
#ifndef SLUICE_TRAINING_LOOP_COORDINATOR_H_
#define SLUICE_TRAINING_LOOP_COORDINATOR_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"

namespace sluice {

class Coordinator {
 public:
  // Errors with these codes are a normal end (a queue that ran out) and are not reported by Join.
  explicit Coordinator(std::vector<absl::StatusCode> clean_stop_codes = {
                           absl::StatusCode::kOutOfRange});
  // Requests a stop and waits for the threads.
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // The first error with a code that is not a clean stop is what Join returns.
  void RequestStop(absl::Status why = absl::OkStatus());
  bool ShouldStop() const;
  // True if a stop was requested within the time; without a time, waits for it.
  bool WaitForStop(std::optional<std::chrono::milliseconds> timeout = std::nullopt);
  // Called once at the stop, by the thread that asks for it, with no lock held. At once if stopped.
  void OnStop(std::function<void()> callback);

  // Runs `body` on a thread of the coordinator's; an error that it returns requests the stop.
  void Start(std::string name, std::function<absl::Status()> body);
  // Waits until a stop was requested or all threads ended, then up to `grace` for the threads that
  // are left. The first error; DEADLINE_EXCEEDED naming the threads that still run after `grace`.
  absl::Status Join(std::chrono::milliseconds grace = std::chrono::seconds(120));
  // Ready for another round; all threads must have been joined.
  void ClearStop();

 private:
  struct Worker {
    std::string name;
    std::thread thread;
    bool ended = false;
  };
  bool AllEnded() const;  // mutex_ held

  const std::vector<absl::StatusCode> clean_stop_codes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;                           // guarded by mutex_
  absl::Status first_error_;                    // guarded by mutex_
  std::list<Worker> workers_;                   // guarded by mutex_
  std::vector<std::function<void()>> on_stop_;  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_LOOP_COORDINATOR_H_

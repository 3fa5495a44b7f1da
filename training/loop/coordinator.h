// Stops a group of threads together: any of them asks to stop, all see it, the first error is kept.
//
//   Coordinator coordinator;
//   coordinator.Start("reader", [&] { … while (!coordinator.ShouldStop()) … return status; });
//   absl::Status first_error = coordinator.Join();
//
// Reference behaviour: tf.train.Coordinator.
// Thread safety: all methods from any thread, but one joins at a time. Blocking: WaitForStop and
// Join block the calling thread until a stop was requested (and the threads ended), or they are
// cancelled; RequestStop wakes them at once.
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

class CancellationManager;  // executor/wait/cancellation.h

struct JoinOptions {
  // For the threads that are left when a stop was requested.
  std::chrono::milliseconds grace = std::chrono::seconds(120);
  // Threads that run on after it are no error: they stay the coordinator's, as after CANCELLED.
  bool ignore_live_threads = false;
  // Ends the waiting with CANCELLED. Outlives the call.
  CancellationManager* cancellation = nullptr;
};

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
  // Runs `body` in this thread; its error requests the stop.
  void StopOnError(const std::function<absl::Status()>& body);
  bool ShouldStop() const;
  // The error that the stop was requested with; OK while there is none. (TensorFlow raises it.)
  absl::Status RequestedError() const;
  // True if a stop was requested within the time; without a time, waits for it. False at once when
  // `cancellation` fires.
  bool WaitForStop(std::optional<std::chrono::milliseconds> timeout = std::nullopt,
                   CancellationManager* cancellation = nullptr);
  // After a stop with an error of one of these codes the work goes on in another session: what is
  // shared with others, such as queues, is not to be closed.
  void set_goes_on_after(std::vector<absl::StatusCode> codes);
  // A stop was requested with such an error.
  bool GoesOn() const;
  // Called once at the stop, by the thread that asks for it, with no lock held. At once if stopped.
  void OnStop(std::function<void()> callback);

  // Runs `body` on a thread of the coordinator's; an error that it returns requests the stop.
  void Start(std::string name, std::function<absl::Status()> body);
  // The same for a body that is called again and again until the stop: back to back, or (above 0)
  // at this pace, first at once. Reference behaviour: tf.train.LooperThread.
  void StartLoop(std::string name, std::chrono::milliseconds pace,
                 std::function<absl::Status()> body);
  // Waits until a stop was requested or all threads ended, then up to `grace` for the threads that
  // are left. The first error; DEADLINE_EXCEEDED "Coordinator stopped with threads still running:
  // <names>".
  absl::Status Join(const JoinOptions& options = {});
  absl::Status Join(std::chrono::milliseconds grace) { return Join(JoinOptions{.grace = grace}); }
  // The last Join ended: no thread is left but those that it was told to ignore.
  bool joined() const;
  // Names of the threads that run, in the order of their start.
  std::vector<std::string> LiveThreads() const;
  // Ready for another round; all threads must have been joined.
  void ClearStop();

 private:
  struct Worker {
    std::string name;
    std::thread thread;
    bool ended = false;
  };
  bool AllEnded() const;                       // mutex_ held
  std::vector<std::string> LiveNames() const;  // mutex_ held
  void JoinEnded();
  template <typename Condition>
  bool Wait(std::unique_lock<std::mutex>& lock, std::optional<std::chrono::milliseconds> timeout,
            const bool& cancelled, Condition condition);

  const std::vector<absl::StatusCode> clean_stop_codes_;
  std::vector<absl::StatusCode> goes_on_after_;  // guarded by mutex_
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;                           // guarded by mutex_
  bool joined_ = false;                         // guarded by mutex_
  absl::Status first_error_;                    // guarded by mutex_
  std::list<Worker> workers_;                   // guarded by mutex_
  std::vector<std::function<void()>> on_stop_;  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_LOOP_COORDINATOR_H_

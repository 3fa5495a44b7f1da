// Stops a group of threads together: any of them may request the stop, all see it, and the first
// error is kept.
//
//   Coordinator coordinator;
//   coordinator.Start("reader", [&] { … while (!coordinator.ShouldStop()) … return status; });
//   absl::Status first_error = coordinator.Join();
//
// Thread safety: all methods may be called from any thread, but only one at a time calls Join.
// Blocking: WaitForStop and Join block until a stop is requested (and the threads have ended), or
// until they are cancelled. RequestStop wakes the waiting calls at once.
// Ownership: the coordinator owns the threads. Objects that their functions use must outlive it:
// the destructor waits for all threads, without a limit.
// Errors: Join returns the first error that a thread returned or that RequestStop got. Errors after
// the stop are dropped, because most of them are consequences of the stop.
// Reference: tf.train.Coordinator.
#ifndef SLUICE_TRAINING_LOOP_COORDINATOR_H_
#define SLUICE_TRAINING_LOOP_COORDINATOR_H_

#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "executor/wait/thread.h"
#include "graph/mutex.h"

namespace sluice {

class CancellationManager;  // executor/wait/cancellation.h

// Options of Coordinator::Join. By default it waits two minutes for threads that do not stop.
struct JoinOptions {
  // Time for the remaining threads to end after a stop was requested.
  std::chrono::milliseconds grace = std::chrono::seconds(120);
  // If true, Join returns no error for threads that are still running after `grace`. The
  // coordinator owns them until they end, also if Join ended with CANCELLED.
  bool ignore_live_threads = false;
  // When this manager is cancelled, Join ends with CANCELLED. Must outlive the call. Null: none.
  CancellationManager* cancellation = nullptr;
};

// Owns the threads of one session, such as those of queue runners. A MonitoredSession has one of
// its own; programs with another loop make one:
//
//   Coordinator coordinator;
//   SLUICE_RETURN_IF_ERROR(StartQueueRunners(session, coordinator));
class Coordinator {
 public:
  // Errors with these codes mean a normal end, such as the end of the input (OUT_OF_RANGE). Join
  // does not report them.
  explicit Coordinator(std::vector<absl::StatusCode> clean_stop_codes = {
                           absl::StatusCode::kOutOfRange});
  // Requests a stop and waits for the threads.
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Requests the stop. `why` is the error that caused it. Join returns this error, unless its code
  // means a clean stop. Later calls have no effect.
  void RequestStop(absl::Status why = absl::OkStatus());
  // Runs `body` in the calling thread. If it returns an error, requests a stop with this error.
  void StopOnError(const std::function<absl::Status()>& body);
  // Whether a stop was requested. Threads check this between two parts of their work.
  bool ShouldStop() const;
  // The error of the stop request; OK if there is none. (TensorFlow raises it.)
  absl::Status RequestedError() const;
  // Waits until a stop is requested, at most for `timeout` (nullopt: forever). Returns false if
  // none was requested in this time, or when `cancellation` fires.
  bool WaitForStop(std::optional<std::chrono::milliseconds> timeout = std::nullopt,
                   CancellationManager* cancellation = nullptr);
  // Sets the errors after which another session continues the work of this one, such as ABORTED.
  // Objects that sessions share, such as queues, then stay open at the stop.
  void set_goes_on_after(std::vector<absl::StatusCode> codes);
  // Whether the error of the stop request is one of those that set_goes_on_after has set.
  bool GoesOn() const;
  // Calls `callback` once, when a stop is requested, in the thread that requests it and without a
  // lock. If a stop was requested already, calls it at once.
  void OnStop(std::function<void()> callback);

  // Runs `body` on a thread that the coordinator owns. If it returns an error, requests a stop with
  // this error.
  void Start(std::string name, std::function<absl::Status()> body);
  // Calls `body` repeatedly on a thread that the coordinator owns, until a stop is requested or
  // `body` returns an error, which requests the stop. The first call begins at once, and the others
  // follow at intervals of `pace`. 0: without pauses. Reference: tf.train.LooperThread.
  void StartLoop(std::string name, std::chrono::milliseconds pace,
                 std::function<absl::Status()> body);
  // Waits until a stop is requested or all threads have ended, then up to `grace` for the remaining
  // threads. Returns the first error, or DEADLINE_EXCEEDED "Coordinator stopped with threads still
  // running: <names>".
  absl::Status Join(const JoinOptions& options = {});
  absl::Status Join(std::chrono::milliseconds grace) { return Join(JoinOptions{.grace = grace}); }
  // Whether a Join has ended without being cancelled. Threads that outlived its grace period may
  // still run.
  bool joined() const;
  // Names of the running threads, in the order of their start.
  std::vector<std::string> LiveThreads() const;
  // Makes the coordinator usable again after a stop. All threads must have been joined.
  void ClearStop();

 private:
  struct Worker {
    std::string name;
    Thread thread;
    bool ended = false;
  };
  bool AllEnded() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<std::string> LiveNames() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void JoinEnded();

  const std::vector<absl::StatusCode> clean_stop_codes_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<absl::StatusCode> goes_on_after_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool joined_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status first_error_ ABSL_GUARDED_BY(mutex_);
  std::list<Worker> workers_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> on_stop_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_LOOP_COORDINATOR_H_

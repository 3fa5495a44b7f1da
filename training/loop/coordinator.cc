#include "training/loop/coordinator.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/str_join.h"
#include "executor/wait/cancellation.h"
#include "graph/status.h"

namespace sluice {
namespace {

using Deadline = std::chrono::steady_clock::time_point;

// A flag that a cancellation sets while this object exists. The cancellation also notifies
// `changed`.
class CancelledFlag {
 public:
  CancelledFlag(CancellationManager* manager, Mutex& mutex, CondVar& changed) : manager_(manager) {
    if (manager_ == nullptr) return;
    token_ = manager_->NewToken();
    const bool registered = manager_->Register(token_, [this, &mutex, &changed] {
      ScopedLock lock(&mutex);
      is_set_ = true;
      changed.NotifyAll();
    });
    if (!registered) is_set_ = true;
  }
  // The caller must not hold the mutex, because Deregister waits for the callback, which locks it.
  ~CancelledFlag() {
    if (manager_ != nullptr) manager_->Deregister(token_);
  }
  CancelledFlag(const CancelledFlag&) = delete;
  CancelledFlag& operator=(const CancelledFlag&) = delete;
  bool is_set() const { return is_set_; }

 private:
  CancellationManager* const manager_;
  CancellationManager::Token token_ = 0;
  std::atomic<bool> is_set_{false};
};

}  // namespace

Coordinator::Coordinator(std::vector<absl::StatusCode> clean_stop_codes)
    : clean_stop_codes_(std::move(clean_stop_codes)) {}

Coordinator::~Coordinator() {
  RequestStop();
  for (Worker& worker : workers_) worker.thread.Join();
}

void Coordinator::RequestStop(absl::Status why) {
  std::vector<std::function<void()>> callbacks;
  {
    ScopedLock lock(&mutex_);
    const bool clean = why.ok() || std::find(clean_stop_codes_.begin(), clean_stop_codes_.end(),
                                             why.code()) != clean_stop_codes_.end();
    // Ignores errors after a stop, because most are consequences of it: closed queues, cancelled
    // steps.
    if (!clean && !stop_ && first_error_.ok()) first_error_ = std::move(why);
    if (!stop_) callbacks.swap(on_stop_);
    stop_ = true;
  }
  changed_.NotifyAll();
  for (const auto& callback : callbacks) callback();
}

void Coordinator::StopOnError(const std::function<absl::Status()>& body) {
  if (absl::Status status = body(); !status.ok()) RequestStop(std::move(status));
}

bool Coordinator::ShouldStop() const {
  ScopedLock lock(&mutex_);
  return stop_;
}

absl::Status Coordinator::RequestedError() const {
  ScopedLock lock(&mutex_);
  return first_error_;
}

void Coordinator::set_goes_on_after(std::vector<absl::StatusCode> codes) {
  ScopedLock lock(&mutex_);
  goes_on_after_ = std::move(codes);
}

bool Coordinator::GoesOn() const {
  ScopedLock lock(&mutex_);
  return std::find(goes_on_after_.begin(), goes_on_after_.end(), first_error_.code()) !=
         goes_on_after_.end();
}

bool Coordinator::joined() const {
  ScopedLock lock(&mutex_);
  return joined_;
}

bool Coordinator::WaitForStop(std::optional<std::chrono::milliseconds> timeout,
                              CancellationManager* cancellation) {
  const CancelledFlag cancelled(cancellation, mutex_, changed_);
  std::optional<Deadline> deadline;
  if (timeout) deadline = std::chrono::steady_clock::now() + *timeout;
  ScopedLock lock(&mutex_);
  while (!stop_ && !cancelled.is_set()) {
    if (!deadline) {
      changed_.Wait(&mutex_);
    } else if (!changed_.WaitUntil(&mutex_, *deadline)) {
      break;
    }
  }
  return stop_;
}

void Coordinator::OnStop(std::function<void()> callback) {
  {
    ScopedLock lock(&mutex_);
    if (!stop_) {
      on_stop_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

void Coordinator::Start(std::string name, std::function<absl::Status()> body) {
  ScopedLock lock(&mutex_);
  joined_ = false;
  Worker& worker = workers_.emplace_back();
  worker.name = std::move(name);
  absl::StatusOr<Thread> thread =
      Thread::Start(worker.name, ThreadUse::kProcess, [this, &worker, body = std::move(body)] {
        StopOnError(body);
        ScopedLock ended(&mutex_);
        worker.ended = true;
        changed_.NotifyAll();
      });
  if (thread.ok()) {
    worker.thread = *std::move(thread);
    return;
  }
  workers_.pop_back();
  lock.Unlock();
  RequestStop(thread.status());
}

void Coordinator::StartLoop(std::string name, std::chrono::milliseconds pace,
                            std::function<absl::Status()> body) {
  Start(std::move(name), [this, pace, body = std::move(body)]() -> absl::Status {
    auto next = std::chrono::steady_clock::now();
    while (!ShouldStop()) {
      SLUICE_RETURN_IF_ERROR(body());
      if (pace.count() <= 0) continue;
      next += pace;
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          next - std::chrono::steady_clock::now());
      if (WaitForStop(std::max(left, std::chrono::milliseconds(0)))) break;
    }
    return absl::OkStatus();
  });
}

bool Coordinator::AllEnded() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.ended; });
}

std::vector<std::string> Coordinator::LiveNames() const {
  std::vector<std::string> names;
  for (const Worker& worker : workers_) {
    if (!worker.ended) names.push_back(worker.name);
  }
  return names;
}

std::vector<std::string> Coordinator::LiveThreads() const {
  ScopedLock lock(&mutex_);
  return LiveNames();
}

// Joins the threads that have ended, and removes their Workers, which an ended thread no longer
// uses.
void Coordinator::JoinEnded() {
  std::list<Worker> ended;
  {
    ScopedLock lock(&mutex_);
    for (auto it = workers_.begin(); it != workers_.end();) {
      const auto worker = it++;
      if (worker->ended) ended.splice(ended.end(), workers_, worker);
    }
  }
  for (Worker& worker : ended) worker.thread.Join();
}

absl::Status Coordinator::Join(const JoinOptions& options) {
  std::vector<std::string> alive;
  {
    const CancelledFlag cancelled(options.cancellation, mutex_, changed_);
    ScopedLock lock(&mutex_);
    while (!stop_ && !AllEnded() && !cancelled.is_set()) changed_.Wait(&mutex_);
    const Deadline deadline = std::chrono::steady_clock::now() + options.grace;
    while (!AllEnded() && !cancelled.is_set() && changed_.WaitUntil(&mutex_, deadline)) {
    }
    alive = LiveNames();
    if (!alive.empty() && cancelled.is_set()) {
      return absl::CancelledError(
          StrCat("Coordinator's join was cancelled; still running: ", absl::StrJoin(alive, " ")));
    }
  }
  JoinEnded();
  ScopedLock lock(&mutex_);
  joined_ = true;
  if (!first_error_.ok() || alive.empty() || options.ignore_live_threads) return first_error_;
  return absl::DeadlineExceededError(
      StrCat("Coordinator stopped with threads still running: ", absl::StrJoin(alive, " "), " (",
             options.grace.count(), " ms after the stop)"));
}

void Coordinator::ClearStop() {
  ScopedLock lock(&mutex_);
  stop_ = false;
  joined_ = false;
  first_error_ = absl::OkStatus();
}

}  // namespace sluice

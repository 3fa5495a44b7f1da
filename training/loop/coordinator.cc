#include "training/loop/coordinator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "executor/wait/cancellation.h"
#include "graph/status.h"

namespace sluice {
namespace {

// While it lives, a cancellation sets `cancelled` under `mutex` and wakes `changed`.
class CancelledFlag {
 public:
  CancelledFlag(CancellationManager* manager, std::mutex& mutex, std::condition_variable& changed)
      : manager_(manager) {
    if (manager_ == nullptr) return;
    token_ = manager_->NewToken();
    const bool registered = manager_->Register(token_, [this, &mutex, &changed] {
      std::lock_guard<std::mutex> lock(mutex);
      cancelled_ = true;
      changed.notify_all();
    });
    if (registered) return;
    std::lock_guard<std::mutex> lock(mutex);
    cancelled_ = true;
  }
  // Must run without the lock.
  ~CancelledFlag() {
    if (manager_ != nullptr) manager_->Deregister(token_);
  }
  CancelledFlag(const CancelledFlag&) = delete;
  CancelledFlag& operator=(const CancelledFlag&) = delete;
  const bool& value() const { return cancelled_; }  // the lock held

 private:
  CancellationManager* const manager_;
  CancellationManager::Token token_ = 0;
  bool cancelled_ = false;
};

}  // namespace

Coordinator::Coordinator(std::vector<absl::StatusCode> clean_stop_codes)
    : clean_stop_codes_(std::move(clean_stop_codes)) {}

Coordinator::~Coordinator() {
  RequestStop();
  for (Worker& worker : workers_) {
    if (worker.thread.joinable()) worker.thread.join();
  }
}

void Coordinator::RequestStop(absl::Status why) {
  std::vector<std::function<void()>> callbacks;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const bool clean = why.ok() || std::find(clean_stop_codes_.begin(), clean_stop_codes_.end(),
                                             why.code()) != clean_stop_codes_.end();
    // After a stop, errors are mostly its echo (closed queues, cancelled steps): the first counts.
    if (!clean && !stop_ && first_error_.ok()) first_error_ = std::move(why);
    if (!stop_) callbacks.swap(on_stop_);
    stop_ = true;
  }
  changed_.notify_all();
  for (const auto& callback : callbacks) callback();
}

void Coordinator::StopOnError(const std::function<absl::Status()>& body) {
  if (absl::Status status = body(); !status.ok()) RequestStop(std::move(status));
}

bool Coordinator::ShouldStop() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stop_;
}

absl::Status Coordinator::RequestedError() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return first_error_;
}

void Coordinator::set_goes_on_after(std::vector<absl::StatusCode> codes) {
  std::lock_guard<std::mutex> lock(mutex_);
  goes_on_after_ = std::move(codes);
}

bool Coordinator::GoesOn() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::find(goes_on_after_.begin(), goes_on_after_.end(), first_error_.code()) !=
         goes_on_after_.end();
}

bool Coordinator::joined() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return joined_;
}

// True when the condition holds, false after the timeout or a cancellation.
template <typename Condition>
bool Coordinator::Wait(std::unique_lock<std::mutex>& lock,
                       std::optional<std::chrono::milliseconds> timeout, const bool& cancelled,
                       Condition condition) {
  const auto woken = [&] { return cancelled || condition(); };
  if (timeout) {
    changed_.wait_for(lock, *timeout, woken);
  } else {
    changed_.wait(lock, woken);
  }
  return condition();
}

bool Coordinator::WaitForStop(std::optional<std::chrono::milliseconds> timeout,
                              CancellationManager* cancellation) {
  const CancelledFlag cancelled(cancellation, mutex_, changed_);
  std::unique_lock<std::mutex> lock(mutex_);
  return Wait(lock, timeout, cancelled.value(), [&] { return stop_; });
}

void Coordinator::OnStop(std::function<void()> callback) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!stop_) {
      on_stop_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

void Coordinator::Start(std::string name, std::function<absl::Status()> body) {
  std::lock_guard<std::mutex> lock(mutex_);
  joined_ = false;
  Worker& worker = workers_.emplace_back();
  worker.name = std::move(name);
  worker.thread = std::thread([this, &worker, body = std::move(body)] {
    StopOnError(body);
    std::lock_guard<std::mutex> ended(mutex_);
    worker.ended = true;
    changed_.notify_all();
  });
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
  std::lock_guard<std::mutex> lock(mutex_);
  return LiveNames();
}

// Threads that ended are done with their Worker, and may be taken out of the list.
void Coordinator::JoinEnded() {
  std::list<Worker> ended;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = workers_.begin(); it != workers_.end();) {
      const auto worker = it++;
      if (worker->ended) ended.splice(ended.end(), workers_, worker);
    }
  }
  for (Worker& worker : ended) worker.thread.join();
}

absl::Status Coordinator::Join(const JoinOptions& options) {
  std::vector<std::string> alive;
  {
    const CancelledFlag cancelled(options.cancellation, mutex_, changed_);
    std::unique_lock<std::mutex> lock(mutex_);
    const bool stopping =
        Wait(lock, std::nullopt, cancelled.value(), [&] { return stop_ || AllEnded(); });
    if (stopping) {
      Wait(lock, options.grace, cancelled.value(), [&] { return AllEnded(); });
    }
    alive = LiveNames();
    if (!alive.empty() && cancelled.value()) {
      return absl::CancelledError(
          StrCat("Coordinator's join was cancelled; still running: ", absl::StrJoin(alive, " ")));
    }
  }
  JoinEnded();
  std::lock_guard<std::mutex> lock(mutex_);
  joined_ = true;
  if (!first_error_.ok() || alive.empty() || options.ignore_live_threads) return first_error_;
  return absl::DeadlineExceededError(
      StrCat("Coordinator stopped with threads still running: ", absl::StrJoin(alive, " "), " (",
             options.grace.count(), " ms after the stop)"));
}

void Coordinator::ClearStop() {
  std::lock_guard<std::mutex> lock(mutex_);
  stop_ = false;
  joined_ = false;
  first_error_ = absl::OkStatus();
}

}  // namespace sluice

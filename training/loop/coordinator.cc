#include "training/loop/coordinator.h"

#include <algorithm>
#include <utility>

#include "graph/status.h"

namespace sluice {

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

bool Coordinator::ShouldStop() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stop_;
}

bool Coordinator::WaitForStop(std::optional<std::chrono::milliseconds> timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (timeout) return changed_.wait_for(lock, *timeout, [&] { return stop_; });
  changed_.wait(lock, [&] { return stop_; });
  return true;
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
  Worker& worker = workers_.emplace_back();
  worker.name = std::move(name);
  worker.thread = std::thread([this, &worker, body = std::move(body)] {
    if (absl::Status status = body(); !status.ok()) RequestStop(std::move(status));
    std::lock_guard<std::mutex> ended(mutex_);
    worker.ended = true;
    changed_.notify_all();
  });
}

bool Coordinator::AllEnded() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.ended; });
}

absl::Status Coordinator::Join(std::chrono::milliseconds grace) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return stop_ || AllEnded(); });
  if (!changed_.wait_for(lock, grace, [&] { return AllEnded(); })) {
    std::string alive;
    for (const Worker& worker : workers_) {
      if (!worker.ended) StrAppend(&alive, alive.empty() ? "" : ", ", worker.name);
    }
    if (!first_error_.ok()) return first_error_;
    return absl::DeadlineExceededError(StrCat(
        "Coordinator stopped with threads still running after ", grace.count(), " ms: ", alive));
  }
  std::list<Worker> ended;
  ended.swap(workers_);
  lock.unlock();
  for (Worker& worker : ended) worker.thread.join();
  lock.lock();
  return first_error_;
}

void Coordinator::ClearStop() {
  std::lock_guard<std::mutex> lock(mutex_);
  stop_ = false;
  first_error_ = absl::OkStatus();
}

}  // namespace sluice

#include "distributed/wire/lane_poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

namespace sluice {
namespace {

// More threads than this do not wait for input at once: each message of several that come one after
// the other would wake another one.
constexpr int kMostWaiting = 2;
// A spare thread ends when it was not called for so long.
constexpr auto kMostSpare = std::chrono::seconds(10);
constexpr int kFirstTickMs = 1;

}  // namespace

LanePoller::LanePoller(std::function<int()> tick)
    : epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      has_work_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)),
      tick_(std::move(tick)),
      wait_ms_(tick_ == nullptr ? -1 : kFirstTickMs) {
  for (const int fd : {wake_, has_work_}) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
}

LanePoller::~LanePoller() {
  Stop();
  close(has_work_);
  close(wake_);
  close(epoll_);
}

void LanePoller::Add(std::shared_ptr<Source> source) {
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.fd = source->fd();
  std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_) return;
  const int fd = source->fd();
  sources_[fd] = std::move(source);
  epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  if (threads_ == 0) StartThread();
}

void LanePoller::Arm(const Source& source) {
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.fd = source.fd();
  // Under the lock that the next thread takes too: what this one did with the source has then been
  // done for it.
  std::lock_guard<std::mutex> lock(mutex_);
  epoll_ctl(epoll_, EPOLL_CTL_MOD, source.fd(), &event);
}

void LanePoller::Remove(const Source& source) {
  std::shared_ptr<Source> removed;  // let go without the lock
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = sources_.find(source.fd());
  if (it == sources_.end() || it->second.get() != &source) return;
  epoll_ctl(epoll_, EPOLL_CTL_DEL, source.fd(), nullptr);
  removed = std::move(it->second);
  sources_.erase(it);
}

void LanePoller::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_, &one, sizeof(one));
}

void LanePoller::StartThread() {
  ++threads_;
  ++waiting_;
  std::thread([this] { Listen(); }).detach();
}

void LanePoller::CallSpare() {
  if (spares_.empty()) return StartThread();
  Spare* const spare = spares_.back();
  spares_.pop_back();
  ++waiting_;
  spare->is_called = true;
  spare->called.notify_one();
}

void LanePoller::TickIfDue(bool was_woken) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) return;  // the others are still to be woken
  }
  if (was_woken) {
    uint64_t count;
    [[maybe_unused]] const ssize_t bytes = read(wake_, &count, sizeof(count));
  }
  if (tick_ == nullptr) return;
  const std::unique_lock<std::mutex> lock(tick_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  MayBlock();
  wait_ms_.store(tick_(), std::memory_order_relaxed);
}

void LanePoller::Listen() {
  for (;;) {
    epoll_event event;
    const int n = epoll_wait(epoll_, &event, 1, wait_ms_.load(std::memory_order_relaxed));
    std::unique_lock<std::mutex> lock(mutex_);
    --waiting_;
    lock.unlock();
    bool may_be_spare = true;
    if (n == 1 && event.data.fd == has_work_) {
      RunWork();
    } else if (n != 1 || event.data.fd == wake_) {
      TickIfDue(n == 1);
      may_be_spare = false;  // the others wait for longer, if the next tick is soon
    } else if (const std::shared_ptr<Source> source = SourceOf(event.data.fd)) {
      source->Readable();
    }
    lock.lock();
    if (AwaitTurn(lock, may_be_spare)) continue;
    // Notified under the lock: once it is released, this object may be gone.
    if (--threads_ == 0) ended_.notify_all();
    return;
  }
}

// Until this thread is to wait for input again; it then counts as waiting. False when it is to
// end.
bool LanePoller::AwaitTurn(std::unique_lock<std::mutex>& lock, bool may_be_spare) {
  if (!stopped_ && may_be_spare && waiting_ >= kMostWaiting) {
    Spare own;
    spares_.push_back(&own);
    own.called.wait_for(lock, kMostSpare, [&] { return own.is_called || stopped_; });
    if (own.is_called) return true;
    std::erase(spares_, &own);
    if (!stopped_) return false;
  }
  while (stopped_ && !work_.empty()) {
    lock.unlock();
    RunWork();
    lock.lock();
  }
  if (stopped_) return false;
  ++waiting_;
  return true;
}

std::shared_ptr<LanePoller::Source> LanePoller::SourceOf(int fd) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = sources_.find(fd);
  return it == sources_.end() || stopped_ ? nullptr : it->second;
}

void LanePoller::RunWork() {
  uint64_t one;
  [[maybe_unused]] const ssize_t bytes = read(has_work_, &one, sizeof(one));
  std::function<void()> work;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (work_.empty()) return;  // another thread took it
    work = std::move(work_.front());
    work_.pop_front();
  }
  MayBlock();
  work();
}

void LanePoller::Stop() {
  std::map<int, std::shared_ptr<Source>> sources;  // let go without the lock
  std::unique_lock<std::mutex> lock(mutex_);
  stopped_ = true;
  Wake();  // nobody reads it any more: every thread sees it
  for (Spare* spare : spares_) spare->called.notify_one();
  ended_.wait(lock, [this] { return threads_ == 0; });
  sources.swap(sources_);
}

void LanePoller::MayBlock() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (waiting_ == 0 && !stopped_) CallSpare();
}

void LanePoller::RunElsewhere(std::function<void()> work) {
  std::lock_guard<std::mutex> lock(mutex_);
  work_.push_back(std::move(work));
  if (waiting_ == 0) CallSpare();
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(has_work_, &one, sizeof(one));
}

}  // namespace sluice

#include "distributed/lane/lane_poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "graph/status.h"

namespace sluice {
namespace {

// The most threads that wait for input at a time. With more, each of several messages in a row
// would wake another thread.
constexpr int kMaxWaiting = 2;
// A thread that has not been needed for this time ends.
constexpr auto kMaxSpare = std::chrono::seconds(10);
constexpr int kFirstTickMs = 1;

epoll_event OneShot(int fd) {
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.fd = fd;
  return event;
}

void Signal(int event_fd) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(event_fd, &one, sizeof(one));
}

void ReadSignal(int event_fd) {
  uint64_t count;
  [[maybe_unused]] const ssize_t n = read(event_fd, &count, sizeof(count));
}

}  // namespace

LanePoller::LanePoller(std::function<int()> tick, ThreadUse use)
    : epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      has_work_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)),
      tick_(std::move(tick)),
      use_(use),
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

bool LanePoller::Add(std::shared_ptr<Source> source) {
  const int fd = source->fd();
  epoll_event event = OneShot(fd);
  ScopedLock lock(&mutex_);
  if (stopped_) return false;
  if (threads_ == 0 && !StartThread(ThreadUse::kProcess).ok()) return false;
  sources_[fd] = std::move(source);
  epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  return true;
}

void LanePoller::Arm(const Source& source) {
  epoll_event event = OneShot(source.fd());
  // The next thread takes the same lock, so it sees what this one did with the source.
  ScopedLock lock(&mutex_);
  epoll_ctl(epoll_, EPOLL_CTL_MOD, source.fd(), &event);
}

void LanePoller::Remove(const Source& source) {
  std::shared_ptr<Source> removed;  // destroyed without the lock
  ScopedLock lock(&mutex_);
  auto it = sources_.find(source.fd());
  if (it == sources_.end() || it->second.get() != &source) return;
  epoll_ctl(epoll_, EPOLL_CTL_DEL, source.fd(), nullptr);
  removed = std::move(it->second);
  sources_.erase(it);
}

void LanePoller::Wake() { Signal(wake_); }

absl::Status LanePoller::StartThread(ThreadUse use) {
  SLUICE_RETURN_IF_ERROR(StartDetached("lanes", use, [this] { Listen(); }));
  ++threads_;
  ++waiting_;
  return absl::OkStatus();
}

absl::Status LanePoller::CallSpare() {
  if (spares_.empty()) return StartThread(use_);
  ++waiting_;
  spares_.back()->NotifyOne();
  spares_.pop_back();
  return absl::OkStatus();
}

void LanePoller::TickIfDue(bool was_woken) {
  {
    ScopedLock lock(&mutex_);
    if (stopped_) return;  // without ReadSignal: Stop has to wake all threads
  }
  if (was_woken) ReadSignal(wake_);
  if (tick_ == nullptr || !tick_mutex_.TryLock()) return;
  MayBlock().IgnoreError();
  wait_ms_.store(tick_(), std::memory_order_relaxed);
  tick_mutex_.Unlock();
}

void LanePoller::Listen() {
  for (;;) {
    epoll_event event;
    const int n = epoll_wait(epoll_, &event, 1, wait_ms_.load(std::memory_order_relaxed));
    {
      ScopedLock lock(&mutex_);
      --waiting_;
    }
    bool may_be_spare = true;
    if (n == 1 && event.data.fd == has_work_) {
      RunWork();
    } else if (n != 1 || event.data.fd == wake_) {
      TickIfDue(n == 1);
      may_be_spare = false;  // the other threads may wait for longer than until the next tick
    } else if (const std::shared_ptr<Source> source = SourceOf(event.data.fd)) {
      source->Readable();
    }
    ScopedLock lock(&mutex_);
    if (AwaitTurn(may_be_spare)) continue;
    // Notified under the lock, because the poller may be destroyed once it is released.
    if (--threads_ == 0) ended_.NotifyAll();
    return;
  }
}

bool LanePoller::AwaitTurn(bool may_be_spare) {
  if (!stopped_ && may_be_spare && waiting_ >= kMaxWaiting) {
    CondVar called;
    spares_.push_back(&called);
    const auto deadline = std::chrono::steady_clock::now() + kMaxSpare;
    while (!stopped_ && std::count(spares_.begin(), spares_.end(), &called) != 0 &&
           called.WaitUntil(&mutex_, deadline)) {
    }
    const bool was_called = std::erase(spares_, &called) == 0;
    if (was_called) return true;
    if (!stopped_) return false;
  }
  while (stopped_ && !work_.empty()) {
    mutex_.Unlock();
    RunWork();
    mutex_.Lock();
  }
  if (stopped_) return false;
  ++waiting_;
  return true;
}

std::shared_ptr<LanePoller::Source> LanePoller::SourceOf(int fd) {
  ScopedLock lock(&mutex_);
  auto it = sources_.find(fd);
  return it == sources_.end() || stopped_ ? nullptr : it->second;
}

void LanePoller::RunWork() {
  ReadSignal(has_work_);
  Work work;
  {
    ScopedLock lock(&mutex_);
    if (work_.empty()) return;  // another thread took it
    work = std::move(work_.front());
    work_.pop_front();
  }
  work(MayBlock());
}

void LanePoller::Stop() {
  std::map<int, std::shared_ptr<Source>> sources;  // destroyed without the lock
  ScopedLock lock(&mutex_);
  stopped_ = true;
  Wake();
  for (CondVar* spare : spares_) spare->NotifyOne();
  while (threads_ > 0) ended_.Wait(&mutex_);
  sources.swap(sources_);
}

absl::Status LanePoller::MayBlock() {
  ScopedLock lock(&mutex_);
  return waiting_ == 0 && !stopped_ ? CallSpare() : absl::OkStatus();
}

void LanePoller::RunElsewhere(Work work) {
  ScopedLock lock(&mutex_);
  work_.push_back(std::move(work));
  if (waiting_ == 0) CallSpare().IgnoreError();
  Signal(has_work_);
}

}  // namespace sluice

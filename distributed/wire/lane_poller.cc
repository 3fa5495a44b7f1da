#include "distributed/wire/lane_poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>
#include <utility>

namespace sluice {
namespace {

// So many threads wait at most; they are made when they are needed.
constexpr int kMostIdle = 4;
constexpr int kFirstTickMs = 1;

}  // namespace

LanePoller::LanePoller(std::function<int()> tick)
    : epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      tick_(std::move(tick)),
      wait_ms_(tick_ == nullptr ? -1 : kFirstTickMs) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
}

LanePoller::~LanePoller() {
  Stop();
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
  ++listening_;
  std::thread([this] { Listen(); }).detach();
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
  if (lock.owns_lock()) wait_ms_.store(tick_(), std::memory_order_relaxed);
}

void LanePoller::Listen() {
  for (;;) {
    if (EndsThread(kMostIdle)) return;
    epoll_event event;
    const int n = epoll_wait(epoll_, &event, 1, wait_ms_.load(std::memory_order_relaxed));
    std::shared_ptr<Source> source;
    if (n == 1 && event.data.fd != wake_) {
      std::lock_guard<std::mutex> lock(mutex_);
      auto it = sources_.find(event.data.fd);
      if (it != sources_.end() && !stopped_) source = it->second;
    }
    if (source != nullptr) {
      source->Readable();
    } else if (n <= 0 || event.data.fd == wake_) {
      TickIfDue(n == 1);
    }
  }
}

// Of a listening thread: whether it is to end, which is then counted.
bool LanePoller::EndsThread(int most_idle) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!stopped_ && listening_ <= most_idle) return false;
  --listening_;
  // Notified under the lock: once it is released, this object may be gone.
  if (--threads_ == 0) ended_.notify_all();
  return true;
}

void LanePoller::Stop() {
  std::map<int, std::shared_ptr<Source>> sources;  // let go without the lock
  std::unique_lock<std::mutex> lock(mutex_);
  stopped_ = true;
  Wake();  // nobody reads it any more: every thread sees it
  ended_.wait(lock, [this] { return threads_ == 0; });
  sources.swap(sources_);
}

LanePoller::MayBlock::MayBlock(LanePoller& poller) : poller_(poller) {
  std::lock_guard<std::mutex> lock(poller_.mutex_);
  if (--poller_.listening_ == 0 && !poller_.stopped_) poller_.StartThread();
}

LanePoller::MayBlock::~MayBlock() {
  std::lock_guard<std::mutex> lock(poller_.mutex_);
  ++poller_.listening_;
}

void LanePoller::RunElsewhere(std::function<void()> work) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++threads_;
  std::thread([this, work = std::move(work)]() mutable {
    work();
    work = nullptr;  // what it holds goes before who waits for it
    std::lock_guard<std::mutex> lock(mutex_);
    if (--threads_ == 0) ended_.notify_all();
  }).detach();
}

}  // namespace sluice

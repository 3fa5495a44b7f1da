#include "tests/simulate/simulation.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "graph/strings.h"

namespace sluice {
namespace {

thread_local void* t_actor = nullptr;

// One thread runs at a time: to wake one on another core would cost more than most turns do.
class OnOneCore {
 public:
  OnOneCore() {
    const int core = sched_getcpu();
    if (core < 0 || sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    is_changed_ = sched_setaffinity(0, sizeof(one), &one) == 0;
  }
  ~OnOneCore() {
    if (is_changed_) sched_setaffinity(0, sizeof(before_), &before_);
  }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;

 private:
  cpu_set_t before_;
  bool is_changed_ = false;
};

}  // namespace

// Steps of different tasks may have the same number.
class Simulation::TaskScheduler final : public StepScheduler {
 public:
  explicit TaskScheduler(Simulation* world) : world_(world) {}

  void Blocked(int64_t step_id) override {
    if (t_actor == nullptr) return;
    std::lock_guard<std::mutex> lock(world_->mutex_);
    Actor* actor = static_cast<Actor*>(t_actor);
    blocked_[step_id] = actor;
    world_->GiveTurn(actor);
  }
  void Ready(int64_t step_id) override {
    std::lock_guard<std::mutex> lock(world_->mutex_);
    const auto found = blocked_.find(step_id);
    if (found == blocked_.end()) return;
    world_->ready_.push_back(found->second);
    blocked_.erase(found);
  }
  void Resume(int64_t) override {
    if (t_actor == nullptr) return;
    Lock lock(world_->mutex_);
    AwaitTurn(static_cast<Actor*>(t_actor), lock);
  }

 private:
  Simulation* const world_;
  std::map<int64_t, Actor*> blocked_;  // guarded by world_->mutex_
};

Simulation::Simulation(uint64_t seed) : random_(seed) {}

Simulation::~Simulation() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
    for (const auto& actor : actors_) {
      actor->has_turn = true;
      actor->turn.notify_one();
    }
  }
  for (const auto& actor : actors_) actor->thread.join();
}

int64_t Simulation::Draw(int64_t n) {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int64_t>(random_() % static_cast<uint64_t>(n));
}

double Simulation::Uniform() {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<double>(random_() >> 11) * 0x1p-53;
}

StepScheduler* Simulation::SchedulerOf(const std::string& task) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto& scheduler = schedulers_[task];
  if (scheduler == nullptr) scheduler = std::make_unique<TaskScheduler>(this);
  return scheduler.get();
}

void Simulation::Spawn(std::function<void()> body) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (unused_.empty()) {
    actors_.push_back(std::make_unique<Actor>());
    Actor* added = actors_.back().get();
    added->thread = std::thread([this, added] { Act(added); });
    unused_.push_back(added);
  }
  Actor* actor = unused_.back();
  unused_.pop_back();
  actor->body = std::move(body);
  ready_.push_back(actor);
}

void Simulation::Act(Actor* actor) {
  t_actor = actor;
  Lock lock(mutex_);
  while (true) {
    AwaitTurn(actor, lock);
    if (is_over_) return;
    lock.unlock();
    actor->body();
    actor->body = nullptr;  // what it holds may end with it
    lock.lock();
    unused_.push_back(actor);
    GiveTurn(actor);
  }
}

void Simulation::AwaitTurn(Actor* actor, Lock& lock) {
  actor->turn.wait(lock, [actor] { return actor->has_turn; });
}

void Simulation::GiveTurn(Actor* actor) {
  actor->has_turn = false;
  running_ = nullptr;
  idle_.notify_all();
}

void Simulation::At(int64_t delay, std::function<void()> event) {
  std::lock_guard<std::mutex> lock(mutex_);
  events_.emplace(std::make_pair(now_ + std::max<int64_t>(delay, 0), events_so_far_++),
                  std::move(event));
}

void Simulation::Wait(const void* key) {
  Lock lock(mutex_);
  if (auto early = woken_.find(key); early != woken_.end()) {
    if (--early->second == 0) woken_.erase(early);
    return;
  }
  Actor* actor = static_cast<Actor*>(t_actor);
  waiting_[key] = actor;
  GiveTurn(actor);
  AwaitTurn(actor, lock);
}

void Simulation::Wake(const void* key) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = waiting_.find(key);
  if (found == waiting_.end()) {
    ++woken_[key];
    return;
  }
  ready_.push_back(found->second);
  waiting_.erase(found);
}

void Simulation::Sleep(int64_t microseconds) {
  const void* key = t_actor;
  At(microseconds, [this, key] { Wake(key); });
  Wait(key);
}

bool Simulation::TakeTurn(Lock& lock) {
  if (ready_.empty()) return false;
  std::swap(ready_[random_() % ready_.size()], ready_.back());
  running_ = ready_.back();
  ready_.pop_back();
  running_->has_turn = true;
  running_->turn.notify_one();
  idle_.wait(lock, [this] { return running_ == nullptr; });
  return true;
}

bool Simulation::TakeEvent(Lock& lock) {
  if (events_.empty()) return false;
  const auto first = events_.begin();
  now_ = std::max(now_, first->first.first);
  std::function<void()> event = std::move(first->second);
  events_.erase(first);
  lock.unlock();
  event();
  event = nullptr;
  lock.lock();
  return true;
}

int Simulation::Run(const Watch& watch) {
  const OnOneCore on_one_core;
  int times_stuck = 0;
  Lock lock(mutex_);
  while (true) {
    bool is_stuck = false;
    if (!TakeTurn(lock)) {
      const bool goes_on = !events_.empty() && watch.goes_on && watch.goes_on();
      if (unused_.size() == actors_.size() && !goes_on) break;
      const bool is_late = now_ > watch.time_limit && times_stuck == 0;
      is_stuck = is_late || !TakeEvent(lock);
    }
    lock.unlock();
    if (is_stuck) {
      if (++times_stuck > 100) std::abort();  // on_stuck does not help
      if (watch.on_stuck) watch.on_stuck();
    } else if (watch.after_each) {
      watch.after_each();
    }
    lock.lock();
  }
  return times_stuck;
}

void Simulation::Settle() {
  const OnOneCore on_one_core;
  Lock lock(mutex_);
  while (TakeTurn(lock) || TakeEvent(lock)) {
  }
}

void Simulation::Tell(const std::string& line) {
  StrAppend(&story_, now_ / 1000, ".", now_ % 1000 / 100, now_ % 100 / 10, now_ % 10, " ms  ", line,
            "\n");
}

}  // namespace sluice

#include "tests/simulate/simulation.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>

#include "graph/strings.h"

namespace sluice {
namespace {

// Keeps this thread, and the threads that it starts, on one core. Waking a thread on another core
// would take longer than most turns.
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

thread_local Simulation::Actor* Simulation::current_ = nullptr;

// One per task, because steps of different tasks may have the same id.
class Simulation::TaskScheduler final : public StepScheduler {
 public:
  explicit TaskScheduler(Simulation* world) : world_(world) {}

  void Blocked(int64_t step_id) override {
    if (current_ == nullptr) return;
    ScopedLock lock(&world_->mutex_);
    blocked_[step_id] = current_;
    world_->GiveTurn();
  }
  void Ready(int64_t step_id) override {
    ScopedLock lock(&world_->mutex_);
    const auto found = blocked_.find(step_id);
    if (found == blocked_.end()) return;
    world_->ready_.push_back(found->second);
    blocked_.erase(found);
  }
  void Resume(int64_t) override {
    if (current_ == nullptr) return;
    ScopedLock lock(&world_->mutex_);
    world_->AwaitTurn(current_);
  }

 private:
  Simulation* const world_;
  std::map<int64_t, Actor*> blocked_ ABSL_GUARDED_BY(world_->mutex_);
};

Simulation::Simulation(uint64_t seed) : random_(seed) {}

Simulation::~Simulation() {
  {
    ScopedLock lock(&mutex_);
    is_over_ = true;
    for (const auto& actor : actors_) actor->turn.NotifyOne();
  }
  for (const auto& actor : actors_) actor->thread.join();
}

int64_t Simulation::Draw(int64_t n) {
  ScopedLock lock(&mutex_);
  return static_cast<int64_t>(random_() % static_cast<uint64_t>(n));
}

double Simulation::Uniform() {
  ScopedLock lock(&mutex_);
  return static_cast<double>(random_() >> 11) * 0x1p-53;
}

StepScheduler* Simulation::SchedulerOf(const std::string& task) {
  ScopedLock lock(&mutex_);
  auto& scheduler = schedulers_[task];
  if (scheduler == nullptr) scheduler = std::make_unique<TaskScheduler>(this);
  return scheduler.get();
}

void Simulation::Spawn(std::function<void()> body) {
  ScopedLock lock(&mutex_);
  if (unused_.empty()) {
    actors_.push_back(std::make_unique<Actor>());
    Actor* added = actors_.back().get();
    added->world = this;
    added->thread = std::thread([this, added] { Act(added); });
    unused_.push_back(added);
  }
  Actor* actor = unused_.back();
  unused_.pop_back();
  actor->body = std::move(body);
  ready_.push_back(actor);
}

void Simulation::Act(Actor* actor) {
  current_ = actor;
  ScopedLock lock(&mutex_);
  while (true) {
    AwaitTurn(actor);
    if (is_over_) return;
    lock.Unlock();
    actor->body();
    actor->body = nullptr;  // destroys what it holds
    lock.Lock();
    unused_.push_back(actor);
    GiveTurn();
  }
}

void Simulation::AwaitTurn(Actor* actor) {
  while (running_ != actor && !is_over_) actor->turn.Wait(&mutex_);
}

void Simulation::GiveTurn() {
  running_ = nullptr;
  idle_.NotifyAll();
}

void Simulation::At(int64_t delay, std::function<void()> event) {
  ScopedLock lock(&mutex_);
  events_.emplace(EventKey(now_ + std::max<int64_t>(delay, 0), events_so_far_++), std::move(event));
}

void Simulation::Wait(const void* key) {
  ScopedLock lock(&mutex_);
  if (auto early = early_wakes_.find(key); early != early_wakes_.end()) {
    if (--early->second == 0) early_wakes_.erase(early);
    return;
  }
  waiting_[key] = current_;
  GiveTurn();
  AwaitTurn(current_);
}

void Simulation::Wake(const void* key) {
  ScopedLock lock(&mutex_);
  const auto found = waiting_.find(key);
  if (found == waiting_.end()) {
    ++early_wakes_[key];
    return;
  }
  ready_.push_back(found->second);
  waiting_.erase(found);
}

void Simulation::Sleep(int64_t microseconds) {
  const void* key = current_;
  At(microseconds, [this, key] { Wake(key); });
  Wait(key);
}

void Simulation::Pause() {
  if (current_ == nullptr) return;
  Simulation& world = *current_->world;
  ScopedLock lock(&world.mutex_);
  if (world.random_() % 2 == 0) return;
  world.ready_.push_back(current_);
  world.GiveTurn();
  world.AwaitTurn(current_);
}

bool Simulation::RunTurn() {
  if (ready_.empty()) return false;
  std::swap(ready_[random_() % ready_.size()], ready_.back());
  running_ = ready_.back();
  ready_.pop_back();
  running_->turn.NotifyOne();
  while (running_ != nullptr) idle_.Wait(&mutex_);
  return true;
}

bool Simulation::RunEvent() {
  if (events_.empty()) return false;
  const auto first = events_.begin();
  now_ = std::max(now_, first->first.first);
  std::function<void()> event = std::move(first->second);
  events_.erase(first);
  mutex_.Unlock();
  event();
  event = nullptr;
  mutex_.Lock();
  return true;
}

int Simulation::Run(const Watch& watch) {
  const OnOneCore on_one_core;
  int times_stuck = 0;
  ScopedLock lock(&mutex_);
  while (true) {
    bool is_stuck = false;
    if (!RunTurn()) {
      const bool goes_on = !events_.empty() && watch.goes_on && watch.goes_on();
      if (unused_.size() == actors_.size() && !goes_on) break;
      const bool is_late = now_ > watch.time_limit && times_stuck == 0;
      is_stuck = is_late || !RunEvent();
    }
    lock.Unlock();
    if (is_stuck) {
      if (++times_stuck > 100) std::abort();  // on_stuck does not help
      if (watch.on_stuck) watch.on_stuck();
    } else if (watch.after_each) {
      watch.after_each();
    }
    lock.Lock();
  }
  return times_stuck;
}

void Simulation::Settle() {
  const OnOneCore on_one_core;
  ScopedLock lock(&mutex_);
  while (RunTurn() || RunEvent()) {
  }
}

void Simulation::Tell(const std::string& line) {
  StrAppend(&story_, now_ / 1000, ".", now_ % 1000 / 100, now_ % 100 / 10, now_ % 10, " ms  ", line,
            "\n");
}

}  // namespace sluice

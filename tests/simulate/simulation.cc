#include "tests/simulate/simulation.h"

#include <algorithm>
#include <utility>

#include "graph/strings.h"

namespace sluice {
namespace {

thread_local void* t_actor = nullptr;

}  // namespace

// Steps of different tasks may have the same number.
class Simulation::TaskScheduler final : public StepScheduler {
 public:
  explicit TaskScheduler(Simulation* world) : world_(world) {}

  void Blocked(int64_t step_id) override {
    if (t_actor == nullptr) return;
    std::lock_guard<std::mutex> lock(world_->mutex_);
    Actor* actor = static_cast<Actor*>(t_actor);
    actor->state = State::kBlocked;
    blocked_[step_id] = actor;
    world_->running_ = nullptr;
    world_->idle_.notify_all();
  }
  void Ready(int64_t step_id) override {
    std::lock_guard<std::mutex> lock(world_->mutex_);
    const auto found = blocked_.find(step_id);
    if (found == blocked_.end()) return;
    found->second->state = State::kReady;
    blocked_.erase(found);
  }
  void Resume(int64_t) override {
    if (t_actor == nullptr) return;
    std::unique_lock<std::mutex> lock(world_->mutex_);
    Actor* actor = static_cast<Actor*>(t_actor);
    actor->turn.wait(lock, [&] { return actor->state == State::kRunning; });
  }

 private:
  Simulation* const world_;
  std::map<int64_t, Actor*> blocked_;  // guarded by world_->mutex_
};

Simulation::~Simulation() { Reap(); }

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
  if (scheduler == nullptr) scheduler = std::make_shared<TaskScheduler>(this);
  return scheduler.get();
}

void Simulation::Spawn(std::string name, std::function<void()> body) {
  std::lock_guard<std::mutex> lock(mutex_);
  actors_.push_back(std::make_unique<Actor>());
  Actor* actor = actors_.back().get();
  actor->name = std::move(name);
  actor->thread = std::thread([this, actor, body = std::move(body)]() mutable {
    t_actor = actor;
    {
      std::unique_lock<std::mutex> turn(mutex_);
      actor->turn.wait(turn, [&] { return actor->state == State::kRunning; });
    }
    body();
    body = nullptr;
    std::lock_guard<std::mutex> end(mutex_);
    actor->state = State::kEnded;
    running_ = nullptr;
    idle_.notify_all();
  });
}

void Simulation::At(int64_t delay, std::function<void()> event) {
  std::lock_guard<std::mutex> lock(mutex_);
  events_.emplace(std::make_pair(now_ + std::max<int64_t>(delay, 0), events_so_far_++),
                  std::move(event));
}

void Simulation::Block(const void* key, std::unique_lock<std::mutex>& lock) {
  Actor* actor = static_cast<Actor*>(t_actor);
  actor->state = State::kBlocked;
  waiting_[key] = actor;
  running_ = nullptr;
  idle_.notify_all();
  actor->turn.wait(lock, [&] { return actor->state == State::kRunning; });
}

void Simulation::Wait(const void* key) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (auto early = woken_.find(key); early != woken_.end()) {
    if (--early->second == 0) woken_.erase(early);
    return;
  }
  Block(key, lock);
}

void Simulation::Wake(const void* key) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = waiting_.find(key);
  if (found == waiting_.end()) {
    ++woken_[key];
    return;
  }
  found->second->state = State::kReady;
  waiting_.erase(found);
}

void Simulation::Sleep(int64_t microseconds) {
  const void* key = t_actor;
  At(microseconds, [this, key] { Wake(key); });
  Wait(key);
}

bool Simulation::TakeTurn(std::unique_lock<std::mutex>& lock) {
  std::vector<Actor*> ready;
  for (const auto& actor : actors_) {
    if (actor->state == State::kReady) ready.push_back(actor.get());
  }
  if (ready.empty()) return false;
  running_ = ready[random_() % ready.size()];
  running_->state = State::kRunning;
  running_->turn.notify_one();
  idle_.wait(lock, [this] { return running_ == nullptr; });
  return true;
}

bool Simulation::TakeEvent(std::unique_lock<std::mutex>& lock) {
  if (events_.empty()) return false;
  auto first = events_.begin();
  now_ = std::max(now_, first->first.first);
  const std::function<void()> event = std::move(first->second);
  events_.erase(first);
  lock.unlock();
  event();
  lock.lock();
  return true;
}

void Simulation::Reap() {
  for (auto it = actors_.begin(); it != actors_.end();) {
    if ((*it)->state == State::kEnded) {
      (*it)->thread.join();
      it = actors_.erase(it);
    } else {
      ++it;
    }
  }
}

int Simulation::Run(const Watch& watch) {
  int times_stuck = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (int turns = 0;; ++turns) {
    if (turns % 64 == 0) {
      lock.unlock();
      Reap();
      lock.lock();
    }
    bool is_stuck = false;
    if (!TakeTurn(lock)) {
      const bool ended = std::all_of(actors_.begin(), actors_.end(), [](const auto& actor) {
        return actor->state == State::kEnded;
      });
      if (ended) break;
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

void Simulation::Tell(const std::string& line) {
  std::string text;
  StrAppend(&text, now_ / 1000, ".", now_ % 1000 / 100, now_ % 100 / 10, now_ % 10, " ms  ", line,
            "\n");
  story_ += text;
}

}  // namespace sluice

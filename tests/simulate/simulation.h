// A world with a clock of its own: actors, each on a thread, of which one runs at a time, and
// events, which happen at times. A seed decides all that is left open: who runs next, and whatever
// is drawn. So the same seed gives the same story.
//
//   Simulation world(seed);
//   world.Spawn([&] { … world.Sleep(1000); … });
//   world.At(5000, [&] { … });
//   world.Run({.after_each = check});
//
// An actor gives its turn away where it sleeps, waits, or runs a step that is blocked (sessions get
// SchedulerOf their task); time passes only when no actor can run.
//
// Thread safety: all methods from actors and events, which are one at a time by themselves.
#ifndef SLUICE_TESTS_SIMULATE_SIMULATION_H_
#define SLUICE_TESTS_SIMULATE_SIMULATION_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "executor/step/step.h"

namespace sluice {

class Simulation {
 public:
  explicit Simulation(uint64_t seed);
  ~Simulation();

  int64_t now() const { return now_; }  // microseconds
  // In [0, n).
  int64_t Draw(int64_t n);
  // True once in `n` times.
  bool Once(int64_t n) { return Draw(n) == 0; }
  double Uniform();  // in [0, 1)

  void Spawn(std::function<void()> body);
  void At(int64_t delay, std::function<void()> event);

  // In an actor.
  void Sleep(int64_t microseconds);
  // Until Wake of the same key, which may come first.
  void Wait(const void* key);
  void Wake(const void* key);

  // For the sessions of a task. Lives as long as this.
  StepScheduler* SchedulerOf(const std::string& task);

  struct Watch {
    std::function<void()> after_each;  // turn of an actor, or event
    std::function<void()> on_stuck;    // actors are left that nothing can wake
    int64_t time_limit = INT64_MAX;    // likewise stuck
    std::function<bool()> goes_on;     // without actors too: an event will bring some
  };
  // Until all actors have ended. How often it was stuck.
  int Run(const Watch& watch);
  // Whatever is left to happen happens.
  void Settle();

  // The story, line by line, with the time in front.
  void Tell(const std::string& line);
  const std::string& story() const { return story_; }

 private:
  // Its thread runs one body after another.
  struct Actor {
    std::function<void()> body;
    bool has_turn = false;
    std::condition_variable turn;
    std::thread thread;
  };
  class TaskScheduler;
  using Lock = std::unique_lock<std::mutex>;

  void Act(Actor* actor);
  static void AwaitTurn(Actor* actor, Lock& lock);
  void GiveTurn(Actor* actor);
  bool TakeTurn(Lock& lock);
  bool TakeEvent(Lock& lock);

  std::mutex mutex_;
  std::condition_variable idle_;  // nobody runs
  std::mt19937_64 random_;
  int64_t now_ = 0;
  int64_t events_so_far_ = 0;
  std::map<std::pair<int64_t, int64_t>, std::function<void()>> events_;  // by time and order
  std::vector<std::unique_ptr<Actor>> actors_;
  std::vector<Actor*> ready_;   // to run
  std::vector<Actor*> unused_;  // without a body
  Actor* running_ = nullptr;
  bool is_over_ = false;
  std::map<const void*, Actor*> waiting_;
  std::map<const void*, int> woken_;  // before they waited
  std::map<std::string, std::unique_ptr<TaskScheduler>> schedulers_;
  std::string story_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_SIMULATION_H_

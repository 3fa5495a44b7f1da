// Runs actors and events on a simulated clock. Each actor has a thread, and one thread runs at a
// time. All free choices, such as which actor runs next, are drawn from a seed. So the same seed
// gives the same history.
//
//   Simulation world(seed);
//   world.Spawn([&] { ... world.Sleep(1000); ... });
//   world.At(5000, [&] { ... });
//   world.Run({.after_each = check});
//
// An actor gives up its turn when it sleeps, waits, pauses, or runs a step that is blocked (if its
// session uses the scheduler of SchedulerOf). Time passes only when no actor can run.
//
// Thread safety: actors and events may call all methods. One of them runs at a time.
#ifndef SLUICE_TESTS_SIMULATE_SIMULATION_H_
#define SLUICE_TESTS_SIMULATE_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "executor/step/step.h"
#include "graph/mutex.h"

namespace sluice {

class Simulation {
 public:
  explicit Simulation(uint64_t seed);
  ~Simulation();

  int64_t now() const { return now_; }  // microseconds
  // Draws a number in [0, n).
  int64_t Draw(int64_t n);
  // Returns true with a probability of 1 / n.
  bool Once(int64_t n) { return Draw(n) == 0; }
  double Uniform();  // in [0, 1)

  void Spawn(std::function<void()> body);
  void At(int64_t delay, std::function<void()> event);

  // Actors call these. Wait returns after a Wake of the same key, which may come before the Wait.
  void Sleep(int64_t microseconds);
  void Wait(const void* key);
  void Wake(const void* key);
  // Lets another actor run, or continues immediately, as the seed decides. Does nothing on a thread
  // that is not an actor's.
  static void Pause();

  // Returns the scheduler for the sessions of a task. The simulation owns it.
  StepScheduler* SchedulerOf(const std::string& task);

  struct Watch {
    std::function<void()> after_each;  // called after each turn of an actor and each event
    std::function<void()> on_stuck;    // called when nothing can wake the remaining actors
    int64_t time_limit = INT64_MAX;    // after which the simulation counts as stuck once
    std::function<bool()> goes_on;     // whether to continue without actors: events will spawn some
  };
  // Runs until all actors have ended. Returns how often the simulation was stuck.
  int Run(const Watch& watch);
  // Runs all actors and events that can still run.
  void Settle();

  // Adds a line, with the time, to the story.
  void Tell(const std::string& line);
  const std::string& story() const { return story_; }

 private:
  // A thread that runs one body after another.
  struct Actor {
    Simulation* world;
    std::function<void()> body;
    CondVar turn;
    std::thread thread;
  };
  class TaskScheduler;

  static thread_local Actor* current_;  // of this thread, or null

  void Act(Actor* actor);
  void AwaitTurn(Actor* actor) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Run the turn of an actor, or an event. Return false if no actor is ready, or if there is no
  // event.
  bool RunTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool RunEvent() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Changed only while no actor runs, so that actors and events may read it.
  int64_t now_ = 0;
  std::string story_;
  Mutex mutex_;
  CondVar idle_;  // running_ is null
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
  int64_t events_so_far_ ABSL_GUARDED_BY(mutex_) = 0;
  using EventKey = std::pair<int64_t, int64_t>;  // time and order
  std::map<EventKey, std::function<void()>> events_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Actor>> actors_ ABSL_GUARDED_BY(mutex_);
  std::vector<Actor*> ready_ ABSL_GUARDED_BY(mutex_);
  std::vector<Actor*> unused_ ABSL_GUARDED_BY(mutex_);  // without a body
  Actor* running_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<const void*, Actor*> waiting_ ABSL_GUARDED_BY(mutex_);
  std::map<const void*, int> early_wakes_ ABSL_GUARDED_BY(mutex_);  // before their Wait
  std::map<std::string, std::unique_ptr<TaskScheduler>> schedulers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_SIMULATION_H_

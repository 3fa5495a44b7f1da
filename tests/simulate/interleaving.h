// Runs several actors, each on a thread of its own, one at a time: a seed decides who has the turn.
//
//   Interleaving order(seed);
//   Session session(graph, {.intra_op_threads = 1, .inter_op_threads = 1, .scheduler = &order});
//   order.Add("replica 0", [&] { … session.Run(…) … });
//   Interleaving::End end = order.Run();
//
// The turn changes where an actor pauses, ends, or runs a step that has to wait; and, in graphs
// with InsertYields, before every op that others can see. So the same seed gives the same order of
// events, and no test sleeps: an actor that waits shows by giving its turn away.
#ifndef SLUICE_TESTS_SIMULATE_INTERLEAVING_H_
#define SLUICE_TESTS_SIMULATE_INTERLEAVING_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/step/step.h"
#include "graph/ir/graph.h"

namespace sluice {

class Interleaving : public StepScheduler {
 public:
  explicit Interleaving(uint64_t seed) : random_(seed) {}
  ~Interleaving() override = default;

  // Before Run.
  void Add(std::string name, std::function<void()> body);
  // Until all actors ended. When all that are left wait for each other, `on_stuck` is called by the
  // first of them that is found so (with the turn in nobody's hands): it must see to it that
  // somebody goes on, for example by cancelling steps. How often that happened.
  int Run(std::function<void()> on_stuck);
  // In an actor's body: somebody else may have the turn now.
  void Pause();
  // In [0, n), from the same sequence as the turns.
  int Draw(int n);

  void Blocked(int64_t step_id) override;
  void Ready(int64_t step_id) override;
  void Resume(int64_t step_id) override;

  // The one whose actor runs on this thread; null elsewhere.
  static Interleaving* Current();

 private:
  enum class State { kReady, kRunning, kBlocked, kEnded };
  struct Actor {
    std::string name;
    std::function<void()> body;
    State state = State::kReady;
    std::condition_variable turn;
  };
  void GiveTurn();                                                     // mutex_ held
  void WaitForTurn(std::unique_lock<std::mutex>& lock, Actor& actor);  // mutex_ held
  void Body(Actor& actor);

  std::mutex mutex_;
  std::condition_variable idle_;  // nobody runs
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Actor>> actors_;
  std::unordered_map<int64_t, Actor*> blocked_;  // by step
  Actor* running_ = nullptr;
};

// Lets the turn change before each op of the graph that other steps can see.
void InsertYields(Graph& graph);

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_INTERLEAVING_H_

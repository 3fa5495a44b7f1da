#include "tests/simulate/interleaving.h"

#include <set>
#include <thread>

#include "executor/kernel/context.h"
#include "graph/infer/shape_context.h"
#include "graph/op/op_def.h"
#include "graph/strings.h"

namespace sluice {
namespace {

thread_local Interleaving* t_current = nullptr;
thread_local void* t_actor = nullptr;

OP(InterleavingYield, "Lets the turn change.").Stateful().Shape(NoOutputs());

class YieldKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext&) override {
    if (Interleaving* order = Interleaving::Current()) order->Pause();
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }
};
KERNEL(InterleavingYield, YieldKernel);

bool IsVisible(const std::string& op) {
  return op.find("ApplyGradient") != op.npos || op.find("QueueEnqueue") != op.npos ||
         op.find("QueueDequeue") != op.npos || op == "Assign" || op == "AssignAdd" ||
         op == "AssignAddVariableOp" || op == "ScatterUpdate";
}

// What is always there, and fed placeholders, which do not run.
bool IsSource(const Node& node) {
  return node.op() == "Placeholder" || node.op() == "VariableV2" || node.op() == "VarHandleOp" ||
         node.op().find("Accumulator") != std::string::npos || node.op() == "FIFOQueueV2";
}

}  // namespace

void InsertYields(Graph& graph) {
  for (Node* node : graph.nodes()) {
    if (!IsVisible(node->op())) continue;
    NodeSpec spec;
    spec.name = graph.UniqueName("yield/" + node->name());
    spec.op = "InterleavingYield";
    spec.device = node->device();
    absl::StatusOr<Node*> yield = graph.Add(std::move(spec));
    if (!yield.ok()) return graph.SetError(yield.status());
    for (const Output& in : node->inputs()) {
      if (!IsSource(*in.node)) graph.AddControlEdge(in.node, *yield);
    }
    const std::vector<Node*> controls(node->control_inputs().begin(), node->control_inputs().end());
    for (Node* control : controls) graph.AddControlEdge(control, *yield);
    graph.AddControlEdge(*yield, node);
  }
}

Interleaving* Interleaving::Current() { return t_current; }

void Interleaving::Add(std::string name, std::function<void()> body) {
  auto actor = std::make_unique<Actor>();
  actor->name = std::move(name);
  actor->body = std::move(body);
  actors_.push_back(std::move(actor));
}

int Interleaving::Draw(int n) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(random_() % static_cast<uint64_t>(n));
}

void Interleaving::GiveTurn() {
  running_ = nullptr;
  std::vector<Actor*> ready;
  for (const auto& actor : actors_) {
    if (actor->state == State::kReady) ready.push_back(actor.get());
  }
  if (ready.empty()) {
    idle_.notify_all();
    return;
  }
  running_ = ready[random_() % ready.size()];
  running_->state = State::kRunning;
  running_->turn.notify_one();
}

void Interleaving::WaitForTurn(std::unique_lock<std::mutex>& lock, Actor& actor) {
  actor.turn.wait(lock, [&] { return actor.state == State::kRunning; });
}

void Interleaving::Pause() {
  std::unique_lock lock(mutex_);
  Actor& actor = *static_cast<Actor*>(t_actor);
  if (random_() % 2 == 0) return;  // keeps it
  actor.state = State::kReady;
  GiveTurn();
  WaitForTurn(lock, actor);
}

void Interleaving::Blocked(int64_t step_id) {
  if (t_current != this) return;
  std::lock_guard lock(mutex_);
  Actor* actor = static_cast<Actor*>(t_actor);
  actor->state = State::kBlocked;
  blocked_[step_id] = actor;
  GiveTurn();
}

void Interleaving::Ready(int64_t step_id) {
  std::lock_guard lock(mutex_);
  const auto found = blocked_.find(step_id);
  if (found == blocked_.end()) return;
  found->second->state = State::kReady;
  blocked_.erase(found);
  if (running_ == nullptr && t_current != this) GiveTurn();  // somebody outside made it go on
}

void Interleaving::Resume(int64_t step_id) {
  if (t_current != this) return;
  std::unique_lock lock(mutex_);
  // It may have been woken by chance, before its answer was announced.
  WaitForTurn(lock, *static_cast<Actor*>(t_actor));
}

void Interleaving::Body(Actor& actor) {
  t_current = this;
  t_actor = &actor;
  {
    std::unique_lock lock(mutex_);
    WaitForTurn(lock, actor);
  }
  actor.body();
  std::lock_guard lock(mutex_);
  actor.state = State::kEnded;
  GiveTurn();
}

int Interleaving::Run(std::function<void()> on_stuck) {
  std::vector<std::thread> threads;
  for (const auto& actor : actors_) {
    threads.emplace_back([this, &actor] { Body(*actor); });
  }
  int times_stuck = 0;
  {
    std::unique_lock lock(mutex_);
    GiveTurn();
    for (;;) {
      idle_.wait(lock, [this] { return running_ == nullptr; });
      bool ended = true;
      for (const auto& actor : actors_) ended = ended && actor->state == State::kEnded;
      if (ended) break;
      ++times_stuck;
      lock.unlock();
      on_stuck();
      lock.lock();
    }
  }
  for (std::thread& thread : threads) thread.join();
  return times_stuck;
}

}  // namespace sluice

#include "training/strategy/mirrored_strategy.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "executor/wait/thread.h"
#include "graph/build/scopes.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "ops/math/builders.h"
#include "ops/state/initialized_value.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

Output Cat(const OutputList& parts) { return parts.size() == 1 ? parts[0] : Concat(parts, 0); }

// Returns the sum of the gradients, computed on the current device.
Grad SumOf(const std::vector<Grad>& grads) {
  bool all_slices = true;
  for (const Grad& g : grads) all_slices &= g.is_slices();
  if (all_slices) {
    OutputList values, indices;
    for (const Grad& g : grads) {
      values.push_back(g.slices().values);
      indices.push_back(g.slices().indices);
    }
    return IndexedSlices{.values = Cat(values),
                         .indices = Cat(indices),
                         .dense_shape = grads[0].slices().dense_shape};
  }
  OutputList tensors;
  for (const Grad& g : grads) tensors.push_back(ToDense(g));
  return tensors.size() == 1 ? tensors[0] : AddN(tensors);
}

}  // namespace

// The state by which the threads of the replicas take turns. Only one thread runs at a time, so the
// graph and all other objects need no locks. Each replica has its own scopes.
// Invariants:
// 1. Only replica `turn` may run.
// 2. A replica that waits in MergeCall has stored its argument.
// 3. The last replica to call MergeCall runs the function.
struct MirroredStrategy::Meeting {
  explicit Meeting(int replicas) : arguments(replicas), results(replicas), scopes(replicas) {}

  Mutex mutex;
  CondVar changed;
  int turn ABSL_GUARDED_BY(mutex) = 0;
  int merged ABSL_GUARDED_BY(mutex) = 0;  // number of finished MergeCalls
  int ended ABSL_GUARDED_BY(mutex) = 0;   // number of replicas that have ended
  bool is_broken ABSL_GUARDED_BY(mutex) =
      false;  // a replica ended while others waited in MergeCall
  std::vector<std::optional<std::any>> arguments ABSL_GUARDED_BY(mutex);
  std::vector<absl::StatusOr<std::any>> results ABSL_GUARDED_BY(mutex);
  std::vector<Scopes> scopes ABSL_GUARDED_BY(mutex);
};

class MirroredReplica : public ReplicaContext {
 public:
  MirroredReplica(MirroredStrategy& strategy, MirroredStrategy::Meeting& meeting, int replica)
      : strategy_(strategy), meeting_(meeting), replica_(replica) {}

  Strategy& strategy() override { return strategy_; }
  int replica() const override { return replica_; }

  // Runs in the thread of the replica. Waits for its turn, builds, and gives the turn to the next
  // replica.
  absl::Status Build(const std::function<absl::Status(ReplicaContext&)>& program) {
    {
      ScopedLock lock(&meeting_.mutex);
      WaitForTurn();
    }
    Graph& graph = strategy_.graph_;
    const Scopes outside = graph.scopes();
    absl::Status status;
    {
      StrategyScope context(StrategyContext{&strategy_, this});
      DeviceScope device(graph, strategy_.devices_[replica_]);
      std::optional<NameScope> scope;
      if (replica_ > 0) scope.emplace(graph, StrCat("replica_", replica_));
      status = program(*this);
    }
    graph.scopes() = outside;
    ScopedLock lock(&meeting_.mutex);
    ++meeting_.ended;
    for (const auto& argument : meeting_.arguments) meeting_.is_broken |= argument.has_value();
    meeting_.is_broken |= !status.ok();
    PassTurn();
    return status;
  }

  absl::StatusOr<std::any> MergeCall(const MergeFunction& function, std::any argument) override {
    ScopedLock lock(&meeting_.mutex);
    if (meeting_.ended > 0) meeting_.is_broken = true;
    if (meeting_.is_broken) return Broken();
    meeting_.arguments[replica_] = std::move(argument);
    const int call = meeting_.merged;
    bool is_last = true;
    for (const auto& a : meeting_.arguments) is_last &= a.has_value();
    if (is_last) {
      PerReplica<std::any> arguments;
      for (auto& a : meeting_.arguments) arguments.push_back(*std::exchange(a, std::nullopt));
      lock.Unlock();
      const absl::StatusOr<PerReplica<std::any>> results = Merge(function, std::move(arguments));
      lock.Lock();
      for (size_t i = 0; i < meeting_.results.size(); ++i) {
        if (results.ok()) meeting_.results[i] = (*results)[i];
        if (!results.ok()) meeting_.results[i] = results.status();
      }
      ++meeting_.merged;
      return meeting_.results[replica_];
    }
    // Saves the scopes, because the next replica begins or continues with other scopes.
    Graph& graph = strategy_.graph_;
    meeting_.scopes[replica_] = std::exchange(graph.scopes(), outside_);
    PassTurn();
    WaitForTurn();
    while (meeting_.merged == call && !meeting_.is_broken) {
      PassTurn();
      WaitForTurn();
    }
    graph.scopes() = meeting_.scopes[replica_];
    if (meeting_.merged > call) return std::move(meeting_.results[replica_]);
    meeting_.arguments[replica_].reset();
    return Broken();
  }

  void set_outside(Scopes scopes) { outside_ = std::move(scopes); }

 private:
  static absl::Status Broken() {
    return absl::FailedPreconditionError(
        "MergeCall: expected all replicas to come, but one of them has ended");
  }

  // Runs the function once, in a cross-replica context outside of all replicas' scopes.
  absl::StatusOr<PerReplica<std::any>> Merge(const MergeFunction& function,
                                             PerReplica<std::any> arguments) {
    Graph& graph = strategy_.graph_;
    const Scopes inside = std::exchange(graph.scopes(), outside_);
    StrategyScope context(strategy_);
    absl::StatusOr<PerReplica<std::any>> results = function(strategy_, std::move(arguments));
    graph.scopes() = inside;
    return results;
  }

  void PassTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(meeting_.mutex) {
    meeting_.turn = (replica_ + 1) % strategy_.num_local_replicas();
    meeting_.changed.NotifyAll();
  }
  void WaitForTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(meeting_.mutex) {
    while (meeting_.turn != replica_) meeting_.changed.Wait(&meeting_.mutex);
  }

  MirroredStrategy& strategy_;
  MirroredStrategy::Meeting& meeting_;
  int replica_;
  Scopes outside_;
};

Grad MirroredStrategy::Scaled(const Grad& grad, double factor) {
  if (grad.is_dense()) return grad.dense() * factor;
  IndexedSlices slices = grad.slices();
  slices.values = slices.values * factor;
  return slices;
}

MirroredStrategy::MirroredStrategy(Graph& graph, std::vector<std::string> devices,
                                   ReduceOp loss_reduction)
    : graph_(graph), devices_(std::move(devices)), loss_reduction_(loss_reduction) {}

absl::Status MirroredStrategy::RunReplicas(
    const std::function<absl::Status(ReplicaContext&)>& program) {
  SLUICE_INVALID_IF(devices_.empty(), "MirroredStrategy needs a device at least");
  Meeting meeting(num_local_replicas());
  std::vector<std::unique_ptr<MirroredReplica>> replicas;
  std::vector<absl::Status> statuses(devices_.size());
  std::vector<Thread> threads;
  for (int i = 0; i < num_local_replicas(); ++i) {
    replicas.push_back(std::make_unique<MirroredReplica>(*this, meeting, i));
    replicas.back()->set_outside(graph_.scopes());
  }
  for (int i = 0; i < num_local_replicas(); ++i) {
    absl::StatusOr<Thread> thread = Thread::Start(
        "replica", ThreadUse::kProcess, [&, i] { statuses[i] = replicas[i]->Build(program); });
    if (thread.ok()) {
      threads.push_back(*std::move(thread));
    } else {  // the other replicas notice that this one has ended
      statuses[i] = replicas[i]->Build([&](ReplicaContext&) { return thread.status(); });
    }
  }
  for (Thread& t : threads) t.Join();
  SLUICE_RETURN_IF_ERROR(graph_.status());
  // Skips errors of MergeCall, which are only consequences of another replica's error.
  absl::Status first;
  for (const absl::Status& s : statuses) {
    if (!s.ok() && s.message().find("MergeCall: ") == s.message().npos) return s;
    first.Update(s);
  }
  return first;
}

absl::StatusOr<PerReplica<Grad>> MirroredStrategy::ReduceTo(ReduceOp op,
                                                            const PerReplica<Grad>& values,
                                                            const Variable& variable) {
  std::vector<Grad> present;
  for (const Grad& g : values) {
    if (!g.is_none()) present.push_back(g);
  }
  PerReplica<Grad> reduced;
  for (const Variable& component : Components(variable)) {
    if (present.empty()) {
      reduced.push_back(Grad());
      continue;
    }
    DeviceScope beside(graph_, component.device());
    const Grad sum = SumOf(present);
    reduced.push_back(op == ReduceOp::kSum ? sum : Scaled(sum, 1.0 / num_local_replicas()));
  }
  SLUICE_RETURN_IF_ERROR(graph_.status());
  return reduced;
}

std::vector<Variable> MirroredStrategy::Components(const Variable& variable) const {
  auto first = first_of_.find(variable.name());
  if (first == first_of_.end()) return {variable};
  return mirrored_.at(first->second);
}

Variable MirroredStrategy::MakeVariable(std::string_view name, const PartialShape& shape,
                                        const Initializer& initializer,
                                        const VariableOptions& options) {
  auto made = mirrored_.find(name);
  if (made == mirrored_.end()) {
    InitScope init(graph_);
    NameScope root(graph_, "");
    std::vector<Variable> copies;
    Output first_value;  // colocated with the first copy
    for (int i = 0; i < num_local_replicas(); ++i) {
      DeviceScope nowhere = DeviceScope::None(graph_);
      DeviceScope device(graph_, devices_[i]);
      if (i == 0) {
        copies.emplace_back(graph_, name, shape, SharedInitializer(initializer), options);
        if (num_local_replicas() > 1) first_value = InitializedValue(copies[0]);
      } else {
        // Only the first copy is trainable, because the optimizer trains all copies through it.
        VariableOptions copy = options;
        copy.trainable = false;
        copies.emplace_back(graph_, StrCat(name, "/replica_", i), first_value, copy);
      }
      if (!copies.back()) return Variable();
      first_of_[copies.back().name()] = std::string(name);
    }
    made = mirrored_.emplace(std::string(name), std::move(copies)).first;
  }
  return Local(made->second[0]);
}

Variable MirroredStrategy::Local(const Variable& variable) const {
  const std::vector<Variable> copies = Components(variable);
  const ReplicaContext* replica = CurrentStrategy().replica;
  const size_t i = replica == nullptr ? 0 : static_cast<size_t>(replica->replica());
  return i < copies.size() ? copies[i] : copies[0];
}

}  // namespace sluice

// Runs a simulated cluster (cluster_world.h) with one seed.
#ifndef SLUICE_TESTS_SIMULATE_CLUSTER_RUN_H_
#define SLUICE_TESTS_SIMULATE_CLUSTER_RUN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "distributed/cluster/address_book.h"
#include "distributed/cluster/cluster_spec.h"
#include "distributed/master/cluster_tasks.h"
#include "distributed/master/master.h"
#include "distributed/rendezvous/step_rendezvous.h"
#include "distributed/worker/worker.h"
#include "executor/device/device_set.h"
#include "executor/session/session.h"
#include "executor/wait/cancellation.h"
#include "tests/simulate/cluster_world.h"
#include "tests/simulate/fake_wire.h"
#include "tests/simulate/simulation.h"

namespace sluice {

inline constexpr const char* kServer = "/job:ps/replica:0/task:0";
inline constexpr int kNoise = 3;  // components of a variable to which all gradients contribute
inline constexpr int64_t kConnectMs = 1'000;

inline std::vector<float> Floats(const Tensor& t) {
  return {t.data<float>(), t.data<float>() + t.num_elements()};
}

// A process of the cluster, from its start to its end.
struct SimulatedTask {
  TaskName name;
  std::string address;
  CancellationManager stopping;
  std::shared_ptr<DeviceSet> devices;
  std::unique_ptr<RpcClient> client;
  std::shared_ptr<AddressBook> addresses;
  std::unique_ptr<StepRendezvousTable> rendezvous;
  ClusterConnection connection;
  std::unique_ptr<Worker> worker;
  std::unique_ptr<Master> master;
  std::vector<Session*> sessions;
  bool is_dead = false;
};
using TaskRef = std::shared_ptr<SimulatedTask>;

// Trains the job with one seed and checks the invariants that cluster_world.h lists.
class ClusterRun {
 public:
  ClusterRun(ClusterWorld& owner, uint64_t seed)
      : owner_(owner), options_(owner.options_), world_(seed), wire_(&world_, WireOptions()) {}
  Verdict Run();

 private:
  using Gradient = std::pair<int, int>;  // replica, and its number of earlier attempts
  struct State {
    int64_t step = 0;
    std::vector<float> dense, sparse;
    std::set<Gradient> used;         // by all updates so far, for any variable
    std::string lineage;             // the gradients of each update
    std::map<int, int64_t> applied;  // gradients that the ledger must count as applied, by replica
    int life = 0;                    // how often the parameter server has been restarted
  };
  struct Push {
    int64_t local_step;
    int life;      // as in State
    int restores;  // number of restores before the replica fetched its step
  };

  FakeWire::Options WireOptions();
  SessionOptions OptionsOf(const std::string& task);
  TaskRef StartTask(const TaskName& name);
  void StartWorker(int index);
  void End(const TaskRef& task);
  void CloseAll();
  void PlanFaults();
  void PlanCrash(int victim);
  void PlanOutage(int victim);
  TaskName Victim(int number) const;

  absl::Status Connect(const TaskRef& task, ReplicaGraph& graph,
                       const std::function<absl::Status(Session&)>& use);
  absl::Status AddSession(const TaskRef& task, SessionOptions* options);
  void Replica(const TaskRef& task, int index);
  absl::Status Compute(const TaskRef& task, int index, Session& session,
                       CancellationManager* stopping);
  absl::Status LeadAndCompute(const TaskRef& task, Session& session);
  absl::Status ComputeAs(const TaskRef& task, int index, CancellationManager* stopping);
  absl::Status Lead(const TaskRef& task, Session& session, CancellationManager* stopping);
  absl::Status Prepare(Session& session, ReplicaGraph& graph);
  absl::Status MakeVariables(Session& session, ReplicaGraph& graph, bool are_there);
  absl::Status Restore(Session& session, ReplicaGraph& graph) const;
  absl::Status Update(Session& session, ReplicaGraph& graph, CancellationManager* stopping) const;
  absl::Status Save(const TaskRef& task, Session& session, ReplicaGraph& graph);
  std::vector<Feed> FeedOf(ReplicaGraph& graph, int index, int attempt) const;

  int64_t codes() const { return int64_t{options_.replicas} * options_.attempts; }
  ResourceManager* ServerResources() const;
  bool ObserveStep(int64_t* step) const;
  bool Observe(State* state) const;
  void Look();
  std::set<Gradient> UsedBy(const std::vector<float>& from, const std::vector<float>& to,
                            float weight);
  void CheckUpdate(const State& from, State* to);
  void CheckGradient(const Gradient& gradient, const State& from);
  void CheckBits(const State& state);
  void CheckEnd(Session& session);
  void CheckLedger(const Tensor& totals, int64_t waiting,
                   const std::map<int, int>& attempts_before);
  void CheckTokens(int64_t left, int64_t taken_before);
  void Fail(const std::string& what);
  bool is_over() const { return !verdict_.failure.empty() || is_trained_ || is_given_up_; }

  ClusterWorld& owner_;
  const ClusterOptions& options_;
  Simulation world_;
  FakeWire wire_;
  ClusterSpec spec_;
  bool uses_masters_ = false;
  int loss_ = 0;                // 1 of loss_ messages is lost; 0: none
  int64_t loses_until_us_ = 0;  // messages are lost only before this time
  int64_t disk_us_ = 0;
  std::map<std::string, TaskRef> tasks_;  // by name; only running ones
  int sessions_ = 0;
  int moves_ = 0;  // tasks that returned at another address
  bool is_trained_ = false;
  bool is_out_of_attempts_ = false;
  bool is_given_up_ = false;

  std::map<int, int> attempts_;       // so far, by replica
  std::map<Gradient, Push> pushes_;   // of all attempts
  int life_ = 0;                      // as in State
  bool is_restored_ = false;          // since the last restart of the parameter server
  int restores_ = 0;                  // so far
  State last_;                        // the last checked state
  std::map<int64_t, State> history_;  // of this lineage, by step
  State saved_;                       // the latest checkpoint; step 0: none
  int64_t tokens_made_ = 0, tokens_taken_ = 0;
  Verdict verdict_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_CLUSTER_RUN_H_

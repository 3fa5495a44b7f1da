// A synchronous job on a cluster of one parameter server and several workers, all in this process.
// Masters, workers, rendezvous, queues, accumulators and optimizer graphs are real; the clock and
// the network are those of a Simulation. The seed decides delays, lost messages, broken links,
// crashes, restarts (at the same address or another) and the speed of the disk. It also decides
// whether clients have their session in their own process or use its MasterService.
//
// After every event the state of the parameter server is checked:
//   S1  A gradient in an update was computed from the parameters of that update's step.
//   S2  An update uses exactly `aggregate` gradients, none of them twice. Tokens are not lost.
//   S3  Everything ends within a time limit, with results. No process waits forever.
//   S4  Deterministic: equal gradients give equal bits, in any order of arrival.
//   S5  A restored state equals the saved one, and training continues from it. No later state
//       returns.
//   S6  The ledger's count of applied gradients equals the observed count for each replica. No
//       count exceeds the number of computed gradients.
// S7 is checked when the job is built: status() rejects a job that cannot make progress.
#ifndef SLUICE_TESTS_SIMULATE_CLUSTER_WORLD_H_
#define SLUICE_TESTS_SIMULATE_CLUSTER_WORLD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulate/replica_graph.h"
#include "tests/simulate/simulation.h"

namespace sluice {

// Deliberate bugs.
enum class Bug { kNone, kLostToken, kStaleGradient };

struct ClusterOptions {
  Form form = Form::kAccumulators;
  int aggregate = 2;
  int replicas = 3;
  bool deterministic = false;
  int updates = 5;
  bool has_faults = true;
  Bug bug = Bug::kNone;
  int attempts = 80;  // maximum per replica
  // The time of one gradient. Empty: a few milliseconds, sometimes much longer.
  std::function<int64_t(Simulation&)> compute_us;
  bool saves = true;
  // Sessions use the MasterService in every second training, otherwise the replicas' own processes.
  bool uses_masters = true;
  int64_t time_limit_us = 10'000'000;
};

struct Verdict {
  std::string failure;  // the first one; "" if there is none
  std::string story;
  bool is_trained = false;  // also false if a replica used its last attempt
  int64_t calls = 0;
  uint64_t fingerprint = 0;  // of all messages
  int crashes = 0;
  int64_t time_us = 0;
  std::vector<int64_t> updates_us;  // the time of each update
};

// The graphs of a job, which all seeds share.
class ClusterWorld {
 public:
  explicit ClusterWorld(const ClusterOptions& options);
  ~ClusterWorld();
  const ClusterOptions& options() const { return options_; }
  absl::Status status() const;
  Verdict Train(uint64_t seed);

 private:
  friend class ClusterRun;
  const ClusterOptions options_;
  std::vector<std::unique_ptr<ReplicaGraph>> graphs_;  // of the replicas, and last of the chief
  // For deterministic training: the hash of the variables by the sequence of gradients that
  // produced them. All trainings must agree.
  std::map<std::string, uint64_t> bits_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_CLUSTER_WORLD_H_

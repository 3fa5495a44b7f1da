// ClusterWorld simulates a synchronous training job on a cluster of one parameter server and
// several workers, all in this process. Masters, workers, rendezvous, queues, accumulators and
// optimizer graphs are real. The clock and the network are simulated (simulation.h, fake_wire.h).
// The seed decides delays, lost messages, broken links, crashes, restarts (at the same address or
// another) and the speed of the disk. It also decides whether sessions run in the replicas' own
// processes, or through MasterService as RemoteSessions do.
//
// The invariants are listed below (docs/internals.md). A token is the permission to compute one
// gradient. The ledger counts each replica's applied and dropped gradients. S1, S2, S4 and S5 are
// checked after each update, S5 also after a restore. S6 is checked after the chief's last step,
// and so is the number of tokens if there was no fault. S3 is violated if nothing can continue, or
// if the time limit has passed.
//   S1  A gradient in an update was computed from the parameters of that update's step.
//   S2  An update uses exactly `aggregate` gradients, none of them twice. Tokens are not lost.
//   S3  Everything ends within a time limit, with results. No process waits forever.
//   S4  If the job is deterministic, equal gradients give equal bits in any order of arrival.
//   S5  A restored state equals the saved one, and training continues from it. No update uses
//       a gradient from before a restart of the parameter server, or for a step that the restore
//       has undone.
//   S6  The ledger's count of applied gradients equals the observed count for each replica. No
//       count exceeds the number of computed gradients.
//   S7  A job that cannot make progress is rejected when it is built (status()).
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

// Deliberate bugs, which the checks must find.
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
  // Whether the sessions of about half of the trainings go through the MasterService, as
  // RemoteSessions do. The other sessions run in the replicas' own processes.
  bool uses_masters = true;
  int64_t time_limit_us = 10'000'000;
};

struct Verdict {
  std::string failure;      // the first one; "" if there is none
  std::string story;        // what happened, one line per event
  bool is_trained = false;  // also false if a replica used its last attempt
  int64_t calls = 0;
  uint64_t fingerprint = 0;  // of all messages
  int crashes = 0;
  int64_t time_us = 0;
  std::vector<int64_t> updates_us;  // the time of each update
};

// A job. All seeds share its graphs.
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
  std::vector<std::unique_ptr<ReplicaGraph>> graphs_;  // of the replicas; the last is the chief's
  // For deterministic jobs: the hash of the variables, by the sequence of gradients that produced
  // them. It must be the same in all trainings.
  std::map<std::string, uint64_t> bits_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_CLUSTER_WORLD_H_

// A synchronous job on a cluster of one parameter server and several workers, all in this process:
// real masters, workers, rendezvous, queues, accumulators and optimizer graphs, on the clock and
// the wire of a Simulation. The seed decides delays, lost messages, links that are down, crashes,
// restarts (at the same address or another), how slow the disk is, and whether clients have their
// session in their own process or ask its MasterService for one.
//
// After every event the state of the parameter server is looked at:
//   S1  a gradient that an update used was made of the parameters of that update's step
//   S2  an update uses exactly `aggregate` gradients, none of them twice; tokens are not lost
//   S3  all ends within a time, with results: nobody waits for ever
//   S4  deterministic: the same gradients, whenever they came, make the same bits
//   S5  what is restored is what was saved, and training goes on from there; nothing that was made
//       after it comes back
//   S6  the ledger tells of each replica as many applied gradients as were seen, and of none more
//       than were made
// S7 is looked at when the job is made: status() refuses one that can never make progress.
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

// Mistakes made on purpose.
enum class Bug { kNone, kLostToken, kStaleGradient };

struct ClusterOptions {
  Form form = Form::kAccumulators;
  int aggregate = 2;
  int replicas = 3;
  bool deterministic = false;
  int updates = 5;
  bool has_faults = true;
  Bug bug = Bug::kNone;
  int attempts = 80;  // at most, of each replica
  // How long a replica computes; empty: a few milliseconds, sometimes much longer.
  std::function<int64_t(Simulation&)> compute_us;
  bool saves = true;
  // Sessions of the MasterService in every second training; else of the replicas' own processes.
  bool uses_masters = true;
  int64_t time_limit_us = 10'000'000;
};

struct Verdict {
  std::string failure;  // the first; "" where all is well
  std::string story;
  bool is_trained = false;  // not, too, where a replica came to its last attempt
  int64_t calls = 0;
  uint64_t fingerprint = 0;  // of all messages
  int crashes = 0;
  int64_t time_us = 0;
  std::vector<int64_t> updates_us;  // when each update was made
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
  // Of deterministic training: what the variables were after some gradients, in any training.
  std::map<std::string, uint64_t> bits_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_CLUSTER_WORLD_H_

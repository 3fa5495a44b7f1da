// SyncWorld simulates a synchronous training job in one process. A seed decides how its threads
// interleave.
#ifndef SLUICE_TESTS_SIMULATE_SYNC_WORLD_H_
#define SLUICE_TESTS_SIMULATE_SYNC_WORLD_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "tests/simulate/replica_graph.h"

namespace sluice {

struct WorldOptions {
  Form form = Form::kAccumulators;
  int aggregate = 1;
  int replicas = 1;
  bool deterministic = false;
  int updates = 4;
  // Whether replicas may start late, leave early or restart.
  bool unruly = false;
};

struct Push {
  int replica;
  int attempt;
  int64_t local_step;
};
struct History {
  std::vector<Push> pushes;               // in the order in which they were made
  std::vector<std::vector<float>> dense;  // the initial variable, then the one after each update
  std::vector<std::vector<float>> sparse;
  std::vector<int64_t> global_steps;  // after each update
  std::vector<absl::Status> ends;     // the results of the replicas and, last, of the chief
  int64_t tokens_taken = 0;
  int64_t tokens_returned = 0;
  int64_t tokens_left = 0;
  int64_t initial_tokens = 0;
  int64_t gradients_left = 0;  // in accumulators or queues
  Tensor totals;               // of the ledger, which counts the gradients by replica and fate
  Tensor by_update;
  int replicas_left = 0;  // replicas that did not leave
  int times_stuck = 0;
  std::string stalls;  // the stall reports when it was first stuck
};

class SyncWorld {
 public:
  static constexpr int kAttempts = 48;

  explicit SyncWorld(const WorldOptions& options);
  ~SyncWorld();
  const WorldOptions& options() const { return options_; }
  // Returns the first error of the graphs.
  absl::Status status() const;
  // Trains with the order of events that the seed decides.
  absl::StatusOr<History> Train(uint64_t seed);

 private:
  using Replica = ReplicaGraph;
  struct Run;

  const WorldOptions options_;
  std::vector<std::unique_ptr<Replica>> replicas_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_SYNC_WORLD_H_

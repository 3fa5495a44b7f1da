// TableWorld simulates the asynchronous training of an embedding table on parameter servers.
// Several workers look up and update rows of a partitioned table, whose rules admit and evict keys.
// Meanwhile checkpoints are saved, and servers restart from them, sometimes with another number of
// servers. The table is the real one (ops/embedding/row_store.h), with the real tensors of
// checkpoints. Messages are simulated.
//
//   TableWorld world({.eviction = {.idle_steps = 5}});
//   TableVerdict verdict = world.Train(/*seed=*/7);
//
// A seed decides everything: keys, delays of messages, which call continues between two keys of a
// batch, when checkpoints are saved, when servers restart, and how many servers there are
// afterwards.
#ifndef SLUICE_TESTS_SIMULATE_TABLE_WORLD_H_
#define SLUICE_TESTS_SIMULATE_TABLE_WORLD_H_

#include <cstdint>
#include <string>

#include "ops/embedding/table_rules.h"

namespace sluice {

// Bugs that the invariants must find.
enum class TableBug {
  kNone,
  kForgottenCounts,   // a restore loses the counts of keys that wait for admission
  kFormerServer,      // a lookup is answered by a server that was replaced
  kSaveDuringUpdates  // a save does not wait for updates that are running
};

struct TableJob {
  AdmissionRule admission = {};
  EvictionRule eviction = {};
  int workers = 3;
  int rounds = 10;              // of each worker
  bool has_global_step = true;  // otherwise tables count their updates
  TableBug bug = TableBug::kNone;
};

struct TableVerdict {
  std::string failure;  // the first violated invariant, or empty
  std::string story;
  int64_t lookups = 0, updates = 0;  // calls
  int64_t admitted = 0, evicted = 0;
  int64_t saves = 0, restores = 0;
  int64_t time_us = 0;
};

class TableWorld {
 public:
  explicit TableWorld(const TableJob& job) : job_(job) {}
  TableVerdict Train(uint64_t seed) const;

 private:
  const TableJob job_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_TABLE_WORLD_H_

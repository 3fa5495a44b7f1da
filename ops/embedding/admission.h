// Decides which keys of a part of an embedding table get records, by an AdmissionRule
// (table_rules.h): a fraction of the keys, chosen by a hash, get records after a number of updates.
// A record stores the row of its key. A key without a record has its initial row, and its updates
// are dropped. An Admission counts these updates, exactly or in a Bloom filter.
//
// The filter of a table consists of 64 blocks. A hash of the key chooses the block, whatever the
// number of parts. A part has the blocks of its own keys. So a table in 1, 2, 4, 8, 16, 32 or 64
// parts admits the same keys.
//
// Thread safety: all methods may be called from any thread. With exact counters, the answer of
// Admits depends only on the earlier calls with the same key. With a filter it also depends on
// calls with other keys of the same block.
#ifndef SLUICE_OPS_EMBEDDING_ADMISSION_H_
#define SLUICE_OPS_EMBEDDING_ADMISSION_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "graph/mutex.h"
#include "ops/embedding/table_rules.h"

namespace sluice {

class Admission {
 public:
  // Decides about the keys that RowStore::ShardOf assigns to part `shard` of `num_shards`.
  Admission(const AdmissionRule& rule, int64_t seed, int64_t shard, int64_t num_shards);

  // Counts an update of a key without a record, and returns whether to make the record now.
  bool Admits(int64_t key);
  // Forgets all counts.
  void Clear();

  // For checkpoints. A key waits if it had updates but was not admitted yet. The waiting keys are
  // divided into kShards shares. Waiting returns the keys of one share in ascending order, each
  // with its number of updates. With a filter, which does not store keys, it returns none.
  static constexpr int kShards = 64;
  std::vector<std::pair<int64_t, int64_t>> Waiting(int share);
  // Sets the number of updates of a waiting key, from a checkpoint. Does nothing unless the rule
  // counts exactly.
  void SetWaiting(int64_t key, int64_t count);
  // The filter has kBlocks blocks of block_size() counters. FilterBlock returns the counters of a
  // block, or none if there is no filter or this part does not have the block.
  static constexpr int64_t kBlocks = 64;
  std::vector<uint8_t> FilterBlock(int64_t block) const;
  int64_t block_size() const { return block_size_; }
  // Raises each counter of a block to the value in `counts`, which comes from a checkpoint. A
  // counter that is larger keeps its value. Does nothing if this part does not have the block, or
  // if the block has another number of counters.
  void RaiseFilterBlock(int64_t block, absl::Span<const uint8_t> counts);

 private:
  struct alignas(64) Shard {
    Mutex mutex;
    std::unordered_map<int64_t, int64_t> counts ABSL_GUARDED_BY(mutex);
  };

  bool IsChosen(int64_t key) const;
  bool CountExactly(int64_t key);
  bool CountInFilter(int64_t key);
  Shard& ShardOf(int64_t key);
  bool Has(int64_t block) const { return block >= first_block_ && block < end_block_; }

  const AdmissionRule rule_;
  const int64_t seed_;
  const int64_t first_block_, end_block_;
  const int64_t block_size_;  // the number of counters in a block
  std::array<Shard, kShards> shards_;
  std::vector<std::atomic<uint8_t>> filter_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_ADMISSION_H_

// Decides which keys get records (table_rules.h).
//
// Thread safety: Admits may be called from any thread. With exact counters, the answer depends on
// the earlier calls with the same key only. With a filter it also depends on other keys.
#ifndef SLUICE_OPS_EMBEDDING_ADMISSION_H_
#define SLUICE_OPS_EMBEDDING_ADMISSION_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "graph/mutex.h"
#include "ops/embedding/table_rules.h"

namespace sluice {

class Admission {
 public:
  Admission(const AdmissionRule& rule, int64_t seed);

  // Counts an update of a key without a record, and returns whether to make the record now.
  bool Admits(int64_t key);
  // Forgets all counts.
  void Clear();
  // Keys that wait, with exact counters.
  int64_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kShards = 64;
  struct alignas(64) Shard {
    Mutex mutex;
    std::unordered_map<int64_t, int64_t> counts ABSL_GUARDED_BY(mutex);
  };

  bool IsChosen(int64_t key) const;
  bool CountExactly(int64_t key);
  bool CountInFilter(int64_t key);

  const AdmissionRule rule_;
  const int64_t seed_;
  std::array<Shard, kShards> shards_;
  std::vector<std::atomic<uint8_t>> filter_;
  std::atomic<int64_t> waiting_{0};
};

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_ADMISSION_H_

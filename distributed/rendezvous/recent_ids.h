// Remembers the last ids of requests, so that one that comes twice is noticed.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_DISTRIBUTED_RENDEZVOUS_RECENT_IDS_H_
#define SLUICE_DISTRIBUTED_RENDEZVOUS_RECENT_IDS_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace sluice {

class RecentIds {
 public:
  explicit RecentIds(size_t remembered) : ring_(remembered, 0) {}

  // False where the id came before, among the last ones. 0 is always new.
  bool IsNew(int64_t id) {
    if (id == 0) return true;
    std::lock_guard<std::mutex> lock(mutex_);
    if (!ids_.insert(id).second) return false;
    int64_t& oldest = ring_[next_];
    if (oldest != 0) ids_.erase(oldest);
    oldest = id;
    next_ = (next_ + 1) % ring_.size();
    return true;
  }
  bool Contains(int64_t id) {
    std::lock_guard<std::mutex> lock(mutex_);
    return ids_.contains(id);
  }

 private:
  std::mutex mutex_;
  std::vector<int64_t> ring_;         // guarded by mutex_
  absl::flat_hash_set<int64_t> ids_;  // what is in the ring; guarded by mutex_
  size_t next_ = 0;                   // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_RENDEZVOUS_RECENT_IDS_H_

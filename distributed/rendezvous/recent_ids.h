// Remembers the last request ids, to detect a request that arrives twice.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_RENDEZVOUS_RECENT_IDS_H_
#define SLUICE_DISTRIBUTED_RENDEZVOUS_RECENT_IDS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "graph/mutex.h"

namespace sluice {

class RecentIds {
 public:
  explicit RecentIds(size_t remembered) : ring_(remembered, 0) {}

  // Adds the id. Returns false if it is among the remembered ones. 0 always counts as new.
  bool IsNew(int64_t id) {
    if (id == 0) return true;
    ScopedLock lock(&mutex_);
    if (!ids_.insert(id).second) return false;
    int64_t& oldest = ring_[next_];
    if (oldest != 0) ids_.erase(oldest);
    oldest = id;
    next_ = (next_ + 1) % ring_.size();
    return true;
  }
  bool Contains(int64_t id) {
    ScopedLock lock(&mutex_);
    return ids_.contains(id);
  }

 private:
  Mutex mutex_;
  std::vector<int64_t> ring_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<int64_t> ids_ ABSL_GUARDED_BY(mutex_);  // those of the ring
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_RENDEZVOUS_RECENT_IDS_H_

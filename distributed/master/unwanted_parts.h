// Remembers parts of steps that other tasks may still run although their results are no longer
// needed: a part was cancelled, or the connection was lost before the task responded. A part
// consists of the nodes of a step that one task runs.
//
// Such a part may still write to variables. So the request that makes the next session on the task
// lists these parts, and the task ends them before it responds. The request that cancels a single
// part does not suffice, because it may arrive later, or never.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_MASTER_UNWANTED_PARTS_H_
#define SLUICE_DISTRIBUTED_MASTER_UNWANTED_PARTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/mutex.h"

namespace sluice {

class UnwantedParts {
 public:
  // The number of parts that are kept per task. If there are more, the oldest are dropped. They
  // have most likely ended, because a task cancels a part when the call that runs it ends.
  static constexpr size_t kMost = 1000;

  void Add(const std::string& task, int64_t step_id) {
    ScopedLock lock(&mutex_);
    std::vector<int64_t>& steps = steps_[task];
    std::erase(steps, step_id);
    if (steps.size() == kMost) steps.erase(steps.begin());
    steps.push_back(step_id);
  }
  // Removes parts that have ended.
  void Remove(const std::string& task, const std::vector<int64_t>& step_ids) {
    ScopedLock lock(&mutex_);
    for (const int64_t step_id : step_ids) std::erase(steps_[task], step_id);
  }
  // Returns the steps of the task's parts, the oldest first.
  std::vector<int64_t> Of(const std::string& task) {
    ScopedLock lock(&mutex_);
    return steps_[task];
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::vector<int64_t>> steps_ ABSL_GUARDED_BY(mutex_);  // by task
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_UNWANTED_PARTS_H_

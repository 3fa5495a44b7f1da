// The parts of steps that other tasks may still run though nobody waits for them: a task was asked
// to cancel its part, or the connection was lost before it answered.
//
// Such a part may go on to write to variables. What begins anew on the task names them, and the
// task ends them first: a message that cancels a part may be overtaken, or never come.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_DISTRIBUTED_MASTER_UNWANTED_PARTS_H_
#define SLUICE_DISTRIBUTED_MASTER_UNWANTED_PARTS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace sluice {

class UnwantedParts {
 public:
  // Kept of a task, the newest: a call's end ends its part too, but later, so the older ones are
  // over.
  static constexpr size_t kMost = 1000;

  void Add(const std::string& task, int64_t step_id) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<int64_t>& steps = steps_[task];
    std::erase(steps, step_id);
    if (steps.size() == kMost) steps.erase(steps.begin());
    steps.push_back(step_id);
  }
  // The task told that they have ended.
  void Remove(const std::string& task, const std::vector<int64_t>& step_ids) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const int64_t step_id : step_ids) std::erase(steps_[task], step_id);
  }
  // The oldest first.
  std::vector<int64_t> Of(const std::string& task) {
    std::lock_guard<std::mutex> lock(mutex_);
    return steps_[task];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<int64_t>> steps_;  // by task; guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_UNWANTED_PARTS_H_

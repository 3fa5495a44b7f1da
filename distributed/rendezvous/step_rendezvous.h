// Where the tensors of a step on this task meet: sent ones wait for the other tasks to fetch them,
// those of other tasks are fetched when they are asked for.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_DISTRIBUTED_RENDEZVOUS_STEP_RENDEZVOUS_H_
#define SLUICE_DISTRIBUTED_RENDEZVOUS_STEP_RENDEZVOUS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "distributed/rendezvous/recent_ids.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/rendezvous.h"

namespace sluice {

// Fetches the tensor of a key from its task.
using RemoteReceive =
    std::function<void(const std::string& task, int64_t step_id, const std::string& key,
                       CancellationManager* cancellation, Rendezvous::Done done)>;

class StepRendezvous final : public Rendezvous,
                             public std::enable_shared_from_this<StepRendezvous> {
 public:
  StepRendezvous(std::string task, int64_t step_id, const RemoteReceive& receive)
      : task_(std::move(task)), step_id_(step_id), receive_(receive) {}

  absl::Status Send(const std::string& key, Tensor value, bool is_dead) override {
    return local_.Send(key, std::move(value), is_dead);
  }
  // From this task or another.
  void RecvAsync(const std::string& key, CancellationManager* cancellation, Done done) override;
  // What was sent here; for other tasks.
  void RecvLocalAsync(const std::string& key, CancellationManager* cancellation, Done done) {
    local_.RecvAsync(key, cancellation, std::move(done));
  }
  void StartAbort(const absl::Status& status) override;

 private:
  const std::string task_;
  const int64_t step_id_;
  const RemoteReceive receive_;
  LocalRendezvous local_;
  std::mutex mutex_;
  absl::Status aborted_;           // guarded by mutex_
  CancellationManager receiving_;  // of all tensors that are fetched
};

// The steps of a task. Made on first use: another task may ask for a tensor before the step is run
// here.
class StepRendezvousTable {
 public:
  StepRendezvousTable(std::string task, RemoteReceive receive)
      : task_(std::move(task)), receive_(std::move(receive)) {}
  // ABORTED for a step that was ended a while ago.
  absl::StatusOr<std::shared_ptr<StepRendezvous>> Find(int64_t step_id);
  // Whoever still waits gets CANCELLED "Cleanup <step>": the step was.
  void End(int64_t step_id);
  void AbortAll(const absl::Status& status);

 private:
  const std::string task_;
  const RemoteReceive receive_;
  std::mutex mutex_;
  std::map<int64_t, std::shared_ptr<StepRendezvous>> steps_;  // guarded by mutex_
  RecentIds ended_{100000};
  absl::Status closed_;  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_RENDEZVOUS_STEP_RENDEZVOUS_H_

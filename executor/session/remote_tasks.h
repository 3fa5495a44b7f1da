// The other tasks of a cluster, as a session of this task uses them: they run parts of its steps.
// Implemented by distributed/; a session without it runs in this process alone.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_EXECUTOR_SESSION_REMOTE_TASKS_H_
#define SLUICE_EXECUTOR_SESSION_REMOTE_TASKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/device/device_set.h"
#include "executor/trace/step_stats.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class CancellationManager;
class Rendezvous;

class RemoteTasks {
 public:
  virtual ~RemoteTasks() = default;

  // Of the other tasks, as they said when the session was made; of one that was not there yet, its
  // first CPU, with incarnation 0.
  virtual const std::vector<DeviceInfo>& devices() const = 0;

  // Makes the task ready for parts; waits for one that is not there yet, within a time limit, or
  // until `cancellation`. Its devices.
  virtual absl::StatusOr<std::vector<DeviceInfo>> Join(const std::string& task,
                                                       CancellationManager& cancellation) = 0;

  // Takes a part of a graph to its task, which was joined. Blocks. Its handle.
  virtual absl::StatusOr<std::string> Register(const std::string& task, const Graph& part,
                                               CancellationManager& cancellation) = 0;

  struct PartStep {
    std::string task;
    std::string handle;
    int64_t step_id = 0;
    Tensors feeds;           // by the part's numbers
    size_t num_fetches = 0;  // likewise
    int64_t timeout_ms = 0;  // 0: none
    bool trace = false;
  };
  struct PartResult {
    absl::Status status;  // names the task
    Tensors fetches;
    StepStats stats;
  };
  using Done = std::function<void(PartResult)>;
  // Runs a part. `done` is called once, from any thread; after `cancellation` fired, soon.
  virtual void Run(PartStep step, CancellationManager* cancellation, Done done) = 0;

  virtual int64_t NewStepId() = 0;
  // Where the Sends and Recvs of a step meet.
  virtual std::shared_ptr<Rendezvous> RendezvousOf(int64_t step_id) = 0;
  // All parts have ended: the tasks may forget the step.
  virtual void EndStep(int64_t step_id, const std::vector<std::string>& tasks) = 0;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_REMOTE_TASKS_H_

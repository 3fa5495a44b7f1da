// Interface to the other tasks of a cluster. They run parts of the steps of one session, whose
// master is this task. distributed/ implements it. ClusterRunner uses it.
//
// Thread safety: all methods may be called from any thread.
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

  // The devices of the other tasks at the time when the session was made. A task that did not
  // answer is listed with its first CPU only, with incarnation 0.
  virtual const std::vector<DeviceInfo>& devices() const = 0;

  // Prepares the task for Register and returns its devices. If the task has not started, waits for
  // it until a time limit or until `cancellation` fires.
  virtual absl::StatusOr<std::vector<DeviceInfo>> Join(const std::string& task,
                                                       CancellationManager& cancellation) = 0;

  // Sends a part of a graph to its task and returns the part's handle. The task must have been
  // joined. Blocks.
  virtual absl::StatusOr<std::string> Register(const std::string& task, const Graph& part,
                                               CancellationManager& cancellation) = 0;

  struct PartStep {
    std::string task;
    std::string handle;
    int64_t step_id = 0;
    Tensors feeds;           // of the part, in the order of its _Arg nodes
    size_t num_fetches = 0;  // of the part
    int64_t timeout_ms = 0;  // 0: none
    bool trace = false;
    bool check_numerics = false;
  };
  struct PartResult {
    absl::Status status;  // names the task
    Tensors fetches;
    StepStats stats;
  };
  using Done = std::function<void(PartResult)>;
  // Runs a part. Calls `done` once, from any thread. After `cancellation` fires, this happens soon.
  virtual void Run(PartStep step, CancellationManager* cancellation, Done done) = 0;

  virtual int64_t NewStepId() = 0;
  // The rendezvous of a step's Sends and Recvs. Null if the server is stopping.
  virtual std::shared_ptr<Rendezvous> RendezvousOf(int64_t step_id) = 0;
  // Makes the tasks forget the step. All parts of the step must have ended.
  virtual void EndStep(int64_t step_id, const std::vector<std::string>& tasks) = 0;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_REMOTE_TASKS_H_

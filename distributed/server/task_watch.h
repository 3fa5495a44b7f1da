// Watches another task. Calls handlers when the task becomes available, when it is lost, and when
// it makes an announcement (announcements.h).
//
// One call to the task is always open. If the task is lost, the call ends within the time of the
// Heartbeat (message/limits.h), so the watch does not poll.
//
// Thread safety: handlers are called one at a time, from threads of the client. They must neither
// block nor destroy the watch. Lifetime: the client must outlive the watch.
#ifndef SLUICE_DISTRIBUTED_SERVER_TASK_WATCH_H_
#define SLUICE_DISTRIBUTED_SERVER_TASK_WATCH_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "distributed/cluster/cluster_spec.h"
#include "executor/wait/cancellation.h"
#include "graph/mutex.h"

namespace sluice {

class AddressBook;
class RpcClient;

class TaskWatch {
 public:
  struct Handlers {
    // Called when the task has become available, also after a restart.
    std::function<void()> is_there;
    // Called when the task is lost after it was available.
    std::function<void(const absl::Status& why)> gone;
    // Called after new announcements. Also called once each time that the task becomes available,
    // if it has made announcements by then.
    std::function<void()> announced;
  };
  TaskWatch(TaskName task, const AddressBook* addresses, RpcClient* client, Handlers handlers);
  // Waits for a running handler.
  ~TaskWatch();
  TaskWatch(const TaskWatch&) = delete;
  TaskWatch& operator=(const TaskWatch&) = delete;

 private:
  void Greet();
  void Await();
  struct Call;
  void Start(Call call);
  // Continues with `next`, unless it is null or the watch is being destroyed.
  void Continue(void (TaskWatch::*next)());
  bool is_ending();

  const TaskName task_;
  const AddressBook* const addresses_;
  RpcClient* const client_;
  const Handlers handlers_;
  CancellationManager cancellation_;
  uint64_t seen_ = 0;  // number of announcements seen; used by the open call only
  Mutex mutex_;
  CondVar changed_;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;  // no call is open, and none follows
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_TASK_WATCH_H_

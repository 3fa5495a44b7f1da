// Hears of one other task: that it is there, that it is gone, what it announces.
//
// There is always one call to the task that waits, so that its end is heard of within the time of
// the heartbeat (distributed/wire/heartbeat.h) and nobody looks again and again.
//
// Thread safety: handlers are called one at a time, from threads of the client, and must neither
// block nor destroy the watch. Lifetime: ends before the client.
#ifndef SLUICE_DISTRIBUTED_SERVER_TASK_WATCH_H_
#define SLUICE_DISTRIBUTED_SERVER_TASK_WATCH_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "absl/status/status.h"
#include "distributed/cluster/address_book.h"
#include "distributed/wire/rpc_client.h"
#include "executor/wait/cancellation.h"

namespace sluice {

class TaskWatch {
 public:
  struct Handlers {
    std::function<void()> is_there;                     // for the first time, or again
    std::function<void(const absl::Status& why)> gone;  // after is_there
    std::function<void()> announced;                    // also what was before the watch
  };
  TaskWatch(TaskName task, const AddressBook* addresses, RpcClient* client, Handlers handlers);
  // Waits for a handler that runs.
  ~TaskWatch();
  TaskWatch(const TaskWatch&) = delete;
  TaskWatch& operator=(const TaskWatch&) = delete;

 private:
  void Greet();
  void Await();
  void Start(const char* path, grpc::ByteBuffer request, RpcClient::Done done);
  // Goes on with `next` unless the watch ends.
  void Then(void (TaskWatch::*next)());

  const TaskName task_;
  const AddressBook* const addresses_;
  RpcClient* const client_;
  const Handlers handlers_;
  CancellationManager cancellation_;
  uint64_t heard_ = 0;  // announcements; of the call under way
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ends_ = false;   // guarded by mutex_
  bool ended_ = false;  // no call is under way any more; guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_TASK_WATCH_H_

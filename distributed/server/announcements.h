// Lets a task announce an event to the tasks that watch it, for example that the model is
// initialized. An announcement has no content: watchers see only the number of announcements so
// far.
//
// A watcher (task_watch.h) calls kAwaitAnnouncement with the number that it has seen, and gets a
// response when there are more. The open connection shows the watcher that the task is alive.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_SERVER_ANNOUNCEMENTS_H_
#define SLUICE_DISTRIBUTED_SERVER_ANNOUNCEMENTS_H_

#include <cstdint>
#include <map>

#include "distributed/message/rpc_call.h"
#include "executor/wait/cancellation.h"
#include "graph/mutex.h"

namespace sluice {

inline constexpr char kAwaitAnnouncement[] = "/sluice.Presence/Await";

// Encode and decode a number of announcements. A request consists of the number that the watcher
// has seen, a response of the number so far.
grpc::ByteBuffer EncodeCount(uint64_t count);
absl::Status DecodeCount(const grpc::ByteBuffer& bytes, uint64_t* count);

class Announcements {
 public:
  // This object must outlive the server of the method.
  RpcMethod Method();
  void Announce();
  // Ends all present and later calls with UNAVAILABLE.
  void Stop();

 private:
  struct Watcher {
    RpcCall* call;
    CancellationManager::Token token;
    uint64_t seen;
  };
  void Await(RpcCall& call);
  void Cancel(uint64_t id);
  // Responds to the watchers that have not seen all announcements, or to all if stopped.
  void RespondToWatchers();

  Mutex mutex_;
  std::map<uint64_t, Watcher> watchers_ ABSL_GUARDED_BY(mutex_);  // with open calls
  uint64_t next_watcher_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_ANNOUNCEMENTS_H_

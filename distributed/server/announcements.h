// What tasks hear of each other between steps: that one is there, and that it has announced
// something, such as a model that is ready.
//
// A task that wants to hear calls kAwaitAnnouncement with the number of announcements that it has
// heard of. It is answered when there are more; a call that waits shows, by its connection, that
// the task is there.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_DISTRIBUTED_SERVER_ANNOUNCEMENTS_H_
#define SLUICE_DISTRIBUTED_SERVER_ANNOUNCEMENTS_H_

#include <cstdint>
#include <map>
#include <mutex>

#include "distributed/wire/rpc_call.h"
#include "executor/wait/cancellation.h"

namespace sluice {

inline constexpr char kAwaitAnnouncement[] = "/sluice.Presence/Await";

// The one number that call and answer have.
grpc::ByteBuffer EncodeCount(uint64_t count);
absl::Status DecodeCount(const grpc::ByteBuffer& bytes, uint64_t* count);

class Announcements {
 public:
  // The announcements outlive the server that has it.
  RpcMethod Method();
  void Announce();
  // Answers all that wait, and who comes later, with UNAVAILABLE.
  void Stop();

 private:
  struct Waiting {
    RpcCall* call;
    CancellationManager::Token token;
    uint64_t heard;
  };
  void Await(RpcCall& call);
  void Cancel(uint64_t id);
  // Answers those that have heard of less.
  void Answer(const absl::Status& status);

  std::mutex mutex_;
  std::map<uint64_t, Waiting> waiting_;  // guarded by mutex_
  uint64_t next_ = 0;                    // guarded by mutex_
  uint64_t count_ = 0;                   // guarded by mutex_
  bool stopped_ = false;                 // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_ANNOUNCEMENTS_H_

// Options that decide when a master closes sessions that are idle or whose clients are lost. A
// client is lost while it has no connection to the server (session_table.h).
#ifndef SLUICE_DISTRIBUTED_MASTER_SESSION_LIMITS_H_
#define SLUICE_DISTRIBUTED_MASTER_SESSION_LIMITS_H_

#include <chrono>

namespace sluice {

// A session with a running call is never closed.
struct SessionLimits {
  // Closes a session this long after its last call. 0: never.
  std::chrono::milliseconds idle{0};
  // Closes a session this long after its client was lost. 0: never.
  std::chrono::milliseconds lost = std::chrono::hours(24);
  // A host may have at most `lost_per_host` sessions whose clients were lost `surplus_lost` ago or
  // earlier. Beyond that, the least recently used of them are closed. Has no effect if `lost` is 0.
  int lost_per_host = 32;
  std::chrono::milliseconds surplus_lost = std::chrono::hours(2);
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_SESSION_LIMITS_H_

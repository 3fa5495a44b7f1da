// When a master closes the sessions of dead clients (session_table.h).
#ifndef SLUICE_DISTRIBUTED_MASTER_SESSION_LIMITS_H_
#define SLUICE_DISTRIBUTED_MASTER_SESSION_LIMITS_H_

#include <chrono>

namespace sluice {

// 0: never. A session with a running call is never closed.
struct SessionLimits {
  std::chrono::milliseconds idle{0};                        // since the last call
  std::chrono::milliseconds lost = std::chrono::hours(24);  // since its client is not connected
  // Of the sessions whose clients on one host have been lost for at least `surplus_lost`, the
  // master keeps the last `lost_per_host` that were used, and closes the others.
  int lost_per_host = 32;
  std::chrono::milliseconds surplus_lost = std::chrono::hours(2);
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_SESSION_LIMITS_H_

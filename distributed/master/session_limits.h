// Says when a master closes the sessions of dead clients (session_table.h).
#ifndef SLUICE_DISTRIBUTED_MASTER_SESSION_LIMITS_H_
#define SLUICE_DISTRIBUTED_MASTER_SESSION_LIMITS_H_

#include <chrono>

namespace sluice {

// A time of 0 means never. A session with a running call is never closed.
struct SessionLimits {
  std::chrono::milliseconds idle{0};                        // time since the last call
  std::chrono::milliseconds lost = std::chrono::hours(24);  // time since its client was lost
  // If more than `lost_per_host` sessions have clients on one host that have been lost for
  // `surplus_lost`, the master closes the least recently used ones.
  int lost_per_host = 32;
  std::chrono::milliseconds surplus_lost = std::chrono::hours(2);
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_SESSION_LIMITS_H_

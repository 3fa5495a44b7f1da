// gRPC's own state in this process.
#ifndef SLUICE_DISTRIBUTED_WIRE_GRPC_LIBRARY_H_
#define SLUICE_DISTRIBUTED_WIRE_GRPC_LIBRARY_H_

#include "grpc/grpc.h"

namespace sluice {

// For whoever begins to use gRPC. It is then there until the process ends: when its last user goes,
// gRPC 1.51 may wait for a poll of its own that takes ten seconds.
inline void KeepGrpc() {
  static const bool is_kept = [] {
    grpc_init();
    return true;
  }();
  (void)is_kept;
}

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_GRPC_LIBRARY_H_

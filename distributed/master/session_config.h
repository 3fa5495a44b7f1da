// What a client's ConfigProto means for a session here.
#ifndef SLUICE_DISTRIBUTED_MASTER_SESSION_CONFIG_H_
#define SLUICE_DISTRIBUTED_MASTER_SESSION_CONFIG_H_

#include "executor/session/session.h"
#include "graph/format/proto/config.pb.h"

namespace sluice {

// `options`, with what `config` says: placement, timeouts, threads, which passes run.
SessionOptions WithConfig(SessionOptions options, const pb::ConfigProto& config);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_SESSION_CONFIG_H_
